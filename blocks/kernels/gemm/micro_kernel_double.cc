#include "blocks/kernels/gemm/micro_kernel_inline.h"

namespace weft::kernels::gemm {

template void RunMicroKernel(const MicroTile<double>&, int64_t, int);

}  // namespace weft::kernels::gemm
