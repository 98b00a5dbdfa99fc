// What many blocks ask first: sizes that no memory holds, scalars, the types of a list; and failures at a port.
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
template <InputPort... P>
Status CheckScalars(const PlanContext& ctx, const P&... ports) {
  Status status;
  const auto check = [&](const auto& port) {
    if (status.ok() && !ctx.shape(port).scalar()) status = ctx.Error(port, "needs a scalar, found ", ctx.shape(port));
  };
  (check(ports), ...);
  return status;
}

/// A result, its failure placed at a port.
template <class P, class T>
Result<T> AtPort(const P& port, Result<T> result) {
  if (result.ok()) return result;
  return std::move(result).status().WithPort(port.name);
}

/// The types of a list port's values.
template <InputPort P>
DTypes DTypesOf(const PlanContext& ctx, const P& port) {
  DTypes types;
  for (int k = 0; k < ctx.count(port); ++k) types.push_back(ctx.dtype(port, k));
  return types;
}

}  // namespace weft::blocks
