// Base64 text as bytes (RFC 4648).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "blocks/kernels/stop_check.h"

namespace weft::blocks {

enum class Base64Letters : uint8_t {
  kWebSafe,  // '-' and '_' as numbers 62 and 63
  kAny,      // these, or '+' and '/'
};

/// The text without the '=' that may fill its last four letters.
std::string_view WithoutPadding(std::string_view text);
/// The bytes that a text without padding stands for; SIZE_MAX where no text has its length.
size_t Base64Size(std::string_view text);
/// Writes the Base64Size bytes; false for a letter outside the alphabet. Bits beyond whole bytes are dropped. Leaves early with the run.
bool DecodeBase64Text(std::string_view text, Base64Letters letters, char* to, kernels::StopCheck& stop);

}  // namespace weft::blocks
