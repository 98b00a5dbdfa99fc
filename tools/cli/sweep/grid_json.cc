#include "tools/cli/sweep/grid_json.h"

#include <algorithm>

#include "tools/cli/common.h"

namespace weft::cli {
namespace {

using Kind = JsonValue::Kind;

/// As attribute and literal text have it: lists in braces.
std::string SettingText(const JsonValue& value) {
  if (!value.is(Kind::kArray)) return value.text;
  std::string text = "{";
  for (size_t i = 0; i < value.items.size(); ++i) {
    const JsonValue& item = value.items[i];
    text += Cat(i > 0 ? "," : "", item.is(Kind::kString) ? Quoted(item.text) : SettingText(item));
  }
  return text + "}";
}

}  // namespace

Placed Placed::At(size_t index) const {
  return {value.items[index], PointerTo(pointer, value.is(Kind::kObject) ? value.keys[index] : std::to_string(index))};
}

void GridJson::Fault(const Placed& at, Status status) { found_.Error(std::move(status).WithPointer(at.pointer).WithPage(path_)); }

bool GridJson::Needs(const Placed& at, Kind kind, std::string_view what) {
  if (at.value.is(kind)) return true;
  Fault(at, InvalidArgument("needs ", what, ", found ", Described(at.value)));
  return false;
}

void GridJson::CheckKeys(const Placed& object, std::initializer_list<std::string_view> known) {
  for (size_t i = 0; i < object.value.keys.size(); ++i) {
    const std::string& key = object.value.keys[i];
    if (std::ranges::find(known, key) != known.end()) continue;
    std::string all;
    for (const std::string_view each : known) all += Cat(all.empty() ? "" : ", ", each);
    const std::string meant = DidYouMean(key, known);
    Fault(object.At(i), InvalidArgument("there is no key '", key, "' here").WithHint(meant.empty() ? Cat("the keys are ", all) : meant));
  }
}

bool GridJson::ReadName(const Placed& at, std::string_view what, std::string& name) {
  if (!Needs(at, Kind::kString, what)) return false;
  if (at.value.text.empty() || at.value.text.find('\0') != std::string::npos) {
    Fault(at, InvalidArgument("needs ", what, ", found ", Described(at.value)));
    return false;
  }
  name = at.value.text;
  return true;
}

bool GridJson::ReadNumber(const Placed& at, double& number) {
  if (!Needs(at, Kind::kNumber, "a number")) return false;
  number = at.value.number();
  return true;
}

bool GridJson::ReadInteger(const Placed& at, std::string_view what, int64_t least, int64_t& number) {
  int64_t value = 0;
  if (!at.value.Integer(value) || value < least) {
    Fault(at, InvalidArgument("needs ", what, ", ", least, " or more, found ", Described(at.value)));
    return false;
  }
  number = value;
  return true;
}

bool GridJson::ReadValue(const Placed& at, ParameterValue& value) {
  if (at.value.is(Kind::kNull) || at.value.is(Kind::kObject)) {
    Fault(at, InvalidArgument("needs a number, a text, true, false or a list of such, found ", Described(at.value)));
    return false;
  }
  for (size_t i = 0; i < at.value.items.size(); ++i) {
    ParameterValue element;
    if (!ReadValue(at.At(i), element)) return false;
  }
  value = {SettingText(at.value), WriteJson(at.value)};
  return true;
}

bool GridJson::ReadValues(const Placed& at, std::vector<ParameterValue>& values) {
  if (!Needs(at, Kind::kArray, "a list of values")) return false;
  if (at.value.items.empty()) {
    Fault(at, InvalidArgument("needs a value, found an empty list"));
    return false;
  }
  std::vector<ParameterValue> read(at.value.items.size());
  bool all = true;
  for (size_t i = 0; i < read.size(); ++i) all &= ReadValue(at.At(i), read[i]);
  if (all) values = std::move(read);
  return all;
}

bool GridJson::ReadCount(const Placed& object, int64_t& count) {
  int64_t number = 0;
  if (!object.Has("count")) {
    Fault(object, InvalidArgument("the key 'count' is missing: how many values there are"));
  } else if (ReadInteger(object.Of("count"), "a number of values", 1, number)) {
    if (number <= kMostPoints) {
      count = number;
      return true;
    }
    Fault(object.Of("count"), ResourceExhausted("an axis has at most ", kMostPoints, " values, found ", number));
  }
  return false;
}

bool GridJson::ReadSeed(const Placed& object, uint64_t& seed) {
  int64_t number = 0;
  if (!object.Has("seed")) return true;
  if (!ReadInteger(object.Of("seed"), "a seed", 0, number)) return false;
  seed = static_cast<uint64_t>(number);
  return true;
}

}  // namespace weft::cli
