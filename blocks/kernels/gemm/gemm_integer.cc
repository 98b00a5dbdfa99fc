#include "blocks/kernels/gemm/choose.h"

namespace weft::kernels {

WEFT_INSTANTIATE_PRODUCTS(uint8_t)
WEFT_INSTANTIATE_PRODUCTS(int16_t)
WEFT_INSTANTIATE_PRODUCTS(int32_t)
WEFT_INSTANTIATE_PRODUCTS(int64_t)

}  // namespace weft::kernels
