#include "blocks/kernels/matmul_kinds.h"

namespace weft::kernels {

WEFT_INSTANTIATE_PRODUCTS(float)
WEFT_INSTANTIATE_PRODUCTS(double)

}  // namespace weft::kernels
