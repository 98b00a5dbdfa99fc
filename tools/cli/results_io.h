// Results and feeds as files: JSON, NumPy's .npy and .npz.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weft/base/tensor.h"

namespace weft::cli {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// {"ID.port": {"dtype", "shape", "values"}, ...}, one result a line. Handles are left out.
std::string ResultsJson(const NamedTensors& results);

/// What becomes of strings in an .npz file.
enum class NpzStrings : uint8_t { kLeftOut, kKept };

/// Writes results as JSON (a name that ends in .json) or as .npz (one .npy a result; handles are left out, and strings, unless they are kept as
/// NumPy's; bfloat16 is widened to float32). The bytes depend on the results alone. invalid_argument for another ending.
Status SaveResults(const std::string& path, const NamedTensors& results, NpzStrings strings = NpzStrings::kLeftOut);

/// What NumPy calls the type ("float32"); empty for types that it has not.
std::string NumpyName(DType dtype);

/// Reads a .npy file: little or big endian numbers, booleans, complex numbers, in C or Fortran order. data_loss where it is cut short. The
/// value counts in the budget (null: in none) before its elements are read.
Result<Tensor> ReadNpy(const std::string& path, const std::shared_ptr<MemoryBudget>& budget);

}  // namespace weft::cli
