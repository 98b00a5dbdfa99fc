// Reads JSON text event by event (SAX), with the JSON pointer of each event. Reports bad syntax, repeated keys and deep nesting.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/diagnostic.h"

namespace weft::page {

inline constexpr int kMaxDepth = 64;

/// A value that is neither an object nor an array.
struct JsonScalar {
  enum class Kind : uint8_t { kNull, kBool, kInteger, kUnsigned, kFloat, kString };
  Kind kind = Kind::kNull;
  bool boolean = false;
  int64_t integer = 0;          // kInteger: negative; 0 stands for "-0"
  uint64_t unsigned_value = 0;  // kUnsigned
  double real = 0;              // kFloat
  std::string* text = nullptr;  // kString: the string, which may be moved from; kFloat: the number as it was written

  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kUnsigned || kind == Kind::kFloat; }
};

/// "a number", "a string" ... for messages.
std::string_view KindName(const JsonScalar& value);

/// A set of names, numbered in the order of insertion. Small sets are searched linearly, larger ones through a hash table.
class NameSet {
 public:
  /// The number of an equal name in the set; or -1, and the name is added with the next number.
  int64_t Insert(std::string_view name);
  void Clear();
  size_t size() const { return ends_.size(); }

 private:
  std::string_view name(size_t i) const;
  void Rehash();
  std::string text_;             // all names, one after another
  std::vector<size_t> ends_;     // where each ends
  std::vector<uint32_t> table_;  // index + 1, by hash; empty while there are few
};

/// Appends "/token", escaped as RFC 6901 says.
void AppendPointer(std::string& pointer, std::string_view token);

/// Receives the events. A key and a scalar's text may be moved from.
class JsonSink {
 public:
  virtual ~JsonSink() = default;
  virtual void Scalar(JsonScalar& value) = 0;
  virtual void Start(bool object) = 0;
  virtual void Key(std::string& key) = 0;
  virtual void End(bool object) = 0;
  /// A fault of the JSON itself, with its pointer.
  virtual void Fault(Status status) = 0;
};

/// Walks over one text and calls the sink, which must outlive it. During an event pointer() is the JSON pointer of the current value; at
/// Start and End that of the object or array itself.
class JsonWalk {
 public:
  JsonWalk(JsonSink& sink, std::string base_pointer = "") : sink_(sink), base_(std::move(base_pointer)) {}

  /// False where the text is not JSON or Stop was called.
  bool Run(std::string_view text);
  /// Ends the walk after the current event.
  void Stop() { stopped_ = true; }

  std::string pointer() const;
  /// The index of the current value in the innermost array.
  size_t index() const { return depth_ > 0 ? frames_[depth_ - 1].index : 0; }

 private:
  friend struct SaxAdapter;
  struct Frame {
    bool object = false;
    bool keyed = false;  // an object's first key was read
    size_t index = 0;
    std::string key;
    NameSet keys;
  };

  bool OnScalar(JsonScalar& value);
  bool OnStart(bool object);
  bool OnKey(std::string& key);
  bool OnEnd();
  bool OnSyntaxError(size_t position, int id, std::string_view detail);
  void AfterValue();

  JsonSink& sink_;
  std::string base_;
  std::string_view text_;
  Frame frames_[kMaxDepth];
  int depth_ = 0;
  int skip_depth_ = -1;  // no events at this depth or deeper: the value of a repeated key is skipped
  bool stopped_ = false;
};

}  // namespace weft::page
