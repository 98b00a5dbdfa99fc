// Runs cases as `weft run` would: a page, a scope, sessions.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "weft/cases/case_runner.h"
#include "weft/exec/session.h"

namespace weft::cases {

/// Block cases become pages of one block; reference and resource ports are fed by Variables. A case may use files of its own folder only.
class SessionExecutor final : public CaseExecutor {
 public:
  /// `runtime` must outlive the executor.
  explicit SessionExecutor(Runtime& runtime) : runtime_(runtime) {}
  RunOutcome RunBlock(const TestCase& test, const std::filesystem::path& folder) override;
  PageOutcome RunPage(const TestCase& test, const std::filesystem::path& folder) override;

  /// What still runs then is cancelled. To be set before the first case.
  void set_deadline(std::optional<std::chrono::steady_clock::time_point> deadline) { deadline_ = deadline; }
  /// Ends the run that goes on, and each that would follow. From any thread.
  void Cancel();
  /// cancelled where runs are cut short: Cancel was called, or the deadline has passed.
  Status Over() const;

 private:
  std::shared_ptr<Scope> Open(Page page, const std::filesystem::path& folder, Status& status);
  Status Run(Session& session);
  RunOutcome RunOnce(Session& session);

  Runtime& runtime_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  mutable std::mutex mutex_;
  bool cancelled_ = false;       // with mutex_
  Session* running_ = nullptr;   // with mutex_
};

}  // namespace weft::cases
