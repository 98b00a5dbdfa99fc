// Tensors as text for messages: the first values, in brackets that show the shape.
#pragma once

#include <string>

#include "weft/block/context.h"

namespace weft::blocks {

/// Bytes of a message's values: what goes beyond them is not made, and stands as "...".
inline constexpr size_t kMostText = size_t{1} << 20;

/// "[[0 1 2...]...]" for the first 3 values of a matrix; all values where `limit` is negative. Rank 0: the value alone. Ends with the value
/// that reaches `most` bytes, cut there where it is a string.
std::string TensorText(const Tensor& tensor, int64_t limit, size_t most = kMostText);

/// The values of a list port of these types, each in brackets by TensorText, `between` between them; little more than kMostText.
template <InputPort P>
std::string TensorTexts(const RunContext& ctx, const P& port, std::span<const DType> types, int64_t limit, std::string_view between) {
  std::string text;
  for (int k = 0; k < ctx.count(port); ++k) {
    if (k > 0) text += between;
    if (text.size() >= kMostText) return text + "...";
    void* data = const_cast<std::byte*>(ctx.in<std::byte>(port, k).data());  // only read
    text += Cat('[', TensorText(Tensor::View(types[static_cast<size_t>(k)], ctx.shape(port, k), data, nullptr), limit, kMostText - text.size()), ']');
  }
  return text;
}

}  // namespace weft::blocks
