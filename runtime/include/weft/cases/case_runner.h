// Running cases and judging what comes of them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "weft/cases/case.h"

namespace weft::cases {

/// What came of one run.
struct RunOutcome {
  Status status;
  std::map<std::string, Tensor> outputs;    // as Expectation::outputs names them
  std::map<std::string, Tensor> variables;  // block cases: by reference port
};

/// What came of a page: loading and planning it, then its steps up to the end or to a step that no run can follow.
struct PageOutcome {
  Status loaded;
  std::vector<RunOutcome> steps;
};

/// Runs cases by one way or another. A case of its own folder gets `folder`, which is empty and goes afterwards; else it is empty.
class CaseExecutor {
 public:
  virtual ~CaseExecutor() = default;
  /// Why this executor cannot run the case; empty where it can.
  virtual std::string Skips(const TestCase& test) { return (void)test, ""; }
  virtual RunOutcome RunBlock(const TestCase& test, const std::filesystem::path& folder) = 0;
  virtual PageOutcome RunPage(const TestCase& test, const std::filesystem::path& folder) = 0;
};

struct CaseReport {
  enum class Verdict : uint8_t { kPassed, kFailed, kSkipped };
  Verdict verdict = Verdict::kPassed;
  std::string message;  // what failed, one finding a line; or why it was skipped
};

CaseReport RunCase(const TestCase& test, CaseExecutor& executor);

/// "file:/cases/3 (name)".
std::string CaseTitle(const TestCase& test);

}  // namespace weft::cases
