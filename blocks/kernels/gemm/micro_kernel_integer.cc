#include "blocks/kernels/gemm/micro_kernel_inline.h"

namespace weft::kernels::panels {

WEFT_SUM_ROWS(uint32_t)
WEFT_SUM_ROWS(uint64_t)

}  // namespace weft::kernels::panels
