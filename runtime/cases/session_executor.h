// Runs cases as `weft run` would: a page, a scope, sessions.
#pragma once

#include "runtime/cases/case_runner.h"
#include "weft/session/session.h"

namespace weft::cases {

/// Block cases become pages of one block; reference and resource ports are fed by Variables. A case may use files of its own folder only.
class SessionExecutor final : public CaseExecutor {
 public:
  /// `runtime` must outlive the executor.
  explicit SessionExecutor(Runtime& runtime) : runtime_(runtime) {}
  RunOutcome RunBlock(const TestCase& test, const std::filesystem::path& folder) override;
  PageOutcome RunPage(const TestCase& test, const std::filesystem::path& folder) override;

 private:
  std::shared_ptr<Scope> Open(Page page, const std::filesystem::path& folder, Status& status);

  Runtime& runtime_;
};

}  // namespace weft::cases
