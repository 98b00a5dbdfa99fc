// Session: a plan, run against its page's scope, and the results it stored.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/base/diagnostic.h"
#include "weft/plan/plan.h"
#include "weft/state/scope.h"

namespace weft {

/// What an output had when it was last computed.
struct ResultValue {
  Tensor tensor;     // stays as it is, whatever runs next
  uint64_t run = 0;  // the run that computed it, counted from 1
  bool stale = false;  // older than the session's last run that succeeded: a Switch left it out there
  bool outdated = false;  // a later run failed or was cancelled, and none has succeeded since
  bool outdated_page = false;  // of the last plan that could be made: the page as it is now has faults (Session::outdated_page)
  bool in_progress = false;    // a copy of what a run that is paused has computed so far (Runner::Read); not a result yet
};

/// A run as its observer may look at it, from the calls below. Another thread may use it only while such a call lasts.
class RunView {
 public:
  virtual ~RunView() = default;
  virtual const std::shared_ptr<const Graph>& graph() const = 0;
  /// Its number, counted from 1.
  virtual uint64_t run() const = 0;
  /// Another number with every new plan of the scope; indices of steps and nodes are valid as long as it is the same.
  virtual uint64_t plan_id() const = 0;
  /// The value as this run has it: computed already, and kept by the session (or an output of the step that just ended). The tensor is a
  /// view of memory that the run writes again later: copy it to keep it. failed_precondition for all other values.
  virtual Result<Tensor> Peek(ValueRef value) const = 0;
  /// Replaces a value that Peek gives, for the steps that come after in this run, and as its result. The tensor must have the value's type
  /// and, where the plan knows it, shape. failed_precondition where Peek has no value; unsupported for the value of a variable.
  virtual Status Override(ValueRef value, const Tensor& tensor) = 0;
  /// How many steps the run's plan has; 0 before OnRunBegin.
  virtual size_t steps() const = 0;
  /// The blocks of the steps that are done, and whether a Switch left them out; none in plans with loops.
  virtual void ForDone(FunctionRef<void(const Node& node, bool dead)> each) const = 0;
  /// What readers of the session see: in OnRunEnd of a run that succeeded, its results. As Session::Get of each.
  virtual std::vector<Result<ResultValue>> Results(std::span<const ValueRef> values) const = 0;
  /// The node whose step runs, or -1; also from OnPrint on any thread.
  virtual int current() const = 0;
  /// cancelled where the run has been cancelled or its deadline has passed. An observer that waits asks often.
  virtual Status Stopped() const = 0;
  /// Around a wait: other sessions of the scope must not take a run that is paused for one that waits for them.
  virtual void SetPaused(bool paused) = 0;
};

/// Told what a run does, on the thread that runs it. Calls are made between steps: a slow observer slows the run.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Where not null, OnStep and OnStepEnd are called only while it is not 0, so that an observer that wants no steps costs next to nothing.
  virtual const std::atomic<uint32_t>* wants_steps() const { return nullptr; }
  /// Before a run takes its inputs, with nothing of it begun: the place to wait between runs. A status that is not ok ends the run with it.
  /// The view is valid until OnRunEnd has returned, which follows in every case.
  virtual Status OnRunStart(uint64_t /*run*/, RunView& /*view*/) { return {}; }
  virtual void OnRunBegin(uint64_t /*run*/, size_t /*steps*/) {}
  /// Before a step; a status that is not ok ends the run with it (a breakpoint that a host turned into a stop).
  virtual Status OnStep(size_t /*step*/, const Node& /*node*/) { return {}; }
  /// After a step; `dead` where a Switch left it out.
  virtual void OnStepEnd(size_t /*step*/, const Node& /*node*/, bool /*dead*/) {}
  /// What a block prints or warns of; on any thread that works for the run.
  virtual void OnPrint(std::string_view /*text*/) {}
  /// The run's end, also of one that failed before OnRunBegin. Its results can be read.
  virtual void OnRunEnd(uint64_t /*run*/, const Status& /*status*/) {}
};

struct RunOptions {
  Observer* observer = nullptr;
  std::optional<std::chrono::steady_clock::time_point> deadline;  // the run is cancelled when it passes
};

/// One thread runs a session at a time; results may be read, and the run cancelled, from any thread.
class Session {
 public:
  /// `revision`: the one that the spec was made for; null for the present one.
  Session(std::shared_ptr<Scope> scope, SessionSpec spec, Keep keep = Keep::kAll, std::shared_ptr<Revision> revision = nullptr);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// For the thread that runs: what the last Prepare or Run asked for.
  const SessionSpec& spec() const { return *spec_; }
  /// What the session is called: its block's id, or a host's name. From any thread.
  std::string id() const;
  /// The graph that the session's plan and results are of: of the page as it was before an edit, until the session runs or is prepared
  /// again, and while outdated_page(). From any thread.
  std::shared_ptr<const Graph> graph() const;
  Scope& scope() const { return *scope_; }

  /// Plans. Faults of shapes go to `diagnostics`. Run plans by itself where that is needed.
  void Prepare(Diagnostics& diagnostics);
  /// The plan of the last Prepare or Run, until the next of them; null before, and where planning failed. For the thread that runs.
  const Plan* plan() const;

  /// Takes over the edits of the page since the last run, as Run does by itself. For the thread that runs. Where the page as it is now
  /// cannot be planned for what the session asks for, or has that no more (also its ClientSession block), the session stays with the last
  /// revision that it had a plan for, and is outdated_page(); each later revision, and each other feed, is tried again. Fails only where
  /// no run has succeeded yet.
  Status Follow();
  /// The same until a deadline, or until `cancelled`, which may be null.
  Status FollowUntil(std::optional<std::chrono::steady_clock::time_point> deadline, const std::atomic<bool>* cancelled = nullptr);
  /// Whether runs and results are of an earlier revision than the page's, because of faults(). As of the last Run, Prepare or Follow; from
  /// any thread.
  bool outdated_page() const { return outdated_page_.load(std::memory_order_acquire); }
  /// Why the session cannot run the page as it is now; empty where it can. As of the last Run, Prepare or Follow; from any thread.
  Diagnostics faults() const;
  /// failed_precondition, with the first fault as its cause, where the revision that the session is of has errors at what it asks for.
  Status CheckAsked() const;

  /// Replaces an output's value in the runs to come. invalid_argument for a tensor of another type.
  Status Feed(ValueRef value, Tensor tensor);
  /// The page's own value again; false where none was fed.
  bool Unfeed(ValueRef value);

  /// One run. A failed or cancelled run leaves variables and results as they were.
  Status Run(const RunOptions& options = {});
  /// Runs `steps` times, or until a run fails or is cancelled; negative: until then.
  Status RunSteps(int64_t steps, const RunOptions& options = {});
  /// Ends the current run, or the next one, between two blocks or inside a long kernel. From any thread, and from signal handlers.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  /// Takes back a Cancel that no run has seen. For the thread that is about to run.
  void ClearCancel() { cancelled_.store(false, std::memory_order_relaxed); }

  uint64_t runs() const { return runs_.load(std::memory_order_acquire); }

  /// The value by its name: `ID.port`, `ID.port[k]` of a list port, `ID.result_port`, and elements `ID.result_port[i][j]`. not_found with a
  /// suggestion; failed_precondition where no run has computed it. Where a new plan was needed, the old results stay until a run of it succeeds.
  Result<ResultValue> Get(std::string_view name) const;
  Result<ResultValue> Get(ValueRef value) const;
  /// Several values by their names, all of one run: no other takes their place in between.
  std::vector<Result<ResultValue>> GetAll(std::span<const std::string_view> names) const;
  /// Whether the present plan keeps the value, so that it can be read once a run has computed it.
  bool Keeps(ValueRef value) const;
  /// The names of all results that the session keeps, in the plan's order; none where there is no plan.
  std::vector<std::pair<std::string, ValueRef>> Results() const;
  /// Whether there is a plan: none is made before Prepare or Run, and none where that fails.
  bool planned() const;

 private:
  Result<ResultValue> Dated(Result<ResultValue> result) const;
  Status FollowTo(Diagnostics& found);
  Status Take(std::shared_ptr<Revision> revision, Diagnostics& found);

  std::shared_ptr<Scope> scope_;
  std::unique_ptr<SessionSpec> spec_;  // the executor has a reference to it
  Keep keep_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> failed_{false};  // the last run did
  std::atomic<bool> outdated_page_{false};
  std::atomic<uint64_t> runs_{0};
  std::optional<uint64_t> followed_;   // number of the revision that was tried last; of the thread that runs
  mutable std::mutex executor_mutex_;  // for readers; only the thread that runs changes the executor, the spec and the faults
  Diagnostics faults_;
  std::unique_ptr<class Executor> executor_;
  std::unique_ptr<class NameCache> names_;  // of GetAll
};

}  // namespace weft
