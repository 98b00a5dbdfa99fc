// Encodings of page documents: checks UTF-8 and converts UTF-16 to UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "weft/base/status.h"

namespace weft::page {

/// The offset of the first byte that is not part of well-formed UTF-8, or npos.
size_t FindInvalidUtf8(std::string_view text);

/// invalid_argument with byte, line and column where the text is not well-formed UTF-8.
Status CheckUtf8(std::string_view text);

/// "line 3, column 14" of a byte offset; both count from 1, columns in characters.
std::string LineAndColumn(std::string_view text, size_t offset);

/// The document as UTF-8 without a byte-order mark, from UTF-8 or UTF-16 (either byte order, recognised by the mark or by a zero byte next
/// to the first character). data_loss where UTF-16 ends in the middle of a character, invalid_argument where it is malformed; both with the byte
/// offset. UTF-8 is returned as a view of `bytes`, and not checked; UTF-16 is converted into `storage`.
Result<std::string_view> ToUtf8(std::string_view bytes, std::string& storage);

/// Appends a code point that is not a surrogate.
void AppendUtf8(std::string& out, char32_t c);

}  // namespace weft::page
