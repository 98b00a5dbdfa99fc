#include "tools/cli/npy_strings.h"

#include <algorithm>
#include <cstring>

#include "weft/base/string.h"
#include "weft/base/text.h"

namespace weft::cli {
namespace {

/// The next character of valid UTF-8, which is taken off the text.
char32_t TakeCharacter(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  char32_t character = size == 1 ? first : first & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
  text.remove_prefix(size);
  return character;
}

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

Result<NpyStrings> ToNpyStrings(const Tensor& strings) {
  constexpr size_t kMostBytes = size_t{4} << 30;
  const auto values = strings.values<String>();
  const bool text = std::ranges::all_of(values, [](const String& value) { return IsValidUtf8(value.view()); });
  size_t longest = 1;
  for (const String& value : values) longest = std::max(longest, text ? CountCharacters(value.view()) : value.size());
  const size_t size = longest * (text ? sizeof(char32_t) : 1);
  if (values.size() > kMostBytes / size) {
    return ResourceExhausted("strings need ", size, " bytes each in an array of NumPy, as the longest one does, and there are ", values.size());
  }
  NpyStrings made{Cat(text ? "<U" : "|S", longest), std::string(values.size() * size, '\0')};
  char* at = made.bytes.data();
  for (const String& value : values) {
    if (!text) {
      std::copy_n(value.data(), value.size(), at);
    } else {
      size_t place = 0;
      for (std::string_view rest = value.view(); !rest.empty(); place += sizeof(char32_t)) {
        const char32_t character = TakeCharacter(rest);
        std::memcpy(at + place, &character, sizeof character);
      }
    }
    at += size;
  }
  return made;
}

}  // namespace weft::cli
