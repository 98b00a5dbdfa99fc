// JSON text in Weft's canonical spelling: one line, a space after ',' and ':', shortest numbers, no needless escapes.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/page/json_walk.h"
#include "weft/base/tensor.h"

namespace weft::page {

/// Appends the text in quotes. Bytes that are not UTF-8 become U+FFFD.
void AppendJsonString(std::string& out, std::string_view text);

/// The shortest text that reads back as the same value in its own type; -0 for a negative zero. Not for values that are not finite.
template <class T>
void AppendJsonNumber(std::string& out, T value) {
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}
void AppendJsonNumber(std::string& out, half value);
void AppendJsonNumber(std::string& out, bfloat16 value);

/// Writes down JSON values as they are met. Integers and strings come out canonical, other numbers as they were written.
class JsonRecorder {
 public:
  /// One value, however deep, was begun and ended.
  bool complete() const { return depth_ == 0 && !text_.empty(); }
  bool empty() const { return text_.empty(); }
  std::string Take();

  void Scalar(const JsonScalar& value);
  void Start(bool object);
  void Key(std::string_view key);
  void End(bool object);

 private:
  void Separate();
  std::string text_;
  int depth_ = 0;
  bool first_ = true;  // nothing stands in the innermost object or array yet
  bool after_key_ = false;
};

/// `"a": 1, "b": 2` grows by a member.
void AppendMember(std::string& members, std::string_view key, std::string_view value, std::string_view separator = ", ");

std::string EncodeBase64(std::string_view bytes);
/// invalid_argument where the text is not base64 with its padding.
Result<std::string> DecodeBase64(std::string_view text);

}  // namespace weft::page
