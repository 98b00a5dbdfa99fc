#include "blocks/elementwise.h"

#include "blocks/common_shape.h"
#include "blocks/limits.h"

namespace weft::blocks {

Result<kernels::BroadcastLoops> PlanBroadcastPorts(PlanContext& ctx, const In<0>& x, const In<1>& y) {
  if (!Broadcasts(ctx.shape(x), ctx.shape(y))) {
    return ctx.Error(y, "needs a shape that fits ", x.name, " ", ctx.shape(x), " (sizes equal or 1, from the last axis on), found ",
                     ctx.shape(y));
  }
  WEFT_ASSIGN_OR_RETURN(Shape shape, AtPort(y, CommonShape(ctx.shape(x), ctx.shape(y))));
  ctx.set(Out<0>{}, std::move(shape));
  return kernels::MakeBroadcastLoops(ctx.shape(x).dims(), ctx.shape(y).dims());
}

Status PlanPairs(PlanContext& ctx) {
  const In<0> left{ctx.def().inputs[0].name.c_str(), "", ""};
  const In<1> right{ctx.def().inputs[1].name.c_str(), "", ""};
  if (ctx.shape(left) != ctx.shape(right)) {
    return ctx.Error(right, "needs the shape of ", left.name, ", ", ctx.shape(left), ", found ", ctx.shape(right));
  }
  ctx.set(Out<0>{}, ctx.shape(left));
  return {};
}

}  // namespace weft::blocks
