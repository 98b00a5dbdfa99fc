// Writes JSON text in Weft's canonical spelling: one line, a space after ',' and ':', shortest numbers, only the escapes that JSON needs.
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

/// The shortest text that reads back as the same value in its own type; -0 for a negative zero. The value must be finite.
template <class T>
void AppendJsonNumber(std::string& out, T value) {
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}
void AppendJsonNumber(std::string& out, half value);
void AppendJsonNumber(std::string& out, bfloat16 value);

/// Records a JSON value from its events as text. Integers and strings are written canonically, other numbers as in the document.
class JsonRecorder {
 public:
  /// Whether one whole value has been recorded.
  bool complete() const { return depth_ == 0 && !text_.empty(); }
  bool empty() const { return text_.empty(); }
  /// The text; the recorder is empty afterwards.
  std::string Take();

  void Scalar(const JsonScalar& value);
  void Start(bool object);
  void Key(std::string_view key);
  void End(bool object);

 private:
  void Separate();
  std::string text_;
  int depth_ = 0;
  bool first_ = true;  // the innermost object or array is still empty
  bool after_key_ = false;
};

/// Appends a member to `"a": 1, "b": 2`; `value` is JSON text.
void AppendMember(std::string& members, std::string_view key, std::string_view value, std::string_view separator = ", ");

std::string EncodeBase64(std::string_view bytes);
/// invalid_argument where the text is not base64 with its padding.
Result<std::string> DecodeBase64(std::string_view text);

}  // namespace weft::page
