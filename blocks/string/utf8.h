// Where the characters of UTF-8 begin and end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace weft::blocks {

/// Whether a byte is one of a character, but not its first.
inline bool IsTrail(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// As many of the first `most` bytes as end where a character does.
inline size_t WholeCharacters(std::string_view text, size_t most) {
  size_t size = std::min(text.size(), most);
  while (size < text.size() && size > 0 && IsTrail(text[size])) --size;
  return size;
}

}  // namespace weft::blocks
