// Strings of data in messages.
#pragma once

#include <string>
#include <string_view>

#include "blocks/string/utf8.h"
#include "weft/base/text.h"

namespace weft::blocks {

/// The text in quotes, cut after its first bytes; by its size where it is not UTF-8.
inline std::string Quoted(std::string_view text) {
  const std::string_view shown = text.substr(0, WholeCharacters(text, 60));
  if (!IsValidUtf8(shown)) return Cat(text.size(), " bytes that are no text");
  return Cat('\'', shown, shown.size() < text.size() ? "...'" : "'");
}

}  // namespace weft::blocks
