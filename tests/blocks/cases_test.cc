// Runs every case of tests/blocks: blocks alone under the kit's guards, and blocks and pages through sessions. Environment:
// WEFT_BLOCKS=BiasAdd,MatMul runs those alone; WEFT_CASES=FOLDER takes other files.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include "tests/kit/tester_executor.h"
#include "weft/cases/case_reader.h"
#include "weft/cases/case_runner.h"
#include "weft/cases/session_executor.h"

using namespace weft;

namespace {

std::string Environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

std::set<std::string> Names(const std::string& text) {
  std::set<std::string> names;
  for (size_t start = 0; start < text.size();) {
    size_t end = std::min(text.find(',', start), text.size());
    names.insert(text.substr(start, end - start));
    start = end + 1;
  }
  return names;
}

void RunCases(cases::CaseExecutor& executor) {
  auto files = cases::FindCaseFiles(Environment("WEFT_CASES", std::string(WEFT_SOURCE_DIR) + "/tests/blocks"));
  if (!files.ok()) FAIL(ToString(files.status()));
  const std::set<std::string> wanted = Names(Environment("WEFT_BLOCKS", ""));
  std::map<std::string, int> skipped;
  int passed = 0, failed = 0;
  for (const auto& path : *files) {
    cases::CaseFile file = cases::ReadCaseFile(path);
    for (const Diagnostic& finding : file.diagnostics.all()) {
      if (finding.severity == Severity::kError) FAIL_CHECK(ToString(finding));
    }
    for (const cases::TestCase& test : file.cases) {
      if (!wanted.empty() && !wanted.contains(test.is_page() ? "pages" : test.block)) continue;
      cases::CaseReport report = cases::RunCase(test, executor);
      switch (report.verdict) {
        case cases::CaseReport::Verdict::kPassed: ++passed; break;
        case cases::CaseReport::Verdict::kSkipped: ++skipped[report.message]; break;
        case cases::CaseReport::Verdict::kFailed:
          ++failed;
          FAIL_CHECK(test.block << " " << cases::CaseTitle(test) << "\n" << report.message);
      }
    }
  }
  std::string notes;
  for (const auto& [why, count] : skipped) notes += Cat("\n  ", count, " not run: ", why);
  CHECK(failed == 0);
  WARN(passed << " cases passed, " << failed << " failed" << notes);
}

}  // namespace

TEST_CASE("every block gives what its cases say", "[cases]") {
  kit::TesterExecutor executor(kit::Catalog());
  RunCases(executor);
}

TEST_CASE("every block and every page of the cases gives the same in a session", "[cases][session]") {
  Runtime runtime(MakeCatalog(), {.threads = 2, .memory_limit = 0});
  cases::SessionExecutor executor(runtime);
  RunCases(executor);
}
