// What a sweep has found, as a table: from its journal to CSV, NumPy's .npz, or a plot.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/cli/sweep/journal.h"
#include "tools/cli/trend.h"

namespace weft::cli {

/// The last line of each point that a journal has.
class SweepTable {
 public:
  /// Errors of ReadJournal.
  static Result<SweepTable> Read(const std::string& journal, const Grid& grid, const SweepId& id);

  /// CSV (RFC 4180), a row a point: its number, parameters, results that are single values, seconds, error. `left_out` gets the names of
  /// other results. Or .npz: an array a column (table_arrays.h). invalid_argument for another ending.
  Status Write(const std::string& path, std::vector<std::string>& left_out) const;

 private:
  friend class SweepPlot;
  explicit SweepTable(const Grid& grid) : grid_(grid) {}
  std::string Csv(std::vector<std::string>& left_out) const;
  Result<NamedTensors> Arrays() const;

  const Grid& grid_;
  std::map<int64_t, std::string> lines_;  // by point
  std::vector<std::string> results_;      // names, in the order of their first point
};

struct PlotRequest {
  std::string result;      // its name
  std::string over, by;    // parameters; `over` may be empty where there is one alone, `by` always
};

/// Whether the grid has the parameters: not_found, or invalid_argument where one needs to be named.
Status CheckAxes(const Grid& grid, const PlotRequest& request);

/// A result over a parameter: a line for each value of another one, or the median of all other points with the lowest and the highest.
class SweepPlot {
 public:
  /// not_found for names; invalid_argument for a parameter that has no numbers, or a result that is no single one.
  static Result<SweepPlot> Of(const SweepTable& table, const PlotRequest& request);

  const std::vector<Trend>& trends() const { return trends_; }
  const TrendPlaces& places() const { return places_; }

 private:
  std::vector<Trend> trends_;
  TrendPlaces places_;
};

}  // namespace weft::cli
