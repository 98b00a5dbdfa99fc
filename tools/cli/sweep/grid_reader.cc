// Reads grids. Each fault is told with its place; reading goes on after it.
#include <algorithm>
#include <filesystem>
#include <map>

#include "tools/cli/sweep/grid.h"
#include "tools/cli/sweep/grid_json.h"

namespace weft::cli {
namespace {

using Kind = JsonValue::Kind;
constexpr int64_t kNewestGrid = 1;

class GridReader {
 public:
  GridReader(const std::string& path, Diagnostics& found) : json_(path, found) {
    grid_.path = path;
    grid_.folder = std::filesystem::path(path).parent_path().string();
  }

  void ReadTop(const Placed& top);
  Grid Take() { return std::move(grid_); }

 private:
  bool CheckFormat(const Placed& top);
  void ReadOption(const Placed& at, std::string_view key);
  void ReadFile(const Placed& at, std::string_view what, std::string& path);
  void ReadSettings(const Placed& at, bool feed);
  GridPart ReadPart(const Placed& at);
  GridPart ReadParts(const Placed& at, GridPart::Kind kind);
  void AddPart(const Placed& at, GridPart part, GridPart& all);
  GridPart ReadAxis(const Placed& at);
  void ReadTargets(const Placed& at, bool feed, Axis& axis);
  void NoteTarget(const Placed& at, const Target& target);

  GridJson json_;
  Grid grid_;
  uint64_t seed_ = 0;
  std::map<std::string, std::string> names_, targets_;  // each with the pointer of its first use
};

bool GridReader::CheckFormat(const Placed& top) {
  int64_t number = 0;
  if (!json_.Needs(top, Kind::kObject, "an object, the grid")) return false;
  if (!top.Has("sweep")) {
    json_.Fault(top, InvalidArgument("this is no grid: the key 'sweep' is missing")
                         .WithHint("a grid begins with {\"sweep\": 1, \"page\": \"my.page.json\", \"grid\": [...]}"));
    return false;
  }
  if (!json_.ReadInteger(top.Of("sweep"), "the number of the grid's format", 1, number)) return false;
  if (number <= kNewestGrid) return true;
  json_.Fault(
      top.Of("sweep"),
      Unsupported("this grid is of format ", number, ", and this Weft reads formats up to ", kNewestGrid).WithHint("use a newer Weft"));
  return false;
}

void GridReader::ReadTop(const Placed& top) {
  if (!CheckFormat(top)) return;
  json_.CheckKeys(top, {"sweep", "page", "steps", "session", "fetch", "load_state", "time_limit", "seed", "set", "feed", "grid", "note"});
  if (!top.Has("page")) {
    json_.Fault(top, InvalidArgument("the key 'page' is missing").WithHint("\"page\": \"my.page.json\", from the grid's folder"));
  }
  json_.ReadSeed(top, seed_);  // before the axes that draw
  for (size_t i = 0; i < top.value.keys.size(); ++i) ReadOption(top.At(i), top.value.keys[i]);
}

void GridReader::ReadOption(const Placed& at, std::string_view key) {
  if (key == "page") ReadFile(at, "the file of a page", grid_.page);
  if (key == "load_state") ReadFile(at, "a file that --save-state wrote", grid_.load_state);
  if (key == "session") json_.ReadName(at, "the id of a ClientSession", grid_.session);
  if (key == "steps") json_.ReadInteger(at, "a number of runs", 1, grid_.steps);
  if (key == "time_limit" && json_.ReadNumber(at, grid_.time_limit) && !(grid_.time_limit > 0 && grid_.time_limit <= 1e9)) {
    json_.Fault(at, InvalidArgument("needs seconds above 0, found ", grid_.time_limit));
  }
  if (key == "fetch" && json_.Needs(at, Kind::kArray, "a list of outputs")) {
    for (size_t i = 0; i < at.value.items.size(); ++i) json_.ReadName(at.At(i), "an output (\"ID.port\")", grid_.fetch.emplace_back());
  }
  if (key == "set" || key == "feed") ReadSettings(at, key == "feed");
  if (key == "grid") grid_.points = ReadParts(at, GridPart::Kind::kCross);
}

void GridReader::ReadFile(const Placed& at, std::string_view what, std::string& path) {
  if (json_.ReadName(at, what, path)) path = BesideGrid(grid_, path);
}

void GridReader::ReadSettings(const Placed& at, bool feed) {
  if (!json_.Needs(at, Kind::kObject, feed ? "an object {\"ID.port\": value}" : "an object {\"ID.pin\": value}")) return;
  for (size_t i = 0; i < at.value.items.size(); ++i) {
    const Target target{feed, at.value.keys[i]};
    ParameterValue value;
    NoteTarget(at.At(i), target);
    if (json_.ReadValue(at.At(i), value)) grid_.settings.emplace_back(target, std::move(value));
  }
}

GridPart GridReader::ReadParts(const Placed& at, GridPart::Kind kind) {
  GridPart all;
  all.kind = kind;
  if (!json_.Needs(at, Kind::kArray, "a list of axes")) return all;
  if (at.value.items.empty()) {
    json_.Fault(at, InvalidArgument("needs an axis, found an empty list").WithHint("{\"set\": \"ID.pin\", \"values\": [1, 2]}"));
  }
  for (size_t i = 0; i < at.value.items.size(); ++i) AddPart(at.At(i), ReadPart(at.At(i)), all);
  return all;
}

void GridReader::AddPart(const Placed& at, GridPart part, GridPart& all) {
  if (all.kind == GridPart::Kind::kZip) {
    if (!all.parts.empty() && part.count != all.count) {
      json_.Fault(at, InvalidArgument("what is zipped needs as many values each: the first has ", all.count, ", this one ", part.count));
    }
    if (all.parts.empty()) all.count = part.count;
  } else if (all.count > kMostPoints / part.count) {
    json_.Fault(at, ResourceExhausted("the grid has more than ", kMostPoints, " points: ", all.count, " times ", part.count));
  } else {
    all.count *= part.count;
  }
  all.parts.push_back(std::move(part));
}

GridPart GridReader::ReadPart(const Placed& at) {
  if (!json_.Needs(at, Kind::kObject, "an axis, {\"set\": \"ID.pin\", \"values\": [1, 2]}, or {\"zip\": [...]} or {\"cross\": [...]}")) {
    return {};
  }
  for (const auto& [key, kind] : {std::pair("zip", GridPart::Kind::kZip), std::pair("cross", GridPart::Kind::kCross)}) {
    if (!at.Has(key)) continue;
    json_.CheckKeys(at, {key});
    return ReadParts(at.Of(key), kind);
  }
  return ReadAxis(at);
}

GridPart GridReader::ReadAxis(const Placed& at) {
  GridPart part;
  part.kind = GridPart::Kind::kAxis;
  Axis& axis = part.axis;
  json_.CheckKeys(at, {"set", "feed", "name", "values", "range", "log_range", "random", "zip", "cross"});
  if (at.Has("set")) ReadTargets(at.Of("set"), false, axis);
  if (at.Has("feed")) ReadTargets(at.Of("feed"), true, axis);
  if (!at.Has("set") && !at.Has("feed")) {
    json_.Fault(at, InvalidArgument("an axis needs 'set' or 'feed': what its values are for").WithHint("\"set\": \"ID.pin\""));
  }
  if (!axis.targets.empty()) axis.name = axis.targets[0].name;
  if (at.Has("name")) json_.ReadName(at.Of("name"), "a name", axis.name);
  const auto [known, fresh] = names_.emplace(axis.name, at.pointer);
  if (!fresh && !axis.name.empty()) {
    json_.Fault(
        at,
        AlreadyExists("there is a parameter '", axis.name, "' already, at ", known->second).WithHint("give one of them another \"name\""));
  }
  ReadAxisValues(json_, at, seed_, axis);
  part.count = axis.count;
  return part;
}

void GridReader::ReadTargets(const Placed& at, bool feed, Axis& axis) {
  const auto add = [&](const Placed& one) {
    Target target{feed, ""};
    if (!json_.ReadName(one, feed ? "an output (\"ID.port\")" : "an input or attribute (\"ID.pin\")", target.name)) return;
    NoteTarget(one, target);
    axis.targets.push_back(std::move(target));
  };
  if (!at.value.is(Kind::kArray)) return add(at);
  if (at.value.items.empty()) json_.Fault(at, InvalidArgument("needs a name or several, found an empty list"));
  for (size_t i = 0; i < at.value.items.size(); ++i) add(at.At(i));
}

void GridReader::NoteTarget(const Placed& at, const Target& target) {
  const size_t dot = target.name.rfind('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == target.name.size() || target.name.find('=') != std::string::npos) {
    json_.Fault(at, InvalidArgument("needs the form ", target.feed ? "ID.port" : "ID.pin", ", found '", target.name, "'"));
  }
  const auto [known, fresh] = targets_.emplace(Cat(target.feed ? "feed " : "set ", target.name), at.pointer);
  if (!fresh) json_.Fault(at, AlreadyExists("'", target.name, "' has a value already, from ", known->second));
}

/// Of what makes the points what they are: the rest may change while a sweep is on.
std::string HashOfPoints(JsonValue grid) {
  for (const std::string_view key : {"time_limit", "note"}) {
    const auto at = std::ranges::find(grid.keys, key);
    if (at == grid.keys.end()) continue;
    grid.items.erase(grid.items.begin() + (at - grid.keys.begin()));
    grid.keys.erase(at);
  }
  return HashOf(WriteJson(grid));
}

}  // namespace

Grid ReadGrid(std::string_view text, const std::string& path, Diagnostics& found) {
  GridReader reader(path, found);
  auto tree = ReadJson(text);
  if (tree.ok()) reader.ReadTop({*tree, ""});
  else found.Error(Status(tree.status()).WithPage(path));
  Grid grid = reader.Take();
  if (tree.ok()) grid.hash = HashOfPoints(std::move(*tree));
  return grid;
}

}  // namespace weft::cli
