// Shapes of operands that are stretched over one another, after numpy's rule: aligned at the last axis, sizes must agree or be 1.
#pragma once

#include <optional>

#include "weft/block/context.h"

namespace weft::blocks {

/// The common shape, or nullopt where the two do not fit together.
std::optional<Shape> BroadcastShape(const Shape& x, const Shape& y);

/// Whether `shape` can be stretched to `target`.
bool BroadcastsTo(const Shape& shape, const Shape& target);

/// The common shape of two inputs; the error is placed at the second and names both shapes.
template <InputPort X, InputPort Y>
Result<Shape> BroadcastShape(const PlanContext& ctx, const X& x, const Y& y) {
  auto shape = BroadcastShape(ctx.shape(x), ctx.shape(y));
  if (shape) return std::move(*shape);
  return ctx.Error(y, "needs a shape that fits ", x.name, " ", ctx.shape(x), " (sizes equal or 1, from the last axis on), found ",
                   ctx.shape(y));
}

}  // namespace weft::blocks
