// Tables of gradients to check: a row is a block in one configuration, with values that keep away from kinks and poles.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/kit/check_gradient.h"

namespace weft::kit {

/// Values of an input. Numbers are odd multiples of 1/128 below 2, but for distinct ones and shares: a difference does not step across 0,
/// and every floating-point type holds them. They take the type of the row; those of a complex type have imaginary parts.
struct Fill {
  enum class Kind { kAny, kPositive, kApart, kDistinct, kShares, kFixed };
  Kind kind = Kind::kAny;
  Shape shape;
  Tensor fixed;
};
Fill Any(Shape shape);
Fill Positive(Shape shape);  // the real part 0.3 or more
Fill Apart(Shape shape);     // 0.4 or more away from 0
Fill Distinct(Shape shape);  // no two elements closer than 1/64: no ties for maxima
Fill Shares(Shape shape);    // positive, adding up to 1 along the last axis; of a last axis of size 1, quarters
Fill Ints(std::vector<int32_t> values);
Fill Value(Tensor tensor);
Tensor MakeValues(const Fill& fill, DType dtype, uint32_t seed);

struct GradientRow {
  enum class Types { kReal, kComplex, kBoth };

  std::string block;
  std::string attrs;  // $REAL and $COMPLEX stand for types as wide as the row's
  std::vector<std::pair<std::string, std::vector<Fill>>> inputs;
  Types types = Types::kReal;
  int orders = 2;
  std::vector<std::string> ys = {}, fixed = {};  // as in BlockFunctionSpec
  double bound = 1e-9;        // of the error in double
  double float_bound = 2e-5;  // of the error in float, against differences in double
  std::function<PageFunction(DType)> page = nullptr;  // in place of the block alone
};

/// For all rows together: one that gives its results at once, on one thread.
Runtime& GradientRuntime();

/// Checks each row in double and in float, or in complex128 and complex64; says what it found to Catch.
void CheckRows(const std::vector<GradientRow>& rows);

}  // namespace weft::kit
