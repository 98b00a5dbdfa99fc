// The places of two sparse tensors, each in row-major order, gone through side by side.
#pragma once

#include <algorithm>
#include <utility>

#include "blocks/element_moves.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
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

/// Goes through the places of both in order; calls visit(place or null of each). Leaves when the run is to end.
void MergePlaces(Cursor a, Cursor b, const Workers& workers, auto&& visit) {
  kernels::StopCheck stop(workers);
  while (!a.done() || !b.done()) {
    if (stop(2 * a.rank + 4)) return;
    const int order = a.done() ? 1 : b.done() ? -1 : CompareIndices(a.index(), b.index(), static_cast<size_t>(a.rank));
    visit(order <= 0 ? &a : nullptr, order >= 0 ? &b : nullptr);
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

/// Writes the places for which take(x, y, result) is true, and the results; gives how many. x or y is null where its tensor has no place.
template <class T, class Take>
int64_t MergeValues(const Operands& p, ProduceContext& ctx, Tensor& indices, Tensor& values, const Take& take) {
  const int64_t rank = static_cast<int64_t>(p.a.rank());
  const Cursor a{ctx.in<int64_t>(a_indices).data(), 0, p.a.count, rank}, b{ctx.in<int64_t>(b_indices).data(), 0, p.b.count, rank};
  const T *left = ctx.in<T>(a_values).data(), *right = ctx.in<T>(b_values).data();
  int64_t *index = indices.values<int64_t>().data(), count = 0;
  T* value = values.values<T>().data();
  MergePlaces(a, b, ctx.workers(), [&](const Cursor* in_a, const Cursor* in_b) {
    if (!take(in_a != nullptr ? left + in_a->at : nullptr, in_b != nullptr ? right + in_b->at : nullptr, value[count])) return;
    const int64_t* from = (in_a != nullptr ? in_a : in_b)->index();
    std::copy(from, from + rank, index + count * rank);
    ++count;
  });
  return count;
}
/// Emits what MergeValues gives, for values of one of the types.
Status EmitMerged(const Operands& p, auto types, ProduceContext& ctx, const auto& indices_port, const auto& values_port, const auto& take) {
  const int64_t most = p.a.count + p.b.count, rank = static_cast<int64_t>(p.a.rank());  // both have elements in memory
  WEFT_ASSIGN_OR_RETURN(Tensor indices, ctx.Allocate(DType::kInt64, Shape{most, rank}));
  WEFT_ASSIGN_OR_RETURN(Tensor values, ctx.Allocate(p.dtype, Shape{most}));
  const int64_t count = Dispatch(p.dtype, types, [&]<class T>() { return MergeValues<T>(p, ctx, indices, values, take); });
  if (ctx.cancelled()) return kernels::RunStopped();
  WEFT_ASSIGN_OR_RETURN(indices, Shortened(std::move(indices), count, ctx));
  WEFT_ASSIGN_OR_RETURN(values, Shortened(std::move(values), count, ctx));
  return Emitted(ctx, indices_port, std::move(indices), values_port, std::move(values));
}

}  // namespace merge

}  // namespace weft::blocks
