#include "blocks/kernels/gemm/choose.h"

namespace weft::kernels {

WEFT_INSTANTIATE_PRODUCTS(float)
WEFT_INSTANTIATE_PRODUCTS(double)

}  // namespace weft::kernels
