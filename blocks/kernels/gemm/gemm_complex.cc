#include "blocks/kernels/gemm/choose.h"

namespace weft::kernels {

WEFT_INSTANTIATE_PRODUCTS(complex64)
WEFT_INSTANTIATE_PRODUCTS(complex128)

}  // namespace weft::kernels
