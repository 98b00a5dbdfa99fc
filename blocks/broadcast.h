// Shapes of operands that are stretched over one another, after numpy's rule: aligned at the last axis, sizes must agree or be 1.
#pragma once

#include "blocks/limits.h"

namespace weft::blocks {

/// Whether the two fit together.
bool Broadcasts(const Shape& x, const Shape& y);

/// The common shape of two that fit together. invalid_argument where it has more elements than can be counted.
Result<Shape> CommonShape(const Shape& x, const Shape& y);

/// Whether `shape` can be stretched to `target`.
bool BroadcastsTo(const Shape& shape, const Shape& target);

/// The common shape of a port and `other`, which is the shape of `of`; errors are placed at the port.
Result<Shape> BroadcastShape(const PlanContext& ctx, const InputPort auto& port, const Shape& other, std::string_view of) {
  if (Broadcasts(other, ctx.shape(port))) return AtPort(port, CommonShape(other, ctx.shape(port)));
  return ctx.Error(port, "needs a shape that fits ", of, " ", other, " (sizes equal or 1, from the last axis on), found ", ctx.shape(port));
}

}  // namespace weft::blocks
