#include "blocks/kernels/gemm/micro_kernel_inline.h"

namespace weft::kernels::gemm {

WEFT_MICRO_KERNEL(double)

}  // namespace weft::kernels::panels
