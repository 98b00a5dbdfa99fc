// ResizeBilinear, ResizeBicubic, ResizeNearestNeighbor and the blocks of their gradients: pictures in another size.
#include "blocks/gradients.h"
#include "blocks/image/resized.h"

namespace weft::blocks {
namespace {

using kernels::ResizePlan;

constexpr Out<0> floats{"resized_images", "DT_FLOAT", kResizedDoc};
constexpr Out<0> nearest{"resized_images", "T", kResizedDoc};
constexpr Attr<bool> half_pixel_centers{"half_pixel_centers", "false",
    "whether the place of a pixel is its centre, rather than its lower edge; not with align_corners"};

constexpr In<0> float_grads{"grads", "DT_FLOAT", "[batch, new height, new width, channels]: the gradient of the resized pictures"};
constexpr In<0> grads{"grads", "T", "[batch, new height, new width, channels]: the gradient of the resized pictures"};
constexpr In<1> original{"original_image", "T", "[batch, height, width, channels]: gives its shape"};
constexpr In<1> original_size{"size", "DT_INT32", "[2]: height and width before"};
constexpr Out<0> output{"output", "T", "[batch, height, width, channels]"};

// ---- plans -------------------------------------------------------------------------------------------------------------------

/// The sizes of a batch, and those that its pictures get or had. Both must not be 0.
Result<ResizePlan> PlanSizes(PlanContext& ctx, const auto& pictures, const auto& blame, const Shape& in, const Shape& out) {
  if (ctx.attr(kAlignCorners) && ctx.attr(half_pixel_centers)) {
    return ctx.Error(half_pixel_centers, "needs align_corners to be false, found both true");
  }
  for (const Shape* shape : {&in, &out}) {
    const bool given = *shape == ctx.shape(pictures);
    if ((*shape)[1] > 0 && (*shape)[2] > 0) continue;
    if (given) return ctx.Error(pictures, "needs pictures of at least one pixel, found shape ", *shape);
    return ctx.Error(blame, "needs sizes of 1 or more, found ", (*shape)[1], " and ", (*shape)[2]);
  }
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(out, blame.name));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(in, blame.name));
  ResizePlan plan;
  plan.batch = in[0];
  plan.channels = in[3];
  for (auto [axis, i] : {std::pair(&plan.y, 1), std::pair(&plan.x, 2)}) {
    *axis = {in[i], out[i], kernels::ResizeScale(in[i], out[i], ctx.attr(kAlignCorners)), ctx.attr(kAlignCorners),
             ctx.attr(half_pixel_centers)};
  }
  return plan;
}

template <int K>
Result<ResizePlan> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Shape resized, ShapeWith(ctx, kPictures, kNewSize));
  if (resized[3] < 1) return ctx.Error(kPictures, "needs at least one channel, found shape ", ctx.shape(kPictures));
  WEFT_ASSIGN_OR_RETURN(ResizePlan plan, PlanSizes(ctx, kPictures, kNewSize, ctx.shape(kPictures), resized));
  ctx.set(floats, std::move(resized));
  ctx.set_scratch(kernels::ResizeScratchBytes<K>(plan));
  return plan;
}

/// `in` is the shape of the pictures before, which `from` says.
template <int K, class P>
Result<ResizePlan> PlanGradientOf(PlanContext& ctx, const P& from, const Shape& in) {
  WEFT_ASSIGN_OR_RETURN(ResizePlan plan, PlanSizes(ctx, grads, from, in, ctx.shape(grads)));
  ctx.set(output, in);
  const bool wide = ctx.dtype(output) == DType::kDouble;
  ctx.set_scratch(wide ? kernels::ResizeGradientScratchBytes<K, double>(plan) : kernels::ResizeGradientScratchBytes<K, float>(plan));
  return plan;
}
template <int K>
Result<ResizePlan> PlanGradient(PlanContext& ctx) {
  if constexpr (K == 1) {
    WEFT_ASSIGN_OR_RETURN(const Shape in, ShapeWith(ctx, grads, original_size));
    return PlanGradientOf<K>(ctx, original_size, in);
  } else {
    const Shape &out = ctx.shape(grads), &in = ctx.shape(original);
    if (out.rank() != 4) return ctx.Error(grads, "needs rank 4, found shape ", out);
    if (in.rank() != 4) return ctx.Error(original, "needs rank 4, found shape ", in);
    if (in[0] != out[0] || in[3] != out[3]) {
      return ctx.Error(original, "needs the batch and the channels of grads, ", out, ", found shape ", in);
    }
    return PlanGradientOf<K>(ctx, original, in);
  }
}

// ---- runs --------------------------------------------------------------------------------------------------------------------

template <class T>
void WidenElements(const void* from, int64_t first, float* to, int64_t n) {
  const T* source = static_cast<const T*>(from) + first;
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(source[i]);
}

template <int K>
constexpr auto Run = []<class T>(const ResizePlan& plan, RunContext& ctx) {
  const T* const in = ctx.in<T>(kPictures).data();
  const auto to = ctx.out<std::conditional_t<K == 1, T, float>>(floats);
  if (to.empty()) return;
  if constexpr (K == 1) {
    kernels::ResizeNearest(plan, in, to.data(), ctx.scratch().data(), ctx.workers());
  } else {
    kernels::Resize<K>(plan, in, std::is_same_v<T, float> ? nullptr : WidenElements<T>, to.data(), ctx.scratch().data(), ctx.workers());
  }
};

template <int K>
constexpr auto RunGradient = []<class T>(const ResizePlan& plan, RunContext& ctx) {
  const auto to = ctx.out<T>(output);
  if (to.empty()) return;
  const auto from = ctx.in<std::conditional_t<K == 1, T, float>>(grads);
  kernels::ResizeGradient<K>(plan, from.data(), to.data(), ctx.scratch().data(), ctx.workers());
};

// ---- gradients ---------------------------------------------------------------------------------------------------------------

GradientAttrs PlacesOf(const GradientBuilder& g) { return SameAttrs(g, {kAlignCorners.name, half_pixel_centers.name}); }

Status MixGradient(GradientBuilder& g, std::string_view block) {
  g.Set(kPictures, g.Add(block, {{"grads", {g.grad(floats)}}, {"original_image", {g.in(kPictures)}}}, PlacesOf(g)));
  return {};
}
Status BilinearGradient(GradientBuilder& g) {
  return IsFloating(g.dtype(g.in(kPictures))) ? MixGradient(g, "ResizeBilinearGrad") : Status();
}
/// TensorFlow has none for short floats.
Status BicubicGradient(GradientBuilder& g) {
  const DType dtype = g.dtype(g.in(kPictures));
  return dtype == DType::kFloat || dtype == DType::kDouble ? MixGradient(g, "ResizeBicubicGrad") : Status();
}
Status NearestGradient(GradientBuilder& g) {
  const GradientValue shape = g.Add("Shape", {{"input", {g.in(kPictures)}}});
  const GradientValue begin = g.Constant(Tensor::Of<int32_t>({1}, Shape{1})), two = g.Constant(Tensor::Of<int32_t>({2}, Shape{1}));
  const GradientValue sizes = g.Add("Slice", {{"input", {shape}}, {"begin", {begin}}, {"size", {two}}});
  g.Set(kPictures, g.Add("ResizeNearestNeighborGrad", {{"grads", {g.grad(floats)}}, {"size", {sizes}}}, PlacesOf(g)));
  return {};
}

auto Forward(const char* name, const char* summary, const auto& resized, GradientFunction gradient) {
  return Block(name, summary)
      .Ports(kPictures, kNewSize, resized)
      .Types("T", kReals)
      .Attrs(kAlignCorners, half_pixel_centers)
      .ShapedBy(kNewSize)
      .Gradient(std::move(gradient));
}
auto Backward(const char* name, const char* summary, auto types, const auto&... ports) {
  return Block(name, summary).Ports(ports..., output).Types("T", types).Attrs(kAlignCorners, half_pixel_centers).Internal();
}

}  // namespace

BlockDef ResizeBilinear() {
  return Forward("ResizeBilinear", "Pictures in another size, each pixel mixed of the four round its place.", floats, BilinearGradient)
      .Kernel(Plan<2>, Run<2>);
}
BlockDef ResizeBicubic() {
  constexpr const char* kSummary = "Pictures in another size, each pixel mixed of the sixteen round its place by cubic weights.";
  return Forward("ResizeBicubic", kSummary, floats, BicubicGradient)
      .Details("Weights are those of 1,024 steps between pixels.")
      .Kernel(Plan<4>, Run<4>);
}
BlockDef ResizeNearestNeighbor() {
  constexpr const char* kSummary = "Pictures in another size, each pixel the one nearest to its place.";
  return Forward("ResizeNearestNeighbor", kSummary, nearest, NearestGradient).Kernel(Plan<1>, Run<1>, kBySize);
}

BlockDef ResizeBilinearGrad() {
  return Backward("ResizeBilinearGrad", "The gradient of ResizeBilinear.", kFloats, float_grads, original)
      .NotDifferentiable()
      .Kernel(PlanGradient<2>, RunGradient<2>);
}
BlockDef ResizeBicubicGrad() {
  return Backward("ResizeBicubicGrad", "The gradient of ResizeBicubic.", TypeList<float, double>{}, float_grads, original)
      .Kernel(PlanGradient<4>, RunGradient<4>);
}
BlockDef ResizeNearestNeighborGrad() {
  return Backward("ResizeNearestNeighborGrad", "The gradient of ResizeNearestNeighbor.", kFloats, grads, original_size)
      .ShapedBy(original_size)
      .Kernel(PlanGradient<1>, RunGradient<1>);
}

}  // namespace weft::blocks
