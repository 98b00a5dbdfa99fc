// The convolutions and their gradients: Conv2D, Conv3D and DepthwiseConv2dNative are one family each. The blocks whose names end in Like
// take the shape of a tensor in place of a vector of sizes: gradients use them, so that shapes stay known before anything runs.
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "blocks/nn/convolution.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr Attr<Ints> strides{"strides", kRequired,
    "steps of the window, one number an axis in the order of data_format; 1 for batch and channels"};
constexpr Attr<Ints> strides_3d{strides.name, kRequired, strides.doc, nullptr, 5};
constexpr Attr<bool> use_cudnn_on_gpu{"use_cudnn_on_gpu", "true", "changes nothing on a CPU"};
constexpr Attr<Padding> padding{"padding", kRequired,
    "SAME pads so that a stride of 1 keeps the size, VALID not at all, EXPLICIT as explicit_paddings says"};
constexpr Attr<Padding> padding_3d{"padding", kRequired, "SAME pads so that a stride of 1 keeps the size, VALID not at all", "SAME|VALID"};
constexpr Attr<Ints> explicit_paddings{"explicit_paddings", "{}", "for EXPLICIT: padding in front of and behind each axis, 8 numbers"};
constexpr Attr<Layout> data_format{"data_format", "NHWC", "order of the axes of pictures", "NHWC|NCHW"};
constexpr Attr<Layout> data_format_3d{"data_format", "NDHWC", "order of the axes of bodies", "NDHWC|NCDHW"};
constexpr char kDilationsDoc[] = "distance of the filter's taps, one number an axis; 1 for batch and channels";
constexpr Attr<Ints> dilations{"dilations", "{1,1,1,1}", kDilationsDoc};
constexpr Attr<Ints> dilations_3d{"dilations", "{1,1,1,1,1}", kDilationsDoc};

/// What tells one kind of convolution from another.
struct Family {
  const char *name, *by_input, *by_input_like, *by_filter, *by_filter_like;
  bool depthwise = false, explicit_padding = true, short_sizes = false, needs_weights = false;
  Code forward_unsupported = Code::kInvalidArgument, unsupported = Code::kInvalidArgument;  // strides over batch or channels
  std::array<const char*, 6> attrs = {};                                                    // that gradients hand on; null: none
  const char *picture = nullptr, *filter = nullptr, *output = nullptr;                      // shapes, for the help
};

constexpr Family kConv2D{
    .name = "Conv2D",
    .by_input = "Conv2DBackpropInput",
    .by_input_like = "Conv2DBackpropInputLike",
    .by_filter = "Conv2DBackpropFilter",
    .by_filter_like = "Conv2DBackpropFilterLike",
    .short_sizes = true,
    .forward_unsupported = Code::kUnsupported,
    .unsupported = Code::kUnsupported,
    .attrs = {strides.name, use_cudnn_on_gpu.name, padding.name, explicit_paddings.name, data_format.name, dilations.name},
    .picture = "[batch, height, width, in_channels]; for NCHW [batch, in_channels, height, width]",
    .filter = "[taps down, taps across, in_channels / groups, out_channels]",
    .output = "[batch, out_height, out_width, out_channels]; for NCHW [batch, out_channels, out_height, out_width]"};
constexpr Family kConv3D{
    .name = "Conv3D",
    .by_input = "Conv3DBackpropInputV2",
    .by_input_like = "Conv3DBackpropInputLike",
    .by_filter = "Conv3DBackpropFilterV2",
    .by_filter_like = "Conv3DBackpropFilterLike",
    .explicit_padding = false,
    .needs_weights = true,
    .attrs = {strides.name, padding.name, data_format.name, dilations.name},
    .picture = "[batch, depth, height, width, in_channels]; for NCDHW [batch, in_channels, depth, height, width]",
    .filter = "[taps in depth, taps down, taps across, in_channels / groups, out_channels]",
    .output = "[batch, out_depth, out_height, out_width, out_channels]; for NCDHW the channels come second"};
constexpr Family kDepthwise{
    .name = "DepthwiseConv2dNative",
    .by_input = "DepthwiseConv2dNativeBackpropInput",
    .by_input_like = "DepthwiseConv2dNativeBackpropInputLike",
    .by_filter = "DepthwiseConv2dNativeBackpropFilter",
    .by_filter_like = "DepthwiseConv2dNativeBackpropFilterLike",
    .depthwise = true,
    .attrs = {strides.name, padding.name, explicit_paddings.name, data_format.name, dilations.name},
    .picture = kConv2D.picture,
    .filter = "[taps down, taps across, in_channels, multiplier]",
    .output = "[batch, out_height, out_width, in_channels * multiplier]; for NCHW the channels come second"};

ConvolutionSettings SettingsOf(const PlanContext& ctx, const Family& family, DType dtype, bool forward = false) {
  ConvolutionSettings settings{OrderOf(ctx.attr(data_format)), ctx.attr(strides), ctx.attr(dilations), {}, ctx.attr(padding),
                               forward ? family.forward_unsupported : family.unsupported, family.depthwise, !forward,
                               family.needs_weights, dtype};
  if (family.explicit_padding) settings.explicit_paddings = ctx.attr(explicit_paddings);
  return settings;
}

// Gradients of a family are built of its blocks.
GradientAttrs GeometryOf(const GradientBuilder& g, const Family& family) {
  GradientAttrs attrs;
  for (const char* name : family.attrs) {
    if (name != nullptr) attrs.emplace_back(name, g.AttrOf(name));
  }
  return attrs;
}
GradientValue AddConvolution(GradientBuilder& g, const Family& family, GradientValue input, GradientValue filter) {
  return g.Add(family.name, {{"input", {input}}, {"filter", {filter}}}, GeometryOf(g, family));
}
GradientValue AddByInput(GradientBuilder& g, const Family& family, GradientValue like, GradientValue filter, GradientValue dy) {
  return g.Add(family.by_input_like, {{"like", {like}}, {"filter", {filter}}, {"out_backprop", {dy}}}, GeometryOf(g, family));
}
GradientValue AddByFilter(GradientBuilder& g, const Family& family, GradientValue input, GradientValue like, GradientValue dy) {
  return g.Add(family.by_filter_like, {{"input", {input}}, {"like", {like}}, {"out_backprop", {dy}}}, GeometryOf(g, family));
}

constexpr char kSizesDoc[] = "the shape of the convolution's input, one number an axis";
constexpr char kGradientDoc[] = "the gradient of the convolution's output, of its shape";

namespace forward {
constexpr In<0> input{"input", "T", ""};
constexpr In<1> filter{"filter", "T", ""};
constexpr Out<0> output{"output", "T", ""};

template <const Family& kFamily>
Result<kernels::ChosenConv> Plan(PlanContext& ctx) {
  Shape shape;
  WEFT_ASSIGN_OR_RETURN(kernels::ConvDesc conv, PlanForward(SettingsOf(ctx, kFamily, ctx.dtype(input), true), ctx.shape(input), ctx.shape(filter), input.name,
                                                            filter.name, shape));
  ctx.set(output, std::move(shape));
  ctx.set_scratch(ConvScratchBytes(conv, ctx.dtype(input)));
  return kernels::ChosenConv(conv);
}

constexpr auto Run = []<class T>(const kernels::ChosenConv& conv, RunContext& ctx) {
  const auto to = ctx.out<T>(output);
  if (ctx.in<T>(input).empty() || ctx.in<T>(filter).empty()) {  // all padding, or no taps
    return kernels::FillLong(ctx.workers(), to.data(), static_cast<int64_t>(to.size()), T(0));
  }
  kernels::RunConv(conv, ctx.in<T>(input).data(), ctx.in<T>(filter).data(), to.data(), ctx.scratch<Accumulator<T>>().data(), ctx.workers());
};

template <const Family& kFamily>
void Gradient(GradientBuilder& g) {
  const GradientValue dy = g.grad(output);
  if (g.wanted(input)) g.Set(input, AddByInput(g, kFamily, g.in(input), g.in(filter), dy));
  if (g.wanted(filter)) g.Set(filter, AddByFilter(g, kFamily, g.in(input), g.in(filter), dy));
}
}  // namespace forward

namespace by_input {
constexpr In<0> input_sizes{"input_sizes", "DT_INT32", kSizesDoc};
constexpr In<0> any_sizes{"input_sizes", "Tshape", kSizesDoc};
constexpr In<0> like{"like", "T", "the convolution's input, for its shape"};
constexpr In<1> filter{"filter", "T", ""};
constexpr In<2> out_backprop{"out_backprop", "T", kGradientDoc};
constexpr Out<0> output{"output", "T", ""};

Result<InputGradient> PlanFor(PlanContext& ctx, const Family& family, const Shape& picture, const char* picture_port) {
  WEFT_ASSIGN_OR_RETURN(const Convolution c,
                        PlanConvolution(SettingsOf(ctx, family, ctx.dtype(filter)), picture, ctx.shape(filter), picture_port, filter.name));
  WEFT_RETURN_IF_ERROR(CheckGradientShape(c, ctx.shape(out_backprop), out_backprop.name));
  ctx.set(output, picture);
  const bool empty = picture.count() == 0 || ctx.shape(filter).count() == 0 || ctx.shape(out_backprop).count() == 0;
  InputGradient gradient(c, IsWidened(ctx.dtype(filter)), empty);
  ctx.set_scratch(gradient.scratch() * SumBytes(ctx.dtype(filter)));
  return gradient;
}

/// Height and width alone: the rest follows from the filter and the gradient.
Result<Shape> ShapeOfShortSizes(const PlanContext& ctx) {
  const Shape &weights = ctx.shape(filter), &dy = ctx.shape(out_backprop);
  if (weights.rank() != 4) return ctx.Error(filter, "needs rank 4, found shape ", weights);
  if (dy.rank() != 4) return ctx.Error(out_backprop, "needs rank 4, found shape ", dy);
  const PictureOrder order = OrderOf(ctx.attr(data_format));
  const Ints sizes = ctx.ints(input_sizes);
  Ints dims(4, dy[0]);
  dims[order.channel_axis()] = weights[2];
  for (int i : {1, 2}) dims[order.axis(i)] = sizes[i - 1];
  return AtPort(input_sizes, Shape::Make(dims));
}

template <const Family& kFamily>
Result<InputGradient> Plan(PlanContext& ctx) {
  const Shape& sizes = ctx.value(input_sizes).shape();
  const bool short_sizes = kFamily.short_sizes && sizes.rank() == 1 && sizes[0] == 2;
  const int rank = OrderOf(ctx.attr(data_format)).rank();
  WEFT_ASSIGN_OR_RETURN(const Shape picture, short_sizes ? ShapeOfShortSizes(ctx) : ShapeOfSizes(ctx, input_sizes, rank));
  return PlanFor(ctx, kFamily, picture, input_sizes.name);
}
template <const Family& kFamily>
Result<InputGradient> PlanLike(PlanContext& ctx) { return PlanFor(ctx, kFamily, ctx.shape(like), like.name); }

constexpr auto Run = []<class T>(const InputGradient& gradient, RunContext& ctx) {
  gradient.Run(ctx.in<T>(filter).data(), ctx.in<T>(out_backprop).data(), ctx.out<T>(output).data(),
               ctx.scratch<Accumulator<T>>().data(), ctx.workers());
};

template <const Family& kFamily>
void Gradient(GradientBuilder& g) {
  const GradientValue dx = g.grad(output);
  if (g.wanted(filter)) g.Set(filter, AddByFilter(g, kFamily, dx, g.in(filter), g.in(out_backprop)));
  if (g.wanted(out_backprop)) g.Set(out_backprop, AddConvolution(g, kFamily, dx, g.in(filter)));
}
}  // namespace by_input

namespace by_filter {
constexpr In<0> input{"input", "T", ""};
constexpr In<1> filter_sizes{"filter_sizes", "DT_INT32", "the shape of the filter, one number an axis"};
constexpr In<1> like{"like", "T", "the filter, for its shape"};
constexpr In<2> out_backprop{"out_backprop", "T", kGradientDoc};
constexpr Out<0> output{"output", "T", ""};

Result<kernels::ChosenConv> PlanFor(PlanContext& ctx, const Family& family, const Shape& filter, const char* filter_port) {
  ConvolutionSettings settings = SettingsOf(ctx, family, ctx.dtype(input));
  settings.unsupported = Code::kInvalidArgument;
  WEFT_ASSIGN_OR_RETURN(const Convolution c, PlanConvolution(settings, ctx.shape(input), filter, input.name, filter_port));
  WEFT_RETURN_IF_ERROR(CheckGradientShape(c, ctx.shape(out_backprop), out_backprop.name));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(filter, filter_port));
  ctx.set(output, filter);
  kernels::ConvDesc conv = ForwardProduct(c);
  conv.by_filter = true;
  if (ctx.shape(input).count() == 0 || ctx.shape(out_backprop).count() == 0) conv.gather.batch = 0;
  ctx.set_scratch(ConvScratchBytes(conv, ctx.dtype(input)));
  return kernels::ChosenConv(conv);
}

template <const Family& kFamily>
Result<kernels::ChosenConv> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Shape filter, ShapeOfSizes(ctx, filter_sizes, OrderOf(ctx.attr(data_format)).rank()));
  return PlanFor(ctx, kFamily, filter, filter_sizes.name);
}
template <const Family& kFamily>
Result<kernels::ChosenConv> PlanLike(PlanContext& ctx) { return PlanFor(ctx, kFamily, ctx.shape(like), like.name); }

constexpr auto Run = []<class T>(const kernels::ChosenConv& conv, RunContext& ctx) {
  kernels::RunConvFilterGrad(conv, ctx.in<T>(input).data(), ctx.in<T>(out_backprop).data(), ctx.out<T>(output).data(),
                             ctx.scratch<Accumulator<T>>().data(), ctx.workers());
};

template <const Family& kFamily>
void Gradient(GradientBuilder& g) {
  const GradientValue df = g.grad(output);
  if (g.wanted(input)) g.Set(input, AddByInput(g, kFamily, g.in(input), df, g.in(out_backprop)));
  if (g.wanted(out_backprop)) g.Set(out_backprop, AddConvolution(g, kFamily, g.in(input), df));
}
}  // namespace by_filter

constexpr char kGroups[] =
    "Where the pictures have more channels than the filter's in_channels, they come in groups, each with its share of the output channels. "
    "half and bfloat16 are summed in float.";
constexpr char kDepthwiseDetails[] =
    "Each channel is convolved by itself and gives as many output channels as the filter's last axis says. half and bfloat16 are summed in "
    "float.";

template <class P>
constexpr P Documented(P port, const char* doc) {
  port.doc = doc;
  return port;
}

template <const Family& kFamily, class Types, class... Ports>
auto Declare(const char* name, const std::string& summary, Types types, const Ports&... ports) {
  auto block = Block(name, summary.c_str()).Details(kFamily.depthwise ? kDepthwiseDetails : kGroups).Ports(ports...).Types("T", types);
  if constexpr (&kFamily == &kConv2D) {
    return std::move(block).Attrs(strides, use_cudnn_on_gpu, padding, explicit_paddings, data_format, dilations);
  } else if constexpr (&kFamily == &kConv3D) {
    return std::move(block).Attrs(strides_3d, padding_3d, data_format_3d, dilations_3d);
  } else {
    return std::move(block).Attrs(strides, padding, explicit_paddings, data_format, dilations);
  }
}
constexpr char kGivenForShape[] = ", which is given for its shape.";

template <const Family& F, class Types>
BlockDef Forward(const char* summary, Types types) {
  using namespace forward;
  return Declare<F>(F.name, summary, types, Documented(input, F.picture), Documented(filter, F.filter), Documented(output, F.output))
      .Gradient(Gradient<F>).Kernel(Plan<F>, Run);
}

template <const Family& F, class Types, class Given>
auto DeclareByInput(const char* name, const char* rest, Types types, const Given& given) {
  using namespace by_input;
  return Declare<F>(name, Cat("The gradient of ", F.name, " with respect to its input", rest), types, given, Documented(filter, F.filter),
                    out_backprop, Documented(output, F.picture))
      .Gradient(Gradient<F>);
}
template <const Family& F, class Types>
BlockDef ByInput(Types types) {
  using namespace by_input;
  const auto& sizes = &F == &kConv3D ? any_sizes : input_sizes;
  auto block = DeclareByInput<F>(F.by_input, ".", types, sizes).ShapedBy(sizes);
  if constexpr (&F == &kConv3D) return std::move(block).Types("Tshape", kIndices).Kernel(Plan<F>, Run);
  else return std::move(block).Kernel(Plan<F>, Run);
}
template <const Family& F, class Types>
BlockDef ByInputLike(Types types) {
  using namespace by_input;
  return DeclareByInput<F>(F.by_input_like, kGivenForShape, types, like).Internal().Kernel(PlanLike<F>, Run);
}

template <const Family& F, class Given>
auto DeclareByFilter(const char* name, const char* rest, const Given& given) {
  using namespace by_filter;
  return Declare<F>(name, Cat("The gradient of ", F.name, " with respect to its filter", rest), kFloats, Documented(input, F.picture), given,
                    out_backprop, Documented(output, F.filter))
      .Gradient(Gradient<F>);
}
template <const Family& F>
BlockDef ByFilter() {
  using namespace by_filter;
  return DeclareByFilter<F>(F.by_filter, ".", filter_sizes).ShapedBy(filter_sizes).Kernel(Plan<F>, Run);
}
template <const Family& F>
BlockDef ByFilterLike() {
  using namespace by_filter;
  return DeclareByFilter<F>(F.by_filter_like, kGivenForShape, like).Internal().Kernel(PlanLike<F>, Run);
}

constexpr auto kConvolved = kFloats + TypeList<int32_t>{};

}  // namespace

BlockDef Conv2D() { return Forward<kConv2D>("Convolves pictures with a filter.", kConvolved); }
BlockDef Conv2DBackpropInput() { return ByInput<kConv2D>(kConvolved); }
BlockDef Conv2DBackpropInputLike() { return ByInputLike<kConv2D>(kConvolved); }
BlockDef Conv2DBackpropFilter() { return ByFilter<kConv2D>(); }
BlockDef Conv2DBackpropFilterLike() { return ByFilterLike<kConv2D>(); }

BlockDef Conv3D() { return Forward<kConv3D>("Convolves bodies of three dimensions with a filter.", kFloats); }
BlockDef Conv3DBackpropInputV2() { return ByInput<kConv3D>(kFloats); }
BlockDef Conv3DBackpropInputLike() { return ByInputLike<kConv3D>(kFloats); }
BlockDef Conv3DBackpropFilterV2() { return ByFilter<kConv3D>(); }
BlockDef Conv3DBackpropFilterLike() { return ByFilterLike<kConv3D>(); }

BlockDef DepthwiseConv2dNative() { return Forward<kDepthwise>("Convolves each channel of pictures with filters of its own.", kFloats); }
BlockDef DepthwiseConv2dNativeBackpropInput() { return ByInput<kDepthwise>(kFloats); }
BlockDef DepthwiseConv2dNativeBackpropInputLike() { return ByInputLike<kDepthwise>(kFloats); }
BlockDef DepthwiseConv2dNativeBackpropFilter() { return ByFilter<kDepthwise>(); }
BlockDef DepthwiseConv2dNativeBackpropFilterLike() { return ByFilterLike<kDepthwise>(); }

}  // namespace weft::blocks
