#include "runtime/host/run_control.h"

#include <algorithm>
#include <new>

#include "runtime/base/failure.h"
#include "runtime/host/late_release.h"
#include "runtime/state/thread_pool.h"

namespace weft {
namespace {

// Time points beyond the clock's end would be in the past.
constexpr std::chrono::nanoseconds kLongestWait = std::chrono::hours(24 * 365);

}  // namespace

// ---- of callers ------------------------------------------------------------------------------------------------------------------------

// Called with the lock held.
Status RunControl::CheckIdle() const {
  if (asked_.close) return FailedPrecondition("the session was closed");
  if (state_.state == RunState::kIdle) return {};
  return FailedPrecondition("the session ", state_.state == RunState::kPaused ? "is paused" : "runs")
      .WithHint(state_.state == RunState::kPaused ? "resume, stop or cancel it" : "wait for its end, or stop or cancel it");
}

Status RunControl::Begin(const RunRequest& request, std::optional<KeptName> until, bool work) {
  std::lock_guard lock(mutex_);
  WEFT_RETURN_IF_ERROR(CheckIdle());
  request_ = request;
  pauses_.Begin(request, std::move(until));
  // From here on nothing fails: what is told to run ends.
  ++state_.start;
  SetState(RunState::kRunning);
  asked_ = Asked();
  session_.ClearCancel();
  work_.store(work || request.pause_after_run);
  steps_left_.store(request.steps < 0 ? -1 : request.steps);
  times_.started = Clock::now();
  changed_.notify_all();
  return {};
}

Status RunControl::Wait(std::chrono::nanoseconds timeout, RunState* state) {
  const bool here = on_running_thread();
  std::unique_lock lock(mutex_);
  const auto ready = [&] { return state_.state != RunState::kRunning; };
  if (!ready() && here) return FailedPrecondition("the thread that runs the session cannot wait for it");
  if (timeout < std::chrono::nanoseconds(0)) changed_.wait(lock, ready);
  else changed_.wait_until(lock, Clock::now() + std::min(timeout, kLongestWait), ready);
  if (state != nullptr) *state = state_.state;
  return state_.state == RunState::kIdle ? last_status_ : Status();
}

Status RunControl::Pause(PauseAt at) {
  std::lock_guard lock(mutex_);
  if (state_.state == RunState::kIdle) return FailedPrecondition("the session does not run");
  if (state_.state == RunState::kPaused) return at == PauseAt::kRun ? FailedPrecondition("the session is paused already") : Status();
  pauses_.Ask(at);
  work_.store(true);
  changed_.notify_all();
  return {};
}

Status RunControl::Resume(GoOn how) {
  std::lock_guard lock(mutex_);
  if (state_.state != RunState::kPaused) return FailedPrecondition("the session is not paused");
  asked_.go_on = how;
  // The state changes here, so that a Wait that follows waits.
  SetState(RunState::kRunning);
  changed_.notify_all();
  return {};
}

void RunControl::Stop() {
  std::lock_guard lock(mutex_);
  if (state_.state == RunState::kIdle) return;
  asked_.stop = true;
  if (state_.state == RunState::kPaused) SetState(RunState::kRunning);  // as in Resume
  work_.store(true);
  changed_.notify_all();
}

// Called with the lock held.
void RunControl::CancelRun() {
  if (state_.state == RunState::kIdle) return;
  asked_.cancel = true;
  if (state_.state == RunState::kPaused) SetState(RunState::kRunning);  // as in Resume
  work_.store(true);
  session_.Cancel();
  changed_.notify_all();
}

Status RunControl::Cancel(std::optional<uint64_t> start) {
  std::lock_guard lock(mutex_);
  if (start && (state_.state == RunState::kIdle || *start != state_.start)) {
    return FailedPrecondition("the start ", *start, *start > state_.start ? " has not begun" : " is over");
  }
  CancelRun();
  return {};
}

bool RunControl::Close() {
  const bool here = on_running_thread();
  std::unique_lock lock(mutex_);
  asked_.close = true;
  CancelRun();
  changed_.notify_all();
  if (!here) changed_.wait(lock, [&] { return state_.state == RunState::kIdle; });
  return !here;
}

void RunControl::SetLease(std::optional<Clock::time_point> until) {
  std::lock_guard lock(mutex_);
  lease_ = until;
  changed_.notify_all();
}

RunnerInfo RunControl::info() const {
  std::lock_guard lock(mutex_);
  return {state_, last_status_, steps_left_.load(std::memory_order_relaxed),
          (state_.state == RunState::kIdle ? times_.ended : Clock::now()) - times_.started};
}

bool RunControl::ended(uint64_t start) const {
  std::lock_guard lock(mutex_);
  return state_.state == RunState::kIdle || state_.start != start;
}

uint64_t RunControl::start() const {
  std::lock_guard lock(mutex_);
  return state_.start;
}

Status RunControl::last_status() const {
  std::lock_guard lock(mutex_);
  return last_status_;
}

bool RunControl::on_running_thread() const {
  if (worker_.waits_for_caller()) return true;
  std::lock_guard lock(mutex_);
  return WaitsForThisThread(running_thread_);
}

bool RunControl::WhileIdle(FunctionRef<void()> use) {
  const LateRelease late;
  std::lock_guard lock(mutex_);
  if (state_.state != RunState::kIdle) return false;
  use();
  return true;
}

bool RunControl::WhilePausedInRun(FunctionRef<void()> use) const {
  std::lock_guard lock(mutex_);
  if (!paused_in_run_) return false;
  use();
  return true;
}

// ---- of the thread that runs -----------------------------------------------------------------------------------------------------------

const RunRequest& RunControl::Enter() {
  std::lock_guard lock(mutex_);
  running_thread_ = std::this_thread::get_id();
  return request_;
}

// Called with the lock held: cancelled where the run is to fail.
Status RunControl::WhyEnds() const {
  try {
    if (asked_.cancel) return Cancelled("the run was cancelled");
    if (request_.deadline && Clock::now() >= *request_.deadline) return Cancelled("the run's deadline passed");
  } catch (const std::bad_alloc&) {
    return NoMemory();
  }
  return {};
}

bool RunControl::WaitUntil(Clock::time_point due) {
  std::unique_lock lock(mutex_);
  if (request_.deadline) due = std::min(due, *request_.deadline);
  while (!asked_.cancel && !asked_.stop && Clock::now() < due) {
    if (pauses_.TakeAsked()) return true;
    changed_.wait_until(lock, due);
  }
  return false;
}

Result<bool> RunControl::GoesOn() {
  std::lock_guard lock(mutex_);
  WEFT_RETURN_IF_ERROR(WhyEnds());
  work_.store(asked_.stop || pauses_.any_before_run());
  return !asked_.stop;
}

Result<bool> RunControl::BeginPause(PauseReason reason, std::string_view block, std::string_view detail, bool in_run) {
  std::lock_guard lock(mutex_);
  if (asked_.cancel) return Cancelled("the run was cancelled");
  if (asked_.stop || asked_.close) return false;
  pauses_.Drop();
  asked_.go_on.reset();
  SetState(RunState::kPaused, reason, block, detail);
  paused_in_run_ = in_run;
  changed_.notify_all();
  return true;
}

// A pause ends by a call, by the deadline, or because the lease passed.
Status RunControl::EndPause(bool before_step) {
  std::unique_lock lock(mutex_);
  const auto asked = [&] { return asked_.go_on || asked_.cancel || asked_.stop || asked_.close; };
  while (!asked()) {
    std::optional<Clock::time_point> last = request_.deadline;
    if (lease_) last = last ? std::min(*last, *lease_) : *lease_;
    if (last && Clock::now() >= *last) {
      if (lease_ && *lease_ <= *last) lease_.reset();  // a later pause is not of the host that set it and is lost
      break;
    }
    if (last) changed_.wait_until(lock, *last);
    else changed_.wait(lock);
  }
  paused_in_run_ = false;
  Status status = WhyEnds();
  pauses_.PauseEnded(asked_.go_on.value_or(GoOn::kRun), before_step);
  if (asked_.go_on == GoOn::kStepRun) work_.store(true);
  SetState(RunState::kRunning);
  changed_.notify_all();
  return status;
}

void RunControl::End(Status status, FunctionRef<Status()> last) {
  const LateRelease late;
  std::lock_guard lock(mutex_);
  Status failed;
  try {
    failed = last();
  } catch (...) {
    failed = StatusOfException("what is done after a run ended");
  }
  if (!failed.ok() && status.ok()) status = std::move(failed);
  last_status_ = std::move(status);
  SetState(RunState::kIdle);
  times_.ended = Clock::now();
  steps_left_.store(0);
  asked_.cancel = asked_.stop = false;
  pauses_.End();
  running_thread_ = {};
  changed_.notify_all();
}

// Called with the lock held.
void RunControl::SetState(RunState state, PauseReason reason, std::string_view block, std::string_view detail) {
  state_ = {state, reason, std::string(block), std::string(detail), state_.start};
}

}  // namespace weft
