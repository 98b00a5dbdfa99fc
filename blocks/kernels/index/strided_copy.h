// Copies of boxes between arrays of any rank, each axis with a step of its own on either side: transpositions, slices, reversals. Axes that
// stay together are merged, the rest is cut into tiles. How a tile is copied is in strided_copy_tiles.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft::kernels {

/// An axis of a box: its size, and what one step along it means in the input and in the output, in elements. Steps may be negative; that
/// of the input is 0 where its elements are repeated.
struct Axis {
  int64_t size, in_step, out_step;
  int64_t step(int k) const { return k == 0 ? in_step : out_step; }
};

/// A copy of a box, in tiles: for each outer index out[i * row.out_step + j * column.out_step] = in[i * row.in_step + j * column.in_step].
struct BoxCopy {
  enum class Kind : uint8_t {
    kRows,        // column.in_step and column.out_step are 1
    kTransposed,  // row.in_step and column.out_step are 1
    kStrided,
  };
  std::vector<Axis> outer;  // outermost first; at most 62, since each has a size of two or more
  Axis row{1, 0, 0}, column{1, 1, 1};
  Kind kind = Kind::kRows;
  int64_t row_tile = 1, column_tile = 1;  // the last tile of either takes what is left, too
  int64_t tiles = 0;                      // 0 where the box is empty
  bool far = false;                       // input and output are larger than a core's own cache
  bool stream = false;                    // the output is too large for the cache
  int64_t in_start = 0, out_start = 0;  // the box's first element, counted in each array
  int64_t row_tiles() const { return std::max<int64_t>(row.size / row_tile, 1); }
  int64_t column_tiles() const { return std::max<int64_t>(column.size / column_tile, 1); }
  std::string implementation() const;
  /// Tiles in a piece of work that is worth a task of its own.
  int64_t grain() const { return 1 + 32768 / (row_tile * column_tile); }
};

/// The box of these axes, in any order; no element of the output may be met twice. `element` is the size of an element in bytes.
BoxCopy MakeBoxCopy(std::vector<Axis> axes, size_t element);

/// What one step along each axis means in a row-major array of these sizes; their product must fit, zeros counted as ones.
std::vector<int64_t> DenseSteps(std::span<const int64_t> dims);

/// Axis i of the output is axis perm[i] of the input; perm is a permutation of 0 ... dims.size() - 1.
BoxCopy MakeTransposition(std::span<const int64_t> dims, std::span<const int64_t> perm, size_t element);

}  // namespace weft::kernels
