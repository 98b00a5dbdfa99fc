// The places of two sparse tensors, each in row-major order, gone through side by side.
#pragma once

#include <utility>

#include "blocks/element_moves.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {

/// What blocks of two sparse tensors of one shape have in common.
namespace merge {

inline constexpr In<0> a_indices{"a_indices", "DT_INT64", "[a places, rank], in row-major order"};
inline constexpr In<1> a_values{"a_values", "T", "[a places]"};
inline constexpr In<2> a_shape{"a_shape", "DT_INT64", "[rank]: the shape of both tensors, of 1 axis or more"};
inline constexpr In<3> b_indices{"b_indices", "DT_INT64", "[b places, rank], in row-major order"};
inline constexpr In<4> b_values{"b_values", "T", "[b places]"};
inline constexpr In<5> b_shape{"b_shape", "DT_INT64", "[rank]: equal to a_shape"};

struct Operands {
  Places a, b;
  DType dtype = DType::kInvalid;  // of the values
};

inline Result<Operands> PlanOperands(PlanContext& ctx) {
  Operands p;
  WEFT_ASSIGN_OR_RETURN(p.a, PlanSparse(ctx, a_indices, a_values, a_shape));
  WEFT_ASSIGN_OR_RETURN(p.b, PlanSparse(ctx, b_indices, b_values, b_shape));
  if (p.a.rank() == 0) return ctx.Error(a_shape, "needs 1 size or more, found none");
  if (p.a.size != p.b.size) return ctx.Error(b_shape, "needs the sizes of a_shape, ", p.a.SizeText(), ", found ", p.b.SizeText());
  if (p.a.count > INT64_MAX - p.b.count) return ctx.Error(b_indices, "needs fewer places, found ", p.b.count);
  p.dtype = ctx.dtype(a_values);
  return p;
}

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

}  // namespace merge

}  // namespace weft::blocks
