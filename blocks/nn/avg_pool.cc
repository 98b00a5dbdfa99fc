// AvgPool and AvgPool3D, and their gradients. The blocks whose names end in Like take the shape of a tensor in place of a vector of sizes:
// gradients use them, so that shapes stay known before anything runs.
#include "blocks/kernels/pool/avg_pool.h"

#include "blocks/nn/pooling_plan.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

using namespace pooling;
using kernels::Pooling;

GradientAttrs WindowsOf(const GradientBuilder& g) {
  GradientAttrs attrs;
  for (const char* name : {ksize.name, strides.name, padding.name, data_format.name}) attrs.emplace_back(name, g.AttrOf(name));
  return attrs;
}

namespace pool {
constexpr In<0> value{"value", "T", "[batch, height, width, channels]; for NCHW [batch, channels, height, width]"};
constexpr In<0> input{"input", "T", "[batch, depth, height, width, channels]; for NCDHW [batch, channels, depth, height, width]"};
constexpr Out<0> output{"output", "T", "the same axes, with a size of one number a window"};

template <const In<0>& kInput>
Result<Pooling> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(PooledPicture pooled,
                        PlanPooling(ReadPooling(ctx, OrderOf(ctx.attr(data_format))), ctx.shape(kInput), kInput.name));
  ctx.set(output, std::move(pooled.shape));
  return pooled.pooling;
}

constexpr auto Run = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::AvgPool(p, ctx.in<T>(input).data(), ctx.out<T>(output).data(), ctx.workers());
};

Status GradientTo(GradientBuilder& g, const char* block) {
  g.Set(input, g.Add(block, {{"orig_input", {g.in(input)}}, {"grad", {g.grad(output)}}}, WindowsOf(g)));
  return {};
}
}  // namespace pool

namespace spread {
constexpr In<0> orig_input_shape{"orig_input_shape", "DT_INT32", "the shape of the pooling's input, one number an axis"};
constexpr In<0> orig_input{"orig_input", "T", "the pooling's input, for its shape"};
constexpr In<1> grad{"grad", "T", "the gradient of the pooling's output, of its shape"};
constexpr Out<0> output{"output", "T", "the gradient of the pooling's input, of its shape"};

Result<Pooling> PlanFor(PlanContext& ctx, const Shape& picture, const char* port) {
  const PoolingSettings settings = ReadPooling(ctx, OrderOf(ctx.attr(data_format)));
  WEFT_ASSIGN_OR_RETURN(PooledPicture pooled, PlanPooling(settings, picture, port));
  if (ctx.shape(grad) != pooled.shape) {
    return ctx.Error(grad, "needs the shape of the pooling's output, ", pooled.shape, ", found ", ctx.shape(grad));
  }
  ctx.set(output, picture);
  ctx.set_scratch(pooled.shape.count() * (ctx.dtype(grad) == DType::kDouble ? 8 : 4));
  return pooled.pooling;
}

Result<Pooling> Plan(PlanContext& ctx) {
  const Shape& sizes = ctx.value(orig_input_shape).shape();
  const int rank = OrderOf(ctx.attr(data_format)).rank();
  if (sizes.rank() != 1 || sizes[0] != rank) return ctx.Error(orig_input_shape, "needs ", rank, " numbers, found shape ", sizes);
  auto picture = Shape::Make(ctx.ints(orig_input_shape));
  if (!picture.ok()) return std::move(picture).status().WithPort(orig_input_shape.name);
  return PlanFor(ctx, *picture, orig_input_shape.name);
}
Result<Pooling> PlanLike(PlanContext& ctx) { return PlanFor(ctx, ctx.shape(orig_input), orig_input.name); }

constexpr auto Run = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::AvgPoolGrad(p, ctx.in<T>(grad).data(), ctx.out<T>(output).data(), ctx.scratch<Accumulator<T>>().data(), ctx.workers());
};

Status GradientTo(GradientBuilder& g, const char* block, const char* port) {
  g.Set(grad, g.Add(block, {{port, {g.grad(output)}}}, WindowsOf(g)));
  return {};
}
}  // namespace spread

template <class... Ports>
auto Declare(const char* name, const char* summary, bool solid, const Ports&... ports) {
  auto block = Block(name, summary).Ports(ports...);
  auto with = solid ? std::move(block).Attrs(ksize_3d, strides_3d, padding, data_format_3d)
                    : std::move(block).Attrs(ksize, strides, padding, data_format);
  return std::move(with).Types("T", kFloats);
}

constexpr char kDetails[] = "Padding does not count. half and bfloat16 are summed in float.";

template <const In<0>& kInput>
BlockDef Forward(const char* name, const char* summary, bool solid, GradientFunction gradient) {
  return Declare(name, summary, solid, kInput, pool::output).Details(kDetails).Gradient(gradient).Kernel(pool::Plan<kInput>, pool::Run);
}

BlockDef Backward(const char* name, const char* summary, bool solid, GradientFunction gradient) {
  using namespace spread;
  return Declare(name, summary, solid, orig_input_shape, grad, output).ShapedBy(orig_input_shape).Gradient(gradient).Kernel(Plan, Run);
}

BlockDef BackwardLike(const char* name, const char* summary, bool solid, GradientFunction gradient) {
  using namespace spread;
  return Declare(name, summary, solid, orig_input, grad, output).Internal().Gradient(gradient).Kernel(PlanLike, Run);
}

Status ToPictures(GradientBuilder& g) { return pool::GradientTo(g, "AvgPoolGradLike"); }
Status ToBodies(GradientBuilder& g) { return pool::GradientTo(g, "AvgPool3DGradLike"); }
Status ToPooledPictures(GradientBuilder& g) { return spread::GradientTo(g, "AvgPool", pool::value.name); }
Status ToPooledBodies(GradientBuilder& g) { return spread::GradientTo(g, "AvgPool3D", pool::input.name); }

}  // namespace

BlockDef AvgPool() {
  return Forward<pool::value>("AvgPool", "The average under each window of a picture.", false, ToPictures);
}
BlockDef AvgPoolGrad() {
  return Backward("AvgPoolGrad", "The gradient of AvgPool: each window shares its gradient out.", false, ToPooledPictures);
}
BlockDef AvgPoolGradLike() {
  return BackwardLike("AvgPoolGradLike", "The gradient of AvgPool, whose input is given for its shape.", false, ToPooledPictures);
}
BlockDef AvgPool3D() {
  return Forward<pool::input>("AvgPool3D", "The average under each window of a body of three dimensions.", true, ToBodies);
}
BlockDef AvgPool3DGrad() {
  return Backward("AvgPool3DGrad", "The gradient of AvgPool3D: each window shares its gradient out.", true, ToPooledBodies);
}
BlockDef AvgPool3DGradLike() {
  return BackwardLike("AvgPool3DGradLike", "The gradient of AvgPool3D, whose input is given for its shape.", true, ToPooledBodies);
}

}  // namespace weft::blocks
