#include "blocks/kernels/gemm/micro_kernel_inline.h"

namespace weft::kernels::gemm {

WEFT_MICRO_KERNEL(float)

}  // namespace weft::kernels::panels
