// Strings of data in messages.
#pragma once

#include <string>
#include <string_view>

#include "weft/base/text.h"

namespace weft::blocks {

/// The text in quotes, cut after its first bytes; by its size where it is not UTF-8.
inline std::string Quoted(std::string_view text) {
  constexpr size_t kMost = 60;
  size_t size = text.size() <= kMost ? text.size() : kMost;
  while (size < text.size() && size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  const std::string_view shown = text.substr(0, size);
  if (!IsValidUtf8(shown)) return Cat(text.size(), " bytes that are no text");
  return Cat('\'', shown, size < text.size() ? "...'" : "'");
}

}  // namespace weft::blocks
