#include "runtime/page/json_text.h"

#include <algorithm>
#include <array>

#include "runtime/page/elements.h"
#include "runtime/page/unicode.h"
#include "weft/base/float16.h"

namespace weft::page {
namespace {

// The shortest text whose double rounds to the value; of equally short ones the closest.
template <class T>
void AppendShortFloat(std::string& out, T value, T (*nearest)(double)) {
  const float exact = static_cast<float>(value);
  std::string best, text;
  for (int digits = 0; digits < 8; ++digits) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, exact, std::chars_format::scientific, digits).ptr;
    double read = 0;
    std::from_chars(buffer, end, read);
    if (static_cast<float>(nearest(read)) != exact) continue;
    text.clear();
    AppendJsonNumber(text, read);
    if (best.empty() || text.size() <= best.size()) best = text;
  }
  out += best;
}

void AppendEscaped(std::string& out, char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\b': out += "\\b"; break;
    case '\f': out += "\\f"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default:
      out += "\\u00";
      out += kHex[c >> 4 & 15];
      out += kHex[c & 15];
  }
}

constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

void AppendJsonNumber(std::string& out, half value) { AppendShortFloat(out, value, ToHalf); }
void AppendJsonNumber(std::string& out, bfloat16 value) { AppendShortFloat(out, value, ToBFloat16); }

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c != '"' && c != '\\'; });
  if (plain) {
    out += text;
    out += '"';
    return;
  }
  for (size_t bad = FindInvalidUtf8(text); !text.empty(); bad = FindInvalidUtf8(text)) {
    for (const char c : text.substr(0, bad)) {
      if (c == '"' || c == '\\' || (c >= 0 && c < 0x20)) AppendEscaped(out, c);
      else out += c;
    }
    if (bad == std::string_view::npos) break;
    out += "\xEF\xBF\xBD";
    text.remove_prefix(bad + 1);
  }
  out += '"';
}

std::string JsonRecorder::Take() {
  std::string taken = std::move(text_);
  *this = {};
  return taken;
}

void JsonRecorder::Separate() {
  if (!first_ && !after_key_) text_ += ", ";
  first_ = after_key_ = false;
}

void JsonRecorder::Scalar(const JsonScalar& value) {
  Separate();
  switch (value.kind) {
    case JsonScalar::Kind::kNull: text_ += "null"; break;
    case JsonScalar::Kind::kBool: text_ += value.boolean ? "true" : "false"; break;
    case JsonScalar::Kind::kInteger: text_ += value.integer == 0 ? "-0" : std::to_string(value.integer); break;
    case JsonScalar::Kind::kUnsigned: text_ += std::to_string(value.unsigned_value); break;
    case JsonScalar::Kind::kFloat: text_ += *value.text; break;
    case JsonScalar::Kind::kString: AppendJsonString(text_, *value.text); break;
  }
}

void JsonRecorder::Start(bool object) {
  Separate();
  text_ += object ? '{' : '[';
  ++depth_;
  first_ = true;
}

void JsonRecorder::Key(std::string_view key) {
  Separate();
  AppendJsonString(text_, key);
  text_ += ": ";
  after_key_ = true;
}

void JsonRecorder::End(bool object) {
  text_ += object ? '}' : ']';
  --depth_;
  first_ = after_key_ = false;
}

void AppendMember(std::string& members, std::string_view key, std::string_view value, std::string_view separator) {
  if (!members.empty()) members += separator;
  AppendJsonString(members, key);
  members += ": ";
  members += value;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < n ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += k <= n ? kBase64[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

Result<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0)
    return InvalidArgument("needs base64 with a length that is a multiple of 4, found ", text.size(), " characters");
  static constexpr auto kValues = [] {
    std::array<int8_t, 256> values;
    values.fill(-1);
    for (int i = 0; i < 64; ++i) values[static_cast<uint8_t>(kBase64[i])] = static_cast<int8_t>(i);
    return values;
  }();
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const int value = i + padding >= text.size() ? 0 : kValues[static_cast<uint8_t>(text[i])];
    if (value < 0) return InvalidArgument("needs base64, found the character '", text.substr(i, 1), "' at ", i + 1);
    group = group << 6 | static_cast<uint32_t>(value);
    if (i % 4 != 3) continue;
    for (int shift = 16; shift >= 0; shift -= 8) out += static_cast<char>(group >> shift & 0xFF);
    group = 0;
  }
  out.resize(out.size() - padding);
  return out;
}

}  // namespace weft::page
