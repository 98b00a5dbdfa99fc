// What begin, end, strides and the masks of a StridedSlice mean; shared by the slice, its gradients and the assignments to slices of
// variables and of resource variables.
#pragma once

#include <vector>

#include "blocks/element_moves.h"

namespace weft::blocks::strided {

inline constexpr Attr<int64_t> begin_mask{"begin_mask", "0", "bit i: begin[i] does not count, the slice starts at the first element"};
inline constexpr Attr<int64_t> end_mask{"end_mask", "0", "bit i: end[i] does not count, the slice goes to the last element"};
inline constexpr Attr<int64_t> ellipsis_mask{"ellipsis_mask", "0",
                                             "bit i: number i stands for as many whole axes as the others leave; one bit at most"};
inline constexpr Attr<int64_t> new_axis_mask{"new_axis_mask", "0", "bit i: number i is no axis of the input, but a new one of size 1"};
inline constexpr Attr<int64_t> shrink_axis_mask{"shrink_axis_mask", "0", "bit i: the axis of number i is taken out; only begin[i] counts"};

/// An axis of the slice: which elements of which axis of the tensor it takes. A new axis takes none: its step is 0.
struct SlicedAxis {
  int64_t size, step;  // step: in elements of the whole tensor
};

/// The slice of one tensor.
struct Selection {
  int64_t start = 0;  // the first element of the slice
  std::vector<SlicedAxis> axes;  // as the slice has them, axes that are taken out left out

  Shape shape() const;
};

/// The values of the three ports.
struct Numbers {
  std::vector<int64_t> begin, end, strides;
};

/// Checks that the ports are vectors of one length, and reads them. The ports must be in the block's ShapedBy.
Result<Numbers> ReadNumbers(const PlanContext& ctx, const InputPort auto& begin, const InputPort auto& end, const InputPort auto& strides) {
  if (ctx.shape(begin).rank() != 1) return ctx.Error(begin, "needs a vector, found ", ctx.shape(begin));
  if (ctx.shape(end) != ctx.shape(begin)) {
    return ctx.Error(end, "needs as many numbers as begin ", ctx.shape(begin), ", found ", ctx.shape(end));
  }
  if (ctx.shape(strides) != ctx.shape(begin)) {
    return ctx.Error(strides, "needs as many numbers as begin ", ctx.shape(begin), ", found ", ctx.shape(strides));
  }
  return Numbers{ctx.ints(begin), ctx.ints(end), ctx.ints(strides)};
}

/// The slice of a tensor of `shape`, by the numbers and the masks, which the block must declare. The errors are placed at the ports begin
/// and strides and the masks, which every block of the family has under these names.
Result<Selection> Select(const PlanContext& ctx, const Shape& shape, const Numbers& numbers);

/// A tensor of the shape of the slice, or one that can be stretched to it, into the slice of a whole one.
/// invalid_argument, placed at `port`, where `value` cannot be stretched to the slice.
Result<BoxMove> MoveIntoSlice(const Selection& selection, const Shape& value, DType dtype, const char* port);

}  // namespace weft::blocks::strided
