#include "runtime/block/attr_scan.h"

namespace weft::internal {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The four hexadecimal digits at `at`, or -1.
int HexFour(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return -1;
  int value = 0;
  for (size_t i = at; i < at + 4; ++i) {
    int digit = HexDigit(text[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

void AppendUtf8(std::string& out, uint32_t code) {
  auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F)), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  }
}

/// Reads the escape whose letter is at `i`; leaves `i` on its last character. False where there is no such escape.
bool AppendEscape(std::string& out, std::string_view text, size_t& i) {
  static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeaning = "\"\\/\b\f\n\r\t";
  if (size_t known = kLetters.find(text[i]); known != std::string_view::npos) {
    out.push_back(kMeaning[known]);
    return true;
  }
  if (text[i] != 'u') return false;
  int unit = HexFour(text, i + 1);
  if (unit < 0 || (unit >= 0xDC00 && unit < 0xE000)) return false;
  i += 4;
  if (unit < 0xD800 || unit >= 0xE000) {
    AppendUtf8(out, static_cast<uint32_t>(unit));
    return true;
  }
  int low = text.substr(i + 1, 2) == "\\u" ? HexFour(text, i + 3) : -1;
  if (low < 0xDC00 || low >= 0xE000) return false;
  i += 6;
  AppendUtf8(out, 0x10000 + (static_cast<uint32_t>(unit - 0xD800) << 10) + static_cast<uint32_t>(low - 0xDC00));
  return true;
}

}  // namespace

std::string_view TrimSpace(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::string FoundText(std::string_view text) {
  constexpr size_t kLimit = 60;
  if (text.empty()) return "nothing";
  if (text.size() <= kLimit) return Cat("'", text, "'");
  size_t cut = kLimit;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // not inside a character
  return Cat("'", text.substr(0, cut), "...'");
}

bool NestingScanner::Take(char c) {
  if (quoted_) {
    if (escaped_) escaped_ = false;
    else if (c == '\\') escaped_ = true;
    else if (c == '"') quoted_ = false;
    return true;
  }
  switch (c) {
    case '"': quoted_ = true; return true;
    case '{':
    case '[':
      if (depth_ == kMaxDepth) break;
      open_[depth_++] = c;
      return true;
    case '}':
    case ']':
      if (depth_ == 0 || open_[depth_ - 1] != (c == '}' ? '{' : '[')) break;
      --depth_;
      return true;
    default: return true;
  }
  unexpected_ = c;
  return false;
}

Status NestingScanner::Fault() const {
  if (unexpected_ == '{' || unexpected_ == '[') return InvalidArgument("needs at most ", kMaxDepth, " braces in one another, found more");
  if (unexpected_ != 0) return InvalidArgument("needs a balanced value, found a '", unexpected_, "' that nothing opened");
  if (quoted_) return InvalidArgument("needs a closing quote, found the end of the text");
  if (depth_ > 0) return InvalidArgument("needs a closing '", open_[depth_ - 1] == '{' ? '}' : ']', "', found the end of the value");
  return {};
}

bool IsBraced(std::string_view text) {
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return false;
  NestingScanner scanner;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!scanner.Take(text[i])) return false;
    if (scanner.depth() == 0) return i + 1 == text.size();
  }
  return false;
}

Result<std::vector<std::string_view>> SplitList(std::string_view text) {
  std::vector<std::string_view> elements;
  text = TrimSpace(text);
  if (text.empty()) return elements;
  NestingScanner scanner;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    bool end = i == text.size();
    if (end || ((text[i] == ',' || text[i] == ';') && scanner.top())) {
      elements.push_back(TrimSpace(text.substr(start, i - start)));
      if (elements.back().empty()) return InvalidArgument("needs a value on each side of a separator, found ", FoundText(text));
      start = i + 1;
    } else if (!scanner.Take(text[i])) {
      break;
    }
  }
  if (Status fault = scanner.Fault(); !fault.ok()) return fault;
  return elements;
}

Result<std::string> Unquote(std::string_view text) {
  auto fault = [&](std::string_view what) { return InvalidArgument("needs a string in double quotes, found ", what, " in ", FoundText(text)); };
  if (text.size() < 2 || text.front() != '"') return fault("no quote");
  std::string out;
  out.reserve(text.size() - 2);
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      if (i + 1 != text.size()) return fault("text after the closing quote");
      return out;
    }
    if (text[i] != '\\') {
      out.push_back(text[i]);
    } else if (++i == text.size() || !AppendEscape(out, text, i)) {
      return fault("an escape that JSON does not have");
    }
  }
  return fault("no closing quote");
}

}  // namespace weft::internal
