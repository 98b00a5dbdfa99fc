// Tensors as text for messages: the first values, in brackets that show the shape.
#pragma once

#include <string>

#include "weft/block/context.h"

namespace weft::blocks {

/// "[[0 1 2...]...]" for the first 3 values of a matrix; all values where `limit` is negative. Rank 0: the value alone.
std::string TensorText(const Tensor& tensor, int64_t limit);

/// The values of a list port, whose types are `types`, each by TensorText in brackets, with `between` between them.
template <InputPort P>
std::string TensorTexts(const RunContext& ctx, const P& port, std::span<const DType> types, int64_t limit, std::string_view between) {
  std::string text;
  for (int k = 0; k < ctx.count(port); ++k) {
    if (k > 0) text += between;
    void* data = const_cast<std::byte*>(ctx.in<std::byte>(port, k).data());  // only read
    text += Cat('[', TensorText(Tensor::View(types[static_cast<size_t>(k)], ctx.shape(port, k), data, nullptr), limit), ']');
  }
  return text;
}

/// The types of a list port's values.
template <InputPort P>
DTypes TypesOfList(const PlanContext& ctx, const P& port) {
  DTypes types;
  for (int k = 0; k < ctx.count(port); ++k) types.push_back(ctx.dtype(port, k));
  return types;
}

}  // namespace weft::blocks
