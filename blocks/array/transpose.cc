// Transpose, and the transposition back that its gradient needs.
#include "blocks/element_moves.h"
#include "blocks/gradient_block.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "of any shape"};
constexpr In<1> perm{"perm", "Tperm", "[rank]: axis i of the output is axis perm[i] of x; negative ones count from the end"};
constexpr Out<0> y{"y", "T", "x with its axes in the order of perm"};

constexpr In<0> back_x{"x", "T", "of any shape"};
constexpr In<1> back_perm{"perm", "Tperm", "[rank]: axis perm[i] of the output is axis i of x"};
constexpr Out<0> back_y{"y", "T", "x with its axes put back where perm took them from"};

// The axes as a permutation, each in [0, rank).
Result<std::vector<int64_t>> CheckedPerm(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckVector(ctx, perm, ctx.shape(x).rank(), "axis of x"));
  std::vector<int64_t> axes = ctx.ints(perm);
  std::vector<bool> seen(axes.size());
  for (int64_t& axis : axes) {
    WEFT_ASSIGN_OR_RETURN(axis, AxisOf(ctx, perm, axis, ctx.shape(x)));
    if (seen[axis]) return ctx.Error(perm, "needs each axis once, found ", axis, " twice");
    seen[axis] = true;
  }
  return axes;
}

Result<BoxMove> PlanPerm(PlanContext& ctx, const std::vector<int64_t>& axes) {
  const Shape& shape = ctx.shape(x);
  Shape turned = shape;
  for (size_t i = 0; i < axes.size(); ++i) turned.set_dim(static_cast<int>(i), shape[static_cast<int>(axes[i])]);
  ctx.set(y, std::move(turned));
  return TranspositionOf(shape.dims(), axes, ctx.dtype(x));
}

Result<BoxMove> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(std::vector<int64_t> axes, CheckedPerm(ctx));
  return PlanPerm(ctx, axes);
}

Result<BoxMove> PlanBack(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(std::vector<int64_t> axes, CheckedPerm(ctx));
  std::vector<int64_t> inverse(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) inverse[axes[i]] = static_cast<int64_t>(i);
  return PlanPerm(ctx, inverse);
}

}  // namespace

BlockDef Transpose() {
  return Block("Transpose", "Puts the axes of a tensor in another order.")
      .Ports(x, perm, y).Types("T", kAllTypes).Types("Tperm", kIndices).ShapedBy(perm)
      .Gradient(GradientBlock(x, "TransposeBack", {{"x", Grad(y)}, {"perm", perm}})).Kernel(Plan, RunBoxMove);
}

BlockDef TransposeBack() {
  return Block("TransposeBack", "Undoes a Transpose by the same perm: the gradient of Transpose.")
      .Ports(back_x, back_perm, back_y).Types("T", kAllTypes).Types("Tperm", kIndices).ShapedBy(back_perm)
      .Internal().Gradient(GradientBlock(back_x, "Transpose", {{"x", Grad(back_y)}, {"perm", back_perm}})).Kernel(PlanBack, RunBoxMove);
}

}  // namespace weft::blocks
