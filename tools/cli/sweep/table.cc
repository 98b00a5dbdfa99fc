#include "tools/cli/sweep/table.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tools/cli/common.h"
#include "tools/cli/sweep/table_arrays.h"

namespace weft::cli {
namespace {

const TableCell& ResultOf(const TableCell& line, const std::string& name) {
  static const TableCell kNone;
  const auto results = line.find("results");
  if (results == line.end() || !results->is_object()) return kNone;
  const auto at = results->find(name);
  return at == results->end() ? kNone : *at;
}

const TableCell& SettingOf(const TableCell& line, const std::string& name) {
  static const TableCell kNone;
  const auto at = line["settings"].find(name);
  return at == line["settings"].end() ? kNone : *at;
}

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

std::string CellOf(const TableCell& value) { return CsvCell(TextOfCell(value)); }

}  // namespace

Result<SweepTable> SweepTable::Read(const std::string& journal, const Grid& grid, const SweepId& id) {
  SweepTable table(grid);
  WEFT_RETURN_IF_ERROR(
      ReadJournal(journal, id, [&](std::string_view line, const PointLine& point) { table.lines_[point.point] = line; }).status());
  std::set<std::string> known;
  for (const auto& [point, text] : table.lines_) {
    const TableCell line = TableCell::parse(text, nullptr, false);
    const auto results = line.find("results");
    if (results == line.end()) continue;
    for (const auto& [name, value] : results->items()) {
      if (known.insert(name).second) table.results_.push_back(name);
    }
  }
  return table;
}

std::string SweepTable::Csv(std::vector<std::string>& left_out) const {
  std::set<std::string> tensors;
  for (const auto& [point, text] : lines_) {
    const TableCell line = TableCell::parse(text, nullptr, false);
    for (const std::string& name : results_) {
      if (ResultOf(line, name).is_object()) tensors.insert(name);
    }
  }
  left_out.assign(tensors.begin(), tensors.end());
  std::string csv = "point";
  for (const Axis* axis : grid_.axes()) csv += "," + CsvCell(axis->name);
  for (const std::string& name : results_) {
    if (!tensors.contains(name)) csv += "," + CsvCell(name);
  }
  csv += ",seconds,error\r\n";
  for (const auto& [point, text] : lines_) {
    const TableCell line = TableCell::parse(text, nullptr, false);
    csv += std::to_string(point);
    for (const Axis* axis : grid_.axes()) csv += "," + CellOf(SettingOf(line, axis->name));
    for (const std::string& name : results_) {
      if (!tensors.contains(name)) csv += "," + CellOf(ResultOf(line, name));
    }
    const auto error = line.find("error");
    csv += Cat(",", CellOf(line.value("seconds", TableCell())), ",",
               error == line.end() ? "" : CellOf(error->value("message", TableCell())), "\r\n");
  }
  return csv;
}

Result<NamedTensors> SweepTable::Arrays() const {
  TableArrays arrays;
  std::vector<TableCell> failed, seconds;
  std::vector<std::vector<TableCell>> settings(grid_.axes().size()), results(results_.size());
  for (const auto& [point, text] : lines_) {
    const TableCell line = TableCell::parse(text, nullptr, false);
    arrays.points.push_back(point);
    failed.emplace_back(!line.contains("results"));
    seconds.push_back(line.value("seconds", TableCell()));
    for (size_t a = 0; a < settings.size(); ++a) settings[a].push_back(SettingOf(line, grid_.axes()[a]->name));
    for (size_t r = 0; r < results.size(); ++r) results[r].push_back(ResultOf(line, results_[r]));
  }
  const std::vector<TableCell> points(arrays.points.begin(), arrays.points.end());
  // (The table's own names first: others give way.)
  WEFT_RETURN_IF_ERROR(arrays.Add("point", points));
  WEFT_RETURN_IF_ERROR(arrays.Add("failed", failed));
  WEFT_RETURN_IF_ERROR(arrays.Add("seconds", seconds));
  for (size_t a = 0; a < settings.size(); ++a) WEFT_RETURN_IF_ERROR(arrays.Add(grid_.axes()[a]->name, settings[a]));
  for (size_t r = 0; r < results.size(); ++r) WEFT_RETURN_IF_ERROR(arrays.Add(results_[r], results[r]));
  return std::move(arrays.made);
}

Status SweepTable::Write(const std::string& path, std::vector<std::string>& left_out) const {
  if (path.ends_with(".csv")) return WriteFile(path, Csv(left_out));
  if (!path.ends_with(".npz")) return InvalidArgument("a table is written as .csv or .npz, found '", path, "'");
  WEFT_ASSIGN_OR_RETURN(const NamedTensors arrays, Arrays());
  return SaveResults(path, arrays, NpzStrings::kKept);
}

// ---- plots ---------------------------------------------------------------------------------------------------------------

namespace {

constexpr size_t kMostLines = 6;

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// The axis of this name; of an empty one the only axis.
Result<const Axis*> FindAxis(const Grid& grid, const std::string& name, const char* option) {
  std::vector<std::string> names;
  for (const Axis* axis : grid.axes()) {
    if (axis->name == name) return axis;
    names.push_back(axis->name);
  }
  if (name.empty() && names.size() == 1) return grid.axes()[0];
  std::string all;
  for (const std::string& each : names) all += Cat(all.empty() ? "" : ", ", each);
  if (name.empty()) return InvalidArgument("--plot needs ", option, ": the parameter to draw over").WithHint(Cat("the grid has ", all));
  const std::string meant = DidYouMean(name, names);
  return NotFound(option, ": the grid has no parameter '", name, "'").WithHint(meant.empty() ? Cat("it has ", all) : meant);
}

}  // namespace

Status CheckAxes(const Grid& grid, const PlotRequest& request) {
  WEFT_RETURN_IF_ERROR(FindAxis(grid, request.over, "--over").status());
  return request.by.empty() ? Status() : FindAxis(grid, request.by, "--by").status();
}

Result<SweepPlot> SweepPlot::Of(const SweepTable& table, const PlotRequest& request) {
  WEFT_ASSIGN_OR_RETURN(const Axis* over, FindAxis(table.grid_, request.over, "--over"));
  const Axis* by = nullptr;
  if (!request.by.empty()) {
    WEFT_ASSIGN_OR_RETURN(by, FindAxis(table.grid_, request.by, "--by"));
  }
  if (!table.results_.empty() && std::ranges::find(table.results_, request.result) == table.results_.end()) {
    return NotFound("--plot: no point has a result '", request.result, "'").WithHint(DidYouMean(request.result, table.results_));
  }
  std::vector<std::string> lines;  // names, in their order
  std::map<std::string, std::map<double, std::vector<double>>> values;  // by line and place
  for (const auto& [point, text] : table.lines_) {
    const TableCell line = TableCell::parse(text, nullptr, false);
    const TableCell& cell = ResultOf(line, request.result);
    if (cell.is_null()) continue;
    const std::optional<double> y = NumberOfCell(cell), x = NumberOfCell(SettingOf(line, over->name));
    if (!y) return InvalidArgument("--plot: '", request.result, "' is no single number").WithHint("--table FILE.npz has it whole");
    if (!x) return InvalidArgument("--over: the values of '", over->name, "' are no numbers");
    if (std::isnan(*x)) continue;
    const std::string name = by == nullptr ? request.result : Cat(by->name, "=", CellOf(SettingOf(line, by->name)));
    if (!values.contains(name)) lines.push_back(name);
    auto& here = values[name][*x];
    if (!std::isnan(*y)) here.push_back(*y);
  }
  if (lines.size() > kMostLines) {
    return InvalidArgument("--by: a plot has at most ", kMostLines, " lines, and '", by->name, "' has ", lines.size(), " values");
  }
  SweepPlot plot;
  plot.places_ = {over->name, over->logarithmic() ? TrendAxis::kLogarithmic : TrendAxis::kLinear};
  const bool several =
      lines.size() == 1 && std::ranges::any_of(values[lines[0]], [](const auto& place) { return place.second.size() > 1; });
  for (const std::string& name : lines) {
    Trend median{several ? name + " (median)" : name, {}, {}}, low{"lowest", {}, {}}, high{"highest", {}, {}};
    for (const auto& [place, all] : values[name]) {
      for (Trend* trend : {&median, &low, &high}) trend->places.push_back(place);
      median.values.push_back(all.empty() ? NAN : Median(all));
      low.values.push_back(all.empty() ? NAN : std::ranges::min(all));
      high.values.push_back(all.empty() ? NAN : std::ranges::max(all));
    }
    plot.trends_.push_back(std::move(median));
    if (several) plot.trends_.insert(plot.trends_.end(), {std::move(low), std::move(high)});
  }
  return plot;
}

}  // namespace weft::cli
