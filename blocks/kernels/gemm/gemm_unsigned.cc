#include "blocks/kernels/gemm/choose.h"

namespace weft::kernels {

WEFT_INSTANTIATE_PRODUCTS(uint8_t)
WEFT_INSTANTIATE_PRODUCTS(uint16_t)
WEFT_INSTANTIATE_PRODUCTS(uint32_t)
WEFT_INSTANTIATE_PRODUCTS(uint64_t)

}  // namespace weft::kernels
