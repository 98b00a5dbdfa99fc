#include "blocks/kernels/index/strided_copy.h"

#include <cstdlib>

#include "blocks/kernels/simd/non_temporal.h"

namespace weft::kernels {
namespace {

// In the order of the output, outermost first; axes of size 1 left out, those that stay together merged.
std::vector<Axis> MergedAxes(std::vector<Axis> axes) {
  std::erase_if(axes, [](const Axis& axis) { return axis.size == 1; });
  std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return std::abs(a.out_step) > std::abs(b.out_step); });
  std::vector<Axis> merged;
  for (const Axis& axis : axes) {
    if (!merged.empty() && merged.back().in_step == axis.in_step * axis.size && merged.back().out_step == axis.out_step * axis.size) {
      merged.back() = {merged.back().size * axis.size, axis.in_step, axis.out_step};
    } else {
      merged.push_back(axis);
    }
  }
  return merged;
}

constexpr int64_t kOwnCache = 512 << 10;  // bytes of a core's own cache, of which processors have this much or more

// Tiles of a transposition are a cache line wide and long, so that each line of the output is written whole, and the input is read along its
// rows, as many side by side as a processor can follow. Where the lines of the output would push each other out, lying pages apart, they are
// four lines wide; with AVX-512 also else, as its squares read each line of the input once, but where the input's lines lie pages apart.
// Others: about 16 KB, so that both sides stay in the first cache.
void ChooseTiles(BoxCopy& box, int64_t element) {
  const int64_t elements = 16384 / element;
  if (box.kind != BoxCopy::Kind::kTransposed) {
    box.column_tile = std::min(box.column.size, 4 * elements);
    box.row_tile = std::min(box.row.size, std::max<int64_t>(elements / box.column_tile, 1));
    return;
  }
  const bool pages_apart = box.column.in_step * element % 4096 == 0;
  const int64_t lines = box.row.out_step * element >= 4096 || (kVecBytes == 64 && !pages_apart) ? 4 : 1;
  const int64_t wide = element <= 8 ? 64 * lines / element : 32, high = element <= 8 ? 512 : 32;
  box.row_tile = std::min(box.row.size, high);
  box.column_tile = std::min(box.column.size, wide);
  if (box.row_tile < high) box.column_tile = std::min(box.column.size, std::max<int64_t>(wide * high / 2 / box.row_tile / wide, 1) * wide);
  if (box.column_tile < wide) box.row_tile = std::min(box.row.size, wide * high / box.column_tile);
}

// The row is the axis that lies densely in the input where there is one and the column does not, else the next one.
void ChooseRow(BoxCopy& box, std::vector<Axis>& axes) {
  size_t row = axes.size() - 1;
  if (box.column.in_step != 1 && box.column.out_step == 1) {
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].in_step != 1) continue;
      row = i;
      box.kind = BoxCopy::Kind::kTransposed;
    }
  }
  box.row = axes[row];
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(row));
}

}  // namespace

std::string BoxCopy::implementation() const {
  if (kind == Kind::kRows) return "rows";
  if (kind == Kind::kStrided) return "any steps";
  return stream ? "transposed tiles past the cache" : "transposed tiles";
}

BoxCopy MakeBoxCopy(std::vector<Axis> axes, size_t element) {
  BoxCopy box;
  for (const Axis& axis : axes) {
    if (axis.size == 0) return box;
  }
  axes = MergedAxes(std::move(axes));
  if (!axes.empty()) {
    box.column = axes.back();
    axes.pop_back();
  }
  if (box.column.in_step != 1 || box.column.out_step != 1) box.kind = BoxCopy::Kind::kStrided;
  if (!axes.empty()) ChooseRow(box, axes);
  box.outer = std::move(axes);
  ChooseTiles(box, static_cast<int64_t>(element));
  int64_t count = box.row.size * box.column.size;
  box.tiles = box.row_tiles() * box.column_tiles();
  for (const Axis& axis : box.outer) box.tiles *= axis.size, count *= axis.size;
  const int64_t bytes = count * static_cast<int64_t>(element);
  box.far = 2 * bytes > kOwnCache;
  box.stream = IsStreamed(bytes, bytes, ResultCacheBytes());  // not in memory's order
  return box;
}

std::vector<int64_t> DenseSteps(std::span<const int64_t> dims) {
  std::vector<int64_t> steps(dims.size());
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    steps[i] = step;
    step *= std::max<int64_t>(dims[i], 1);
  }
  return steps;
}

BoxCopy MakeTransposition(std::span<const int64_t> dims, std::span<const int64_t> perm, size_t element) {
  const std::vector<int64_t> in_steps = DenseSteps(dims);
  std::vector<Axis> axes;
  int64_t out_step = 1;
  for (size_t i = perm.size(); i-- > 0;) {
    const int64_t size = dims[perm[i]];
    axes.insert(axes.begin(), {size, in_steps[perm[i]], out_step});
    out_step *= std::max<int64_t>(size, 1);
  }
  return MakeBoxCopy(std::move(axes), element);
}

}  // namespace weft::kernels
