// The register blocks, compiled once for all who multiply.

#include "gemm.h"

namespace dcnbio {

template void multiply_columns<float, 1>(const Product<float>&, long);
template void multiply_columns<float, 2>(const Product<float>&, long);
template void multiply_columns<double, 1>(const Product<double>&, long);
template void multiply_columns<double, 2>(const Product<double>&, long);

}  // namespace dcnbio
