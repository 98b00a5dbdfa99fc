#include "tools/cli/sweep/json_value.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "tools/cli/common.h"

namespace weft::cli {
namespace {

using Kind = JsonValue::Kind;
constexpr size_t kMostDepth = 64;

/// Line and column, from 1 on, of the byte before which the parser stopped.
std::string PlaceOf(std::string_view text, size_t position) {
  const std::string_view before = text.substr(0, position > 0 ? std::min(position - 1, text.size()) : 0);
  const size_t line = static_cast<size_t>(std::ranges::count(before, '\n')) + 1, start = before.rfind('\n');
  return Cat("line ", line, ", column ", before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1);
}

/// Builds the tree from the parser's events. Open arrays and objects are a stack, so that no depth of the text is one of calls.
class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text) {}

  bool null() override { return Add({}); }
  bool boolean(bool value) override { return Add({Kind::kBool, value ? "true" : "false", {}, {}}); }
  bool number_integer(int64_t value) override { return Add({Kind::kNumber, std::to_string(value), {}, {}}); }
  bool number_unsigned(uint64_t value) override { return Add({Kind::kNumber, std::to_string(value), {}, {}}); }
  bool number_float(double, const std::string& written) override { return Add({Kind::kNumber, written, {}, {}}); }
  bool string(std::string& value) override { return Add({Kind::kString, std::move(value), {}, {}}); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(Kind::kObject); }
  bool start_array(size_t) override { return Open(Kind::kArray); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(std::string& key) override {
    if (!open_.back().known.insert(key).second) {
      return Fail(InvalidArgument("the key '", key, "' stands here twice").WithPointer(PointerTo(pointer(), key)));
    }
    open_.back().value.keys.push_back(std::move(key));
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    std::string_view what = error.what();
    if (const size_t end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
    if (const size_t end = what.find("column "); end != std::string_view::npos) {
      what = what.substr(std::min(what.find(": ", end) + 2, what.size()));
    }
    Status status = InvalidArgument("the text is no JSON at ", PlaceOf(text_, position), ": ", what);
    const char found = position > 0 && position <= text_.size() ? text_[position - 1] : ' ';
    if (found == 'N' || found == 'I') status = std::move(status).WithHint("JSON has no such number: write \"nan\" or \"inf\" in quotes");
    return Fail(std::move(status).WithPointer(pointer()));
  }

  Result<JsonValue> Take() {
    if (!fault_.ok()) return fault_;
    return std::move(root_);
  }

 private:
  struct Level {
    JsonValue value;
    std::unordered_set<std::string> known;  // keys
  };

  bool Fail(Status status) {
    if (fault_.ok()) fault_ = std::move(status);
    return false;
  }
  bool Open(Kind kind) {
    if (open_.size() >= kMostDepth) {
      return Fail(InvalidArgument("lists and objects are nested more than ", kMostDepth, " deep").WithPointer(pointer()));
    }
    open_.push_back({{kind, "", {}, {}}, {}});
    return true;
  }
  bool Close() {
    JsonValue value = std::move(open_.back().value);
    open_.pop_back();
    return Add(std::move(value));
  }
  bool Add(JsonValue value) {
    if (open_.empty()) root_ = std::move(value);
    else open_.back().value.items.push_back(std::move(value));
    return true;
  }
  std::string pointer() const {
    std::string text;
    for (const Level& level : open_) {
      const JsonValue& value = level.value;
      if (value.is(Kind::kArray)) text = PointerTo(text, std::to_string(value.items.size()));
      else if (value.keys.size() > value.items.size()) text = PointerTo(text, value.keys.back());
    }
    return text;
  }

  std::string_view text_;
  std::vector<Level> open_;
  JsonValue root_;
  Status fault_;
};

}  // namespace

const JsonValue* JsonValue::Find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

double JsonValue::number() const {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool JsonValue::Integer(int64_t& value) const {
  if (!is(Kind::kNumber)) return false;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end) return true;
  const double real = number();  // 1e3 is an integer, too
  if (std::abs(real) > 9e15 || real != std::floor(real)) return false;
  value = static_cast<int64_t>(real);
  return true;
}

std::string Described(const JsonValue& value) {
  switch (value.kind) {
    case Kind::kNull: return "null";
    case Kind::kBool: return value.text;
    case Kind::kNumber: return Cat("the number ", value.text);
    case Kind::kString: return Cat("the text ", Quoted(value.text));
    case Kind::kArray: return value.items.empty() ? "an empty list" : "a list";
    case Kind::kObject: return "an object";
  }
  return "";
}

std::string WriteJson(const JsonValue& value) {
  if (value.is(Kind::kNull)) return "null";
  if (value.is(Kind::kString)) return Quoted(value.text);
  if (value.is(Kind::kBool) || value.is(Kind::kNumber)) return value.text;
  const bool object = value.is(Kind::kObject);
  std::string text(1, object ? '{' : '[');
  for (size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) text += ',';
    if (object) text += Quoted(value.keys[i]) + ":";
    text += WriteJson(value.items[i]);
  }
  return text + (object ? '}' : ']');
}

std::string PointerTo(std::string_view pointer, std::string_view token) {
  std::string text(pointer);
  text += '/';
  for (char c : token) {
    if (c == '~') text += "~0";
    else if (c == '/') text += "~1";
    else text += c;
  }
  return text;
}

Result<JsonValue> ReadJson(std::string_view text) {
  TreeBuilder builder(text);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.Take();
}

}  // namespace weft::cli
