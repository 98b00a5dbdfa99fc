// The choice of an implementation, in order.
#include "blocks/kernels/conv/convolution.h"

#include "blocks/kernels/conv/implementations.h"
#include "blocks/kernels/conv/outside_taps.h"
#include "blocks/kernels/conv/reached_taps.h"
#include "blocks/kernels/instantiate.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {

const char* NameOf(ConvImplementation implementation) {
  constexpr const char* kNames[] = {"nothing to compute", "depthwise", "winograd", "direct", "im2col"};
  return kNames[static_cast<int>(implementation)];
}

ConvImplementation ChooseConv(const ConvDesc& conv) {
  if (conv.gather.batch == 0 || conv.gather.positions() == 0 || conv.filter_count() == 0) return ConvImplementation::kNone;
  if (IsDepthwise(conv)) return ConvImplementation::kDepthwise;
  if ((conv.by_filter ? TakesWinogradFilterGrad : TakesWinograd)(conv)) return ConvImplementation::kWinograd;
  return (conv.by_filter ? TakesDirectFilterGrad : TakesDirect)(conv) ? ConvImplementation::kDirect : ConvImplementation::kIm2Col;
}

namespace {

/// The other implementations look at no tap that is outside, or their windows are small.
bool LeavesTapsOut(const ConvDesc& conv, ConvImplementation chosen) {
  return chosen == ConvImplementation::kIm2Col && ReachedTaps::Worth(conv);
}

}  // namespace

std::string ConvDesc::implementation() const {
  const ConvImplementation chosen = ChooseConv(*this);
  return NameOf(LeavesTapsOut(*this, chosen) ? ChooseConv(ReachedTaps(*this).conv) : chosen);
}

int64_t ConvScratch(const ConvDesc& conv, bool widened) {
  const ConvImplementation chosen = ChooseConv(conv);
  if (LeavesTapsOut(conv, chosen)) {
    const ReachedTaps reached(conv);
    return reached.WeightElements() + ConvScratch(reached.conv, widened);
  }
  switch (chosen) {
    case ConvImplementation::kDepthwise: return conv.by_filter ? DepthwiseFilterGradScratch(conv) : 0;
    case ConvImplementation::kWinograd: return (conv.by_filter ? WinogradFilterGradScratch : WinogradScratch)(conv, widened);
    case ConvImplementation::kDirect: return conv.by_filter ? DirectFilterGradScratch(conv) : DirectScratch(conv, widened);
    case ConvImplementation::kIm2Col: return conv.by_filter ? Im2ColFilterGradScratch(conv) : Im2ColScratch(conv);
    default: return 0;
  }
}

template <class T>
static void RunChosen(ConvImplementation chosen, const ConvDesc& conv, const T* source, const T* filter, T* out, Accumulator<T>* scratch,
                      Workers& workers) {
  switch (chosen) {
    case ConvImplementation::kNone: return;
    case ConvImplementation::kDepthwise: return RunDepthwise(conv, source, filter, out, workers);
    case ConvImplementation::kWinograd:
      if constexpr (std::is_same_v<gemm::Computed<T>, float>) return RunWinograd(conv, source, filter, out, scratch, workers);
      return;
    case ConvImplementation::kDirect: return RunDirect(conv, source, filter, out, reinterpret_cast<gemm::Computed<T>*>(scratch), workers);
    case ConvImplementation::kIm2Col: return RunIm2Col(conv, source, filter, out, scratch, workers);
  }
}

template <class T>
void RunConv(const ChosenConv& whole, const T* source, const T* filter, T* out, Accumulator<T>* scratch, Workers& workers) {
  const ConvDesc& conv = whole.desc();
  const ConvImplementation chosen = whole.chosen();
  if (LeavesTapsOut(conv, chosen)) {
    const ReachedTaps reached(conv);
    T* const weights = reinterpret_cast<T*>(scratch);
    reached.TakeWeights(conv, filter, weights, workers);
    return RunConv(reached.conv, source, weights, out, scratch + reached.WeightElements(), workers);
  }
  RunChosen(chosen, conv, source, filter, out, scratch, workers);
  if constexpr (!std::is_integral_v<T>) {
    if (chosen != ConvImplementation::kNone && chosen != ConvImplementation::kDepthwise) OutsideTaps<T>(conv, source, filter, out).Mend(workers);
  }
}

template <class T>
void RunConvFilterGrad(const ChosenConv& whole, const T* source, const T* gradient, T* filter, Accumulator<T>* scratch, Workers& workers) {
  const ConvDesc& conv = whole.desc();
  const ConvImplementation chosen = whole.chosen();
  if (LeavesTapsOut(conv, chosen)) {
    const ReachedTaps reached(conv);
    T* const weights = reinterpret_cast<T*>(scratch);
    RunConvFilterGrad(reached.conv, source, gradient, weights, scratch + reached.WeightElements(), workers);
    FillLong(workers, filter, conv.filter_count(), T(0));
    return reached.PutWeights(conv, weights, filter, workers);
  }
  switch (chosen) {
    case ConvImplementation::kNone: return FillLong(workers, filter, conv.filter_count(), T(0));
    case ConvImplementation::kDepthwise: return RunDepthwiseFilterGrad(conv, source, gradient, filter, scratch, workers);
    case ConvImplementation::kWinograd:
      if constexpr (std::is_same_v<gemm::Computed<T>, float>) return RunWinogradFilterGrad(conv, source, gradient, filter, scratch, workers);
      return;
    case ConvImplementation::kDirect: return RunDirectFilterGrad(conv, source, gradient, filter, scratch, workers);
    case ConvImplementation::kIm2Col: return RunIm2ColFilterGrad(conv, source, gradient, filter, scratch, workers);
  }
}

#define WEFT_INSTANTIATE(T) template void RunConv(const ChosenConv&, const T*, const T*, T*, Accumulator<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)
WEFT_INSTANTIATE(int32_t)
#undef WEFT_INSTANTIATE
#define WEFT_INSTANTIATE(T) template void RunConvFilterGrad(const ChosenConv&, const T*, const T*, T*, Accumulator<T>*, Workers&);
WEFT_FOR_FLOATS(WEFT_INSTANTIATE)

}  // namespace weft::kernels
