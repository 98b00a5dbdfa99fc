#include "blocks/kernels/gemm/choose.h"

namespace weft::kernels {

WEFT_INSTANTIATE_PRODUCTS(half)
WEFT_INSTANTIATE_PRODUCTS(bfloat16)

}  // namespace weft::kernels
