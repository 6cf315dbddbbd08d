// The filters in double precision.

#include "filters.h"

namespace dcnbio {

DCNBIO_FILTERS(, double)

}  // namespace dcnbio
