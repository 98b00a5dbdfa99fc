// Compares values with expected ones.
#pragma once

#include <string>

#include "weft/cases/case.h"

namespace weft::cases {

/// A message about what differs: type, shape, or the first element out of tolerance and the number of such elements. Empty where equal.
std::string Difference(const Tensor& got, const ExpectedValue& expected, const Tolerance& tolerance);

/// A message about a random value, or a mean, outside its limits; empty where there is none.
std::string BeyondLimits(const Tensor& got, const RandomLimits& limits);

}  // namespace weft::cases
