// Reading the parts of a grid's JSON: values with their places, and the faults of those that are not what is needed.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "tools/cli/sweep/axis.h"
#include "tools/cli/sweep/json_value.h"
#include "weft/base/diagnostic.h"

namespace weft::cli {

/// A value and where it stands.
struct Placed {
  const JsonValue& value;
  std::string pointer;

  /// An element of a list, or an object's value.
  Placed At(size_t index) const;
  /// Of an object: the key's value, which must be there.
  Placed Of(std::string_view key) const { return {*value.Find(key), PointerTo(pointer, key)}; }
  bool Has(std::string_view key) const { return value.Find(key) != nullptr; }
};

/// Functions that give false have told a fault, and have changed nothing.
class GridJson {
 public:
  GridJson(std::string path, Diagnostics& found) : path_(std::move(path)), found_(found) {}

  void Fault(const Placed& at, Status status);
  /// `what` in messages: "a list of axes".
  bool Needs(const Placed& at, JsonValue::Kind kind, std::string_view what);
  /// Tells each key of the object that is none of these.
  void CheckKeys(const Placed& object, std::initializer_list<std::string_view> known);

  bool ReadName(const Placed& at, std::string_view what, std::string& name);
  bool ReadNumber(const Placed& at, double& number);
  bool ReadInteger(const Placed& at, std::string_view what, int64_t least, int64_t& number);
  /// What a parameter may be: all but null and objects.
  bool ReadValue(const Placed& at, ParameterValue& value);
  /// A list of them, with one at least.
  bool ReadValues(const Placed& at, std::vector<ParameterValue>& values);
  /// The key "count" of values.
  bool ReadCount(const Placed& object, int64_t& count);
  /// The key "seed", where there is one.
  bool ReadSeed(const Placed& object, uint64_t& seed);

 private:
  const std::string path_;
  Diagnostics& found_;
};

/// Reads the values of an axis, which has its name. Without a fault it has one value or more.
void ReadAxisValues(GridJson& json, const Placed& at, uint64_t seed, Axis& axis);

}  // namespace weft::cli
