// TableArrays: the columns of a table as arrays of NumPy, a row a point.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/cli/results_io.h"

namespace weft::cli {

/// What a line of a journal has for a point in a column: a number, truth value or text, a tensor ({"dtype", "shape", "values"}), or null.
using TableCell = nlohmann::ordered_json;

/// The number of a cell, also "nan", "inf" and "-inf"; a truth value is 0 or 1.
std::optional<double> NumberOfCell(const TableCell& cell);
/// As text: "" for null, texts as they are, others as JSON, 3.0 as 3.
std::string TextOfCell(const TableCell& cell);

/// Every array has a row for each point, in their order. Single values are int64, bool, float64, or else strings; tensors have their type, behind
/// an axis for the points. Where a point has no value, its row is NaN, 0, False or "", and NAME.valid (bool) tells which rows have one; an array
/// without such a companion has all. Tensors whose types or shapes differ from point to point are arrays of their own, NAME/POINT, and NAME.valid
/// tells which there are. A name that is taken gets a _ at its end.
struct TableArrays {
  std::vector<int64_t> points;  // of the rows
  NamedTensors made;

  /// A column: a cell for each point. Nothing where all are null.
  Status Add(const std::string& name, const std::vector<TableCell>& cells);

 private:
  std::string Free(std::string name);
  Status AddRows(const std::string& name, std::vector<Tensor> rows);

  std::set<std::string> names_;
};

}  // namespace weft::cli
