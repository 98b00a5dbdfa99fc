// RunControl: whether a runner is idle, running or paused, and the waits of its callers and of the thread that runs for one another.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "runtime/host/pause_requests.h"
#include "runtime/host/run_worker.h"
#include "weft/block/services.h"
#include "weft/host/runner.h"

namespace weft {

/// Its lock is taken for moments, and released while a call waits. Functions of callers are for any thread, the others for the one that
/// runs; errors are those of Runner's functions.
class RunControl {
 public:
  using Clock = std::chrono::steady_clock;
  RunControl(Session& session, PauseRequests& pauses, const RunWorker& worker) : session_(session), pauses_(pauses), worker_(worker) {}

  // ---- of callers ----------------------------------------------------------------------------------------------------------------------
  /// From idle to running. `until`: RunRequest::until, found. `work`: there is something to do before the first run.
  Status Begin(const RunRequest& request, std::optional<KeptName> until, bool work);
  Status Wait(std::chrono::nanoseconds timeout, RunState* state);
  Status Pause(PauseAt at);
  Status Resume(GoOn how);
  void Stop();
  Status Cancel(std::optional<uint64_t> start);
  /// Refuses what comes later, cancels, and waits until idle; false, without waiting, on the thread that runs.
  bool Close();
  void SetLease(std::optional<Clock::time_point> until);
  RunnerInfo info() const;
  // Of info(), what can be told without memory.
  bool ended(uint64_t start) const;
  uint64_t start() const;
  Status last_status() const;
  bool on_running_thread() const;
  /// Something is to be done between two runs.
  void NoteWork() { work_.store(true); }
  /// Calls use() with the lock held, so that nothing begins meanwhile; false where it is not idle.
  bool WhileIdle(FunctionRef<void()> use);
  /// Calls use() with the lock held, so that the run does not continue meanwhile; false where it is not paused within a run.
  bool WhilePausedInRun(FunctionRef<void()> use) const;

  // ---- of the thread that runs ---------------------------------------------------------------------------------------------------------
  /// What is to be run; stays until End.
  const RunRequest& Enter();
  bool has_work() const { return work_.load(std::memory_order_acquire); }
  void SetStepsLeft(int64_t steps) { steps_left_.store(steps, std::memory_order_relaxed); }
  /// Waits for a time, less where the run is to end; true where a pause was asked for meanwhile.
  bool WaitUntil(Clock::time_point due);
  /// False where running is to end here; cancelled where it is to fail.
  Result<bool> GoesOn();
  /// From running to paused; false where the run is to end instead.
  Result<bool> BeginPause(PauseReason reason, std::string_view block, std::string_view detail, bool in_run);
  /// Waits until the pause ends. `before_step`: the block that it came before is the next to run.
  Status EndPause(bool before_step);
  /// To idle. `last` is called before, while nothing can begin; its failure counts where `status` is ok.
  void End(Status status, FunctionRef<Status()> last);

 private:
  /// What was asked for and is not done.
  struct Asked {
    bool close = false, cancel = false, stop = false;
    std::optional<GoOn> go_on;
  };

  struct Times {
    Clock::time_point started{}, ended{};
  };

  Status CheckIdle() const;
  void CancelRun();
  Status WhyEnds() const;
  void SetState(RunState state, PauseReason reason = PauseReason::kNone, std::string_view block = {}, std::string_view detail = {});

  Session& session_;
  PauseRequests& pauses_;
  const RunWorker& worker_;
  std::atomic<bool> work_{false};
  std::atomic<int64_t> steps_left_{0};

  mutable std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  RunnerState state_;
  Status last_status_;
  RunRequest request_;
  Times times_;
  Asked asked_;
  std::optional<Clock::time_point> lease_;  // when pauses end by themselves
  bool paused_in_run_ = false;
  std::thread::id running_thread_;
};

}  // namespace weft
