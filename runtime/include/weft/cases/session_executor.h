// Runs cases as `weft run` would: a page, a scope, sessions.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "weft/cases/case_runner.h"
#include "weft/exec/session.h"

namespace weft::cases {

/// A block case becomes a page of that block, with Variables for its reference and resource ports. A case may access files in its own folder
/// only. Not thread-safe, except Cancel.
class SessionExecutor final : public CaseExecutor {
 public:
  /// `runtime` must outlive the executor.
  explicit SessionExecutor(Runtime& runtime) : runtime_(runtime) {}
  RunOutcome RunBlock(const TestCase& test, const std::filesystem::path& folder) override;
  PageOutcome RunPage(const TestCase& test, const std::filesystem::path& folder) override;

  /// Runs are cancelled at the deadline. Set before the first case.
  void set_deadline(std::optional<std::chrono::steady_clock::time_point> deadline) { deadline_ = deadline; }
  /// Cancels the current run and all later ones. From any thread.
  void Cancel();
  /// cancelled where Cancel was called or the deadline has passed; else ok.
  Status Over() const;

 private:
  std::shared_ptr<Scope> Open(Page page, const std::filesystem::path& folder, Status& status);
  Status Run(Session& session);
  RunOutcome RunOnce(Session& session);

  Runtime& runtime_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  mutable std::mutex mutex_;
  bool cancelled_ = false;      // guarded by mutex_
  Session* running_ = nullptr;  // guarded by mutex_; the session whose run Cancel cancels
};

}  // namespace weft::cases
