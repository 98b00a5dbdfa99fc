// TensorSlice: the part of a tensor that one record of a checkpoint holds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/shape.h"

namespace weft::blocks::checkpoint {

/// A range of each axis; a length of -1 means the whole axis, which then starts at 0.
struct TensorSlice {
  std::vector<int64_t> starts, lengths;

  /// All of a tensor.
  static TensorSlice Whole(int rank) { return {std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, -1)}; }
  friend bool operator==(const TensorSlice&, const TensorSlice&) = default;
};

/// A slice with every length known, inside a tensor.
struct Box {
  std::vector<int64_t> starts, lengths;
  Shape shape() const { return Shape(std::span<const int64_t>(lengths)); }
  friend bool operator==(const Box&, const Box&) = default;
};

/// The slice of a tensor of `shape`; nothing where it does not fit inside.
std::optional<Box> BoxOf(const TensorSlice& slice, const Shape& shape);

/// What two boxes of one tensor share; nothing where that is empty.
std::optional<Box> Intersect(const Box& a, const Box& b);

/// Calls run(offset in `box`, offset in `outer`, elements) for each stretch of `part`, which is inside both, contiguous in both.
void ForEachRun(const Box& part, const Box& box, const Box& outer, auto&& run) {
  const int rank = static_cast<int>(part.starts.size());
  const int64_t length = rank == 0 ? 1 : part.lengths[rank - 1];
  std::vector<int64_t> at = part.starts;
  auto offset = [&](const Box& whole) {
    int64_t result = 0;
    for (int i = 0; i < rank; ++i) result = result * whole.lengths[i] + (at[i] - whole.starts[i]);
    return result;
  };
  for (int axis = 0; axis >= 0;) {
    run(offset(box), offset(outer), length);
    for (axis = rank - 2; axis >= 0; --axis) {
      if (++at[axis] < part.starts[axis] + part.lengths[axis]) break;
      at[axis] = part.starts[axis];
    }
  }
}

/// The key of a slice's record. Keys sort as (name, rank, start, length, start, length, ...) do.
std::string SliceKey(std::string_view name, const TensorSlice& slice);

}  // namespace weft::blocks::checkpoint
