// Runs cases and compares their outcomes with what is expected.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "weft/cases/case.h"

namespace weft::cases {

/// The outcome of one run.
struct RunOutcome {
  Status status;
  std::map<std::string, Tensor> outputs;    // as Expectation::outputs names them
  std::map<std::string, Tensor> variables;  // block cases: by reference port
};

/// The outcome of a page case: of loading and planning it, then of its runs, up to one after which no other can be made.
struct PageOutcome {
  Status loaded;
  std::vector<RunOutcome> steps;
};

/// Runs cases in some way. `folder` is a new folder, removed afterwards, for a case that uses $TMP; else an empty path.
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
  std::string message;  // the failures, one a line; or why the case was skipped
};

CaseReport RunCase(const TestCase& test, CaseExecutor& executor);

/// "file:/cases/3 (name)".
std::string CaseTitle(const TestCase& test);

}  // namespace weft::cases
