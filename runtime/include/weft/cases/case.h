// Cases: tests of blocks and small pages, as data.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weft/base/tensor.h"

namespace weft::cases {

/// |got - expected| <= absolute + relative * |expected|.
struct Tolerance {
  double relative = 1e-5, absolute = 1e-5;
};

/// What an output must be. Without values only type and shape count.
struct ExpectedValue {
  DType dtype = DType::kInvalid;
  Shape shape;
  Tensor tensor;  // undefined where values do not count
};

struct ExpectedError {
  Code code = Code::kInvalidArgument;
  std::string port;  // empty: any
};

/// What random values must keep to. Absent limits hold always.
struct RandomLimits {
  std::optional<double> minimum, maximum;
  std::optional<double> mean, deviation;  // of the distribution they come from
};

/// What must come of one run: an error, or these outputs (and perhaps others).
struct Expectation {
  std::map<std::string, ExpectedValue> outputs;  // "port", "port[i]"; in page cases "block.port"
  std::optional<ExpectedError> error;
};

/// One run of a page case.
struct Step {
  std::vector<std::string> fetch;     // "block.port"
  std::vector<std::string> run;       // ids of blocks
  std::map<std::string, Tensor> feed;  // by "block.port"
  Expectation expected;
};

struct CaseInput {
  std::vector<Tensor> values;
  bool list = false;  // written as a list, also where it holds one value
};

struct TestCase {
  std::string file, pointer;  // where it stands: "/cases/3"
  std::string name;
  std::string fault;  // why it cannot be read; empty where it can
  std::string source_note;

  // A block case.
  std::string block, attrs;
  std::map<std::string, CaseInput> inputs;
  std::map<std::string, ExpectedValue> variables;  // by reference port, after the run
  // A page case: a page document, and its runs.
  std::string page;  // JSON text; empty for block cases
  std::vector<Step> steps;

  Expectation expected;  // of the block; of a page case: of loading and planning it
  Tolerance tolerance;
  bool shape_only = false;
  RandomLimits limits;

  bool is_page() const { return !page.empty(); }
};

/// Puts `folder` where strings of the case say $TMP.
void SetFolder(TestCase& test, const std::string& folder);
/// Whether a string of the case says $TMP.
bool UsesFolder(const TestCase& test);

}  // namespace weft::cases
