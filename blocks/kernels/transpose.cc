#include "blocks/kernels/transpose.h"

namespace weft::kernels {
namespace {

// The output's axes, outermost first, with those of size 1 left out and those that stay together in the input merged.
std::vector<Axis> MergedAxes(std::span<const int64_t> dims, std::span<const int64_t> perm) {
  std::vector<int64_t> in_step(dims.size());
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    in_step[i] = step;
    step *= dims[i];
  }
  std::vector<Axis> axes;
  for (int64_t axis : perm) {
    const int64_t size = dims[axis];
    if (size == 1) continue;
    if (!axes.empty() && axes.back().in_step == in_step[axis] * size) {
      axes.back().size *= size;
      axes.back().in_step = in_step[axis];
    } else {
      axes.push_back({size, in_step[axis], 0});
    }
  }
  step = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    axes[i].out_step = step;
    step *= axes[i].size;
  }
  return axes;
}

// About 16 KB of elements: the input's part and the output's both stay in the first cache.
void ChooseTiles(Transposition& t, size_t element) {
  const int64_t elements = 16384 / static_cast<int64_t>(element);
  if (t.column.in_step == 1) {
    t.column_tile = std::min(t.column.size, 4 * elements);
    t.row_tile = std::min(t.row.size, std::max<int64_t>(elements / t.column_tile, 1));
  } else {
    const int64_t side = std::max<int64_t>(element == 1 ? 128 : element < 8 ? 64 : 32, 1);
    t.row_tile = std::min(t.row.size, side);
    t.column_tile = std::min(t.column.size, side);
    if (t.row_tile < side) t.column_tile = std::min(t.column.size, std::max(side, elements / t.row_tile / side * side));
    if (t.column_tile < side) t.row_tile = std::min(t.row.size, std::max(side, elements / t.column_tile / side * side));
  }
}

}  // namespace

Transposition MakeTransposition(std::span<const int64_t> dims, std::span<const int64_t> perm, size_t element) {
  Transposition t;
  for (int64_t size : dims) {
    if (size == 0) return t;
  }
  std::vector<Axis> axes = MergedAxes(dims, perm);
  if (!axes.empty()) {
    t.column = axes.back();
    axes.pop_back();
  }
  if (!axes.empty()) {
    // The row is the axis that lies densely in the input, or the next one where whole rows are copied.
    size_t row = axes.size() - 1;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].in_step == 1) row = i;
    }
    t.row = axes[row];
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(row));
  }
  t.outer = std::move(axes);
  ChooseTiles(t, element);
  t.tiles = (t.column.size + t.column_tile - 1) / t.column_tile * ((t.row.size + t.row_tile - 1) / t.row_tile);
  for (const Axis& axis : t.outer) t.tiles *= axis.size;
  return t;
}

}  // namespace weft::kernels
