#include "blocks/kernels/gemm/micro_kernel_inline.h"

namespace weft::kernels::panels {

WEFT_SUM_ROWS(float)

}  // namespace weft::kernels::panels
