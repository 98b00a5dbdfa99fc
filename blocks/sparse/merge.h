// The places of two sparse tensors, each in row-major order, gone through side by side.
#pragma once

#include <utility>

#include "blocks/element_moves.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {

/// Where a merge is in the places of one tensor.
struct Cursor {
  const int64_t* indices;
  int64_t at, count, rank;
  bool done() const { return at == count; }
  const int64_t* index() const { return indices + at * rank; }
};

/// Goes through the places of both in order; calls take(place or null of each). Leaves when the run is to end.
template <class Take>
void MergePlaces(Cursor a, Cursor b, const Workers& workers, Take&& take) {
  kernels::StopCheck stop(workers);
  while (!a.done() || !b.done()) {
    if (stop(2 * a.rank + 4)) return;
    const int order = a.done() ? 1 : b.done() ? -1 : CompareIndices(a.index(), b.index(), static_cast<size_t>(a.rank));
    take(order <= 0 ? &a : nullptr, order >= 0 ? &b : nullptr);
    if (order <= 0) ++a.at;
    if (order >= 0) ++b.at;
  }
}

/// The first `count` elements along axis 0, in memory of their own where others follow them.
inline Result<Tensor> Shortened(Tensor tensor, int64_t count, ProduceContext& ctx) {
  Shape shape = tensor.shape();
  if (shape[0] == count) return tensor;
  shape.set_dim(0, count);
  WEFT_ASSIGN_OR_RETURN(Tensor part, ctx.Allocate(tensor.dtype(), shape));
  MovesOf(tensor.dtype()).CopyLong(tensor.data(), part.data(), shape.count(), ctx.workers());
  return part;
}

}  // namespace weft::blocks
