// What a breakpoint looks for in values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "runtime/exec/result_name.h"
#include "weft/base/tensor.h"

namespace weft {

enum class Comparison : uint8_t { kLess, kLessEqual, kGreater, kGreaterEqual, kEqual, kNotEqual };

/// `run >= 100` or `ID.port[i][j] < 0.5`.
struct BreakCondition {
  std::string name;  // as written; "run" for the number of the run
  Comparison comparison = Comparison::kEqual;
  std::variant<double, int64_t, uint64_t> number = 0.0;  // as it is written: an integer, where that fits, is kept as one
  bool of_run() const { return name == "run"; }
  bool Holds(double value) const;
};

/// invalid_argument where it is none.
Result<BreakCondition> ParseCondition(std::string_view text);

/// The condition with another name in it. `text` is one that ParseCondition takes.
std::string WithName(std::string_view text, std::string_view name);

/// Whether values of the type can be compared: real numbers and bool.
bool CanCompare(DType dtype);
/// Whether values of the type can be other than finite.
bool CanBeNotFinite(DType dtype);

/// The first element of which the condition holds: its index in row-major order.
std::optional<int64_t> FindHolding(const BreakCondition& condition, const Tensor& tensor);
/// The first NaN or infinity.
std::optional<int64_t> FindNotFinite(const Tensor& tensor);

/// "[1][2]" of an element; empty for a scalar.
std::string IndexText(const Shape& shape, int64_t element);

}  // namespace weft
