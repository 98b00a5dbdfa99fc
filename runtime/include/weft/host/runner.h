// Runner: a session that a host drives: on the calling thread or on one of its own, with pauses, single steps, a rate, and values that
// change between runs.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/exec/session.h"

namespace weft {

enum class RunState : uint8_t { kIdle, kRunning, kPaused };
enum class PauseReason : uint8_t { kNone, kAsked, kReached, kStepped, kBreak };
/// Where a pause that is asked for comes: before the next block or run, whichever is first; or before the next run.
enum class PauseAt : uint8_t { kBlock, kRun };
/// How what is paused continues: as it was started; for one block; to the end of its run.
enum class GoOn : uint8_t { kRun, kStepBlock, kStepRun };

/// Where a runner is. `block` is the one that runs next while paused within a run; `detail` what a breakpoint says.
struct RunnerState {
  RunState state = RunState::kIdle;
  PauseReason reason = PauseReason::kNone;
  std::string block, detail;
  uint64_t start = 0;  // the number of the Run or Start in progress, or of the last: counted from 1
};

/// The state, and how the last run or start ended.
struct RunnerInfo {
  RunnerState state;
  Status last_status;
  int64_t steps_left = 0;              // negative: until stopped
  std::chrono::nanoseconds elapsed{};  // of the run or start in progress so far, or of the last one
};

struct RunRequest {
  int64_t steps = 1;  // negative: until stopped
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::chrono::nanoseconds interval{0};  // least time from the start of one run to that of the next
  std::string until;                     // pause before this block, also where an edit renames it meanwhile
  bool pause_after_run = false;          // pause before the second run
};

/// Sees what a runner's runs do, on the thread that runs, with no lock held. Added to one runner at a time.
class RunListener : public Observer {
 public:
  /// After each change of state; also on the thread that runs.
  virtual void OnState(const RunnerState& /*state*/) {}
  /// What ends the Run or Start before all its steps are made, in a run or between two; while the state still says that it runs.
  virtual void OnFailure(const Status& /*status*/) {}
  /// For one that was added during a run: before the first call of a step that it gets. Where the run is paused then, and
  /// joins_at_once, on the thread that adds it, with the runner's lock held; it is called again before the next step.
  virtual void OnJoin(RunView& /*view*/) {}
  virtual bool joins_at_once() const { return false; }

  const std::atomic<uint32_t>* wants_steps() const final { return &wants_steps_; }

 protected:
  /// Whether OnStep and OnStepEnd are called; not, to begin with. Thread-safe. While any listener wants steps, each costs some tens of
  /// nanoseconds more, and fused steps run one by one.
  void WantSteps(bool wants);

 private:
  friend class ListenerList;
  using Total = std::shared_ptr<std::atomic<uint32_t>>;
  void CountIn(Total total);  // null: in none

  std::atomic<uint32_t> wants_steps_{0};
  std::mutex total_mutex_;
  Total total_;  // how many of a runner's listeners want steps
};

/// Thread-safe. Calls that wait say so.
class Runner {
 public:
  explicit Runner(std::shared_ptr<Session> session);
  /// As Close.
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  Session& session() const;

  /// Runs on this thread; waits for the end. failed_precondition where it is not idle.
  Status RunBlocking(const RunRequest& request);
  /// Runs on the runner's thread. failed_precondition where it is not idle; not_found for `until`.
  Status Start(const RunRequest& request);
  /// Waits until idle or paused, at most `timeout` (negative: for ever). Where idle then: what ended the last run or start.
  /// failed_precondition on the thread that runs.
  Status Wait(std::chrono::nanoseconds timeout, RunState* state = nullptr);
  /// failed_precondition where nothing runs; for PauseAt::kRun also where it is paused.
  Status Pause(PauseAt at = PauseAt::kBlock);
  /// failed_precondition where it is not paused.
  Status Resume(GoOn how);
  /// Ends after the current run.
  void Stop();
  /// Ends the current run. Nothing where idle.
  void Cancel();
  /// The same for one Run or Start alone. failed_precondition where it is over, or has not begun.
  Status CancelStart(uint64_t start);
  /// Cancels, waits (not on the thread that runs), and refuses what comes later.
  void Close();

  RunnerState state() const;
  RunnerInfo info() const;
  // These take no memory.
  /// RunnerState::start.
  uint64_t last_start() const;
  /// Whether the Run or Start of that number is over.
  bool ended(uint64_t start) const;
  /// RunnerInfo::last_status.
  Status last_status() const;
  bool on_running_thread() const;

  /// Values by their names as of Session::Get. While paused within a run: what that run has computed so far (a copy, `in_progress`), and the
  /// last result of what it has not.
  std::vector<Result<ResultValue>> Read(std::span<const std::string_view> names) const;
  /// While paused within a run: replaces a value that it has computed, for the steps to come in this run. failed_precondition where it is
  /// not paused there; errors of names as Session::Get, others as RunView::Override; of elements, unsupported.
  Status Override(std::string_view name, const Tensor& tensor);

  // What a host feeds and takes stays with the value's block when edits rename it. While the page has no such block it is not fed and not
  // taken, and runs go on; it is again when a block with that id is back. It is named by what the page calls it, or else as it was given.
  /// A value from the host, by name ("x.output"), from the next run on; absent: the page's own value again. invalid_argument for another
  /// type; not_found to take back what was not fed.
  Status Feed(std::string_view name, std::optional<Tensor> tensor);
  /// Called at the end of each run that succeeded and keeps the value, before it counts as ended; its failure ends running. Empty: no more.
  /// not_found for a value that the page has not, and to end what there is not.
  Status SetOutput(std::string_view name, std::function<Status(const ResultValue&)> take);

  // ---- listeners -----------------------------------------------------------------------------------------------------------------------
  /// Does nothing where it is added already.
  void AddListener(std::shared_ptr<RunListener> listener);
  void RemoveListener(const RunListener* listener);
  /// For listeners, from OnStep, OnStepEnd and OnRunStart: the run is paused here until it is resumed or cancelled. A status that is not
  /// ok ends the run.
  Status PauseRun(PauseReason reason, std::string_view block, std::string_view detail);
  /// For listeners, in any of their calls but OnState: the current run.
  RunView& view() const;
  /// When every pause ends by itself, unless it is set anew before: for hosts that may be lost while a run is paused. Absent: never.
  void SetLease(std::optional<std::chrono::steady_clock::time_point> until);

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;  // its thread has a reference, too
};

}  // namespace weft
