// A tensor framed by one value: Pad, and the gradient of Slice.
#pragma once

#include <vector>

#include "blocks/element_moves.h"

namespace weft::blocks {

/// An axis of the framed tensor: elements in front, of the tensor, behind.
struct FramedAxis {
  int64_t before, size, after;
  int64_t total() const { return before + size + after; }
};

/// The shape of the tensor, and the sizes with the frame.
Shape InnerShape(std::span<const FramedAxis> axes);
std::vector<int64_t> FramedSizes(std::span<const FramedAxis> axes);

/// How a tensor lies in its frame. Axes without a frame of their own are merged with the one before.
struct Frame {
  std::vector<FramedAxis> outer;  // at most 62
  FramedAxis inner{0, 1, 0};
  int64_t count = 0;  // elements with the frame
  bool empty = false;  // nothing but frame
  const ElementMoves* moves = nullptr;
};

/// The sizes of the framed tensor, each `before` + size + `after` >= 0, must be a valid shape.
Frame MakeFrame(std::vector<FramedAxis> axes, DType dtype);

/// The tensor taken out of its frame.
BoxMove MoveOutOfFrame(std::span<const FramedAxis> axes, DType dtype);

/// Writes the whole framed tensor; `value` is an element, or null for zeros.
void RunFrame(const Frame& frame, const std::byte* from, std::byte* to, const void* value, Workers& workers);

/// The paddings at a port, [rank, 2] numbers of 0 or more in front of and behind each axis, for a tensor of `shape`.
Result<std::vector<FramedAxis>> ReadPaddings(const PlanContext& ctx, const InputPort auto& port, const Shape& shape) {
  const Shape& given = ctx.shape(port);
  if (given.rank() != 2 || given[0] != shape.rank() || given[1] != 2) {
    return ctx.Error(port, "needs [", shape.rank(), ",2] for a tensor of shape ", shape, ", found ", given);
  }
  const std::vector<int64_t> numbers = ctx.ints(port);
  std::vector<FramedAxis> axes;
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t before = numbers[2 * i], after = numbers[2 * i + 1];
    int64_t total;
    if (before < 0 || after < 0) return ctx.Error(port, "needs numbers of 0 or more, found ", before, " and ", after, " for axis ", i);
    if (__builtin_add_overflow(before, after, &total) || __builtin_add_overflow(total, shape[i], &total)) {
      return ctx.Error(port, "needs sizes that fit 63 bits, found ", before, " and ", after, " for axis ", i);
    }
    axes.push_back({before, shape[i], after});
  }
  return axes;
}

/// The same for a tensor of `framed` whose paddings are part of it.
Result<std::vector<FramedAxis>> ReadPaddingsInside(const PlanContext& ctx, const InputPort auto& port, const Shape& framed) {
  WEFT_ASSIGN_OR_RETURN(std::vector<FramedAxis> axes, ReadPaddings(ctx, port, framed));
  for (FramedAxis& axis : axes) {
    axis.size -= axis.before + axis.after;
    if (axis.size < 0) return ctx.Error(port, "needs paddings that fit into ", framed, ", found ", axis.before, " and ", axis.after);
  }
  return axes;
}

}  // namespace weft::blocks
