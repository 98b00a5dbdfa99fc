// AvgPool and AvgPool3D, and their gradients. The blocks whose names end in Like take the shape of a tensor in place of a vector of sizes:
// gradients use them, so that shapes stay known before anything runs.
#include "blocks/kernels/pool/avg_pool.h"

#include "blocks/nn/pooling_plan.h"

namespace weft::blocks {
namespace {

using namespace pooling;
using kernels::Pooling;

constexpr In<0> value{"value", "T", kPictureDoc};
constexpr In<0> input{"input", "T", kBodyDoc};
constexpr Out<0> output{"output", "T", kPooledDoc};

constexpr In<0> orig_input_shape{"orig_input_shape", "DT_INT32", "the shape of the pooling's input, one number an axis"};
constexpr In<0> orig_input{"orig_input", "T", "the pooling's input, for its shape"};
constexpr In<1> grad{"grad", "T", "the gradient of the pooling's output, of its shape"};
constexpr Out<0> shared{"output", "T", "the gradient of the pooling's input, of its shape"};

PoolingSettings SettingsOf(const PlanContext& ctx) {
  PoolingSettings settings = ReadPooling(ctx);
  settings.sizes_first = settings.order.rank() == 5;
  return settings;
}

Result<PoolPlan> Plan(PlanContext& ctx) { return PlanPooled(ctx, SettingsOf(ctx), true); }

constexpr auto Run = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::AvgPool(p, ctx.in<T>(input).data(), ctx.out<T>(output).data(), ctx.workers());
};

Result<Pooling> PlanGradient(PlanContext& ctx, const Shape& picture, const char* port) {
  PoolingSettings settings = SettingsOf(ctx);
  settings.may_have_none = true;
  WEFT_ASSIGN_OR_RETURN(const PooledPicture pooled, PlanPooling(settings, picture, port));
  WEFT_RETURN_IF_ERROR(CheckShape(ctx, grad, pooled.shape, "the pooling's output"));
  ctx.set(shared, picture);
  ctx.set_scratch(pooled.shape.count() * (ctx.dtype(grad) == DType::kDouble ? 8 : 4));
  return pooled.pooling;
}
Result<Pooling> PlanGradientOfShape(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Shape picture, ShapeOfSizes(ctx, orig_input_shape, OrderOf(ctx.attr(data_format)).rank()));
  return PlanGradient(ctx, picture, orig_input_shape.name);
}
Result<Pooling> PlanGradientLike(PlanContext& ctx) { return PlanGradient(ctx, ctx.shape(orig_input), orig_input.name); }

constexpr auto RunGradient = []<class T>(const Pooling& p, RunContext& ctx) {
  kernels::AvgPoolGrad(p, ctx.in<T>(grad).data(), ctx.out<T>(shared).data(), ctx.scratch<Accumulator<T>>().data(), ctx.workers());
};

/// The blocks of pictures, and those of bodies of three dimensions.
struct Family {
  bool solid;
  const char *pool, *input, *like;
};
constexpr Family kPictures{false, "AvgPool", value.name, "AvgPoolGradLike"}, kBodies{true, "AvgPool3D", input.name, "AvgPool3DGradLike"};

BlockDef Forward(const Family& family, const char* summary) {
  return Declare(family.pool, summary, family.solid, family.solid ? input : value, output)
      .Types("T", kFloats)
      .Details("Padding does not count. half and bfloat16 are summed in float.")
      .Gradient(GradientBlock(input, family.like, {{orig_input.name, input}, {grad.name, Grad(output)}}, WindowAttrs()))
      .Kernel(Plan, Run);
}

/// Without its plan.
auto Backward(const Family& family, const char* name, const char* summary, const In<0>& picture) {
  return Declare(name, summary, family.solid, picture, grad, shared).Types("T", kFloats)
      .Gradient(GradientBlock(grad, family.pool, {{family.input, Grad(shared)}}, WindowAttrs()));
}
BlockDef OfShape(const Family& family, const char* name, const char* summary) {
  return Backward(family, name, summary, orig_input_shape).ShapedBy(orig_input_shape).Kernel(PlanGradientOfShape, RunGradient);
}
BlockDef Like(const Family& family, const char* summary) {
  return Backward(family, family.like, summary, orig_input).Internal().Kernel(PlanGradientLike, RunGradient);
}

}  // namespace

BlockDef AvgPool() { return Forward(kPictures, "The average under each window of a picture."); }
BlockDef AvgPool3D() { return Forward(kBodies, "The average under each window of a body of three dimensions."); }
BlockDef AvgPoolGrad() { return OfShape(kPictures, "AvgPoolGrad", "The gradient of AvgPool: each window shares its gradient out."); }
BlockDef AvgPool3DGrad() { return OfShape(kBodies, "AvgPool3DGrad", "The gradient of AvgPool3D: each window shares its gradient out."); }
BlockDef AvgPoolGradLike() { return Like(kPictures, "The gradient of AvgPool, whose input is given for its shape."); }
BlockDef AvgPool3DGradLike() { return Like(kBodies, "The gradient of AvgPool3D, whose input is given for its shape."); }

}  // namespace weft::blocks
