// Session: a plan, run against its page's scope, and the results it stored.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/plan/plan.h"
#include "weft/session/scope.h"

namespace weft {

/// Told what a run does, on the thread that runs it. Calls are made between steps: a slow observer slows the run.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void OnRunBegin(uint64_t /*run*/, size_t /*steps*/) {}
  /// Before a step; a status that is not ok ends the run with it (a breakpoint that a host turned into a stop).
  virtual Status OnStep(size_t /*step*/, const Node& /*node*/) { return {}; }
  /// After a step; `dead` where a Switch left it out.
  virtual void OnStepEnd(size_t /*step*/, const Node& /*node*/, bool /*dead*/) {}
  virtual void OnRunEnd(uint64_t /*run*/, const Status& /*status*/) {}
};

struct RunOptions {
  Observer* observer = nullptr;
  std::optional<std::chrono::steady_clock::time_point> deadline;  // the run is cancelled when it passes
};

/// What an output had when it was last computed.
struct ResultValue {
  Tensor tensor;     // stays as it is, whatever runs next
  uint64_t run = 0;  // the run that computed it, counted from 1
  bool stale = false;  // older than the session's last run: a Switch left it out there
};

/// One thread runs a session at a time; results may be read, and the run cancelled, from any thread.
class Session {
 public:
  /// `edition`: the one that the spec was made for; null for the present one.
  Session(std::shared_ptr<Scope> scope, SessionSpec spec, Keep keep = Keep::kAll, std::shared_ptr<Edition> edition = nullptr);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// For the thread that runs: what the last Prepare or Run asked for.
  const SessionSpec& spec() const { return spec_; }
  /// The graph that the session's plan and results are of: of the page as it was before an edit, until the session runs or is prepared
  /// again. From any thread.
  std::shared_ptr<const Graph> graph() const;
  Scope& scope() const { return *scope_; }

  /// Plans. Faults of shapes go to `diagnostics`. Run plans by itself where that is needed.
  void Prepare(Diagnostics& diagnostics);
  /// The plan of the last Prepare or Run, until the next of them; null before, and where planning failed. For the thread that runs.
  const Plan* plan() const;

  /// Replaces an output's value in the runs to come. invalid_argument for a tensor of another type.
  Status Feed(ValueRef value, Tensor tensor);

  /// One run. A failed or cancelled run leaves variables and results as they were.
  Status Run(const RunOptions& options = {});
  /// Runs `steps` times, or until a run fails or is cancelled; negative: until then.
  Status RunSteps(int64_t steps, const RunOptions& options = {});
  /// Ends the run that goes on, or the next one, between two blocks or inside a long kernel. From any thread, and from signal handlers.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

  uint64_t runs() const { return runs_.load(std::memory_order_acquire); }

  /// The value by its name: `ID.port`, `ID.port[k]` of a list port, `ID.result_port`, and elements `ID.result_port[i][j]`. not_found with a
  /// suggestion; failed_precondition where no run has computed it. Where a new plan was needed, the old results stay until a run of it succeeds.
  Result<ResultValue> Get(std::string_view name) const;
  Result<ResultValue> Get(ValueRef value) const;
  /// The names of all results that the session keeps, in the plan's order.
  std::vector<std::pair<std::string, ValueRef>> Results() const;

 private:
  Status Follow();
  void AddNames(const Plan& plan, std::vector<std::pair<std::string, ValueRef>>& names) const;

  std::shared_ptr<Scope> scope_;
  SessionSpec spec_;
  Keep keep_;
  std::atomic<bool> cancelled_{false};
  std::atomic<uint64_t> runs_{0};
  mutable std::mutex executor_mutex_;  // for readers; only the thread that runs changes the executor and the spec
  std::unique_ptr<class Executor> executor_;
};

/// Plans every session of the page, or the default one where it has none, and reports each fault of shapes once. Also where the page has
/// other errors: then for all that those do not reach.
void CheckSessions(const std::shared_ptr<Scope>& scope, Diagnostics& diagnostics);

}  // namespace weft
