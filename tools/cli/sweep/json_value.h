// JSON text as a tree that keeps what it read: the order of keys, numbers as they were written. What is wrong is told with its JSON
// pointer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/status.h"

namespace weft::cli {

struct JsonValue {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string text;               // of a string; a number as it was written; "true" or "false"
  std::vector<std::string> keys;  // of an object, in order, each once
  std::vector<JsonValue> items;   // of an array; of an object the value of each key

  bool is(Kind other) const { return kind == other; }
  /// Of an object: the key's value, or null.
  const JsonValue* Find(std::string_view key) const;
  /// Of a number; finite.
  double number() const;
  /// Of a number without a fraction that fits; false for others.
  bool Integer(int64_t& value) const;
};

/// "a list", "the number 3"... for messages.
std::string Described(const JsonValue& value);

/// Canonical JSON text, without spaces.
std::string WriteJson(const JsonValue& value);

/// `pointer` with one more token, escaped as RFC 6901 says.
std::string PointerTo(std::string_view pointer, std::string_view token);

/// invalid_argument for what is no JSON (with line and column), a repeated key, a number too large for a double, nesting beyond 64 levels.
Result<JsonValue> ReadJson(std::string_view text);

}  // namespace weft::cli
