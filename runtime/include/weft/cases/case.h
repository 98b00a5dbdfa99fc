// Cases: tests of blocks and small pages, as plain data.
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

/// The expected value of an output. Without a tensor only type and shape are compared.
struct ExpectedValue {
  DType dtype = DType::kInvalid;
  Shape shape;
  Tensor tensor;  // may be undefined
};

struct ExpectedError {
  Code code = Code::kInvalidArgument;
  std::string port;  // empty: any
};

/// Limits for random values. Absent limits are not checked.
struct RandomLimits {
  std::optional<double> minimum, maximum;
  std::optional<double> mean, deviation;  // of the distribution they are drawn from
};

/// The expected outcome of one run: an error, or values of some outputs.
struct Expectation {
  std::map<std::string, ExpectedValue> outputs;  // "port", "port[i]"; in page cases "block.port"
  std::optional<ExpectedError> error;
};

/// One run of a page case: an element of "steps" in a case file.
struct Step {
  std::vector<std::string> fetch;     // "block.port"
  std::vector<std::string> run;       // ids of blocks
  std::map<std::string, Tensor> feed;  // by "block.port"
  Expectation expected;
};

struct CaseInput {
  std::vector<Tensor> values;
  bool list = false;  // written as a list, even with one value
};

struct TestCase {
  std::string file, pointer;  // its place in a case file: "/cases/3"
  std::string name;
  std::string fault;  // why it cannot be run; empty for a well-formed case
  std::string source_note;

  // A block case.
  std::string block, attrs;
  std::map<std::string, CaseInput> inputs;
  std::map<std::string, ExpectedValue> variables;  // by reference port, after the run
  // A page case: a page document and its runs.
  std::string page;  // JSON text; empty for block cases
  std::vector<Step> steps;

  Expectation expected;  // of running the block, or of loading and planning the page
  Tolerance tolerance;
  bool shape_only = false;
  RandomLimits limits;

  bool is_page() const { return !page.empty(); }
};

/// Replaces $TMP by `folder` in all strings of the case.
void SetFolder(TestCase& test, const std::string& folder);
/// Whether a string of the case contains $TMP.
bool UsesFolder(const TestCase& test);

}  // namespace weft::cases
