#include "tools/cli/sweep/table.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/cli/common.h"
#include "weft/page/reader.h"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;

const Json& ResultOf(const Json& line, const std::string& name) {
  static const Json kNone;
  const auto results = line.find("results");
  if (results == line.end() || !results->is_object()) return kNone;
  const auto at = results->find(name);
  return at == results->end() ? kNone : *at;
}

const Json& SettingOf(const Json& line, const std::string& name) {
  static const Json kNone;
  const auto at = line["settings"].find(name);
  return at == line["settings"].end() ? kNone : *at;
}

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

std::string CellOf(const Json& value) {
  if (value.is_null()) return "";
  return CsvCell(value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// The number of a cell, also "nan", "inf" and "-inf"; a truth value is 0 or 1.
std::optional<double> NumberOf(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value == "nan") return NAN;
  if (value == "inf" || value == "-inf") return value == "inf" ? INFINITY : -INFINITY;
  return std::nullopt;
}

template <class T, class Values>
Result<Tensor> ArrayOf(DType dtype, const Values& values) {
  WEFT_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(std::vector<int64_t>{static_cast<int64_t>(values.size())}));
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape));
  std::transform(values.begin(), values.end(), tensor.values<T>().begin(), [](const auto& value) { return static_cast<T>(value); });
  return tensor;
}

/// A column of single values: integers, truth values, or else doubles. Not defined where one is none of these.
Result<Tensor> Column(const std::vector<Json>& cells) {
  const auto fits = [](const Json& cell) {
    return cell.is_number_integer() && (!cell.is_number_unsigned() || cell.get<uint64_t>() <= INT64_MAX);
  };
  if (std::ranges::all_of(cells, fits)) {
    std::vector<int64_t> integers;
    for (const Json& cell : cells) integers.push_back(cell.get<int64_t>());
    return ArrayOf<int64_t>(DType::kInt64, integers);
  }
  std::vector<double> numbers;
  for (const Json& cell : cells) {
    const std::optional<double> number = NumberOf(cell);
    if (!number) return Tensor();
    numbers.push_back(*number);
  }
  const bool truths = std::ranges::all_of(cells, [](const Json& cell) { return cell.is_boolean(); });
  return truths ? ArrayOf<bool>(DType::kBool, numbers) : ArrayOf<double>(DType::kDouble, numbers);
}

/// Tensors of one type and shape as one with a new first axis; not defined where they differ or have strings.
Result<Tensor> Stacked(const std::vector<Tensor>& tensors) {
  const Tensor& first = tensors.front();
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() != first.dtype() || !(tensor.shape() == first.shape()) || IsManaged(tensor.dtype())) return Tensor();
  }
  std::vector<int64_t> dims(first.shape().dims().begin(), first.shape().dims().end());
  dims.insert(dims.begin(), static_cast<int64_t>(tensors.size()));
  WEFT_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(dims));
  WEFT_ASSIGN_OR_RETURN(Tensor all, Tensor::Allocate(first.dtype(), shape));
  const auto bytes = static_cast<size_t>(first.bytes());
  for (size_t i = 0; i < tensors.size() && bytes > 0; ++i)
    std::memcpy(static_cast<char*>(all.data()) + i * bytes, tensors[i].data(), bytes);
  return all;
}

/// Adds a result's cells: those of points that have it.
Status AddArrays(const std::string& name, const std::vector<Json>& cells, const std::vector<int64_t>& points, NamedTensors& arrays) {
  if (std::ranges::none_of(cells, [](const Json& cell) { return cell.is_object(); })) {
    WEFT_ASSIGN_OR_RETURN(Tensor column, Column(cells));
    if (column.defined()) arrays.emplace_back(name, std::move(column));
    return {};
  }
  std::vector<Tensor> tensors;
  for (const Json& cell : cells) {
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, cell.is_object() ? ReadTensor(cell.dump()) : Column({cell}));
    if (tensor.defined()) tensors.push_back(std::move(tensor));
  }
  if (tensors.empty()) return {};
  WEFT_ASSIGN_OR_RETURN(Tensor all, Stacked(tensors));
  if (all.defined()) {
    arrays.emplace_back(name, std::move(all));
    return {};
  }
  for (size_t i = 0; i < tensors.size() && tensors.size() == points.size(); ++i)
    arrays.emplace_back(Cat(name, "/", points[i]), std::move(tensors[i]));
  return {};
}

}  // namespace

Result<SweepTable> SweepTable::Read(const std::string& journal, const Grid& grid, const SweepId& id) {
  SweepTable table(grid);
  WEFT_RETURN_IF_ERROR(
      ReadJournal(journal, id, [&](std::string_view line, const PointLine& point) { table.lines_[point.point] = line; }).status());
  std::set<std::string> known;
  for (const auto& [point, text] : table.lines_) {
    const Json line = Json::parse(text, nullptr, false);
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
    const Json line = Json::parse(text, nullptr, false);
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
    const Json line = Json::parse(text, nullptr, false);
    csv += std::to_string(point);
    for (const Axis* axis : grid_.axes()) csv += "," + CellOf(SettingOf(line, axis->name));
    for (const std::string& name : results_) {
      if (!tensors.contains(name)) csv += "," + CellOf(ResultOf(line, name));
    }
    const auto error = line.find("error");
    csv += Cat(",", CellOf(line.value("seconds", Json())), ",", error == line.end() ? "" : CellOf(error->value("message", Json())), "\r\n");
  }
  return csv;
}

Result<NamedTensors> SweepTable::Arrays() const {
  std::vector<int64_t> points;
  std::map<std::string, std::vector<Json>> columns;
  std::map<std::string, std::vector<int64_t>> whose;
  for (const auto& [point, text] : lines_) {
    const Json line = Json::parse(text, nullptr, false);
    if (!line.contains("results")) continue;
    points.push_back(point);
    for (const Axis* axis : grid_.axes()) columns["s" + axis->name].push_back(SettingOf(line, axis->name));
    columns["t"].push_back(line.value("seconds", Json()));
    for (const std::string& name : results_) {
      const Json& cell = ResultOf(line, name);
      if (cell.is_null()) continue;
      columns["r" + name].push_back(cell);
      whose[name].push_back(point);
    }
  }
  NamedTensors arrays;
  WEFT_ASSIGN_OR_RETURN(Tensor numbers, ArrayOf<int64_t>(DType::kInt64, points));
  arrays.emplace_back("point", std::move(numbers));
  for (const Axis* axis : grid_.axes()) WEFT_RETURN_IF_ERROR(AddArrays(axis->name, columns["s" + axis->name], points, arrays));
  for (const std::string& name : results_) WEFT_RETURN_IF_ERROR(AddArrays(name, columns["r" + name], whose[name], arrays));
  WEFT_RETURN_IF_ERROR(AddArrays("seconds", columns["t"], points, arrays));
  return arrays;
}

Status SweepTable::Write(const std::string& path, std::vector<std::string>& left_out) const {
  if (path.ends_with(".csv")) return WriteFile(path, Csv(left_out));
  if (!path.ends_with(".npz")) return InvalidArgument("a table is written as .csv or .npz, found '", path, "'");
  WEFT_ASSIGN_OR_RETURN(const NamedTensors arrays, Arrays());
  return SaveResults(path, arrays);
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
    const Json line = Json::parse(text, nullptr, false);
    const Json& cell = ResultOf(line, request.result);
    if (cell.is_null()) continue;
    const std::optional<double> y = NumberOf(cell), x = NumberOf(SettingOf(line, over->name));
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
