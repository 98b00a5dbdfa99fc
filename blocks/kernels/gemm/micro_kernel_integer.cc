#include "blocks/kernels/gemm/micro_kernel_inline.h"

namespace weft::kernels::gemm {

template void RunMicroKernel(const MicroTile<uint32_t>&, int64_t, int);
template void RunMicroKernel(const MicroTile<uint64_t>&, int64_t, int);

}  // namespace weft::kernels::gemm
