// Dilation2D and its gradients.
#include "blocks/kernels/pool/dilation.h"

#include "blocks/gradients.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/nn/window_plan.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using kernels::Dilation;

constexpr In<0> input{"input", "T", "[batch, height, width, channels]"};
constexpr In<1> filter{"filter", "T", "[taps down, taps across, channels]"};
constexpr In<2> out_backprop{"out_backprop", "T", "the gradient of the dilation's output: [batch, out_height, out_width, channels]"};
constexpr Out<0> output{"output", "T", "[batch, out_height, out_width, channels]"};
constexpr Out<0> in_backprop{"in_backprop", "T", "the gradient of input, of its shape"};
constexpr Out<0> filter_backprop{"filter_backprop", "T", "the gradient of filter, of its shape"};
constexpr Attr<Ints> strides{"strides", kRequired, "steps of the window, one number an axis; 1 for batch and channels", nullptr, 4};
constexpr Attr<Ints> rates{"rates", kRequired, "distance of the filter's taps, one number an axis; 1 for batch and channels", nullptr, 4};
constexpr Attr<Padding> padding{"padding", kRequired, "SAME pads so that a stride of 1 keeps the size, VALID not at all", "SAME|VALID"};

constexpr PictureOrder kOrder{2, false};

struct Geometry {
  Dilation dilation;
  Shape pooled;  // the shape of the output
};

Result<Geometry> PlanGeometry(const PlanContext& ctx, bool forward) {
  const Shape &pictures = ctx.shape(input), &taps = ctx.shape(filter);
  if (pictures.rank() != 4) return ctx.Error(input, "needs rank 4, found shape ", pictures);
  if (taps.rank() != 3) return ctx.Error(filter, "needs rank 3, found shape ", taps);
  if (taps[2] != pictures[3]) return ctx.Error(filter, "needs the channels of input, ", pictures[3], ", found shape ", taps);
  WindowSettings settings;
  settings.order = kOrder;
  settings.paddings.kind = ctx.attr(padding);
  settings.may_have_none = true;
  WEFT_ASSIGN_OR_RETURN(settings.strides, ReadPerAxis(strides.name, ctx.attr(strides), kOrder));
  WEFT_ASSIGN_OR_RETURN(settings.dilations, ReadPerAxis(rates.name, ctx.attr(rates), kOrder));
  if (forward) WEFT_RETURN_IF_ERROR(CheckSpatialSteps(strides.name, settings.strides));
  WEFT_RETURN_IF_ERROR(CheckSteps(strides.name, settings.strides, Code::kUnsupported));
  WEFT_RETURN_IF_ERROR(CheckSteps(rates.name, settings.dilations, Code::kUnsupported));
  WEFT_ASSIGN_OR_RETURN(const kernels::WindowAxes axes, MakeWindowAxes(settings, pictures, {1, taps[0], taps[1]}, input.name));
  Geometry g;
  WEFT_ASSIGN_OR_RETURN(g.pooled, PictureShape(kOrder, pictures[0], pictures[3], {1, axes[1].out, axes[2].out}, input.name));
  if (g.pooled.count() != 0 && taps.count() == 0) return ctx.Error(filter, "needs at least one tap, found shape ", taps);
  auto tap_axis = [](const kernels::WindowAxis& a) { return kernels::ConvAxis{a.in, a.out, a.window, a.stride, -a.before, a.dilation}; };
  g.dilation = {pictures[0], pictures[3], tap_axis(axes[1]), tap_axis(axes[2])};
  if (g.pooled.count() == 0) g.dilation.batch = 0;
  return g;
}

Result<Dilation> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Geometry g, PlanGeometry(ctx, true));
  ctx.set(output, std::move(g.pooled));
  return g.dilation;
}

constexpr auto Run = []<class T>(const Dilation& d, RunContext& ctx) {
  kernels::Dilate(d, ctx.in<T>(input).data(), ctx.in<T>(filter).data(), ctx.out<T>(output).data(), ctx.workers());
};

void Gradient(GradientBuilder& g) {
  const GradientInputs inputs{{"input", {g.in(input)}}, {"filter", {g.in(filter)}}, {"out_backprop", {g.grad(output)}}};
  const GradientAttrs attrs = SameAttrs(g, {strides.name, rates.name, padding.name});
  if (g.wanted(input)) g.Set(input, g.Add("Dilation2DBackpropInput", inputs, attrs));
  if (g.wanted(filter)) g.Set(filter, g.Add("Dilation2DBackpropFilter", inputs, attrs));
}

/// By input or filter, `of`; in output 0.
Result<Dilation> PlanGradient(PlanContext& ctx, const auto& of) {
  WEFT_ASSIGN_OR_RETURN(const Geometry g, PlanGeometry(ctx, false));
  WEFT_RETURN_IF_ERROR(CheckShape(ctx, out_backprop, g.pooled, "the output"));
  ctx.set(output, ctx.shape(of));
  return g.dilation;
}
Result<Dilation> PlanByInput(PlanContext& ctx) { return PlanGradient(ctx, input); }
Result<Dilation> PlanByFilter(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Dilation d, PlanGradient(ctx, filter));
  const auto element = std::max<int64_t>(4, static_cast<int64_t>(ElementSize(ctx.dtype(input))));
  ctx.set_scratch(kernels::DilationShares(d) * ctx.shape(filter).count() * element);
  return d;
}

template <bool kByInput>
constexpr auto RunGradient = []<class T>(const Dilation& d, RunContext& ctx) {
  const T *in = ctx.in<T>(input).data(), *taps = ctx.in<T>(filter).data(), *gradient = ctx.in<T>(out_backprop).data();
  const auto out = ctx.out<T>(output);
  if constexpr (kByInput) {
    kernels::FillLong(ctx.workers(), out.data(), static_cast<int64_t>(out.size()), T(0));
    kernels::DilateGradInput(d, in, taps, gradient, out.data(), ctx.workers());
  } else {
    kernels::DilateGradFilter(d, in, taps, gradient, out.data(), ctx.scratch<Accumulator<T>>().data(), ctx.workers());
  }
};

auto Declare(const char* name, const char* summary, const auto&... ports) {
  return Block(name, summary).Ports(input, filter, ports...).Types("T", kReals).Attrs(strides, rates, padding);
}

}  // namespace

BlockDef Dilation2D() {
  return Declare("Dilation2D", "Under each window the largest sum of picture and filter, channel by channel.", output)
      .Details("Padding does not count. Sums of integers wrap.")
      .Gradient(Gradient).Kernel(Plan, Run);
}

BlockDef Dilation2DBackpropInput() {
  constexpr const char* kSummary = "The gradient of Dilation2D with respect to its input: the first largest sum of each window takes it.";
  return Declare("Dilation2DBackpropInput", kSummary, out_backprop, in_backprop).Kernel(PlanByInput, RunGradient<true>);
}

BlockDef Dilation2DBackpropFilter() {
  constexpr const char* kSummary = "The gradient of Dilation2D with respect to its filter: the first largest sum of each window takes it.";
  return Declare("Dilation2DBackpropFilter", kSummary, out_backprop, filter_backprop).Kernel(PlanByFilter, RunGradient<false>);
}

}  // namespace weft::blocks
