// Conv2D and its gradients. The blocks whose names end in Like take the shape of a tensor in place of a vector of sizes: gradients use
// them, so that shapes stay known before anything runs.
#include "blocks/limits.h"
#include "blocks/nn/convolution.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr Attr<Ints> strides{"strides", kRequired,
    "steps of the window, one number an axis in the order of data_format; 1 for batch and channels"};
constexpr Attr<bool> use_cudnn_on_gpu{"use_cudnn_on_gpu", "true", "changes nothing on a CPU"};
constexpr Attr<Padding> padding{"padding", kRequired,
    "SAME pads so that a stride of 1 keeps the size, VALID not at all, EXPLICIT as explicit_paddings says"};
constexpr Attr<Ints> explicit_paddings{"explicit_paddings", "{}", "for EXPLICIT: padding in front of and behind each axis, 8 numbers"};
constexpr Attr<Layout> data_format{"data_format", "NHWC", "order of the axes of pictures", "NHWC|NCHW"};
constexpr Attr<Ints> dilations{"dilations", "{1,1,1,1}", "distance of the filter's taps, one number an axis; 1 for batch and channels"};

constexpr char kPictureDoc[] = "[batch, height, width, in_channels]; for NCHW [batch, in_channels, height, width]";
constexpr char kFilterDoc[] = "[taps down, taps across, in_channels / groups, out_channels]";
constexpr char kGradientDoc[] = "the convolution's output: [batch, out_height, out_width, out_channels]; NCHW likewise";
constexpr auto kConvolved = kFloats + TypeList<int32_t>{};

ConvolutionSettings SettingsOf(const PlanContext& ctx, Code unsupported = Code::kUnsupported) {
  return {OrderOf(ctx.attr(data_format)), ctx.attr(strides), ctx.attr(dilations), ctx.attr(explicit_paddings), ctx.attr(padding),
      unsupported};
}

/// Geometry attributes as another convolution block takes them.
GradientAttrs GeometryOf(const GradientBuilder& g) {
  GradientAttrs attrs;
  for (const char* name : {strides.name, use_cudnn_on_gpu.name, padding.name, explicit_paddings.name, data_format.name, dilations.name}) {
    attrs.emplace_back(name, g.AttrOf(name));
  }
  return attrs;
}

// Gradients of all three are built of the three.
GradientValue Convolved(GradientBuilder& g, GradientValue input, GradientValue filter) {
  return g.Add("Conv2D", {{"input", {input}}, {"filter", {filter}}}, GeometryOf(g));
}
GradientValue ByInput(GradientBuilder& g, GradientValue like, GradientValue filter, GradientValue dy) {
  return g.Add("Conv2DBackpropInputLike", {{"like", {like}}, {"filter", {filter}}, {"out_backprop", {dy}}}, GeometryOf(g));
}
GradientValue ByFilter(GradientBuilder& g, GradientValue input, GradientValue like, GradientValue dy) {
  return g.Add("Conv2DBackpropFilterLike", {{"input", {input}}, {"like", {like}}, {"out_backprop", {dy}}}, GeometryOf(g));
}

namespace forward {
constexpr In<0> input{"input", "T", kPictureDoc};
constexpr In<1> filter{"filter", "T", kFilterDoc};
constexpr Out<0> output{"output", "T",
    "[batch, out_height, out_width, out_channels]; for NCHW [batch, out_channels, out_height, out_width]"};

Result<kernels::TapProduct> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Convolution c,
                        PlanConvolution(SettingsOf(ctx), ctx.shape(input), ctx.shape(filter), input.name, filter.name));
  WEFT_ASSIGN_OR_RETURN(Shape shape, PictureShape(c.order, c.batch, c.out_channels, c.out_sizes(), input.name));
  if (shape.count() != 0 && ctx.shape(filter).count() == 0) {
    return ctx.Error(filter, "needs at least one tap, found shape ", ctx.shape(filter));
  }
  ctx.set(output, std::move(shape));
  const kernels::TapProduct product = ForwardProduct(c);
  const kernels::TapCut cut = kernels::CutTapProduct(product);
  ctx.set_scratch(cut.lanes * cut.lane_elements() * static_cast<int64_t>(ElementSize(ctx.dtype(input))));
  return product;
}

constexpr auto Run = []<class T>(const kernels::TapProduct& product, RunContext& ctx) {
  const auto from = ctx.in<T>(input);
  const auto to = ctx.out<T>(output);
  if (from.empty()) {  // all padding
    std::fill(to.begin(), to.end(), T(0));
    return;
  }
  kernels::RunTapProduct(product, from.data(), ctx.in<T>(filter).data(), to.data(), ctx.scratch<T>().data(), ctx.workers());
};

Status Gradient(GradientBuilder& g) {
  const GradientValue dy = g.grad(output);
  if (g.wanted(input)) g.Set(input, ByInput(g, g.in(input), g.in(filter), dy));
  if (g.wanted(filter)) g.Set(filter, ByFilter(g, g.in(input), g.in(filter), dy));
  return {};
}
}  // namespace forward

namespace by_input {
constexpr In<0> input_sizes{"input_sizes", "DT_INT32", "[4], the shape of the convolution's input; or [2], its height and width"};
constexpr In<0> like{"like", "T", "the convolution's input, for its shape"};
constexpr In<1> filter{"filter", "T", kFilterDoc};
constexpr In<2> out_backprop{"out_backprop", "T", kGradientDoc};
constexpr Out<0> output{"output", "T", kPictureDoc};

Result<InputGradient> PlanFor(PlanContext& ctx, const Shape& picture, const char* picture_port) {
  WEFT_ASSIGN_OR_RETURN(const Convolution c, PlanConvolution(SettingsOf(ctx), picture, ctx.shape(filter), picture_port, filter.name));
  WEFT_RETURN_IF_ERROR(CheckGradientShape(c, ctx.shape(out_backprop), out_backprop.name));
  ctx.set(output, picture);
  InputGradient gradient(c, picture.count() == 0 || ctx.shape(filter).count() == 0 || ctx.shape(out_backprop).count() == 0);
  ctx.set_scratch(gradient.scratch() * static_cast<int64_t>(ElementSize(ctx.dtype(filter))));
  return gradient;
}

Result<InputGradient> Plan(PlanContext& ctx) {
  const Shape &sizes_shape = ctx.value(input_sizes).shape(), &weights = ctx.shape(filter), &dy = ctx.shape(out_backprop);
  if (sizes_shape.rank() != 1 || (sizes_shape[0] != 4 && sizes_shape[0] != 2)) {
    return ctx.Error(input_sizes, "needs 4 numbers (or height and width), found shape ", sizes_shape);
  }
  Ints sizes = ctx.ints(input_sizes);
  if (sizes.size() == 2) {
    if (weights.rank() != 4) return ctx.Error(filter, "needs rank 4, found shape ", weights);
    if (dy.rank() != 4) return ctx.Error(out_backprop, "needs rank 4, found shape ", dy);
    const bool first = ctx.attr(data_format) == Layout::NCHW;
    sizes = first ? Ints{dy[0], weights[2], sizes[0], sizes[1]} : Ints{dy[0], sizes[0], sizes[1], weights[2]};
  }
  auto picture = Shape::Make(sizes);
  if (!picture.ok()) return std::move(picture).status().WithPort(input_sizes.name);
  return PlanFor(ctx, *picture, input_sizes.name);
}
Result<InputGradient> PlanLike(PlanContext& ctx) { return PlanFor(ctx, ctx.shape(like), like.name); }

constexpr auto Run = []<class T>(const InputGradient& gradient, RunContext& ctx) {
  gradient.Run(ctx.in<T>(filter).data(), ctx.in<T>(out_backprop).data(), ctx.out<T>(output).data(), ctx.scratch<T>().data(), ctx.workers());
};

Status Gradient(GradientBuilder& g) {
  const GradientValue dx = g.grad(output);
  if (g.wanted(filter)) g.Set(filter, ByFilter(g, dx, g.in(filter), g.in(out_backprop)));
  if (g.wanted(out_backprop)) g.Set(out_backprop, Convolved(g, dx, g.in(filter)));
  return {};
}
}  // namespace by_input

namespace by_filter {
constexpr In<0> input{"input", "T", kPictureDoc};
constexpr In<1> filter_sizes{"filter_sizes", "DT_INT32", "[4], the shape of the filter"};
constexpr In<1> like{"like", "T", "the filter, for its shape"};
constexpr In<2> out_backprop{"out_backprop", "T", kGradientDoc};
constexpr Out<0> output{"output", "T", kFilterDoc};

Result<kernels::FilterSum> PlanFor(PlanContext& ctx, const Shape& filter, const char* filter_port) {
  WEFT_ASSIGN_OR_RETURN(const Convolution c,
                        PlanConvolution(SettingsOf(ctx, Code::kInvalidArgument), ctx.shape(input), filter, input.name, filter_port));
  WEFT_RETURN_IF_ERROR(CheckGradientShape(c, ctx.shape(out_backprop), out_backprop.name));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(filter, filter_port));
  ctx.set(output, filter);
  kernels::FilterSum sum = FilterGradient(c);
  const bool empty = ctx.shape(input).count() == 0 || ctx.shape(out_backprop).count() == 0;
  if (empty) sum.gather.batch = 0;
  const int64_t element = ctx.dtype(input) == DType::kDouble ? 8 : 4;
  if (!empty) ctx.set_scratch(kernels::FilterScratch(sum) * element);
  return sum;
}

Result<kernels::FilterSum> Plan(PlanContext& ctx) {
  const Shape& sizes = ctx.value(filter_sizes).shape();
  if (sizes.rank() != 1 || sizes[0] != 4) return ctx.Error(filter_sizes, "needs 4 numbers, found shape ", sizes);
  auto filter = Shape::Make(ctx.ints(filter_sizes));
  if (!filter.ok()) return std::move(filter).status().WithPort(filter_sizes.name);
  return PlanFor(ctx, *filter, filter_sizes.name);
}
Result<kernels::FilterSum> PlanLike(PlanContext& ctx) { return PlanFor(ctx, ctx.shape(like), like.name); }

constexpr auto Run = []<class T>(const kernels::FilterSum& sum, RunContext& ctx) {
  kernels::RunFilterSum(sum, ctx.in<T>(input).data(), ctx.in<T>(out_backprop).data(), ctx.out<T>(output).data(),
                        ctx.scratch<Accumulator<T>>().data(), ctx.workers());
};

Status Gradient(GradientBuilder& g) {
  const GradientValue df = g.grad(output);
  if (g.wanted(input)) g.Set(input, ByInput(g, g.in(input), df, g.in(out_backprop)));
  if (g.wanted(out_backprop)) g.Set(out_backprop, Convolved(g, g.in(input), df));
  return {};
}
}  // namespace by_filter

constexpr char kGroups[] =
    "Where the pictures have more channels than the filter's in_channels, they come in groups, each with its share of the output channels. "
    "half and bfloat16 are summed in float.";

template <class Types, class... Ports>
auto Declare(const char* name, const char* summary, Types types, const Ports&... ports) {
  auto block = Block(name, summary).Details(kGroups).Ports(ports...).Types("T", types);
  return std::move(block).Attrs(strides, use_cudnn_on_gpu, padding, explicit_paddings, data_format, dilations);
}

}  // namespace

BlockDef Conv2D() {
  using namespace forward;
  return Declare("Conv2D", "Convolves pictures with a filter.", kConvolved, input, filter, output).Gradient(Gradient).Kernel(Plan, Run);
}

BlockDef Conv2DBackpropInput() {
  using namespace by_input;
  constexpr const char* kSummary = "The gradient of Conv2D with respect to its input.";
  return Declare("Conv2DBackpropInput", kSummary, kConvolved, input_sizes, filter, out_backprop, output)
      .ShapedBy(input_sizes)
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

BlockDef Conv2DBackpropInputLike() {
  using namespace by_input;
  constexpr const char* kSummary = "The gradient of Conv2D with respect to its input, which is given for its shape.";
  return Declare("Conv2DBackpropInputLike", kSummary, kConvolved, like, filter, out_backprop, output)
      .Internal()
      .Gradient(Gradient)
      .Kernel(PlanLike, Run);
}

BlockDef Conv2DBackpropFilter() {
  using namespace by_filter;
  constexpr const char* kSummary = "The gradient of Conv2D with respect to its filter.";
  return Declare("Conv2DBackpropFilter", kSummary, kFloats, input, filter_sizes, out_backprop, output)
      .ShapedBy(filter_sizes)
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

BlockDef Conv2DBackpropFilterLike() {
  using namespace by_filter;
  constexpr const char* kSummary = "The gradient of Conv2D with respect to its filter, which is given for its shape.";
  return Declare("Conv2DBackpropFilterLike", kSummary, kFloats, input, like, out_backprop, output)
      .Internal()
      .Gradient(Gradient)
      .Kernel(PlanLike, Run);
}

}  // namespace weft::blocks
