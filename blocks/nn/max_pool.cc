// MaxPool and MaxPool3D, and their gradients.
#include "blocks/kernels/pool/max_pool.h"

#include "blocks/nn/pooling_plan.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using namespace pooling;
using kernels::Pooling;

constexpr Attr<std::string> any_data_format{"data_format", "NHWC", "order of the axes; NCHW_VECT_C is refused", "NHWC|NCHW|NCHW_VECT_C"};

constexpr char kPictureDoc[] = "[batch, height, width, channels]; for NCHW [batch, channels, height, width]";
constexpr char kBodyDoc[] = "[batch, depth, height, width, channels]; for NCDHW [batch, channels, depth, height, width]";

PoolingSettings SettingsOf(const PlanContext& ctx, PictureOrder order, const Paddings& paddings) {
  return {order, ctx.attr(ksize), ctx.attr(strides), paddings, true};
}
Result<Paddings> AnyPadding(const PlanContext& ctx, PictureOrder order) {
  return ReadPaddings(ctx.attr(any_padding), ctx.attr(explicit_paddings), order);
}

/// The attributes that all of a family share, to be handed on.
GradientAttrs WindowsOf(const GradientBuilder& g) {
  GradientAttrs attrs;
  for (const char* name : {ksize.name, strides.name, padding.name, data_format.name}) attrs.emplace_back(name, g.AttrOf(name));
  return attrs;
}

namespace pool {
constexpr In<0> input{"input", "T", kPictureDoc};
constexpr In<0> body{input.name, "T", kBodyDoc};
constexpr Out<0> output{"output", "T", "the same axes, with a size of one number a window"};

Result<Pooling> Finish(PlanContext& ctx, const PoolingSettings& settings) {
  WEFT_ASSIGN_OR_RETURN(PooledPicture pooled, PlanPooling(settings, ctx.shape(input), input.name));
  ctx.set(output, std::move(pooled.shape));
  return pooled.pooling;
}

Result<Pooling> Plan(PlanContext& ctx) {
  const std::string format = ctx.attr(any_data_format);
  if (format == "NCHW_VECT_C") return ctx.Error(any_data_format, "needs NHWC or NCHW; NCHW_VECT_C packs channels for graphics processors");
  const PictureOrder order = OrderOf(format == "NCHW" ? Layout::NCHW : Layout::NHWC);
  WEFT_ASSIGN_OR_RETURN(const Paddings paddings, AnyPadding(ctx, order));
  return Finish(ctx, SettingsOf(ctx, order, paddings));
}
Result<Pooling> Plan3D(PlanContext& ctx) { return Finish(ctx, ReadPooling(ctx, OrderOf(ctx.attr(data_format_3d)))); }

constexpr auto Run = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::MaxPool(p, ctx.in<T>(input).data(), ctx.out<T>(output).data(), ctx.workers());
};
constexpr auto RunSolid = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::MaxPoolOrInfinity(p, ctx.in<T>(input).data(), ctx.out<T>(output).data(), ctx.workers());
};

Status GradientTo(GradientBuilder& g, const char* block, const GradientAttrs& attrs) {
  g.Set(input, g.Add(block, {{"orig_input", {g.in(input)}}, {"orig_output", {g.out(output)}}, {"grad", {g.grad(output)}}}, attrs));
  return {};
}
}  // namespace pool

// ---- gradients -----------------------------------------------------------------------------------------------------------------

constexpr In<0> orig_input{"orig_input", "T",
    "the input of MaxPool: [batch, height, width, channels]; for NCHW [batch, channels, height, width]"};
constexpr In<1> orig_output{"orig_output", "T", "its output: [batch, out_height, out_width, channels]; NCHW likewise"};
constexpr In<0> orig_body{orig_input.name, "T",
    "the input of MaxPool3D: [batch, depth, height, width, channels]; for NCDHW [batch, channels, depth, height, width]"};
constexpr In<1> pooled_body{orig_output.name, "T", "its output: the same axes, with a size of one number a window"};

/// Pooling over channels has no gradient, and orig_output must be what the pooling gives.
Result<Pooling> PlanGradient(const PlanContext& ctx, const PoolingSettings& settings) {
  WEFT_ASSIGN_OR_RETURN(const PerAxis window, ReadPerAxis(ksize.name, settings.ksize, settings.order));
  if (window.channel > 1) {
    return Unsupported("needs 1 for channels: pooling over channels has no gradient, found ", window.channel).WithPort(ksize.name);
  }
  WEFT_ASSIGN_OR_RETURN(PooledPicture pooled, PlanPooling(settings, ctx.shape(orig_input), orig_input.name));
  if (ctx.shape(orig_output) != pooled.shape) {
    return ctx.Error(orig_output, "needs the shape that the pooling gives, ", pooled.shape, ", found ", ctx.shape(orig_output));
  }
  return pooled.pooling;
}

/// Where neither the input nor the output of the pooling gets a gradient: zeros for them, and `block` for grad.
Status GradientThrough(GradientBuilder& g, const char* block) {
  constexpr In<2> grad{"grad", "T", ""};
  constexpr Out<0> output{"output", "T", ""};
  auto zeros = [&](GradientValue value) { return g.Add("ZerosLike", {{"x", {value}}}); };
  if (g.wanted(orig_input)) g.Set(orig_input, zeros(g.in(orig_input)));
  if (g.wanted(orig_output)) g.Set(orig_output, zeros(g.in(orig_output)));
  if (!g.wanted(grad)) return {};
  g.Set(grad, g.Add(block, {{"orig_input", {g.in(orig_input)}}, {"orig_output", {g.in(orig_output)}}, {"grad", {g.grad(output)}}},
                    WindowsOf(g)));
  return {};
}

namespace spread {
constexpr In<2> grad{"grad", "T", "the gradient of its output, of the same shape"};
constexpr Out<0> output{"output", "T", "the gradient of its input, of the same shape"};

Result<Pooling> Finish(PlanContext& ctx, const PoolingSettings& settings) {
  WEFT_ASSIGN_OR_RETURN(const Pooling pooling, PlanGradient(ctx, settings));
  if (ctx.shape(grad) != ctx.shape(orig_output)) {
    return ctx.Error(grad, "needs the shape of orig_output, ", ctx.shape(orig_output), ", found ", ctx.shape(grad));
  }
  ctx.set(output, ctx.shape(orig_input));
  return pooling;
}

Result<Pooling> Plan(PlanContext& ctx) {
  const PictureOrder order = OrderOf(ctx.attr(data_format));
  WEFT_ASSIGN_OR_RETURN(const Paddings paddings, AnyPadding(ctx, order));
  WEFT_ASSIGN_OR_RETURN(const Pooling pooling, Finish(ctx, SettingsOf(ctx, order, paddings)));
  if (ctx.shape(orig_input).count() != 0 && pooling.in_pixels() > kernels::kMaxPooledPixels) {
    return ctx.ErrorOf(Code::kUnsupported, orig_input, "needs pictures of no more than ", kernels::kMaxPooledPixels, " pixels");
  }
  return pooling;
}
Result<Pooling> Plan3D(PlanContext& ctx) {
  if (ctx.dtype(grad) != ctx.dtype(orig_input)) {
    return ctx.Error(grad, "needs the type of orig_input, ", ctx.dtype(orig_input), ", found ", ctx.dtype(grad));
  }
  return Finish(ctx, ReadPooling(ctx, OrderOf(ctx.attr(data_format_3d))));
}

constexpr auto Run = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::MaxPoolGrad(p, ctx.in<T>(orig_input).data(), ctx.in<T>(grad).data(), ctx.out<T>(output).data(), ctx.workers());
};
constexpr auto RunToAll = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::MaxPoolGradToAll(p, ctx.in<T>(orig_input).data(), ctx.in<T>(orig_output).data(), ctx.in<T>(grad).data(),
                            ctx.out<T>(output).data(), ctx.workers());
};

Status Gradient(GradientBuilder& g) {
  if (g.wanted(grad) && g.attr(any_padding) == Padding::EXPLICIT) {
    return Unsupported("has no second gradient with EXPLICIT padding; SAME and VALID have one");
  }
  return GradientThrough(g, "MaxPoolGradGrad");
}
}  // namespace spread

namespace collect {
constexpr In<2> grad{"grad", "T", "the gradient of the gradient block's output: of the shape of orig_input"};
constexpr Out<0> output{"output", "T", "the gradient of the gradient block's grad: of the shape of orig_output"};

Result<Pooling> Plan(PlanContext& ctx) {
  const PictureOrder order = OrderOf(ctx.attr(data_format));
  WEFT_ASSIGN_OR_RETURN(const Pooling pooling, PlanGradient(ctx, ReadPooling(ctx, order)));
  if (ctx.shape(grad) != ctx.shape(orig_input)) {
    return ctx.Error(grad, "needs the shape of orig_input, ", ctx.shape(orig_input), ", found ", ctx.shape(grad));
  }
  ctx.set(output, ctx.shape(orig_output));
  return pooling;
}

constexpr auto Run = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::MaxPoolGradGrad(p, ctx.in<T>(orig_input).data(), ctx.in<T>(orig_output).data(), ctx.in<T>(grad).data(),
                           ctx.out<T>(output).data(), ctx.workers());
};
}  // namespace collect

/// Those of pictures that take SAME and VALID, and those of bodies.
template <class Types, class... Ports>
auto Declare(const char* name, const char* summary, bool solid, Types types, const Ports&... ports) {
  auto block = Block(name, summary).Ports(ports...);
  auto with = solid ? std::move(block).Attrs(ksize_3d, strides_3d, padding, data_format_3d)
                    : std::move(block).Attrs(ksize, strides, padding, data_format);
  return std::move(with).Types("T", types);
}

}  // namespace

BlockDef MaxPool() {
  using namespace pool;
  return Block("MaxPool", "The largest value under each window of a picture.")
      .Details("NaN is passed over; a window of nothing but -inf or NaN gives the lowest finite number.")
      .Ports(input, output)
      .Types("T", kReals)
      .Attrs(ksize, strides, any_padding, explicit_paddings, any_data_format)
      .Gradient([](GradientBuilder& g) {
        GradientAttrs attrs = WindowsOf(g);
        attrs.emplace_back(explicit_paddings.name, g.AttrOf(explicit_paddings.name));
        return GradientTo(g, "MaxPoolGrad", attrs);
      })
      .Kernel(Plan, Run);
}

BlockDef MaxPoolGrad() {
  using namespace spread;
  return Block("MaxPoolGrad", "The gradient of MaxPool: the first largest value of each window takes it.")
      .Ports(orig_input, orig_output, grad, output)
      .Types("T", kReals)
      .Attrs(ksize, strides, any_padding, explicit_paddings, data_format)
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

BlockDef MaxPoolGradGrad() {
  using namespace collect;
  constexpr const char* kSummary = "The gradient of MaxPoolGrad: for each window the value at its first largest input.";
  return Declare("MaxPoolGradGrad", kSummary, false, kReals, orig_input, orig_output, grad, output)
      .Gradient([](GradientBuilder& g) { return GradientThrough(g, "MaxPoolGrad"); })
      .Kernel(Plan, Run);
}

BlockDef MaxPool3D() {
  using namespace pool;
  return Declare("MaxPool3D", "The largest value under each window of a body of three dimensions.", true, kFloats, body, output)
      .Details("NaN is passed over; a window of nothing but NaN gives -inf.")
      .Gradient([](GradientBuilder& g) { return GradientTo(g, "MaxPool3DGrad", WindowsOf(g)); })
      .Kernel(Plan3D, RunSolid);
}

BlockDef MaxPool3DGrad() {
  using namespace spread;
  constexpr In<0> body{orig_body.name, "TInput", orig_body.doc};
  constexpr In<1> pooled{pooled_body.name, "TInput", pooled_body.doc};
  constexpr const char* kSummary = "The gradient of MaxPool3D: each input that equals its window's output takes all of it.";
  return Declare("MaxPool3DGrad", kSummary, true, kFloats, body, pooled, grad, output)
      .Types("TInput", kFloats)
      .Gradient([](GradientBuilder& g) { return GradientThrough(g, "MaxPool3DGradGrad"); })
      .Kernel(Plan3D, RunToAll);
}

BlockDef MaxPool3DGradGrad() {
  using namespace collect;
  constexpr const char* kSummary = "The gradient of MaxPool3DGrad: for each window the value at its first largest input.";
  return Declare("MaxPool3DGradGrad", kSummary, true, kReals, orig_body, pooled_body, grad, output)
      .Gradient([](GradientBuilder& g) { return GradientThrough(g, "MaxPool3DGrad"); })
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
