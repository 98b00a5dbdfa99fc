#include "blocks/kernels/index/select.h"

#include <cstddef>

namespace weft::kernels {

SelectLoops MakeSelectLoops(std::span<const int64_t> condition, std::span<const int64_t> t, std::span<const int64_t> e) {
  SelectLoops loops;
  std::vector<SelectLoops::Axis> axes = StretchedAxes<kSelectOperands>({condition, t, e}, loops.count);
  loops.inner = axes.empty() ? SelectLoops::Axis{1, {1, 1, 1}} : axes.back();
  if (!axes.empty()) axes.pop_back();
  loops.outer = std::move(axes);
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
