// MaxPool and MaxPool3D, and their gradients.
#include "blocks/kernels/pool/max_pool.h"

#include <limits>

#include "blocks/nn/pooling_plan.h"

namespace weft::blocks {
namespace {

using namespace pooling;
using kernels::Pooling;

constexpr Attr<Padding> any_padding{padding.name, kRequired,
    "SAME pads so that a stride of 1 keeps the size, VALID not at all, EXPLICIT as explicit_paddings says"};
constexpr Attr<Ints> explicit_paddings{"explicit_paddings", "{}", "for EXPLICIT: padding in front of and behind each axis, 8 numbers"};
constexpr Attr<std::string> any_data_format{"data_format", "NHWC", "order of the axes; NCHW_VECT_C is refused", "NHWC|NCHW|NCHW_VECT_C"};

constexpr In<0> input{"input", "T", kPictureDoc}, body{"input", "T", kBodyDoc};
constexpr Out<0> output{"output", "T", kPooledDoc};

/// Of gradients. The second gradient reads its grad where the first wrote its output.
constexpr In<0> orig_input{"orig_input", "T", "the input of the pooling"};
constexpr In<1> orig_output{"orig_output", "T", "the output of the pooling"};
constexpr In<2> grad{"grad", "T", "the gradient of orig_output, of its shape"};
constexpr Out<0> scattered{"output", "T", "the gradient of orig_input, of its shape"};
constexpr In<2> second_grad{"grad", "T", "the gradient of the gradient block's output: of the shape of orig_input"};
constexpr Out<0> gathered{"output", "T", "the gradient of the gradient block's grad: of the shape of orig_output"};

/// Where padding may be EXPLICIT and windows may be over channels.
Result<PoolingSettings> AnySettings(const PlanContext& ctx, PictureOrder order) {
  PoolingSettings settings = ReadPooling(ctx, order);
  settings.over_channels = true;
  WEFT_ASSIGN_OR_RETURN(settings.paddings, ReadPaddings(settings.paddings.kind, ctx.attr(explicit_paddings), order));
  return settings;
}

Result<PoolPlan> Plan(PlanContext& ctx) {
  const std::string format = ctx.attr(any_data_format);
  if (format == "NCHW_VECT_C") return ctx.Error(any_data_format, "needs NHWC or NCHW; NCHW_VECT_C packs channels for graphics processors");
  WEFT_ASSIGN_OR_RETURN(PoolingSettings settings, AnySettings(ctx, OrderOf(format == "NCHW" ? Layout::NCHW : Layout::NHWC)));
  settings.sizes_first = true;
  return PlanPooled(ctx, settings, false);
}
Result<PoolPlan> Plan3D(PlanContext& ctx) {
  PoolingSettings settings = ReadPooling(ctx);
  settings.sizes_first = true;
  return PlanPooled(ctx, settings, false);
}

constexpr auto Run = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::MaxPool(p, ctx.in<T>(input).data(), ctx.out<T>(output).data(), ctx.workers());
};
constexpr auto Run3D = []<class T>(const Pooling& p, RunContext& ctx) {
  constexpr auto kStart = -std::numeric_limits<Accumulator<T>>::infinity();
  kernels::MaxPool(p, ctx.in<T>(input).data(), ctx.out<T>(output).data(), ctx.workers(), kStart);
};

/// orig_output must be what the pooling gives, and grad of the shape of `from`; the output is of the shape of `to`.
Result<Pooling> PlanGradient(PlanContext& ctx, const PoolingSettings& settings, const auto& from, const auto& to) {
  WEFT_ASSIGN_OR_RETURN(const PerAxis window, ReadPerAxis(ksize.name, settings.ksize, settings.order));
  if (window.channel > 1) {
    return Unsupported("needs 1 for channels: pooling over channels has no gradient, found ", window.channel).WithPort(ksize.name);
  }
  WEFT_ASSIGN_OR_RETURN(const PooledPicture pooled, PlanPooling(settings, ctx.shape(orig_input), orig_input.name));
  WEFT_RETURN_IF_ERROR(CheckShape(ctx, orig_output, pooled.shape, "the pooling's output"));
  WEFT_RETURN_IF_ERROR(CheckSameShape(ctx, grad, from));
  ctx.set(scattered, ctx.shape(to));
  return pooled.pooling;
}

Result<Pooling> PlanFirst(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(PoolingSettings settings, AnySettings(ctx, OrderOf(ctx.attr(data_format))));
  settings.may_have_none = true;
  WEFT_ASSIGN_OR_RETURN(const Pooling pooling, PlanGradient(ctx, settings, orig_output, orig_input));
  if (ctx.shape(orig_input).count() != 0 && pooling.in_pixels() > kernels::kMaxPooledPixels) {
    return ctx.ErrorOf(Code::kUnsupported, orig_input, "needs pictures of no more than ", kernels::kMaxPooledPixels, " pixels");
  }
  return pooling;
}
Result<Pooling> PlanFirst3D(PlanContext& ctx) {
  if (ctx.dtype(grad) != ctx.dtype(orig_input)) {
    return ctx.Error(grad, "needs the type of orig_input, ", ctx.dtype(orig_input), ", found ", ctx.dtype(grad));
  }
  PoolingSettings settings = ReadPooling(ctx);
  settings.may_have_none = true;
  return PlanGradient(ctx, settings, orig_output, orig_input);
}
Result<Pooling> PlanSecond(PlanContext& ctx) { return PlanGradient(ctx, ReadPooling(ctx), orig_input, orig_output); }

template <class T>
kernels::MaxPoolGradient<T> Arrays(RunContext& ctx) {
  return {ctx.in<T>(orig_input).data(), ctx.in<T>(orig_output).data(), ctx.in<T>(grad).data(), ctx.out<T>(scattered).data()};
}
constexpr auto RunFirst = []<class T>(const Pooling& p, RunContext& ctx) { kernels::MaxPoolGrad(p, Arrays<T>(ctx), ctx.workers()); };
constexpr auto RunFirst3D = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::MaxPoolGradToAll(p, Arrays<T>(ctx), ctx.workers());
};
constexpr auto RunSecond = []<class T>(const Pooling& p, RunContext& ctx) { kernels::MaxPoolGradGrad(p, Arrays<T>(ctx), ctx.workers()); };

GradientFunction OfInput(const char* block, std::vector<std::string_view> attrs) {
  return GradientBlock(input, block, {{"orig_input", input}, {"orig_output", output}, {"grad", Grad(output)}}, std::move(attrs));
}

/// Neither the input nor the output of the pooling gets a gradient: zeros for them, and `block` for grad.
GradientFunction OfGrad(const char* block) {
  return [block](GradientBuilder& g) -> Status {
    if (g.wanted(orig_input)) g.Set(orig_input, Applied(g, "ZerosLike", g.in(orig_input)));
    if (g.wanted(orig_output)) g.Set(orig_output, Applied(g, "ZerosLike", g.in(orig_output)));
    if (!g.wanted(grad)) return {};
    if (g.AttrOf(padding.name) == AttrValue(std::string("EXPLICIT"))) {
      return Unsupported("has no second gradient with EXPLICIT padding; SAME and VALID have one");
    }
    g.Set(grad, g.Add(block, {{"orig_input", {g.in(orig_input)}}, {"orig_output", {g.in(orig_output)}}, {"grad", {g.grad(scattered)}}},
                      SameAttrs(g, WindowAttrs())));
    return {};
  };
}

}  // namespace

BlockDef MaxPool() {
  return Block("MaxPool", "The largest value under each window of a picture.")
      .Details("NaN is passed over; a window of nothing but -inf or NaN gives the lowest finite number.")
      .Ports(input, output).Types("T", kReals).Attrs(ksize, strides, any_padding, explicit_paddings, any_data_format)
      .Gradient(OfInput("MaxPoolGrad", {ksize.name, strides.name, padding.name, data_format.name, explicit_paddings.name}))
      .Kernel(Plan, Run);
}

BlockDef MaxPool3D() {
  return Declare("MaxPool3D", "The largest value under each window of a body of three dimensions.", true, body, output)
      .Types("T", kFloats)
      .Details("NaN is passed over; a window of nothing but NaN gives -inf.")
      .Gradient(OfInput("MaxPool3DGrad", WindowAttrs())).Kernel(Plan3D, Run3D);
}

BlockDef MaxPoolGrad() {
  return Block("MaxPoolGrad", "The gradient of MaxPool: the first largest value of each window takes it.")
      .Ports(orig_input, orig_output, grad, scattered).Types("T", kReals)
      .Attrs(ksize, strides, any_padding, explicit_paddings, data_format)
      .Gradient(OfGrad("MaxPoolGradGrad")).Kernel(PlanFirst, RunFirst);
}

BlockDef MaxPool3DGrad() {
  constexpr const char* kSummary = "The gradient of MaxPool3D: each input that equals its window's output takes all of it.";
  constexpr In<0> in{orig_input.name, "TInput", orig_input.doc};
  constexpr In<1> out{orig_output.name, "TInput", orig_output.doc};
  return Declare("MaxPool3DGrad", kSummary, true, in, out, grad, scattered)
      .Types("T", kFloats).Types("TInput", kFloats)
      .Gradient(OfGrad("MaxPool3DGradGrad")).Kernel(PlanFirst3D, RunFirst3D);
}

BlockDef MaxPoolGradGrad() {
  constexpr const char* kSummary = "The gradient of MaxPoolGrad: for each window the value at its first largest input.";
  return Declare("MaxPoolGradGrad", kSummary, false, orig_input, orig_output, second_grad, gathered)
      .Types("T", kReals).Gradient(OfGrad("MaxPoolGrad")).Kernel(PlanSecond, RunSecond);
}

BlockDef MaxPool3DGradGrad() {
  constexpr const char* kSummary = "The gradient of MaxPool3DGrad: for each window the value at its first largest input.";
  return Declare("MaxPool3DGradGrad", kSummary, true, orig_input, orig_output, second_grad, gathered)
      .Types("T", kReals).Gradient(OfGrad("MaxPool3DGrad")).Kernel(PlanSecond, RunSecond);
}

}  // namespace weft::blocks
