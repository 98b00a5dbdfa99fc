#include "blocks/parsing/json_lexer.h"

#include "weft/base/text.h"

namespace weft::blocks::json {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordLetter(char c) { return c == '_' || IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

size_t Digits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

void PutUtf8(std::string& out, uint32_t code) {
  const auto put = [&](uint32_t lead, int trails) {
    out.push_back(static_cast<char>(lead | code >> (6 * trails)));
    for (int k = trails; k-- > 0;) out.push_back(static_cast<char>(0x80 | (code >> (6 * k) & 0x3F)));
  };
  if (code < 0x80) put(0, 0);
  else if (code < 0x800) put(0xC0, 1);
  else if (code < 0x10000) put(0xE0, 2);
  else put(0xF0, 3);
}

}  // namespace

bool Lexer::Fail(std::string_view fault) {
  if (fault_.empty()) fault_ = Cat("needs ", fault, ", found otherwise at byte ", text_.size() - rest_.size());
  return false;
}

void Lexer::SkipBlanks() {
  size_t at = 0;
  while (at < rest_.size() && (rest_[at] == ' ' || rest_[at] == '\n' || rest_[at] == '\r' || rest_[at] == '\t') && !stop_()) ++at;
  rest_.remove_prefix(at);
}

bool Lexer::SkipIf(char c) {
  SkipBlanks();
  if (rest_.empty() || rest_[0] != c) return false;
  rest_.remove_prefix(1);
  return true;
}

bool Lexer::Expect(char c) {
  const char name[] = {'\'', c, '\''};
  return SkipIf(c) || Fail(std::string_view(name, 3));
}

bool Lexer::SkipWord(std::string_view word) {
  SkipBlanks();
  if (!rest_.starts_with(word)) return Fail(word);
  rest_.remove_prefix(word.size());
  return true;
}

bool Lexer::at_end() {
  SkipBlanks();
  return rest_.empty();
}

Kind Lexer::Peek() {
  SkipBlanks();
  switch (rest_.empty() ? '\0' : rest_[0]) {
    case '{': return Kind::kObject;
    case '[': return Kind::kArray;
    case '"':
    case '\'': return Kind::kString;
    case 't': return Kind::kTrue;
    case 'f': return Kind::kFalse;
    case 'n': return Kind::kNull;
    case '-': return Kind::kNumber;
    default: return !rest_.empty() && IsDigit(rest_[0]) ? Kind::kNumber : Kind::kNone;
  }
}

bool Lexer::TakeKey(std::string& key) {
  if (Peek() == Kind::kString) return TakeString(key);
  size_t size = 0;
  while (size < rest_.size() && IsWordLetter(rest_[size]) && !stop_()) ++size;
  const std::string_view word = rest_.substr(0, size);
  if (word.empty() || IsDigit(word[0]) || word == "null" || word == "true" || word == "false") return Fail("a key");
  key = word;
  rest_.remove_prefix(size);
  return true;
}

bool Lexer::TakeHex(uint32_t& code) {
  code = 0;
  for (size_t k = 0; k < 4; ++k) {
    const char c = k < rest_.size() ? rest_[k] : ' ';
    const int digit = IsDigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return Fail("four hexadecimal digits");
    code = code << 4 | static_cast<uint32_t>(digit);
  }
  rest_.remove_prefix(4);
  return true;
}

bool Lexer::TakeEscape(std::string& value) {
  constexpr std::string_view kNames = "\"\\/bfnrt'", kMeant = "\"\\/\b\f\n\r\t'";
  const char name = rest_.empty() ? '\0' : rest_[0];
  if (!rest_.empty()) rest_.remove_prefix(1);
  if (name != 'u' && name != 'U') {
    const size_t at = kNames.find(name);
    if (name == '\0' || at == std::string_view::npos) return Fail("an escape of JSON");
    value.push_back(kMeant[at]);
    return true;
  }
  uint32_t code = 0, low = 0;
  if (!TakeHex(code)) return false;
  const bool high = code >= 0xD800 && code < 0xDC00;
  if (high) {
    if (!rest_.starts_with("\\u")) return Fail("a low surrogate");
    rest_.remove_prefix(2);
    if (!TakeHex(low)) return false;
    if (low < 0xDC00 || low > 0xDFFF) return Fail("a low surrogate");
    code = 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF));
  } else if (code >= 0xDC00 && code <= 0xDFFF) {
    return Fail("a high surrogate first");
  }
  PutUtf8(value, code);
  return true;
}

bool Lexer::TakeString(std::string& value) {
  SkipBlanks();
  if (rest_.empty() || (rest_[0] != '"' && rest_[0] != '\'')) return Fail("a string");
  const char quote = rest_[0];
  rest_.remove_prefix(1);
  value.clear();
  for (;;) {
    size_t plain = 0;
    while (plain < rest_.size() && rest_[plain] != quote && rest_[plain] != '\\' && !stop_()) ++plain;
    value.append(rest_, 0, plain);
    rest_.remove_prefix(plain);
    if (rest_.empty()) return Fail("the end of a string");
    const char c = rest_[0];
    rest_.remove_prefix(1);
    if (c == quote) return true;
    if (stop_() || c != '\\' || !TakeEscape(value)) return false;
  }
}

bool Lexer::TakeNumber(std::string_view& number) {
  SkipBlanks();
  const size_t begin = rest_.starts_with('-') ? 1 : 0, whole = Digits(rest_, begin);
  if (whole == begin) return Fail("a number");
  if (rest_[begin] == '0' && whole > begin + 1) return Fail("a number without zeros before it");
  size_t end = whole;
  if (end < rest_.size() && rest_[end] == '.') {
    end = Digits(rest_, whole + 1);
    if (end == whole + 1) return Fail("digits after a point");
  }
  if (end < rest_.size() && (rest_[end] == 'e' || rest_[end] == 'E')) {
    const size_t sign = end + 1 < rest_.size() && (rest_[end + 1] == '+' || rest_[end + 1] == '-') ? 1 : 0;
    const size_t exponent = end + 1 + sign;
    end = Digits(rest_, exponent);
    if (end == exponent) return Fail("an exponent");
  }
  number = rest_.substr(0, end);
  rest_.remove_prefix(end);
  return true;
}

}  // namespace weft::blocks::json
