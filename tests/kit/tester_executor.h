// Runs block cases through the BlockTester. Page cases need sessions and are skipped.
#pragma once

#include "tests/kit/block_tester.h"
#include "weft/cases/case_runner.h"

namespace weft::kit {

class TesterExecutor : public cases::CaseExecutor {
 public:
  /// `registry` must outlive the executor.
  explicit TesterExecutor(const Registry& registry) : registry_(registry) {}

  std::string Skips(const cases::TestCase& test) override;
  cases::RunOutcome RunBlock(const cases::TestCase& test, const std::filesystem::path& folder) override;
  cases::PageOutcome RunPage(const cases::TestCase& test, const std::filesystem::path& folder) override;

 private:
  BlockTester TesterOf(const cases::TestCase& test) const;
  const Registry& registry_;
};

}  // namespace weft::kit
