#include "runtime/page/json_walk.h"

#include <iterator>
#include <nlohmann/json.hpp>

#include "runtime/base/call_limit.h"
#include "runtime/page/unicode.h"
#include "weft/base/keyed_hash.h"

namespace weft::page {

std::string_view KindName(const JsonScalar& value) {
  switch (value.kind) {
    case JsonScalar::Kind::kNull: return "null";
    case JsonScalar::Kind::kBool: return value.boolean ? "true" : "false";
    case JsonScalar::Kind::kString: return "a string";
    default: return "a number";
  }
}

std::string_view NameSet::name(size_t i) const {
  const size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(text_).substr(begin, ends_[i] - begin);
}

void NameSet::Clear() {
  text_.clear();
  ends_.clear();
  table_.clear();
}

void NameSet::Rehash() {
  table_.assign(ends_.size() * 4, 0);
  while (table_.size() & (table_.size() - 1)) table_.resize((table_.size() | (table_.size() - 1)) + 1);
  for (size_t i = 0; i < ends_.size(); ++i) {
    size_t slot = KeyedHash(name(i)) & (table_.size() - 1);
    while (table_[slot]) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = static_cast<uint32_t>(i + 1);
  }
}

int64_t NameSet::Insert(std::string_view added) {
  constexpr size_t kFew = 16;
  if (table_.empty()) {
    for (size_t i = 0; i < ends_.size(); ++i) {
      if (name(i) == added) return static_cast<int64_t>(i);
    }
  } else {
    size_t slot = KeyedHash(added) & (table_.size() - 1);
    for (; table_[slot]; slot = (slot + 1) & (table_.size() - 1)) {
      if (name(table_[slot] - 1) == added) return table_[slot] - 1;
    }
    table_[slot] = static_cast<uint32_t>(ends_.size() + 1);
  }
  text_.append(added);
  ends_.push_back(text_.size());
  if (table_.empty() ? ends_.size() > kFew : ends_.size() * 2 > table_.size()) Rehash();
  return -1;
}

void AppendPointer(std::string& pointer, std::string_view token) {
  pointer += '/';
  for (const char c : token) {
    if (c == '~') pointer += "~0";
    else if (c == '/') pointer += "~1";
    else pointer += c;
  }
}

std::string JsonWalk::pointer() const {
  std::string pointer = base_;
  for (int i = 0; i < depth_; ++i) {
    if (frames_[i].object && !frames_[i].keyed) break;
    if (frames_[i].object) AppendPointer(pointer, frames_[i].key);
    else AppendPointer(pointer, std::to_string(frames_[i].index));
  }
  return pointer;
}

void JsonWalk::AfterValue() {
  if (skip_depth_ == depth_) skip_depth_ = -1;
  if (depth_ > 0 && !frames_[depth_ - 1].object) ++frames_[depth_ - 1].index;
}

// What a value or a key becomes, besides its text: an element, a name of a port.
static constexpr int64_t kValueBytes = 32;

bool JsonWalk::OnScalar(JsonScalar& value) {
  CallLimit::Check();
  CallLimit::Grow(kValueBytes + static_cast<int64_t>(value.text == nullptr ? 0 : value.text->size()));
  if (skip_depth_ < 0) sink_.Scalar(value);
  AfterValue();
  return !stopped_;
}

bool JsonWalk::OnStart(bool object) {
  CallLimit::Check();
  if (depth_ == kMaxDepth) {
    sink_.Fault(InvalidArgument("objects and arrays are nested more than ", kMaxDepth, " deep").WithPointer(pointer()));
    return false;
  }
  if (skip_depth_ < 0) sink_.Start(object);
  Frame& frame = frames_[depth_++];
  frame.object = object;
  frame.keyed = false;
  frame.index = 0;
  frame.key.clear();
  frame.keys.Clear();
  return !stopped_;
}

bool JsonWalk::OnKey(std::string& key) {
  CallLimit::Check();
  CallLimit::Grow(kValueBytes + static_cast<int64_t>(key.size()));
  Frame& frame = frames_[depth_ - 1];
  frame.key = key;
  frame.keyed = true;
  if (skip_depth_ >= 0) return true;
  if (frame.keys.Insert(key) >= 0) {
    sink_.Fault(AlreadyExists("the key '", key, "' is repeated in one object").WithPointer(pointer()).WithHint("remove one of the two"));
    skip_depth_ = depth_;
  } else {
    sink_.Key(key);
  }
  return !stopped_;
}

bool JsonWalk::OnEnd() {
  const bool object = frames_[--depth_].object;
  if (skip_depth_ < 0) sink_.End(object);
  AfterValue();
  return !stopped_;
}

bool JsonWalk::OnSyntaxError(size_t position, int id, std::string_view detail) {
  constexpr int kOutOfRange = 406;  // nlohmann's number for a literal beyond double
  const size_t offset = position > 0 ? position - 1 : 0;
  if (FindInvalidUtf8(text_) <= offset) {
    sink_.Fault(CheckUtf8(text_).WithPointer(pointer()));
    return false;
  }
  const std::string where = LineAndColumn(text_, offset);
  if (id == kOutOfRange) {
    sink_.Fault(OutOfRange("a number at ", where, " is too large for any type").WithPointer(pointer()));
    return false;
  }
  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ..." keeps its last part.
  if (const size_t cut = detail.find("error while parsing "); cut != std::string_view::npos) detail.remove_prefix(cut);
  Status status = InvalidArgument("broken JSON at ", where, ": ", detail);
  if (offset >= text_.size()) status = std::move(status).WithHint("the file ends too early: it may have been cut off");
  sink_.Fault(std::move(status).WithPointer(pointer()));
  return false;
}

// Implements nlohmann's SAX interface, whose function names these are.
struct SaxAdapter {
  using Json = nlohmann::json;
  JsonWalk& walk;

  bool null() {
    JsonScalar value;
    return walk.OnScalar(value);
  }
  bool boolean(bool b) {
    JsonScalar value{.kind = JsonScalar::Kind::kBool, .boolean = b};
    return walk.OnScalar(value);
  }
  bool number_integer(Json::number_integer_t i) {
    JsonScalar value{.kind = JsonScalar::Kind::kInteger, .integer = i};
    return walk.OnScalar(value);
  }
  bool number_unsigned(Json::number_unsigned_t u) {
    JsonScalar value{.kind = JsonScalar::Kind::kUnsigned, .unsigned_value = u};
    return walk.OnScalar(value);
  }
  bool number_float(double d, const std::string& written) {
    std::string text = written;
    JsonScalar value{.kind = JsonScalar::Kind::kFloat, .real = d, .text = &text};
    return walk.OnScalar(value);
  }
  bool string(std::string& text) {
    JsonScalar value{.kind = JsonScalar::Kind::kString, .text = &text};
    return walk.OnScalar(value);
  }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(size_t) { return walk.OnStart(true); }
  bool key(std::string& key) { return walk.OnKey(key); }
  bool end_object() { return walk.OnEnd(); }
  bool start_array(size_t) { return walk.OnStart(false); }
  bool end_array() { return walk.OnEnd(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) {
    return walk.OnSyntaxError(position, error.id, error.what());
  }
};

namespace {

/// The characters of a text, where the call may end: long blanks and strings are single events of the parser.
class CheckedText {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit CheckedText(const char* at) : at_(at) {}
  const char& operator*() const { return *at_; }
  CheckedText& operator++() {
    CallLimit::CheckAt(reinterpret_cast<uintptr_t>(++at_));
    return *this;
  }
  CheckedText operator++(int) {
    const CheckedText before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CheckedText&, const CheckedText&) = default;

 private:
  const char* at_;
};

}  // namespace

bool JsonWalk::Run(std::string_view text) {
  text_ = text;
  depth_ = 0;
  skip_depth_ = -1;
  stopped_ = false;
  SaxAdapter adapter{*this};
  return SaxAdapter::Json::sax_parse(CheckedText(text.data()), CheckedText(text.data() + text.size()), &adapter);
}

}  // namespace weft::page
