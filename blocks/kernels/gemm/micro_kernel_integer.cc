#include "blocks/kernels/gemm/micro_kernel_inline.h"

namespace weft::kernels::gemm {

WEFT_MICRO_KERNEL(uint32_t)
WEFT_MICRO_KERNEL(uint64_t)

}  // namespace weft::kernels::panels
