#include "blocks/elementwise.h"

namespace weft::blocks {

Result<kernels::BroadcastLoops> PlanBroadcastPorts(PlanContext& ctx, const In<0>& x, const In<1>& y) {
  WEFT_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(ctx, y, ctx.shape(x), x.name));
  ctx.set(Out<0>{}, std::move(shape));
  return kernels::MakeBroadcastLoops(ctx.shape(x).dims(), ctx.shape(y).dims());
}

Status PlanPairs(PlanContext& ctx) {
  const In<0> left{ctx.def().inputs[0].name.c_str(), "", ""};
  const In<1> right{ctx.def().inputs[1].name.c_str(), "", ""};
  WEFT_RETURN_IF_ERROR(CheckSameShape(ctx, right, left));
  ctx.set(Out<0>{}, ctx.shape(left));
  return {};
}

}  // namespace weft::blocks
