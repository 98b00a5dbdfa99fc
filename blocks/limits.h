// What many blocks ask first: sizes that no memory holds, scalars and vectors, shapes that must agree, axes by number, the types of a list;
// failures at a port, and how outputs are given.
#pragma once

#include <algorithm>
#include <string_view>

#include "weft/block/context.h"

namespace weft::blocks {

/// More elements than any memory holds. Sums and multiples of sizes below it fit 63 bits.
inline constexpr int64_t kAbsurdElements = int64_t{1} << 48;

/// resource_exhausted, placed at `port`, where a tensor of the shape cannot be. Sizes count also where the tensor is empty.
inline Status CheckNotAbsurd(const Shape& shape, std::string_view port) {
  int64_t elements = 1;
  for (int64_t size : shape.dims()) elements *= std::max<int64_t>(size, 1);
  if (elements <= kAbsurdElements) return {};
  return ResourceExhausted("needs a tensor that fits in memory, found shape ", shape).WithPort(port);
}

/// invalid_argument at the first port that is no scalar.
Status CheckScalars(const PlanContext& ctx, const InputPort auto&... ports) {
  Status status;
  const auto check = [&](const auto& port) {
    if (status.ok() && !ctx.shape(port).scalar()) status = ctx.Error(port, "needs a scalar, found ", ctx.shape(port));
  };
  (check(ports), ...);
  return status;
}

/// invalid_argument where the port is no vector of `count` numbers, one for each of `of`.
Status CheckVector(const PlanContext& ctx, const InputPort auto& port, int64_t count, std::string_view of) {
  const Shape& found = ctx.shape(port);
  if (found.rank() == 1 && found[0] == count) return {};
  return ctx.Error(port, "needs a vector of ", count, " numbers, one for each ", of, ", found shape ", found);
}

/// invalid_argument where the port has another shape than `needed`, which is that of `of`.
template <InputPort P>
Status CheckShape(const PlanContext& ctx, const P& port, const Shape& needed, std::string_view of) {
  if (ctx.shape(port) == needed) return {};
  return ctx.Error(port, "needs the shape of ", of, ", ", needed, ", found ", ctx.shape(port));
}
template <InputPort P, InputPort Of>
Status CheckSameShape(const PlanContext& ctx, const P& port, const Of& of) { return CheckShape(ctx, port, ctx.shape(of), of.name); }

/// The axis of `shape` that the number at a port or an attribute means; negative ones count from the end.
Result<int> AxisOf(const PlanContext& ctx, const auto& place, int64_t given, const Shape& shape) {
  const int64_t rank = shape.rank();
  if (given >= -rank && given < rank) return static_cast<int>(given < 0 ? given + rank : given);
  return ctx.Error(place, "needs an axis from ", -rank, " to ", rank - 1, " of ", shape, ", found ", given);
}
/// The same of the value of a scalar port.
Result<int> ScalarAxis(const PlanContext& ctx, const InputPort auto& port, const Shape& shape) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, port));
  return AxisOf(ctx, port, ctx.ints(port)[0], shape);
}
/// Where a new axis goes into `shape`.
Result<int> NewAxisOf(const PlanContext& ctx, const auto& place, int64_t given, const Shape& shape) {
  const int64_t rank = shape.rank();
  if (given >= -rank - 1 && given <= rank) return static_cast<int>(given < 0 ? given + rank + 1 : given);
  return ctx.Error(place, "needs ", -rank - 1, " to ", rank, " for a new axis of ", shape, ", found ", given);
}

/// A result, its failure placed at a port.
template <class P, class T>
Result<T> AtPort(const P& port, Result<T> result) {
  if (result.ok()) return result;
  return std::move(result).status().WithPort(port.name);
}

/// How a block that produces its outputs ends: each tensor at its port, as Emitted(ctx, keys, std::move(keys_found), values, ...).
template <OutputPort P, class... More>
Status Emitted(ProduceContext& ctx, const P& port, Tensor tensor, More&&... more) {
  ctx.Emit(port, std::move(tensor));
  if constexpr (sizeof...(more) > 0) return Emitted(ctx, std::forward<More>(more)...);
  else return {};
}

/// The types of a list port's values.
DTypes DTypesOf(const PlanContext& ctx, const InputPort auto& port) {
  DTypes types;
  for (int k = 0; k < ctx.count(port); ++k) types.push_back(ctx.dtype(port, k));
  return types;
}

}  // namespace weft::blocks
