// The filters in single precision.

#include "filters.h"

namespace dcnbio {

DCNBIO_FILTERS(, float)

}  // namespace dcnbio
