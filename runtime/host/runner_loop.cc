// What the thread that runs does: runs at their rate, pauses, single steps.
#include <algorithm>

#include "runtime/exec/result_name.h"
#include "runtime/host/runner_core.h"

namespace weft {

void Runner::Core::Execute() {
  {
    std::lock_guard lock(mutex_);
    running_thread_ = std::this_thread::get_id();
  }
  TellState();
  Status status;
  try {
    status = RunAll();
  } catch (const std::bad_alloc&) {
    status = ResourceExhausted("the machine has no memory left");
  } catch (const std::exception& error) {
    status = Internal("the run ended unexpectedly: ", error.what());
  }
  Finish(std::move(status));
}

Status Runner::Core::RunAll() {
  RunOptions options;
  options.observer = this;
  options.deadline = request_.deadline;
  const int64_t steps = request_.steps;
  const bool paced = request_.interval.count() > 0 || request_.deadline.has_value();
  for (int64_t made = 0; steps < 0 || made < steps; ++made) {
    if (steps >= 0) steps_left_.store(steps - made, std::memory_order_relaxed);
    if (paced || asked_.load(std::memory_order_acquire)) {
      bool go_on = true;
      WEFT_RETURN_IF_ERROR(Between(made, go_on));
      if (!go_on) return {};
    }
    WEFT_RETURN_IF_ERROR(session_->Run(options));
    if (has_outputs_.load(std::memory_order_acquire)) WEFT_RETURN_IF_ERROR(GiveOutputs());
  }
  return {};
}

// What is asked for between two runs. `go_on` is false where running is to end here.
Status Runner::Core::Between(int64_t made, bool& go_on) {
  std::unique_lock lock(mutex_);
  bool pause = std::exchange(pause_asked_, false);
  bool stepped = pause_after_run_ && made > 0;
  if (pause || stepped) {
    if (!stopped_ && !cancelled_) {
      lock.unlock();
      WEFT_RETURN_IF_ERROR(Hold(pause ? PauseReason::kAsked : PauseReason::kStepped, "", ""));
      lock.lock();
    }
  }
  WEFT_RETURN_IF_ERROR(WaitForTurn(lock));
  if (cancelled_) return Cancelled("the run was cancelled");
  if (Late()) return Cancelled("the run's deadline passed");
  go_on = !stopped_;
  asked_.store(pause_after_run_ || pause_asked_ || stopped_);
  return pending_.empty() ? Status() : ApplyFeeds();
}

// Until the interval since the last start has passed.
Status Runner::Core::WaitForTurn(std::unique_lock<std::mutex>& lock) {
  if (request_.interval.count() <= 0) return {};
  while (!cancelled_ && !stopped_ && Clock::now() < next_start_) {
    Clock::time_point until = request_.deadline ? std::min(next_start_, *request_.deadline) : next_start_;
    if (Late()) break;
    changed_.wait_until(lock, until);
    if (!std::exchange(pause_asked_, false)) continue;
    lock.unlock();
    WEFT_RETURN_IF_ERROR(Hold(PauseReason::kAsked, "", ""));
    lock.lock();
  }
  // Who is late does not hurry to make up for it.
  next_start_ = std::max(next_start_, Clock::now() - request_.interval) + request_.interval;
  return {};
}

Status Runner::Core::GiveOutputs() {
  std::vector<Output> outputs;
  {
    std::lock_guard lock(mutex_);
    outputs = outputs_;
  }
  for (const Output& output : outputs) {
    WEFT_ASSIGN_OR_RETURN(ResultValue result, session_->Get(output.name));
    WEFT_RETURN_IF_ERROR(output.take(result));
  }
  return {};
}

void Runner::Core::Finish(Status status) {
  {
    std::lock_guard lock(mutex_);
    if (Status fed = ApplyFeeds(); !fed.ok() && status.ok()) status = std::move(fed);
    last_status_ = std::move(status);
    SetState(RunState::kIdle);
    ended_ = Clock::now();
    steps_left_.store(0);
    cancelled_ = stopped_ = pause_asked_ = pause_after_run_ = block_step_ = false;
    request_.until.clear();
    AttendOwn();
    running_thread_ = {};
  }
  changed_.notify_all();
  TellState();
}

// ---- pausing ---------------------------------------------------------------------------------------------------------------------------

// Called with the lock held: whether the calls of steps are wanted for what is asked here.
void Runner::Core::AttendOwn() {
  bool wanted = pause_asked_ || block_step_ || !request_.until.empty();
  if (std::exchange(own_attention_, wanted) == wanted) return;
  if (wanted) attention_.fetch_add(1, std::memory_order_relaxed);
  else attention_.fetch_sub(1, std::memory_order_relaxed);
}

Status Runner::Core::Hold(PauseReason reason, std::string_view block, std::string_view detail) {
  ++holds_;
  {
    std::lock_guard lock(mutex_);
    if (cancelled_ || stopped_ || closed_) return cancelled_ ? Cancelled("the run was cancelled") : Status();
    pause_asked_ = pause_after_run_ = block_step_ = false;
    go_on_.reset();
    SetState(RunState::kPaused, reason, block, detail);
    held_in_steps_ = in_steps_;
    AttendOwn();
  }
  changed_.notify_all();
  if (in_steps_) view_->SetPaused(true);
  TellState();
  Status status;
  {
    std::unique_lock lock(mutex_);
    WaitHeld(lock);
    held_in_steps_ = false;
    if (cancelled_) status = Cancelled("the run was cancelled");
    else if (Late()) status = Cancelled("the run's deadline passed");
    block_step_ = go_on_ == GoOn::kStepBlock;
    // The block that the pause came before is the one to run.
    skip_ = before_step_ ? 0 : 1;
    pause_after_run_ = go_on_ == GoOn::kStepRun;
    asked_.store(asked_.load() || pause_after_run_);
    SetState(RunState::kRunning);
    AttendOwn();
  }
  changed_.notify_all();
  if (in_steps_) view_->SetPaused(false);
  TellState();
  return status;
}

// Until the pause ends: by a call, by the deadline, or because the lease passed.
void Runner::Core::WaitHeld(std::unique_lock<std::mutex>& lock) {
  auto ready = [&] { return go_on_ || cancelled_ || stopped_ || closed_; };
  while (!ready()) {
    std::optional<Clock::time_point> last = request_.deadline;
    if (lease_) last = last ? std::min(*last, *lease_) : *lease_;
    if (last && Clock::now() >= *last) {
      if (lease_ && *lease_ <= *last) lease_.reset();  // who set it is lost; later pauses are others'
      return;
    }
    if (last) changed_.wait_until(lock, *last);
    else changed_.wait(lock);
  }
}

void Runner::Core::SetLease(std::optional<Clock::time_point> until) {
  {
    std::lock_guard lock(mutex_);
    lease_ = until;
  }
  changed_.notify_all();
}

// The running thread cannot go on while this has the lock.
Result<Tensor> Runner::Core::Peek(std::string_view name) const {
  std::lock_guard lock(mutex_);
  if (!held_in_steps_) return FailedPrecondition("the session is not paused within a run");
  WEFT_ASSIGN_OR_RETURN(NamedValue named, FindNamedValue(*view_->graph(), name));
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, view_->Peek(named.value));
  WEFT_ASSIGN_OR_RETURN(tensor, ElementOf(tensor, named.indices));
  return tensor.Clone(session_->scope().runtime().budget());
}

Status Runner::Core::Override(std::string_view name, const Tensor& tensor) {
  std::lock_guard lock(mutex_);
  if (!held_in_steps_) return FailedPrecondition("the session is not paused within a run");
  WEFT_ASSIGN_OR_RETURN(NamedValue named, FindNamedValue(*view_->graph(), name));
  if (!named.indices.empty()) return Unsupported("a value is replaced as a whole, found one element, '", name, "'");
  return view_->Override(named.value, tensor);
}

// Called with the lock held.
void Runner::Core::SetState(RunState state, PauseReason reason, std::string_view block, std::string_view detail) {
  state_ = {state, reason, std::string(block), std::string(detail), starts_};
}

// Called with the lock held.
PauseReason Runner::Core::ReasonBefore(const Node& node) {
  if (block_step_ && skip_-- <= 0) return PauseReason::kStepped;
  if (pause_asked_) return PauseReason::kAsked;
  if (!request_.until.empty() && node.id == request_.until) {
    request_.until.clear();
    return PauseReason::kReached;
  }
  return PauseReason::kNone;
}

// Those that were added since the run began. One that was told when it came ignores it.
void Runner::Core::TellJoining() {
  if (!joining_.load(std::memory_order_relaxed) || !joining_.exchange(false)) return;
  auto listeners = TakeListeners();
  if (!listeners) return;
  for (const auto& listener : *listeners) listener->OnJoin(*view_);
}

Status Runner::Core::OnStep(size_t step, const Node& node) {
  TellJoining();
  before_step_ = true;
  const uint64_t holds = holds_;
  Status status;
  if (auto listeners = TakeListeners()) {
    for (const auto& listener : *listeners) {
      const std::atomic<uint32_t>* wants = listener->attention();
      if (status.ok() && (wants == nullptr || wants->load(std::memory_order_relaxed) != 0)) status = listener->OnStep(step, node);
    }
  }
  PauseReason reason = PauseReason::kNone;
  if (status.ok() && holds == holds_) {  // one pause at a place is enough
    std::lock_guard lock(mutex_);
    reason = ReasonBefore(node);
    AttendOwn();
  }
  if (reason != PauseReason::kNone) status = Hold(reason, node.id, "");
  before_step_ = false;
  return status;
}

void Runner::Core::OnStepEnd(size_t step, const Node& node, bool dead) {
  TellJoining();
  auto listeners = TakeListeners();
  if (!listeners) return;
  for (const auto& listener : *listeners) {
    const std::atomic<uint32_t>* wants = listener->attention();
    if (wants == nullptr || wants->load(std::memory_order_relaxed) != 0) listener->OnStepEnd(step, node, dead);
  }
}

// ---- listeners -------------------------------------------------------------------------------------------------------------------------

std::shared_ptr<const Runner::Core::Listeners> Runner::Core::TakeListeners() const {
  if (!has_listeners_.load(std::memory_order_acquire)) return nullptr;
  std::lock_guard lock(mutex_);
  return listeners_;
}

void Runner::Core::TellState() {
  auto listeners = TakeListeners();
  if (!listeners) return;
  RunnerState now = state();
  for (const auto& listener : *listeners) listener->OnState(now);
}

Status Runner::Core::OnRunStart(uint64_t run, RunView& view) {
  view_ = &view;
  auto listeners = TakeListeners();
  if (!listeners) return {};
  for (const auto& listener : *listeners) WEFT_RETURN_IF_ERROR(listener->OnRunStart(run, view));
  return {};
}

void Runner::Core::OnRunBegin(uint64_t run, size_t steps) {
  in_steps_ = true;
  auto listeners = TakeListeners();
  if (!listeners) return;
  for (const auto& listener : *listeners) listener->OnRunBegin(run, steps);
}

void Runner::Core::OnRunEnd(uint64_t run, const Status& status) {
  in_steps_ = false;
  auto listeners = TakeListeners();
  if (!listeners) return;
  for (const auto& listener : *listeners) listener->OnRunEnd(run, status);
}

void Runner::Core::OnPrint(std::string_view text) {
  auto listeners = TakeListeners();
  if (!listeners) return;
  for (const auto& listener : *listeners) listener->OnPrint(text);
}

}  // namespace weft
