#include "blocks/kernels/matmul_kinds.h"

namespace weft::kernels {

WEFT_INSTANTIATE_PRODUCTS(complex64)
WEFT_INSTANTIATE_PRODUCTS(complex128)

}  // namespace weft::kernels
