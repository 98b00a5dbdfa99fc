#include "blocks/kernels/index/select.h"

#include <cstddef>

#include "blocks/kernels/index/walk.h"

namespace weft::kernels {

SelectLoops MakeSelectLoops(std::span<const int64_t> condition, std::span<const int64_t> t, std::span<const int64_t> e) {
  const std::span<const int64_t> operands[kSelectOperands] = {condition, t, e};
  const size_t rank = std::max({condition.size(), t.size(), e.size()});
  SelectLoops loops;
  for (const auto& sizes : operands) {
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return loops;
  }
  loops.count = 1;
  std::vector<SelectLoops::Axis> axes;  // innermost first
  int64_t steps[kSelectOperands] = {1, 1, 1};
  for (size_t d = 1; d <= rank; ++d) {
    int64_t sizes[kSelectOperands], size = 1;
    for (int k = 0; k < kSelectOperands; ++k) {
      sizes[k] = d <= operands[k].size() ? operands[k][operands[k].size() - d] : 1;
      if (sizes[k] != 1) size = sizes[k];
    }
    if (size == 1) continue;
    loops.count *= size;
    SelectLoops::Axis axis{size, {}};
    bool same = !axes.empty();
    for (int k = 0; k < kSelectOperands; ++k) {
      if (sizes[k] != 1) axis.steps[k] = steps[k];
      same = same && (axes.back().steps[k] == 0) == (axis.steps[k] == 0);
      steps[k] *= sizes[k];
    }
    if (same) axes.back().size *= size;
    else axes.push_back(axis);
  }
  loops.inner = axes.empty() ? SelectLoops::Axis{1, {1, 1, 1}} : axes.front();
  for (size_t a = axes.size(); a-- > 1;) loops.outer.push_back(axes[a]);
  return loops;
}

void RunSelect(const SelectLoops& loops, SelectFunction row, int64_t size, const bool* condition, const void* t, const void* e, void* z,
               int64_t begin, int64_t end) {
  const std::byte *from_t = static_cast<const std::byte*>(t), *from_e = static_cast<const std::byte*>(e);
  std::byte* to = static_cast<std::byte*>(z);
  const SelectLoops::Axis& inner = loops.inner;
  int64_t skip = begin % inner.size;
  Walk<SelectLoops::Axis, kSelectOperands> walk(loops.outer, begin / inner.size);
  while (begin < end) {
    const int64_t n = std::min(inner.size - skip, end - begin);
    const auto at = [&](int k) { return walk.offset(k) + skip * inner.steps[k]; };
    row(inner, condition + at(0), from_t + at(1) * size, from_e + at(2) * size, to + begin * size, n);
    begin += n;
    skip = 0;
    walk.Next();
  }
}

}  // namespace weft::kernels
