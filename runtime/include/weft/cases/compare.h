// Comparing what came with what was expected.
#pragma once

#include <string>

#include "weft/cases/case.h"

namespace weft::cases {

/// What differs, for a person to read: type, shape, or the first element that is too far off, and how many are. Empty where nothing does.
std::string Difference(const Tensor& got, const ExpectedValue& expected, const Tolerance& tolerance);

/// Whether random values keep to their limits; what does not, as above.
std::string BeyondLimits(const Tensor& got, const RandomLimits& limits);

}  // namespace weft::cases
