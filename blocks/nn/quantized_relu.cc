// QuantizedRelu, QuantizedRelu6 and QuantizedReluX: quantized integers cut to those of 0 and of a largest number.
#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> features{"features", "Tinput", "of any shape"};
constexpr RangeIn<1> features_ends{"min_features", "max_features"};
constexpr In<1> max_value{"max_value", "DT_FLOAT", "a scalar: the largest number that is kept"};
constexpr RangeIn<2> ends_behind{"min_features", "max_features"};
constexpr Out<0> activations{"activations", "out_type", "the shape of features"};
constexpr RangeOut activations_ends{"min_activations", "max_activations", "min_features", "max_features"};
constexpr Attr<DType> out_type{"out_type", "DT_QUINT8", "the type of activations: that of features"};

Status PlanTypes(PlanContext& ctx) {
  if (ctx.attr(out_type) != ctx.dtype(features)) {
    return ctx.ErrorOf(Code::kUnsupported, out_type, "needs the type of features, ", ctx.dtype(features), ", found ", ctx.attr(out_type));
  }
  ctx.set(activations, ctx.shape(features));
  return {};
}
Status Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckRanges(ctx, features_ends));
  return PlanTypes(ctx);
}
Status PlanX(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, max_value, ends_behind.min, ends_behind.max));
  return PlanTypes(ctx);
}

/// Cuts to the integers of 0 and of `top`, or of nothing but 0 where `top` is null.
template <class T>
void Cut(RunContext& ctx, QuantizedRange range, const float* top) {
  constexpr QuantizedLimits kLimits = LimitsOf<T>();
  const T low = static_cast<T>(kernels::ClampedLevelOf(0.0f, range, kLimits));
  const T high = static_cast<T>(top == nullptr ? kLimits.highest : kernels::ClampedLevelOf(*top, range, kLimits));
  const auto from = ctx.in<T>(features);
  const auto to = ctx.out<T>(activations);
  kernels::ForEach(ctx.workers(), static_cast<int64_t>(from.size()), 2 * kQuantizedGrain, [&](int64_t i) {
    to[i] = std::min(std::max(from[i], low), high);
  });
  SetRange(ctx, activations_ends, range);
}

constexpr auto Run = []<class T>(const NoParameters&, RunContext& ctx) { Cut<T>(ctx, RangeOf(ctx, features_ends), nullptr); };
constexpr auto Run6 = []<class T>(const NoParameters&, RunContext& ctx) {
  constexpr float kSix = 6.0f;
  Cut<T>(ctx, RangeOf(ctx, features_ends), &kSix);
};
constexpr auto RunX = []<class T>(const NoParameters&, RunContext& ctx) {
  const float top = ctx.in<float>(max_value)[0];
  Cut<T>(ctx, RangeOf(ctx, ends_behind), &top);
};

BlockDef Declare(const char* name, const char* summary, auto plan, auto run, const auto&... ports) {
  return Block(name, summary)
      .Details("The range stays as it is.")
      .Ports(ports..., activations, activations_ends.min, activations_ends.max).Types("Tinput", kQuantized)
      .Attrs(out_type).Types("out_type", kQuantized)
      .Elementwise().Kernel(plan, run);
}

}  // namespace

BlockDef QuantizedRelu() {
  return Declare("QuantizedRelu", "Quantized numbers, those below 0 as 0.", Plan, Run, features, features_ends.min, features_ends.max);
}

BlockDef QuantizedRelu6() {
  return Declare("QuantizedRelu6", "Quantized numbers, those below 0 as 0 and those above 6 as 6.", Plan, Run6, features, features_ends.min,
                 features_ends.max);
}

BlockDef QuantizedReluX() {
  return Declare("QuantizedReluX", "Quantized numbers, those below 0 as 0 and those above a largest number as that.", PlanX, RunX, features,
                 max_value, ends_behind.min, ends_behind.max);
}

}  // namespace weft::blocks
