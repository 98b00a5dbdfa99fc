// MaxPool and its gradients.
#include "blocks/kernels/max_pool.h"

#include "blocks/nn/window_plan.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using kernels::Pooling;

constexpr Attr<Ints> ksize{"ksize", kRequired, "size of the window, one number an axis in the order of data_format; 1 for the batch",
    nullptr, 4};
constexpr Attr<Ints> strides{"strides", kRequired, "steps of the window, one number an axis; 1 for the batch", nullptr, 4};
constexpr Attr<Padding> padding{"padding", kRequired,
    "SAME pads so that a stride of 1 keeps the size, VALID not at all, EXPLICIT as explicit_paddings says"};
constexpr Attr<Padding> implicit_padding{"padding", kRequired, "SAME pads so that a stride of 1 keeps the size, VALID not at all",
    "SAME|VALID"};
constexpr Attr<Ints> explicit_paddings{"explicit_paddings", "{}", "for EXPLICIT: padding in front of and behind each axis, 8 numbers"};
constexpr Attr<Layout> data_format{"data_format", "NHWC", "order of the axes", "NHWC|NCHW"};
constexpr Attr<std::string> any_data_format{"data_format", "NHWC", "order of the axes; NCHW_VECT_C is refused", "NHWC|NCHW|NCHW_VECT_C"};

constexpr char kPictureDoc[] = "[batch, height, width, channels]; for NCHW [batch, channels, height, width]";
constexpr char kPooledDoc[] = "[batch, out_height, out_width, channels]; NCHW likewise";

/// What a pooling needs beside its kernel's parameters.
struct PooledPicture {
  Pooling pooling;
  Shape shape;  // of the output
};

/// Windows over channels: they must tile them, and stand alone.
Result<PooledPicture> OverChannels(const PerAxis& window, const PerAxis& steps, const PictureOrder& order, const Shape& shape) {
  const int64_t channels = shape[order.channel_axis()];
  for (int64_t size : window.spatial) {
    if (size != 1) return Unsupported("needs windows over channels or over height and width, not both").WithPort(ksize.name);
  }
  for (int64_t step : steps.spatial) {
    if (step != 1) return Unsupported("needs strides of 1 over height and width where the window is over channels").WithPort(strides.name);
  }
  if (steps.channel != window.channel) {
    return Unsupported("needs the window's size, ", window.channel, ", over channels, found ", steps.channel).WithPort(strides.name);
  }
  if (channels % window.channel != 0) {
    return Unsupported("needs a window that divides the ", channels, " channels, found ", window.channel).WithPort(ksize.name);
  }
  PooledPicture pooled;
  pooled.shape = shape;
  pooled.shape.set_dim(order.channel_axis(), channels / window.channel);
  const int64_t pixels = shape.count() == 0 ? 0 : shape[order.axis(1)] * shape[order.axis(2)];
  pooled.pooling.batch = order.channels_first ? shape[0] : shape[0] * pixels;
  pooled.pooling.channels = order.channels_first ? pixels : 1;
  kernels::WindowAxis& axis = pooled.pooling.axes[2];
  axis.in = channels;
  axis.window = axis.stride = window.channel;
  axis.out = channels / window.channel;
  return pooled;
}

Status CheckWindow(const PerAxis& window, const PerAxis& steps) {
  for (int64_t size : {window.batch, window.channel, window.spatial[1], window.spatial[2]}) {
    if (size < 1) return InvalidArgument("needs numbers of 1 or more, found ", size).WithPort(ksize.name);
  }
  for (int64_t step : {steps.batch, steps.channel, steps.spatial[1], steps.spatial[2]}) {
    if (step < 1) return InvalidArgument("needs numbers of 1 or more, found ", step).WithPort(strides.name);
  }
  if (window.batch != 1) return Unsupported("needs 1 for the batch, found ", window.batch).WithPort(ksize.name);
  if (steps.batch != 1) return Unsupported("needs 1 for the batch, found ", steps.batch).WithPort(strides.name);
  return {};
}

/// The geometry of pooling `shape`, the shape of `port`.
Result<PooledPicture> PlanPooling(const PlanContext& ctx, PictureOrder order, const Paddings& paddings, const Shape& shape,
    const char* port) {
  if (shape.rank() != order.rank()) return InvalidArgument("needs rank ", order.rank(), ", found shape ", shape).WithPort(port);
  WindowSettings settings;
  settings.order = order;
  settings.paddings = paddings;
  WEFT_ASSIGN_OR_RETURN(const PerAxis window, ReadPerAxis(ksize.name, ctx.attr(ksize), order));
  WEFT_ASSIGN_OR_RETURN(settings.strides, ReadPerAxis(strides.name, ctx.attr(strides), order));
  WEFT_RETURN_IF_ERROR(CheckWindow(window, settings.strides));
  for (int i = order.first_axis(); i < 3; ++i) {
    if (paddings.before[i] >= window.spatial[i] || paddings.after[i] >= window.spatial[i]) {
      return InvalidArgument("needs less padding than the window, ", window.spatial[i], ", found ", paddings.before[i], " and ",
          paddings.after[i])
          .WithPort(explicit_paddings.name);
    }
  }
  if (window.channel != 1) return OverChannels(window, settings.strides, order, shape);
  if (settings.strides.channel != 1) return Unsupported("needs 1 for channels, found ", settings.strides.channel).WithPort(strides.name);
  PooledPicture pooled;
  WEFT_ASSIGN_OR_RETURN(pooled.pooling.axes, MakeWindowAxes(settings, shape, window.spatial, port));
  const int64_t channels = shape[order.channel_axis()];
  const auto& axes = pooled.pooling.axes;
  WEFT_ASSIGN_OR_RETURN(pooled.shape, PictureShape(order, shape[0], channels, {axes[0].out, axes[1].out, axes[2].out}, port));
  if (pooled.shape.count() == 0 && shape.count() == 0) return pooled;  // the kernel has nothing to do
  pooled.pooling.batch = order.channels_first ? shape[0] * channels : shape[0];
  pooled.pooling.channels = order.channels_first ? 1 : channels;
  return pooled;
}

/// For the gradients: pooling over channels has none, and orig_output must be what MaxPool gives.
Result<Pooling> PlanGradient(const PlanContext& ctx, const Paddings& paddings, const In<0>& orig_input, const In<1>& orig_output) {
  const PictureOrder order = OrderOf(ctx.attr(data_format));
  const Shape& shape = ctx.shape(orig_input);
  WEFT_ASSIGN_OR_RETURN(const PerAxis window, ReadPerAxis(ksize.name, ctx.attr(ksize), order));
  if (window.channel > 1) {
    return Unsupported("needs 1 for channels: pooling over channels has no gradient, found ", window.channel).WithPort(ksize.name);
  }
  WEFT_ASSIGN_OR_RETURN(PooledPicture pooled, PlanPooling(ctx, order, paddings, shape, orig_input.name));
  if (ctx.shape(orig_output) != pooled.shape) {
    return ctx.Error(orig_output, "needs the shape that MaxPool gives, ", pooled.shape, ", found ", ctx.shape(orig_output));
  }
  return pooled.pooling;
}

GradientValue ZerosLike(GradientBuilder& g, GradientValue value) { return g.Add("ZerosLike", {{"x", {value}}}); }

namespace pool {
constexpr In<0> input{"input", "T", kPictureDoc};
constexpr Out<0> output{"output", "T", kPooledDoc};

Result<Pooling> Plan(PlanContext& ctx) {
  const std::string format = ctx.attr(any_data_format);
  if (format == "NCHW_VECT_C") return ctx.Error(any_data_format, "needs NHWC or NCHW; NCHW_VECT_C packs channels for graphics processors");
  const PictureOrder order = OrderOf(format == "NCHW" ? Layout::NCHW : Layout::NHWC);
  WEFT_ASSIGN_OR_RETURN(const Paddings paddings, ReadPaddings(ctx.attr(padding), ctx.attr(explicit_paddings), order));
  WEFT_ASSIGN_OR_RETURN(PooledPicture pooled, PlanPooling(ctx, order, paddings, ctx.shape(input), input.name));
  ctx.set(output, std::move(pooled.shape));
  return pooled.pooling;
}

constexpr auto Run = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::MaxPool(p, ctx.in<T>(input).data(), ctx.out<T>(output).data(), ctx.workers());
};

Status Gradient(GradientBuilder& g) {
  g.Set(input, g.Add("MaxPoolGrad", {{"orig_input", {g.in(input)}}, {"orig_output", {g.out(output)}}, {"grad", {g.grad(output)}}},
                     {{ksize.name, g.AttrOf(ksize.name)},
                      {strides.name, g.AttrOf(strides.name)},
                      {padding.name, g.AttrOf(padding.name)},
                      {explicit_paddings.name, g.AttrOf(explicit_paddings.name)},
                      {data_format.name, g.AttrOf(data_format.name)}}));
  return {};
}
}  // namespace pool

constexpr In<0> orig_input{"orig_input", "T",
    "the input of MaxPool: [batch, height, width, channels]; for NCHW [batch, channels, height, width]"};
constexpr In<1> orig_output{"orig_output", "T", "its output: [batch, out_height, out_width, channels]; NCHW likewise"};

/// The attributes that MaxPoolGrad and MaxPoolGradGrad share.
GradientAttrs SharedAttrs(const GradientBuilder& g) {
  GradientAttrs attrs;
  for (const char* name : {ksize.name, strides.name, padding.name, data_format.name}) attrs.emplace_back(name, g.AttrOf(name));
  return attrs;
}

namespace spread {
constexpr In<2> grad{"grad", "T", "the gradient of its output, of the same shape"};
constexpr Out<0> output{"output", "T", "the gradient of its input, of the same shape"};

Result<Pooling> Plan(PlanContext& ctx) {
  const PictureOrder order = OrderOf(ctx.attr(data_format));
  WEFT_ASSIGN_OR_RETURN(const Paddings paddings, ReadPaddings(ctx.attr(padding), ctx.attr(explicit_paddings), order));
  WEFT_ASSIGN_OR_RETURN(const Pooling pooling, PlanGradient(ctx, paddings, orig_input, orig_output));
  if (ctx.shape(grad) != ctx.shape(orig_output)) {
    return ctx.Error(grad, "needs the shape of orig_output, ", ctx.shape(orig_output), ", found ", ctx.shape(grad));
  }
  if (ctx.shape(orig_input).count() != 0 && pooling.in_pixels() > kernels::kMaxPooledPixels) {
    return ctx.ErrorOf(Code::kUnsupported, orig_input, "needs pictures of no more than ", kernels::kMaxPooledPixels, " pixels");
  }
  ctx.set(output, ctx.shape(orig_input));
  return pooling;
}

constexpr auto Run = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::MaxPoolGrad(p, ctx.in<T>(orig_input).data(), ctx.in<T>(grad).data(), ctx.out<T>(output).data(), ctx.workers());
};

Status Gradient(GradientBuilder& g) {
  if (g.wanted(orig_input)) g.Set(orig_input, ZerosLike(g, g.in(orig_input)));
  if (g.wanted(orig_output)) g.Set(orig_output, ZerosLike(g, g.in(orig_output)));
  if (!g.wanted(grad)) return {};
  if (g.attr(padding) == Padding::EXPLICIT) return Unsupported("has no second gradient with EXPLICIT padding; SAME and VALID have one");
  g.Set(grad, g.Add("MaxPoolGradGrad",
                    {{"orig_input", {g.in(orig_input)}}, {"orig_output", {g.in(orig_output)}}, {"grad", {g.grad(output)}}},
                    SharedAttrs(g)));
  return {};
}
}  // namespace spread

namespace collect {
constexpr In<2> grad{"grad", "T", "the gradient of MaxPoolGrad's output: of the shape of orig_input"};
constexpr Out<0> output{"output", "T", "the gradient of MaxPoolGrad's grad: of the shape of orig_output"};

Result<Pooling> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Pooling pooling, PlanGradient(ctx, Paddings{ctx.attr(implicit_padding), {}, {}}, orig_input, orig_output));
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

Status Gradient(GradientBuilder& g) {
  if (g.wanted(orig_input)) g.Set(orig_input, ZerosLike(g, g.in(orig_input)));
  if (g.wanted(orig_output)) g.Set(orig_output, ZerosLike(g, g.in(orig_output)));
  if (!g.wanted(grad)) return {};
  g.Set(grad, g.Add("MaxPoolGrad", {{"orig_input", {g.in(orig_input)}}, {"orig_output", {g.in(orig_output)}}, {"grad", {g.grad(output)}}},
                    SharedAttrs(g)));
  return {};
}
}  // namespace collect

}  // namespace

BlockDef MaxPool() {
  using namespace pool;
  return Block("MaxPool", "The largest value under each window of a picture.")
      .Details("NaN is passed over; a window of nothing but -inf or NaN gives the lowest finite number.")
      .Ports(input, output)
      .Types("T", kReals)
      .Attrs(ksize, strides, padding, explicit_paddings, any_data_format)
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

BlockDef MaxPoolGrad() {
  using namespace spread;
  return Block("MaxPoolGrad", "The gradient of MaxPool: the first largest value of each window takes it.")
      .Ports(orig_input, orig_output, grad, output)
      .Types("T", kReals)
      .Attrs(ksize, strides, padding, explicit_paddings, data_format)
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

BlockDef MaxPoolGradGrad() {
  using namespace collect;
  return Block("MaxPoolGradGrad", "The gradient of MaxPoolGrad: for each window the value at its first largest input.")
      .Ports(orig_input, orig_output, grad, output)
      .Types("T", kReals)
      .Attrs(ksize, strides, implicit_padding, data_format)
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
