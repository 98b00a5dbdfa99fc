// The choice of an implementation, in order.
#include "blocks/kernels/conv/convolution.h"

#include "blocks/kernels/conv/depthwise.h"
#include "blocks/kernels/conv/direct.h"
#include "blocks/kernels/conv/im2col_gemm.h"
#include "blocks/kernels/instantiate.h"

namespace weft::kernels {
namespace {

bool IsDepthwise(const ConvForward& p) { return p.gather.batch != 0 && kernels::IsDepthwise(p.groups, p.inner(), p.columns); }

}  // namespace

int64_t ConvScratch(const ConvForward& p, bool widened) {
  if (IsDepthwise(p)) return 0;
  if (const int64_t direct = DirectScratch(p, widened); direct > 0) return direct;
  return Im2ColScratch(p);
}

template <class T>
void RunConv(const ConvForward& p, const T* source, const T* weights, T* out, Accumulator<T>* scratch, Workers& workers) {
  if (IsDepthwise(p)) return RunDepthwise(p, source, weights, out, workers);
  if (RunDirect(p, source, weights, out, reinterpret_cast<gemm::Computed<T>*>(scratch), workers)) return;
  RunIm2Col(p, source, weights, out, scratch, workers);
}

int64_t FilterGradScratch(const ConvFilterGrad& sum) {
  if (const int64_t direct = DirectFilterGradScratch(sum); direct > 0) return direct;
  return SharedFilterGradScratch(sum);
}

template <class T>
void RunConvFilterGrad(const ConvFilterGrad& sum, const T* source, const T* gradient, T* filter, Accumulator<T>* scratch,
                       Workers& workers) {
  if (RunDirectFilterGrad(sum, source, gradient, filter, scratch, workers)) return;
  RunSharedFilterGrad(sum, source, gradient, filter, scratch, workers);
}

#define WEFT_INSTANTIATE(T) template void RunConv(const ConvForward&, const T*, const T*, T*, Accumulator<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
WEFT_INSTANTIATE(int32_t)
#undef WEFT_INSTANTIATE
#define WEFT_INSTANTIATE(T) template void RunConvFilterGrad(const ConvFilterGrad&, const T*, const T*, T*, Accumulator<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft::kernels
