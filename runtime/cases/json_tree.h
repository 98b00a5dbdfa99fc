// JSON as a tree. Unlike those of a library, it can be taken apart without memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/diagnostic.h"

namespace weft::cases {

/// A document that was read. Values are numbered; the root is 0. Threads may read it at once.
class JsonTree {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInteger, kReal, kString, kList, kObject };

  struct Value {
    Kind kind = Kind::kNull;
    bool boolean = false;
    int64_t integer = 0;  // kInteger
    double real = 0;      // of any number
    size_t next = 0;      // the next element or member of the one that this is in; 0: none
    size_t key_begin = 0, key_end = 0, text_begin = 0, text_end = 0, json_begin = 0, json_end = 0;
  };

  /// Nothing where there are faults, which are added to `report`: bad syntax, repeated keys, deep nesting. `file` is their page.
  static JsonTree Read(std::string_view json, const std::string& file, Diagnostics& report);

  bool empty() const { return values_.empty(); }
  const Value& value(size_t i) const { return values_[i]; }
  /// The first element or member of a list or an object; 0: none.
  size_t First(size_t i) const { return values_[i].json_end - values_[i].json_begin > 2 ? i + 1 : 0; }
  /// The member of that name; 0 where it is no object or has none.
  size_t Member(size_t object, std::string_view key) const;
  std::string_view Key(size_t i) const { return std::string_view(texts_).substr(values_[i].key_begin, values_[i].key_end - values_[i].key_begin); }
  std::string_view Text(size_t i) const { return std::string_view(texts_).substr(values_[i].text_begin, values_[i].text_end - values_[i].text_begin); }
  /// The value as JSON, on one line and without spaces; numbers as they were written, but for whole ones.
  std::string_view Json(size_t i) const { return std::string_view(json_).substr(values_[i].json_begin, values_[i].json_end - values_[i].json_begin); }

 private:
  class Builder;
  std::vector<Value> values_;  // each before what is in it
  std::string texts_, json_;   // keys and strings as they are; the whole document
};

}  // namespace weft::cases
