#include "blocks/io/checkpoint/slice.h"

#include <algorithm>
#include <array>
#include <bit>

namespace weft::blocks::checkpoint {
namespace {

// An ordered code: text and numbers as bytes that sort as the values do.

/// Bytes 0 and 255 are escaped, so that the end, 0 1, sorts before all that may follow in a longer text.
void PutOrderedText(std::string& out, std::string_view text) {
  for (char byte : text) {
    out.push_back(byte);
    if (byte == '\0') out.push_back('\xff');
    if (byte == '\xff') out.push_back('\0');
  }
  out.append("\0\1", 2);
}

/// A byte with the number of bytes that follow, big endian.
void PutOrderedUnsigned(std::string& out, uint64_t value) {
  const int bytes = (std::bit_width(value) + 7) / 8;
  out.push_back(static_cast<char>(bytes));
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<char>(value >> (8 * i)));
}

/// Big endian two's complement of as many bytes as needed, where the leading bits say how many: each byte carries 7 bits of the value.
void PutOrderedSigned(std::string& out, int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  const int length = std::bit_width(value < 0 ? ~bits : bits) / 7 + 1;
  std::array<uint8_t, 10> bytes;
  const uint8_t sign = value < 0 ? 0xff : 0;
  bytes.fill(sign);
  for (int i = 0; i < 8; ++i) bytes[2 + i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  uint8_t* first = bytes.data() + bytes.size() - length;
  // `length` ones in front, flipped where the value is negative.
  first[0] ^= static_cast<uint8_t>(length >= 8 ? 0xff : 0xff00 >> length);
  if (length > 8) first[1] ^= static_cast<uint8_t>(0xff00 >> (length - 8));
  out.append(reinterpret_cast<const char*>(first), static_cast<size_t>(length));
}

}  // namespace

std::optional<Box> BoxOf(const TensorSlice& slice, const Shape& shape) {
  const int rank = shape.rank();
  if (static_cast<int>(slice.starts.size()) != rank || static_cast<int>(slice.lengths.size()) != rank) return std::nullopt;
  Box box{slice.starts, slice.lengths};
  for (int i = 0; i < rank; ++i) {
    if (box.lengths[i] == -1 && box.starts[i] == 0) box.lengths[i] = shape[i];
    if (box.starts[i] < 0 || box.lengths[i] < 0) return std::nullopt;
    if (box.starts[i] > shape[i] || box.lengths[i] > shape[i] - box.starts[i]) return std::nullopt;
  }
  return box;
}

std::optional<Box> Intersect(const Box& a, const Box& b) {
  Box part = a;
  for (size_t i = 0; i < part.starts.size(); ++i) {
    const int64_t end = std::min(a.starts[i] + a.lengths[i], b.starts[i] + b.lengths[i]);
    part.starts[i] = std::max(a.starts[i], b.starts[i]);
    part.lengths[i] = end - part.starts[i];
    if (part.lengths[i] <= 0) return std::nullopt;
  }
  return part;
}

std::string SliceKey(std::string_view name, const TensorSlice& slice) {
  std::string key;
  PutOrderedUnsigned(key, 0);
  PutOrderedText(key, name);
  PutOrderedUnsigned(key, slice.starts.size());
  for (size_t i = 0; i < slice.starts.size(); ++i) {
    PutOrderedSigned(key, slice.starts[i]);
    PutOrderedSigned(key, slice.lengths[i]);
  }
  return key;
}

}  // namespace weft::blocks::checkpoint
