#include "runtime/page/unicode.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "runtime/base/call_limit.h"

namespace weft::page {
namespace {

uint8_t Byte(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

// The length of the well-formed sequence at i, or 0.
size_t SequenceLength(std::string_view text, size_t i) {
  const uint8_t lead = Byte(text, i);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() - i < length) return 0;
  const uint8_t second = Byte(text, i + 1);
  const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (second < low || second > high) return 0;
  for (size_t k = 2; k < length; ++k) {
    if ((Byte(text, i + k) & 0xC0) != 0x80) return 0;
  }
  return length;
}

struct Utf16Reader {
  std::string_view bytes;
  bool big_endian;

  char32_t Unit(size_t i) const {
    const uint8_t a = Byte(bytes, i), b = Byte(bytes, i + 1);
    return big_endian ? a << 8 | b : b << 8 | a;
  }

  Status Convert(size_t begin, std::string& out) const {
    out.reserve(bytes.size() / 2 + bytes.size() / 8);
    for (size_t i = begin; i < bytes.size(); i += 2) {
      CallLimit::Check();
      if (bytes.size() - i < 2)
        return DataLoss("the UTF-16 text ends in the middle of a character, at byte ", i).WithHint("the file was cut off");
      char32_t c = Unit(i);
      if (c >= 0xD800 && c < 0xE000) {
        if (c >= 0xDC00) return InvalidArgument("bad UTF-16: a low surrogate without its high one, at byte ", i);
        if (bytes.size() - i < 4)
          return DataLoss("the UTF-16 text ends in the middle of a character, at byte ", i).WithHint("the file was cut off");
        const char32_t low = Unit(i + 2);
        if (low < 0xDC00 || low > 0xDFFF) return InvalidArgument("bad UTF-16: a high surrogate without its low one, at byte ", i);
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        i += 2;
      }
      AppendUtf8(out, c);
    }
    return {};
  }
};

}  // namespace

void AppendUtf8(std::string& out, char32_t c) {
  const auto tail = [&](int shift) { out.push_back(static_cast<char>(0x80 | (c >> shift & 0x3F))); };
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xC0 | c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | c >> 12));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | c >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

size_t FindInvalidUtf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    // Eight ASCII characters at a time.
    while (text.size() - i >= 8) {
      uint64_t word;
      std::memcpy(&word, text.data() + i, 8);
      if (word & 0x8080808080808080u) break;
      i += 8;
    }
    if (i >= text.size()) break;
    const size_t length = SequenceLength(text, i);
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

Status CheckUtf8(std::string_view text) {
  const size_t bad = FindInvalidUtf8(text);
  if (bad == std::string_view::npos) return {};
  return InvalidArgument("bad UTF-8 at byte ", bad, " (", LineAndColumn(text, bad), ")").WithHint("save the file as UTF-8 or UTF-16");
}

std::string LineAndColumn(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto column = 1 + std::count_if(before.begin() + begin, before.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return Cat("line ", line, ", column ", column);
}

Result<std::string_view> ToUtf8(std::string_view bytes, std::string& storage) {
  const bool little_mark = bytes.starts_with("\xFF\xFE"), big_mark = bytes.starts_with("\xFE\xFF");
  const bool little = little_mark || (bytes.size() >= 2 && bytes[0] != 0 && bytes[1] == 0);
  const bool big = big_mark || (bytes.size() >= 2 && bytes[0] == 0 && bytes[1] != 0);
  if (little || big) {
    storage.clear();
    WEFT_RETURN_IF_ERROR((Utf16Reader{bytes, big}.Convert(little_mark || big_mark ? 2 : 0, storage)));
    return std::string_view(storage);
  }
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  return bytes;
}

}  // namespace weft::page
