// Reads grids. Each fault is told with its place; reading goes on after it.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <map>

#include "tools/cli/common.h"
#include "tools/cli/sweep/grid.h"
#include "tools/cli/sweep/json_value.h"

namespace weft::cli {
namespace {

using Kind = JsonValue::Kind;
constexpr int64_t kNewestGrid = 1;

/// A value's JSON and where it stands.
struct Placed {
  const JsonValue& value;
  std::string pointer;

  Placed At(size_t index) const { return {value.items[index], PointerTo(pointer, value.is(Kind::kObject) ? value.keys[index] : std::to_string(index))}; }
};

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

class GridReader {
 public:
  GridReader(const std::string& path, Diagnostics& found) : found_(found) {
    grid_.path = path;
    grid_.folder = std::filesystem::path(path).parent_path().string();
  }

  Grid Read(std::string_view text);

 private:
  void Fault(const Placed& at, Status status) { found_.Error(std::move(status).WithPointer(at.pointer).WithPage(grid_.path)); }
  /// False, with a fault, where the value is of another kind.
  bool Needs(const Placed& at, Kind kind, std::string_view what);
  void CheckKeys(const Placed& object, std::initializer_list<std::string_view> known);

  void ReadTop(const Placed& top);
  void ReadOption(const Placed& at, std::string_view key);
  void ReadName(const Placed& at, std::string_view what, std::string& name);
  void ReadSettings(const Placed& at, bool feed);
  GridPart ReadPart(const Placed& at);
  GridPart ReadParts(const Placed& at, GridPart::Kind kind);
  GridPart ReadAxis(const Placed& at);
  void ReadTargets(const Placed& at, bool feed, Axis& axis);
  void ReadValues(const Placed& at, Axis& axis);
  void ReadList(const Placed& at, std::vector<ParameterValue>& values);
  void ReadRange(const Placed& at, Axis& axis);
  void ReadLogRange(const Placed& at, Axis& axis);
  void ReadRandom(const Placed& at, Axis& axis);
  void ReadBounds(const Placed& at, RandomDraws& draws);
  bool ReadValue(const Placed& at, ParameterValue& value);
  bool ReadNumber(const Placed& at, double& number);
  bool ReadInteger(const Placed& at, std::string_view what, int64_t least, int64_t& number);
  bool ReadCount(const Placed& object, int64_t& count);
  void NoteTarget(const Placed& at, const Target& target);

  Diagnostics& found_;
  Grid grid_;
  uint64_t seed_ = 0;
  std::map<std::string, std::string, std::less<>> names_, targets_;  // each with the pointer of its first use
};

bool GridReader::Needs(const Placed& at, Kind kind, std::string_view what) {
  if (at.value.is(kind)) return true;
  Fault(at, InvalidArgument("needs ", what, ", found ", Described(at.value)));
  return false;
}

void GridReader::CheckKeys(const Placed& object, std::initializer_list<std::string_view> known) {
  for (size_t i = 0; i < object.value.keys.size(); ++i) {
    const std::string& key = object.value.keys[i];
    if (std::ranges::find(known, key) != known.end()) continue;
    std::string all;
    for (const std::string_view each : known) all += Cat(all.empty() ? "" : ", ", each);
    const std::string meant = DidYouMean(key, known);
    Fault(object.At(i), InvalidArgument("there is no key '", key, "' here").WithHint(meant.empty() ? Cat("the keys are ", all) : meant));
  }
}

Grid GridReader::Read(std::string_view text) {
  auto tree = ReadJson(text);
  if (!tree.ok()) {
    found_.Error(Status(tree.status()).WithPage(grid_.path));
    return std::move(grid_);
  }
  ReadTop({*tree, ""});
  // What says nothing of the points may change during a sweep.
  JsonValue meaning = std::move(*tree);
  for (const std::string_view key : {"time_limit", "note"}) {
    const auto at = std::ranges::find(meaning.keys, key);
    if (at == meaning.keys.end()) continue;
    meaning.items.erase(meaning.items.begin() + (at - meaning.keys.begin()));
    meaning.keys.erase(at);
  }
  grid_.hash = HashOf(WriteJson(meaning));
  return std::move(grid_);
}

void GridReader::ReadTop(const Placed& top) {
  if (!Needs(top, Kind::kObject, "an object, the grid")) return;
  const JsonValue* format = top.value.Find("sweep");
  int64_t number = 0;
  if (format == nullptr) {
    Fault(top, InvalidArgument("this is no grid: the key 'sweep' is missing").WithHint("a grid begins with {\"sweep\": 1, \"page\": \"my.page.json\","));
    return;
  }
  const Placed at{*format, "/sweep"};
  if (!ReadInteger(at, "the number of the grid's format", 1, number)) return;
  if (number > kNewestGrid) {
    Fault(at, Unsupported("this grid is of format ", number, ", and this Weft reads formats up to ", kNewestGrid).WithHint("use a newer Weft"));
    return;
  }
  CheckKeys(top, {"sweep", "page", "steps", "session", "fetch", "load_state", "time_limit", "seed", "set", "feed", "grid", "note"});
  if (top.value.Find("page") == nullptr) Fault(top, InvalidArgument("the key 'page' is missing").WithHint("\"page\": \"my.page.json\", from the grid's folder"));
  int64_t seed = 0;  // before the axes that draw
  if (const JsonValue* value = top.value.Find("seed")) {
    if (ReadInteger({*value, "/seed"}, "a seed", 0, seed)) seed_ = static_cast<uint64_t>(seed);
  }
  for (size_t i = 0; i < top.value.keys.size(); ++i) ReadOption(top.At(i), top.value.keys[i]);
}

void GridReader::ReadOption(const Placed& at, std::string_view key) {
  if (key == "page") {
    ReadName(at, "the file of a page", grid_.page);
    grid_.page = BesideGrid(grid_, grid_.page);
  } else if (key == "load_state") {
    ReadName(at, "a file that --save-state wrote", grid_.load_state);
    grid_.load_state = BesideGrid(grid_, grid_.load_state);
  } else if (key == "session") {
    ReadName(at, "the id of a ClientSession", grid_.session);
  } else if (key == "steps") {
    ReadInteger(at, "a number of runs", 1, grid_.steps);
  } else if (key == "time_limit") {
    if (ReadNumber(at, grid_.time_limit) && !(grid_.time_limit > 0 && grid_.time_limit <= 1e9)) {
      Fault(at, InvalidArgument("needs seconds above 0, found ", grid_.time_limit));
    }
  } else if (key == "fetch") {
    if (!Needs(at, Kind::kArray, "a list of outputs")) return;
    for (size_t i = 0; i < at.value.items.size(); ++i) ReadName(at.At(i), "an output (\"ID.port\")", grid_.fetch.emplace_back());
  } else if (key == "set" || key == "feed") {
    ReadSettings(at, key == "feed");
  } else if (key == "grid") {
    grid_.points = ReadParts(at, GridPart::Kind::kCross);
  }
}

void GridReader::ReadName(const Placed& at, std::string_view what, std::string& name) {
  if (!Needs(at, Kind::kString, what)) return;
  if (at.value.text.empty() || at.value.text.find('\0') != std::string::npos) Fault(at, InvalidArgument("needs ", what, ", found ", Described(at.value)));
  name = at.value.text;
}

void GridReader::ReadSettings(const Placed& at, bool feed) {
  if (!Needs(at, Kind::kObject, feed ? "an object {\"ID.port\": value}" : "an object {\"ID.pin\": value}")) return;
  for (size_t i = 0; i < at.value.items.size(); ++i) {
    const Target target{feed, at.value.keys[i]};
    ParameterValue value;
    NoteTarget(at.At(i), target);
    if (ReadValue(at.At(i), value)) grid_.settings.emplace_back(target, std::move(value));
  }
}

GridPart GridReader::ReadParts(const Placed& at, GridPart::Kind kind) {
  GridPart all;
  all.kind = kind;
  if (!Needs(at, Kind::kArray, "a list of axes")) return all;
  if (at.value.items.empty()) Fault(at, InvalidArgument("needs an axis, found an empty list").WithHint("{\"set\": \"ID.pin\", \"values\": [1, 2]}"));
  for (size_t i = 0; i < at.value.items.size(); ++i) {
    GridPart part = ReadPart(at.At(i));
    if (kind == GridPart::Kind::kZip && !all.parts.empty() && part.count != all.count) {
      Fault(at.At(i), InvalidArgument("what is zipped needs as many values each: the first has ", all.count, ", this one ", part.count));
    }
    if (kind == GridPart::Kind::kCross && all.count > kMostPoints / part.count) {
      Fault(at.At(i), ResourceExhausted("the grid has more than ", kMostPoints, " points: ", all.count, " times ", part.count));
      part.count = 1;
    }
    all.count = kind == GridPart::Kind::kZip ? (all.parts.empty() ? part.count : all.count) : all.count * part.count;
    all.parts.push_back(std::move(part));
  }
  return all;
}

GridPart GridReader::ReadPart(const Placed& at) {
  if (!Needs(at, Kind::kObject, "an axis, {\"set\": \"ID.pin\", \"values\": [1, 2]}, or {\"zip\": [...]} or {\"cross\": [...]}")) return {};
  for (const auto& [key, kind] : {std::pair("zip", GridPart::Kind::kZip), std::pair("cross", GridPart::Kind::kCross)}) {
    const JsonValue* parts = at.value.Find(key);
    if (parts == nullptr) continue;
    CheckKeys(at, {key});
    return ReadParts({*parts, PointerTo(at.pointer, key)}, kind);
  }
  return ReadAxis(at);
}

GridPart GridReader::ReadAxis(const Placed& at) {
  GridPart part;
  part.kind = GridPart::Kind::kAxis;
  Axis& axis = part.axis;
  CheckKeys(at, {"set", "feed", "name", "values", "range", "log_range", "random", "zip", "cross"});
  for (const auto& [key, feed] : {std::pair("set", false), std::pair("feed", true)}) {
    if (const JsonValue* targets = at.value.Find(key)) ReadTargets({*targets, PointerTo(at.pointer, key)}, feed, axis);
  }
  if (at.value.Find("set") == nullptr && at.value.Find("feed") == nullptr) {
    Fault(at, InvalidArgument("an axis needs 'set' or 'feed': what its values are for").WithHint("\"set\": \"ID.pin\""));
  }
  if (!axis.targets.empty()) axis.name = axis.targets[0].name;
  if (const JsonValue* name = at.value.Find("name")) ReadName({*name, PointerTo(at.pointer, "name")}, "a name", axis.name);
  const auto [known, fresh] = names_.emplace(axis.name, at.pointer);
  if (!fresh && !axis.name.empty()) {
    Fault(at, AlreadyExists("there is a parameter '", axis.name, "' already, at ", known->second).WithHint("give one of them another \"name\""));
  }
  axis.count = 1;
  ReadValues(at, axis);
  part.count = axis.count;
  return part;
}

void GridReader::ReadTargets(const Placed& at, bool feed, Axis& axis) {
  const auto add = [&](const Placed& one) {
    Target target{feed, ""};
    ReadName(one, feed ? "an output (\"ID.port\")" : "an input or attribute (\"ID.pin\")", target.name);
    if (target.name.empty()) return;
    NoteTarget(one, target);
    axis.targets.push_back(std::move(target));
  };
  if (!at.value.is(Kind::kArray)) return add(at);
  if (at.value.items.empty()) Fault(at, InvalidArgument("needs a name or several, found an empty list"));
  for (size_t i = 0; i < at.value.items.size(); ++i) add(at.At(i));
}

void GridReader::NoteTarget(const Placed& at, const Target& target) {
  const size_t dot = target.name.rfind('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == target.name.size() || target.name.find('=') != std::string::npos) {
    Fault(at, InvalidArgument("needs the form ", target.feed ? "ID.port" : "ID.pin", ", found '", target.name, "'"));
  }
  const auto [known, fresh] = targets_.emplace(Cat(target.feed ? "feed " : "set ", target.name), at.pointer);
  if (!fresh) Fault(at, AlreadyExists("'", target.name, "' has a value already, from ", known->second));
}

void GridReader::ReadValues(const Placed& at, Axis& axis) {
  constexpr std::string_view kForms[] = {"values", "range", "log_range", "random"};
  std::string given;
  for (const std::string_view form : kForms) {
    const JsonValue* value = at.value.Find(form);
    if (value == nullptr) continue;
    const Placed placed{*value, PointerTo(at.pointer, form)};
    if (!given.empty()) {
      Fault(placed, InvalidArgument("an axis has one kind of values, found '", given, "' and '", form, "'"));
      return;
    }
    given = form;
    if (form == "values") {
      ListedValues listed;
      ReadList(placed, listed.values);
      axis.count = std::max<int64_t>(1, static_cast<int64_t>(listed.values.size()));
      axis.values = std::move(listed);
    } else if (Needs(placed, Kind::kObject, "an object")) {
      if (form == "range") ReadRange(placed, axis);
      else if (form == "log_range") ReadLogRange(placed, axis);
      else ReadRandom(placed, axis);
    }
  }
  if (given.empty()) Fault(at, InvalidArgument("an axis needs 'values', 'range', 'log_range' or 'random'"));
}

void GridReader::ReadList(const Placed& at, std::vector<ParameterValue>& values) {
  if (!Needs(at, Kind::kArray, "a list of values")) return;
  if (at.value.items.empty()) Fault(at, InvalidArgument("needs a value, found an empty list"));
  for (size_t i = 0; i < at.value.items.size(); ++i) ReadValue(at.At(i), values.emplace_back());
}

bool GridReader::ReadValue(const Placed& at, ParameterValue& value) {
  if (at.value.is(Kind::kNull) || at.value.is(Kind::kObject)) {
    Fault(at, InvalidArgument("needs a number, a text, true, false or a list of such, found ", Described(at.value)));
    return false;
  }
  value = {SettingText(at.value), WriteJson(at.value)};
  return true;
}

bool GridReader::ReadNumber(const Placed& at, double& number) {
  if (!Needs(at, Kind::kNumber, "a number")) return false;
  number = at.value.number();
  return true;
}

bool GridReader::ReadInteger(const Placed& at, std::string_view what, int64_t least, int64_t& number) {
  int64_t value = 0;
  if (!at.value.Integer(value) || value < least) {
    Fault(at, InvalidArgument("needs ", what, ", ", least, " or more, found ", Described(at.value)));
    return false;
  }
  number = value;
  return true;
}

bool GridReader::ReadCount(const Placed& object, int64_t& count) {
  const JsonValue* value = object.value.Find("count");
  if (value == nullptr) {
    Fault(object, InvalidArgument("the key 'count' is missing: how many values there are"));
    return false;
  }
  const Placed at{*value, PointerTo(object.pointer, "count")};
  if (!ReadInteger(at, "a number of values", 1, count)) return false;
  if (count <= kMostPoints) return true;
  Fault(at, ResourceExhausted("an axis has at most ", kMostPoints, " values, found ", count));
  count = 1;
  return false;
}

/// The number of values from `from` to `to`, both included where a step ends there.
double StepsBetween(double from, double to, double step) { return std::floor((to - from) / step + 1e-9); }

void GridReader::ReadRange(const Placed& at, Axis& axis) {
  CheckKeys(at, {"from", "to", "step", "count"});
  const JsonValue *from = at.value.Find("from"), *to = at.value.Find("to"), *step = at.value.Find("step"), *count = at.value.Find("count");
  if (from == nullptr || to == nullptr || (step == nullptr) == (count == nullptr)) {
    return Fault(at, InvalidArgument("a range needs 'from', 'to', and either 'step' or 'count'").WithHint("{\"from\": 0, \"to\": 1, \"step\": 0.1}"));
  }
  double low = 0, high = 0, width = 0;
  if (!ReadNumber({*from, PointerTo(at.pointer, "from")}, low) || !ReadNumber({*to, PointerTo(at.pointer, "to")}, high)) return;
  if (count != nullptr) {
    if (!ReadCount(at, axis.count)) return;
    width = axis.count > 1 ? (high - low) / static_cast<double>(axis.count - 1) : 0;
    if (!std::isfinite(width)) Fault(at, OutOfRange("the range is wider than numbers can tell"));
    axis.values = LinearRange{low, width};
    return;
  }
  if (!ReadNumber({*step, PointerTo(at.pointer, "step")}, width)) return;
  const double steps = StepsBetween(low, high, width);
  if (width == 0 || !(steps >= 0)) return Fault(at, InvalidArgument("a step of ", width, " does not lead from ", low, " to ", high));
  if (steps >= static_cast<double>(kMostPoints)) return Fault(at, ResourceExhausted("the range has more than ", kMostPoints, " values: a step of ", width, " from ", low, " to ", high));
  axis.count = static_cast<int64_t>(steps) + 1;
  IntegerRange integers;
  const bool exact = from->Integer(integers.from) && step->Integer(integers.step) && std::abs(low) <= 9e15 && std::abs(high) <= 9e15;
  if (exact) axis.values = integers;
  else axis.values = LinearRange{low, width};
}

void GridReader::ReadLogRange(const Placed& at, Axis& axis) {
  CheckKeys(at, {"from", "to", "count"});
  LogRange range;
  const JsonValue *from = at.value.Find("from"), *to = at.value.Find("to");
  if (from == nullptr || to == nullptr) return Fault(at, InvalidArgument("a log_range needs 'from', 'to' and 'count'"));
  if (!ReadNumber({*from, PointerTo(at.pointer, "from")}, range.from) || !ReadNumber({*to, PointerTo(at.pointer, "to")}, range.to)) return;
  if (!(range.from > 0 && range.to > 0)) return Fault(at, InvalidArgument("a log_range needs ends above 0, found ", range.from, " and ", range.to));
  if (!ReadCount(at, axis.count)) return;
  range.count = axis.count;
  axis.values = range;
}

void GridReader::ReadRandom(const Placed& at, Axis& axis) {
  CheckKeys(at, {"uniform", "log_uniform", "normal", "integer", "choice", "count", "seed"});
  RandomDraws draws;
  draws.seed = seed_;
  draws.stream = StreamOf(axis.name);
  int64_t seed = 0;
  if (const JsonValue* value = at.value.Find("seed")) {
    if (ReadInteger({*value, PointerTo(at.pointer, "seed")}, "a seed", 0, seed)) draws.seed = static_cast<uint64_t>(seed);
  }
  ReadCount(at, axis.count);
  ReadBounds(at, draws);
  axis.values = std::move(draws);
}

void GridReader::ReadBounds(const Placed& at, RandomDraws& draws) {
  using Draws = RandomDraws::Kind;
  constexpr std::pair<std::string_view, Draws> kKinds[] = {
      {"uniform", Draws::kUniform}, {"log_uniform", Draws::kLogUniform}, {"normal", Draws::kNormal}, {"integer", Draws::kInteger}, {"choice", Draws::kChoice}};
  int given = 0;
  for (const auto& [key, kind] : kKinds) {
    const JsonValue* value = at.value.Find(key);
    if (value == nullptr) continue;
    const Placed bounds{*value, PointerTo(at.pointer, key)};
    if (++given > 1) return Fault(bounds, InvalidArgument("draws have one distribution, found a second: '", key, "'"));
    draws.kind = kind;
    if (kind == Draws::kChoice) {
      ReadList(bounds, draws.choices);
      if (draws.choices.empty()) draws.choices.emplace_back();
      continue;
    }
    if (!Needs(bounds, Kind::kArray, "a list of two numbers")) continue;
    if (value->items.size() != 2) {
      Fault(bounds, InvalidArgument("needs two numbers, found ", value->items.size()));
    } else if (kind == Draws::kInteger) {
      if (!value->items[0].Integer(draws.least) || !value->items[1].Integer(draws.most) || draws.least > draws.most) {
        draws.least = draws.most = 0;
        Fault(bounds, InvalidArgument("needs two integers, the lesser one first"));
      }
    } else if (ReadNumber(bounds.At(0), draws.low) && ReadNumber(bounds.At(1), draws.high)) {
      const bool fits = kind == Draws::kNormal ? draws.high >= 0 : draws.low <= draws.high && std::isfinite(draws.high - draws.low);
      if (!fits || (kind == Draws::kLogUniform && !(draws.low > 0))) {
        Fault(bounds, InvalidArgument(kind == Draws::kNormal ? "needs a mean and a standard deviation of 0 or more"
                                                             : kind == Draws::kLogUniform ? "needs two numbers above 0, the lesser one first"
                                                                                          : "needs two numbers, the lesser one first"));
      }
    }
  }
  if (given == 0) Fault(at, InvalidArgument("draws need a distribution: 'uniform', 'log_uniform', 'normal', 'integer' or 'choice'"));
}

}  // namespace

Grid ReadGrid(std::string_view text, const std::string& path, Diagnostics& found) { return GridReader(path, found).Read(text); }

}  // namespace weft::cli
