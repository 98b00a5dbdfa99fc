// ResizeBilinear, ResizeBicubic, ResizeNearestNeighbor and the blocks of their gradients: pictures in another size.
#include "blocks/kernels/image/resize.h"

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using kernels::ResizePieces;
using kernels::ResizePlan;

constexpr In<0> images{"images", "T", "[batch, height, width, channels]"};
constexpr In<1> size{"size", "DT_INT32", "[2]: the new height and width"};
constexpr Out<0> floats{"resized_images", "DT_FLOAT", "[batch, new height, new width, channels]"};
constexpr Out<0> nearest{"resized_images", "T", "[batch, new height, new width, channels]"};
constexpr Attr<bool> align_corners{"align_corners", "false",
    "whether the corner pixels of both sizes are the same, rather than their outer edges"};
constexpr Attr<bool> half_pixel_centers{"half_pixel_centers", "false",
    "whether the place of a pixel is its centre, rather than its lower edge; not with align_corners"};

constexpr In<0> float_grads{"grads", "DT_FLOAT", "[batch, new height, new width, channels]: the gradient of the resized pictures"};
constexpr In<0> grads{"grads", "T", "[batch, new height, new width, channels]: the gradient of the resized pictures"};
constexpr In<1> original{"original_image", "T", "[batch, height, width, channels]: gives its shape"};
constexpr In<1> original_size{"size", "DT_INT32", "[2]: height and width before"};
constexpr Out<0> output{"output", "T", "[batch, height, width, channels]"};

constexpr auto kSampled = kReals;

// ---- plans -------------------------------------------------------------------------------------------------------------------

/// The sizes of a batch, and those that its pictures get or had. Both must not be 0.
template <class P, class S>
Result<ResizePlan> PlanSizes(PlanContext& ctx, const P& pictures, const S& blame, const Shape& in, const Shape& out) {
  if (ctx.attr(align_corners) && ctx.attr(half_pixel_centers)) {
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
    *axis = {in[i], out[i], kernels::ResizeScale(in[i], out[i], ctx.attr(align_corners)), ctx.attr(align_corners),
             ctx.attr(half_pixel_centers)};
  }
  return plan;
}

/// The shape of `pictures` with the height and width that the values of `sizes` give.
template <class P, class S>
Result<Shape> ShapeWith(PlanContext& ctx, const P& pictures, const S& sizes) {
  const Shape& shape = ctx.shape(pictures);
  if (shape.rank() != 4) return ctx.Error(pictures, "needs rank 4, found shape ", shape);
  if (ctx.shape(sizes) != Shape{2}) return ctx.Error(sizes, "needs 2 numbers, height and width, found shape ", ctx.shape(sizes));
  const Ints given = ctx.ints(sizes);
  if (given[0] < 1 || given[1] < 1) return ctx.Error(sizes, "needs sizes of 1 or more, found ", given[0], " and ", given[1]);
  auto resized = Shape::Make(Ints{shape[0], given[0], given[1], shape[3]});
  if (!resized.ok()) return std::move(resized).status().WithPort(sizes.name);
  return resized;
}

Result<ResizePlan> PlanResize(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Shape resized, ShapeWith(ctx, images, size));
  WEFT_ASSIGN_OR_RETURN(ResizePlan plan, PlanSizes(ctx, images, size, ctx.shape(images), resized));
  ctx.set(floats, std::move(resized));
  return plan;
}

template <int K>
Result<ResizePlan> PlanMix(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(ResizePlan plan, PlanResize(ctx));
  ctx.set_scratch(kernels::ResizeScratchBytes<K>(plan));
  return plan;
}

Result<ResizePlan> PlanNearest(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(ResizePlan plan, PlanResize(ctx));
  ctx.set_scratch(plan.x.out * static_cast<int64_t>(sizeof(int64_t)));
  return plan;
}

template <int K>
void PlanGradientScratch(PlanContext& ctx, const ResizePlan& plan) {
  const bool wide = ctx.dtype(output) == DType::kDouble;
  ctx.set_scratch(wide ? kernels::ResizeGradientScratchBytes<K, double>(plan) : kernels::ResizeGradientScratchBytes<K, float>(plan));
}

template <int K>
Result<ResizePlan> PlanMixGradient(PlanContext& ctx) {
  const Shape &out = ctx.shape(float_grads), &in = ctx.shape(original);
  if (out.rank() != 4) return ctx.Error(float_grads, "needs rank 4, found shape ", out);
  if (in.rank() != 4) return ctx.Error(original, "needs rank 4, found shape ", in);
  if (in[0] != out[0] || in[3] != out[3]) {
    return ctx.Error(original, "needs the batch and the channels of grads, ", out, ", found shape ", in);
  }
  WEFT_ASSIGN_OR_RETURN(ResizePlan plan, PlanSizes(ctx, float_grads, original, in, out));
  ctx.set(output, in);
  PlanGradientScratch<K>(ctx, plan);
  return plan;
}

Result<ResizePlan> PlanNearestGradient(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Shape in, ShapeWith(ctx, grads, original_size));
  WEFT_ASSIGN_OR_RETURN(ResizePlan plan, PlanSizes(ctx, grads, original_size, in, ctx.shape(grads)));
  ctx.set(output, std::move(in));
  PlanGradientScratch<1>(ctx, plan);
  return plan;
}

// ---- runs --------------------------------------------------------------------------------------------------------------------

template <class T>
void WidenElements(const void* from, int64_t first, float* to, int64_t n) {
  const T* source = static_cast<const T*>(from) + first;
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(source[i]);
}

template <int K>
constexpr auto RunMix = []<class T>(const ResizePlan& plan, RunContext& ctx) {
  const auto to = ctx.out<float>(floats);
  if (to.empty()) return;
  const kernels::WidenLine widen = std::is_same_v<T, float> ? nullptr : WidenElements<T>;
  kernels::Resize<K>(plan, ctx.in<T>(images).data(), widen, to.data(), ctx.scratch().data(), ctx.workers());
};

constexpr auto RunNearest = []<class T>(const ResizePlan& plan, RunContext& ctx) {
  const auto to = ctx.out<T>(nearest);
  if (to.empty()) return;
  const T* in = ctx.in<T>(images).data();
  const auto columns = ctx.scratch<int64_t>();
  ctx.workers().For(plan.x.out, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t x = begin; x < end; ++x) columns[static_cast<size_t>(x)] = kernels::TapsOf<1>(plan.x, x).at[0] * plan.channels;
  });
  if (ctx.cancelled()) return;  // not every column is known
  const int64_t line = plan.out_line();
  const ResizePieces pieces(plan.batch * plan.y.out, line);
  ctx.workers().For(pieces.rows, pieces.length, [&](int64_t begin, int64_t end) {
    int64_t held = -1;  // the source of the row before
    kernels::StopCheck stop(ctx.workers());
    for (int64_t row = begin; row < end; ++row) {
      const int64_t source = row / plan.y.out * plan.y.in + kernels::TapsOf<1>(plan.y, row % plan.y.out).at[0];
      T* pixel = to.data() + row * line;
      if (source == held) {
        std::copy_n(pixel - line, line, pixel);
        continue;
      }
      held = source;
      const T* from = in + source * plan.in_line();
      for (int64_t x = 0; x < plan.x.out; ++x, pixel += plan.channels) {
        if (stop(plan.channels)) return;
        const T* picked = from + columns[static_cast<size_t>(x)];
        for (int64_t c = 0; c < plan.channels; ++c) pixel[c] = picked[c];
      }
    }
  });
};

template <int K>
constexpr auto RunMixGradient = []<class T>(const ResizePlan& plan, RunContext& ctx) {
  const auto to = ctx.out<T>(output);
  if (to.empty()) return;
  kernels::ResizeGradient<K>(plan, ctx.in<float>(float_grads).data(), to.data(), ctx.scratch().data(), ctx.workers());
};

constexpr auto RunNearestGradient = []<class T>(const ResizePlan& plan, RunContext& ctx) {
  const auto to = ctx.out<T>(output);
  if (to.empty()) return;
  kernels::ResizeGradient<1>(plan, ctx.in<T>(grads).data(), to.data(), ctx.scratch().data(), ctx.workers());
};

// ---- gradients ---------------------------------------------------------------------------------------------------------------

GradientAttrs PlacesOf(const GradientBuilder& g) {
  return {{"align_corners", g.AttrOf("align_corners")}, {"half_pixel_centers", g.AttrOf("half_pixel_centers")}};
}

Status MixGradient(GradientBuilder& g, std::string_view block) {
  g.Set(images, g.Add(block, {{"grads", {g.grad(floats)}}, {"original_image", {g.in(images)}}}, PlacesOf(g)));
  return {};
}
Status BilinearGradient(GradientBuilder& g) {
  if (!IsFloating(g.dtype(g.in(images)))) return {};
  return MixGradient(g, "ResizeBilinearGrad");
}
/// TensorFlow has none for short floats.
Status BicubicGradient(GradientBuilder& g) {
  const DType dtype = g.dtype(g.in(images));
  if (dtype != DType::kFloat && dtype != DType::kDouble) return {};
  return MixGradient(g, "ResizeBicubicGrad");
}

Status NearestGradient(GradientBuilder& g) {
  const GradientValue shape = g.Add("Shape", {{"input", {g.in(images)}}});
  const GradientValue begin = g.Constant(Tensor::Of<int32_t>({1}, Shape{1})), two = g.Constant(Tensor::Of<int32_t>({2}, Shape{1}));
  const GradientValue sizes = g.Add("Slice", {{"input", {shape}}, {"begin", {begin}}, {"size", {two}}});
  g.Set(images, g.Add("ResizeNearestNeighborGrad", {{"grads", {g.grad(nearest)}}, {"size", {sizes}}}, PlacesOf(g)));
  return {};
}

}  // namespace

BlockDef ResizeBilinear() {
  return Block("ResizeBilinear", "Pictures in another size, each pixel mixed of the four round its place.")
      .Ports(images, size, floats)
      .Types("T", kSampled)
      .Attrs(align_corners, half_pixel_centers)
      .ShapedBy(size)
      .Gradient(BilinearGradient)
      .Kernel(PlanMix<2>, RunMix<2>);
}

BlockDef ResizeBicubic() {
  return Block("ResizeBicubic", "Pictures in another size, each pixel mixed of the sixteen round its place by cubic weights.")
      .Details("Weights are those of 1,024 steps between pixels.")
      .Ports(images, size, floats)
      .Types("T", kSampled)
      .Attrs(align_corners, half_pixel_centers)
      .ShapedBy(size)
      .Gradient(BicubicGradient)
      .Kernel(PlanMix<4>, RunMix<4>);
}

BlockDef ResizeNearestNeighbor() {
  return Block("ResizeNearestNeighbor", "Pictures in another size, each pixel the one nearest to its place.")
      .Ports(images, size, nearest)
      .Types("T", kSampled)
      .Attrs(align_corners, half_pixel_centers)
      .ShapedBy(size)
      .Gradient(NearestGradient)
      .Kernel(PlanNearest, RunNearest, kBySize);
}

BlockDef ResizeBilinearGrad() {
  return Block("ResizeBilinearGrad", "The gradient of ResizeBilinear.")
      .Ports(float_grads, original, output)
      .Types("T", kFloats)
      .Attrs(align_corners, half_pixel_centers)
      .Internal()
      .NotDifferentiable()
      .Kernel(PlanMixGradient<2>, RunMixGradient<2>);
}

BlockDef ResizeBicubicGrad() {
  return Block("ResizeBicubicGrad", "The gradient of ResizeBicubic.")
      .Ports(float_grads, original, output)
      .Types("T", TypeList<float, double>{})
      .Attrs(align_corners, half_pixel_centers)
      .Internal()
      .Kernel(PlanMixGradient<4>, RunMixGradient<4>);
}

BlockDef ResizeNearestNeighborGrad() {
  return Block("ResizeNearestNeighborGrad", "The gradient of ResizeNearestNeighbor.")
      .Ports(grads, original_size, output)
      .Types("T", kFloats)
      .Attrs(align_corners, half_pixel_centers)
      .ShapedBy(original_size)
      .Internal()
      .Kernel(PlanNearestGradient, RunNearestGradient);
}

}  // namespace weft::blocks
