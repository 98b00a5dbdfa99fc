#include "blocks/kernels/index/select.h"

#include <cstddef>

namespace weft::kernels {

void RunSelect(const SelectLoops& loops, SelectFunction row, int64_t size, const bool* condition, const void* t, const void* e, void* z,
               int64_t begin, int64_t end) {
  const std::byte *from_t = static_cast<const std::byte*>(t), *from_e = static_cast<const std::byte*>(e);
  std::byte* to = static_cast<std::byte*>(z);
  const SelectLoops::Axis& inner = loops.inner;
  int64_t skip = begin % inner.size;
  Walk<SelectLoops::Axis, 3> walk(loops.outer, begin / inner.size);
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
