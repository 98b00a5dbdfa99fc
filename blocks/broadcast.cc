#include "blocks/broadcast.h"

#include <algorithm>

namespace weft::blocks {

std::optional<Shape> BroadcastShape(const Shape& x, const Shape& y) {
  if (x == y) return x;
  const int rank = std::max(x.rank(), y.rank());
  int64_t sizes[kMaxRank];
  for (int d = 1; d <= rank; ++d) {
    const int64_t xd = d <= x.rank() ? x[x.rank() - d] : 1;
    const int64_t yd = d <= y.rank() ? y[y.rank() - d] : 1;
    if (xd != yd && xd != 1 && yd != 1) return std::nullopt;
    sizes[rank - d] = xd == 1 ? yd : xd;
  }
  auto shape = Shape::Make({sizes, static_cast<size_t>(rank)});
  if (!shape.ok()) return std::nullopt;
  return std::move(*shape);
}

bool BroadcastsTo(const Shape& shape, const Shape& target) {
  if (shape.rank() > target.rank()) return false;
  for (int d = 1; d <= shape.rank(); ++d) {
    const int64_t size = shape[shape.rank() - d];
    if (size != 1 && size != target[target.rank() - d]) return false;
  }
  return true;
}

}  // namespace weft::blocks
