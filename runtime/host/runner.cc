// The calls of a host: starting, waiting, pausing, cancelling.
#include "weft/host/runner.h"

#include <algorithm>

#include "runtime/host/runner_core.h"
#include "runtime/plan/id_map.h"

namespace weft {

Runner::Runner(std::shared_ptr<Session> session) : core_(std::make_shared<Core>(std::move(session))) {}
Runner::~Runner() { core_->Close(); }
Session& Runner::session() const { return core_->session(); }
Status Runner::Run(const RunRequest& request) { return core_->Run(request); }
Status Runner::Start(const RunRequest& request) { return core_->Start(request); }
Status Runner::Wait(std::chrono::nanoseconds timeout, RunState* state) { return core_->Wait(timeout, state); }
Status Runner::Pause() { return core_->Pause(false); }
Status Runner::PauseAfterRun() { return core_->Pause(true); }
Status Runner::Resume(GoOn how) { return core_->Resume(how); }
void Runner::Stop() { core_->Stop(); }
void Runner::Cancel() { core_->Cancel(); }
Status Runner::CancelStart(uint64_t start) { return core_->CancelStart(start); }
void Runner::Close() { core_->Close(); }
RunnerState Runner::state() const { return core_->state(); }
Status Runner::last_status() const { return core_->last_status(); }
int64_t Runner::steps_left() const { return core_->steps_left(); }
std::chrono::nanoseconds Runner::elapsed() const { return core_->elapsed(); }
bool Runner::on_running_thread() const { return core_->on_running_thread(); }
Status Runner::Feed(std::string_view name, Tensor tensor) { return core_->Feed(name, std::move(tensor)); }
Status Runner::Unfeed(std::string_view name) { return core_->Feed(name, std::nullopt); }
void Runner::SetOutput(std::string_view name, std::function<Status(const ResultValue&)> take) { core_->SetOutput(name, std::move(take)); }
void Runner::AddListener(std::shared_ptr<RunListener> listener) { core_->AddListener(std::move(listener)); }
void Runner::RemoveListener(const RunListener* listener) { core_->RemoveListener(listener); }
void Runner::Attend(int change) { core_->Attend(change); }
Status Runner::Hold(PauseReason reason, std::string_view block, std::string_view detail) { return core_->Hold(reason, block, detail); }
RunView& Runner::view() const { return core_->view(); }
void Runner::SetLease(std::optional<std::chrono::steady_clock::time_point> until) { core_->SetLease(until); }
Result<Tensor> Runner::Peek(std::string_view name) const { return core_->Peek(name); }
Status Runner::Override(std::string_view name, const Tensor& tensor) { return core_->Override(name, tensor); }

// ---- starting and ending ---------------------------------------------------------------------------------------------------------------

Status Runner::Core::CheckIdle() const {
  if (closed_) return FailedPrecondition("the session was closed");
  if (state_.state == RunState::kIdle) return {};
  return FailedPrecondition("the session ", state_.state == RunState::kPaused ? "is paused" : "runs")
      .WithHint(state_.state == RunState::kPaused ? "resume, stop or cancel it" : "wait for its end, or stop or cancel it");
}

// Called with the lock held.
Status Runner::Core::Begin(const RunRequest& request) {
  WEFT_RETURN_IF_ERROR(CheckIdle());
  if (!request.until.empty()) {
    // The run that begins is of the page as it is now.
    auto node = session_->scope().revision()->graph->FindNode(request.until);
    if (!node.ok()) return std::move(node).status();
  }
  request_ = request;
  ++starts_;
  SetState(RunState::kRunning);
  cancelled_ = stopped_ = pause_asked_ = block_step_ = false;
  pause_after_run_ = request.pause_after_run;
  go_on_.reset();
  session_->ClearCancel();
  asked_.store(!pending_.empty() || pause_after_run_);
  steps_left_.store(request.steps < 0 ? -1 : request.steps);
  started_ = next_start_ = Clock::now();
  AttendOwn();
  return {};
}

Status Runner::Core::Run(const RunRequest& request) {
  {
    std::lock_guard lock(mutex_);
    WEFT_RETURN_IF_ERROR(Begin(request));
  }
  changed_.notify_all();
  Execute();
  return last_status();
}

Status Runner::Core::Start(const RunRequest& request) {
  {
    std::lock_guard lock(mutex_);
    WEFT_RETURN_IF_ERROR(CheckIdle());
    if (!worker_.joinable()) {
      try {
        worker_ = std::thread([core = shared_from_this()] { core->Work(); });
      } catch (const std::exception& error) {
        return ResourceExhausted("no thread can be started: ", error.what());
      }
      worker_id_ = worker_.get_id();
    }
    WEFT_RETURN_IF_ERROR(Begin(request));
    job_ = true;
  }
  changed_.notify_all();
  return {};
}

void Runner::Core::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return job_ || closed_; });
    if (!job_) return;
    job_ = false;
    lock.unlock();
    Execute();
    lock.lock();
  }
}

Status Runner::Core::Wait(std::chrono::nanoseconds timeout, RunState* state) {
  std::unique_lock lock(mutex_);
  auto still = [&] { return state_.state != RunState::kRunning; };
  if (!still() && OnRunningThread()) return FailedPrecondition("the thread that runs the session cannot wait for it");
  // A time point beyond the clock's end would wait for nothing.
  constexpr std::chrono::nanoseconds kLong = std::chrono::hours(24 * 365);
  if (timeout < std::chrono::nanoseconds(0)) changed_.wait(lock, still);
  else changed_.wait_until(lock, Clock::now() + std::min(timeout, kLong), still);
  if (state != nullptr) *state = state_.state;
  return state_.state == RunState::kIdle ? last_status_ : Status();
}

Status Runner::Core::Pause(bool after_run) {
  std::lock_guard lock(mutex_);
  if (state_.state == RunState::kIdle) return FailedPrecondition("the session does not run");
  if (state_.state == RunState::kPaused) return after_run ? FailedPrecondition("the session is paused already") : Status();
  (after_run ? pause_after_run_ : pause_asked_) = true;
  asked_.store(true);
  AttendOwn();
  changed_.notify_all();
  return {};
}

Status Runner::Core::Resume(GoOn how) {
  std::lock_guard lock(mutex_);
  if (state_.state != RunState::kPaused) return FailedPrecondition("the session is not paused");
  go_on_ = how;
  // The state changes here, so that a Wait that follows waits.
  SetState(RunState::kRunning);
  changed_.notify_all();
  return {};
}

void Runner::Core::Stop() {
  std::lock_guard lock(mutex_);
  if (state_.state == RunState::kIdle) return;
  stopped_ = true;
  if (state_.state == RunState::kPaused) SetState(RunState::kRunning);
  asked_.store(true);
  changed_.notify_all();
}

void Runner::Core::CancelLocked() {
  if (state_.state == RunState::kIdle) return;
  cancelled_ = true;
  if (state_.state == RunState::kPaused) SetState(RunState::kRunning);  // as in Resume
  asked_.store(true);
  session_->Cancel();
  changed_.notify_all();
}

void Runner::Core::Cancel() {
  std::lock_guard lock(mutex_);
  CancelLocked();
}

Status Runner::Core::CancelStart(uint64_t start) {
  std::lock_guard lock(mutex_);
  if (state_.state == RunState::kIdle || start != starts_) {
    return FailedPrecondition("the start ", start, start > starts_ ? " has not begun" : " is over");
  }
  CancelLocked();
  return {};
}

void Runner::Core::Close() {
  std::thread worker;
  {
    std::unique_lock lock(mutex_);
    closed_ = true;
    CancelLocked();
    changed_.notify_all();
    worker = std::move(worker_);
    if (!OnRunningThread()) changed_.wait(lock, [&] { return state_.state == RunState::kIdle; });
  }
  if (worker.joinable()) {
    if (worker.get_id() == std::this_thread::get_id()) worker.detach();
    else worker.join();
  }
  std::shared_ptr<const Listeners> ended;
  std::vector<Output> outputs;
  std::lock_guard lock(mutex_);
  if (OnRunningThread()) return;  // its last calls go to the listeners yet
  ended = std::move(listeners_);
  outputs = std::move(outputs_);
}

// ---- what there is to know -------------------------------------------------------------------------------------------------------------

RunnerState Runner::Core::state() const {
  std::lock_guard lock(mutex_);
  return state_;
}

Status Runner::Core::last_status() const {
  std::lock_guard lock(mutex_);
  return last_status_;
}

std::chrono::nanoseconds Runner::Core::elapsed() const {
  std::lock_guard lock(mutex_);
  return (state_.state == RunState::kIdle ? ended_ : Clock::now()) - started_;
}

bool Runner::Core::OnRunningThread() const {
  std::thread::id here = std::this_thread::get_id();
  return here == running_thread_ || here == worker_id_;
}

bool Runner::Core::on_running_thread() const {
  std::lock_guard lock(mutex_);
  return OnRunningThread();
}

// ---- values and listeners --------------------------------------------------------------------------------------------------------------

// Feeds are for the runs to come, and those are of the page as it is now, whatever page the session's last run was of.
Status Runner::Core::Feed(std::string_view name, std::optional<Tensor> tensor) {
  std::shared_ptr<const Graph> graph = session_->scope().revision()->graph;
  WEFT_ASSIGN_OR_RETURN(ValueRef value, graph->FindValue(name));
  DType needed = graph->TypeOf(value);
  if (tensor && tensor->dtype() != needed) {
    return InvalidArgument("the value '", graph->ValueName(value), "' needs ", needed, ", found ", tensor->dtype())
        .WithNeeded(DTypeName(needed))
        .WithFound(Cat(tensor->dtype(), " ", tensor->shape()));
  }
  std::lock_guard lock(mutex_);
  const bool was = std::erase_if(fed_, [&](const Pending& fed) { return fed.In(*graph) == value; }) > 0;
  if (!tensor && !was) return NotFound("nothing was fed to '", graph->ValueName(value), "'");
  if (tensor) fed_.push_back({graph, value, std::nullopt});
  pending_.push_back({std::move(graph), value, std::move(tensor)});
  asked_.store(true);
  return state_.state == RunState::kIdle ? ApplyFeeds() : Status();
}

ValueRef Runner::Core::Pending::In(const Graph& now) const { return graph.get() == &now ? value : IdMap(*graph, now).Value(value); }

// Called with the lock held, on the thread that runs or while nothing does.
Status Runner::Core::ApplyFeeds() {
  if (pending_.empty()) return {};
  WEFT_RETURN_IF_ERROR(session_->Follow());
  std::shared_ptr<const Graph> graph = session_->graph();
  Status status;
  for (Pending& pending : pending_) {
    const ValueRef value = pending.In(*graph);
    if (!value.valid()) continue;  // an edit took it from the page
    if (!pending.tensor) session_->Unfeed(value);
    else if (Status fed = session_->Feed(value, std::move(*pending.tensor)); !fed.ok()) status = std::move(fed);
  }
  pending_.clear();
  return status;
}

void Runner::Core::SetOutput(std::string_view name, std::function<Status(const ResultValue&)> take) {
  std::vector<Output> before;  // ends without the lock
  std::lock_guard lock(mutex_);
  before = outputs_;
  std::erase_if(outputs_, [&](const Output& output) { return output.name == name; });
  if (take) outputs_.push_back({std::string(name), std::move(take)});
  has_outputs_.store(!outputs_.empty());
}

void Runner::Core::AddListener(std::shared_ptr<RunListener> listener) {
  std::lock_guard lock(mutex_);
  auto next = std::make_shared<Listeners>();
  if (listeners_) *next = *listeners_;
  if (std::find(next->begin(), next->end(), listener) != next->end()) return;  // each is told once
  RunListener& added = *next->emplace_back(std::move(listener));
  listeners_ = std::move(next);
  has_listeners_.store(true);
  // The running thread cannot go on while it is held, and this has the lock.
  if (held_in_steps_ && added.joins_at_once()) added.OnJoin(*view_);
  else if (state_.state != RunState::kIdle) joining_.store(true);
}

void Runner::Core::RemoveListener(const RunListener* listener) {
  std::shared_ptr<const Listeners> before;  // ends without the lock
  std::lock_guard lock(mutex_);
  if (!listeners_) return;
  auto next = std::make_shared<Listeners>(*listeners_);
  std::erase_if(*next, [&](const auto& one) { return one.get() == listener; });
  before = std::move(listeners_);
  has_listeners_.store(!next->empty());
  listeners_ = std::move(next);
}

}  // namespace weft
