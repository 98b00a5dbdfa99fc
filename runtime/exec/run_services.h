// RunServices: what the blocks of a session's runs may ask of the engine.
#pragma once

#include "runtime/exec/run_log.h"
#include "runtime/state/scope_services.h"

namespace weft {

class RunServices {
 public:
  RunServices(Scope& scope, std::atomic<bool>& cancelled)
      : cancelled_(cancelled), workers_(scope.runtime().pool(), cancelled), files_(scope), waiter_(scope, workers_), log_(scope.options().print) {
    services_.workers = &workers_;
    services_.files = &files_;
    services_.waiter = &waiter_;
    services_.log = &log_;
    services_.budget = scope.budget();
  }
  RunServices(const RunServices&) = delete;
  RunServices& operator=(const RunServices&) = delete;

  /// For the run that begins.
  void Begin(const RunOptions& options) {
    workers_.set_deadline(options.deadline);
    log_.set_observer(options.observer);
  }
  /// The steps are done, or one has failed: what they put off waiting for and is not done is taken back.
  void EndSteps() {
    waiter_.DropDeferred();
    waiter_.SetRunning(nullptr);
  }
  const Services& services() const { return services_; }
  const std::shared_ptr<MemoryBudget>& budget() const { return services_.budget; }
  PoolWorkers& workers() { return workers_; }
  ScopeWaiter& waiter() { return waiter_; }

  /// Only the flag: a step costs no look at the clock.
  const std::atomic<bool>& cancel_flag() const { return cancelled_; }
  const std::optional<std::chrono::steady_clock::time_point>& deadline() const { return workers_.deadline(); }
  /// Cancelled, or past its deadline.
  bool stopped() const { return workers_.Stopped(); }
  Status Stopped() const { return Cancelled(workers_.Reason()); }

 private:
  std::atomic<bool>& cancelled_;
  PoolWorkers workers_;
  ScopeFiles files_;
  ScopeWaiter waiter_;
  RunLog log_;
  Services services_;
};

}  // namespace weft
