#include "blocks/broadcast.h"

namespace weft::blocks {

bool Broadcasts(const Shape& x, const Shape& y) {
  for (int d = 1; d <= std::min(x.rank(), y.rank()); ++d) {
    const int64_t a = x[x.rank() - d], b = y[y.rank() - d];
    if (a != b && a != 1 && b != 1) return false;
  }
  return true;
}

Result<Shape> CommonShape(const Shape& x, const Shape& y) {
  if (x == y) return x;
  const int rank = std::max(x.rank(), y.rank());
  int64_t sizes[kMaxRank];
  for (int d = 1; d <= rank; ++d) {
    const int64_t a = d <= x.rank() ? x[x.rank() - d] : 1, b = d <= y.rank() ? y[y.rank() - d] : 1;
    sizes[rank - d] = a == 1 ? b : a;
  }
  return Shape::Make({sizes, static_cast<size_t>(rank)});
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
