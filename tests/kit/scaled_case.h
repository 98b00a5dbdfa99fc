// Cases of blocks with larger inputs: the same values over and over.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/kit/block_tester.h"
#include "weft/block/registry.h"
#include "weft/cases/case.h"

namespace weft::kit {

/// One way to make the inputs of a case larger.
struct Scaling {
  int axis = -1;             // the axis that is repeated; -1: none. kLast: the last one, whichever that is
  bool all = false;          // of all inputs that are as long along it as the largest input is; else of the largest alone
  std::string port;          // and an input of integers
  int64_t element = -1;      // of which this element is so many times as much
  bool square = false;       // the largest input, a matrix, along both axes: it gets so many times as many elements, or nearly
  static constexpr int kLast = 1000;
};
std::string ToString(const Scaling& scaling);

/// All that may fit the case: by its ranks, and its inputs of few integers. Whether the block takes one of them is to be tried.
std::vector<Scaling> ScalingsOf(const cases::TestCase& test);
/// The case with inputs `factor` times as large. Its expectation does not hold any more.
cases::TestCase Scaled(const cases::TestCase& test, const Scaling& scaling, int64_t factor);
/// Elements, and bytes, of all inputs.
int64_t ElementsOf(const cases::TestCase& test);
int64_t BytesOf(const cases::TestCase& test);
/// The tensor so many times along an axis.
Tensor Repeated(const Tensor& tensor, int axis, int64_t times);

/// The cases in tests/blocks by their blocks: those that are to succeed and need no files, those with the largest inputs first.
std::map<std::string, std::vector<cases::TestCase>> CasesOfBlocks();
/// The case's block on its inputs, once.
BlockResult RunScaled(const cases::TestCase& test);

}  // namespace weft::kit
