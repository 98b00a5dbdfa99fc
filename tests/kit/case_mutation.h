// Malformed block cases: a good case with some of its inputs and attributes spoilt, in ways that people and programs spoil them.
#pragma once

#include <random>

#include "weft/cases/case.h"

namespace weft::fuzz {

/// `test` with one to three slips: inputs missing, doubled, swapped, of another type, rank or size, empty, with extreme values or damaged
/// bytes; attributes left out, or with other numbers.
cases::TestCase Mutated(cases::TestCase test, std::mt19937& random);

}  // namespace weft::fuzz
