#include "blocks/elementwise.h"

namespace weft::blocks {

Result<kernels::BroadcastLoops> PlanBroadcastPorts(PlanContext& ctx, const In<0>& x, const In<1>& y) {
  WEFT_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(ctx, x, y));
  ctx.set(Out<0>{}, std::move(shape));
  return kernels::MakeBroadcastLoops(ctx.shape(x).dims(), ctx.shape(y).dims());
}

}  // namespace weft::blocks
