// Case files: read, and the first cases that have no fault are run.
#include "tests/fuzz/finding.h"
#include "tests/fuzz/targets.h"
#include "weft/cases/case_reader.h"
#include "weft/cases/session_executor.h"

namespace weft::fuzz {
namespace {

constexpr int kMostRuns = 3;

void RunOne(cases::TestCase test) {
  cases::SetFolder(test, ScratchFolder().string());
  cases::SessionExecutor executor(SharedRuntime());
  const Stopwatch watch;
  executor.set_deadline(std::chrono::steady_clock::now() + kRunDeadline);
  if (test.is_page()) {
    const cases::PageOutcome outcome = executor.RunPage(test, ScratchFolder());
    CheckStatus(outcome.loaded);
    for (const cases::RunOutcome& step : outcome.steps) CheckStatus(step.status);
  } else {
    CheckStatus(executor.RunBlock(test, ScratchFolder()).status);
  }
  // With the page's opening, which is a call.
  CheckTime(watch, kRunDeadline + kCallDeadline, "a case");
}

void RunFirst(std::string_view bytes) {
  const cases::CaseFile file = cases::ReadCases(bytes, "fuzz.cases.json");
  CheckFindings(file.diagnostics);
  int runs = 0;
  for (const cases::TestCase& test : file.cases) {
    if (!test.fault.empty()) continue;
    if (++runs > kMostRuns) break;
    RunOne(test);
  }
}

}  // namespace

void CaseFile(std::string_view bytes) {
  RunFirst(bytes);
  Require(SharedRuntime().budget()->used() == 0, "bytes are still counted when the cases have run");
}

}  // namespace weft::fuzz
