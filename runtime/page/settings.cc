#include "runtime/page/settings.h"

#include <algorithm>

#include "runtime/page/report.h"

namespace weft::page {
namespace {

double AsDouble(const JsonScalar& value) {
  switch (value.kind) {
    case JsonScalar::Kind::kInteger: return value.integer == 0 ? -0.0 : static_cast<double>(value.integer);
    case JsonScalar::Kind::kUnsigned: return static_cast<double>(value.unsigned_value);
    default: return value.real;
  }
}

/// A word or a number: it reads the same with and without quotes, whether a text is needed or something else.
bool IsPlain(std::string_view text) {
  if (IsIdentifier(text)) return true;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !std::any_of(text.begin(), text.end(), digit)) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return digit(c) || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'; });
}

}  // namespace

void SettingsReader::Separate() {
  if (depth_ == 2 && !first_) text_ += ',';
  first_ = false;
}

Status SettingsReader::Scalar(const JsonScalar& value) {
  Separate();
  if (depth_ == 3) text_ += '[';
  switch (value.kind) {
    case JsonScalar::Kind::kNull: text_ += '?'; break;
    case JsonScalar::Kind::kBool: text_ += value.boolean ? "true" : "false"; break;
    case JsonScalar::Kind::kInteger: text_ += value.integer == 0 ? "-0" : std::to_string(value.integer); break;
    case JsonScalar::Kind::kUnsigned: text_ += std::to_string(value.unsigned_value); break;
    case JsonScalar::Kind::kFloat: text_ += *value.text; break;
    case JsonScalar::Kind::kString:
      if (IsPlain(*value.text)) text_ += *value.text;
      else AppendJsonString(text_, *value.text);
      break;
  }
  text_ += depth_ == 3 ? "]" : depth_ == 1 ? ";" : "";
  return {};
}

Status SettingsReader::Start(bool object) {
  if (depth_++ == 0) return {};
  if (object) return InvalidArgument("an attribute needs a value or a list, found an object");
  if (depth_ > 3) return InvalidArgument("an attribute needs at most a list of lists, found deeper ones");
  if (depth_ == 2) {
    text_ += '{';
    first_ = true;
  } else {
    if (!first_) text_ += ',';
    first_ = true;
  }
  return {};
}

void SettingsReader::Key(std::string_view key) {
  if (depth_ != 1) return;
  text_ += key;
  if (!key.ends_with('_')) text_ += '_';
  text_ += " = ";
}

void SettingsReader::End() {
  --depth_;
  if (depth_ == 1) text_ += "};";
  if (depth_ == 2 && first_) text_ += "[]";  // a scalar shape
  first_ = false;
}

std::string SettingsReader::Take() {
  std::string taken = std::move(text_);
  *this = {};
  return taken;
}

void LayoutReader::Scalar(const JsonScalar& value) {
  regular_ &= depth_ == 2 && value.is_number() && numbers_ < 2;
  if (!regular_) return;
  (numbers_++ == 0 ? entries_.back().x : entries_.back().y) = AsDouble(value);
}

void LayoutReader::Start(bool object) {
  regular_ &= object == (depth_ == 0) && depth_ < 2;
  ++depth_;
  numbers_ = 0;
}

void LayoutReader::Key(std::string_view key) {
  if (depth_ == 1) entries_.push_back({std::string(key), 0, 0});
}

void LayoutReader::End() {
  if (--depth_ == 1) regular_ &= numbers_ == 2;
}

}  // namespace weft::page
