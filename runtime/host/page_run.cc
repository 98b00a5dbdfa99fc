#include "weft/host/page_run.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "runtime/base/failure.h"
#include "runtime/state/run_gate.h"
#include "runtime/state/thread_pool.h"

namespace weft {
namespace {

// Where a run of the page ends, nothing is thrown.
Status WasCancelled() noexcept {
  try {
    return Cancelled("the run of the page was cancelled");
  } catch (const std::bad_alloc&) {
    return NoMemory();
  }
}

}  // namespace

/// The start of a page: from where all its loops have begun, and until the page has ended, those who wait for one another wait in vain.
class PageRun::StartOfAll {
 public:
  StartOfAll(RunGate& gate, int sessions) : gate_(gate), sessions_(sessions) {}
  void Expect() { ++missing_; }
  void NoteBegun() {
    if (--missing_ == 0) all_run_.emplace(gate_, sessions_);
  }

 private:
  RunGate& gate_;
  const int sessions_;
  std::atomic<int> missing_{1};  // loops that have not begun yet; and the one who starts them
  std::optional<RunGate::Complete> all_run_;
};

/// Sees the runs of one session, also those that a host makes of it alone: these are none of the page's.
class PageRun::Watch final : public RunListener {
 public:
  Watch(PageRun& page, Runner& runner, AfterRun after_run) : page_(page), runner_(runner), after_run_(std::move(after_run)) {}
  /// While the session is idle: its next run belongs to the start.
  void SetStart(std::shared_ptr<StartOfAll> start) { start_ = std::move(start); }

  // Stop and Cancel may come just before a runner begins, which forgets what it was asked for until then.
  Status OnRunStart(uint64_t /*run*/, RunView& /*view*/) override {
    if (!page_.running()) return {};
    if (const auto start = std::exchange(start_, nullptr)) start->NoteBegun();
    if (page_.stopped_.load()) runner_.Stop();
    return page_.cancelled_.load() ? WasCancelled() : Status();
  }
  void OnRunEnd(uint64_t run, const Status& status) override {
    if (!page_.running() || !status.ok() || !after_run_) return;
    try {
      after_run_(runner_.session(), run);
    } catch (...) {  // the run has succeeded, and what the host makes of it has not
      page_.Fail(StatusOfException("what the host does after a run ended"));
    }
  }
  void OnFailure(const Status& status) override {
    if (page_.running()) page_.Fail(status);
  }
  void OnState(const RunnerState& /*state*/) override {
    std::lock_guard lock(page_.mutex_);
    page_.changed_.notify_all();
  }

 private:
  PageRun& page_;
  Runner& runner_;
  const AfterRun after_run_;
  std::shared_ptr<StartOfAll> start_;  // null: begun
};

PageRun::PageRun(std::vector<std::shared_ptr<Runner>> runners, AfterRun after_run) : runners_(std::move(runners)) {
  watches_.reserve(runners_.size());
  for (const std::shared_ptr<Runner>& runner : runners_) watches_.push_back(std::make_shared<Watch>(*this, *runner, after_run));
  try {
    for (size_t i = 0; i < runners_.size(); ++i) runners_[i]->AddListener(watches_[i]);
  } catch (...) {
    Unwatch();
    throw;
  }
}

void PageRun::Unwatch() {
  for (size_t i = 0; i < runners_.size(); ++i) runners_[i]->RemoveListener(watches_[i].get());
}

PageRun::~PageRun() { Close(); }

void PageRun::Close() {
  const bool own = running() && on_running_thread();
  std::thread thread;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    if (!own) thread = std::move(thread_);
  }
  Cancel();
  if (own) return;  // it would wait for itself
  if (thread.joinable()) thread.join();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !running(); });
  lock.unlock();
  for (const std::shared_ptr<Runner>& runner : runners_) runner->Close();
  Unwatch();
}

Status PageRun::Begin() {
  std::lock_guard lock(mutex_);
  if (closed_) return FailedPrecondition("the run of the page was closed");
  if (running()) return FailedPrecondition("the page runs").WithHint("wait for its end, or stop or cancel it");
  for (const std::shared_ptr<Runner>& runner : runners_) {
    if (runner->state().state != RunState::kIdle) return FailedPrecondition("the session '", runner->session().id(), "' of the page runs");
  }
  first_ = {};
  stopped_ = cancelled_ = false;
  running_ = true;
  return {};
}

Status PageRun::Run(const PageRunRequest& request) {
  WEFT_RETURN_IF_ERROR(Begin());
  return Execute(request);
}

Status PageRun::Start(const PageRunRequest& request) {
  WEFT_RETURN_IF_ERROR(Begin());
  std::lock_guard lock(mutex_);
  if (thread_.joinable()) thread_.join();  // that of the last start, which ended with it
  Status status = closed_ ? FailedPrecondition("the run of the page was closed") : Status();
  try {
    if (status.ok()) thread_ = std::thread([this, request] { (void)Execute(request).ok(); });
  } catch (...) {
    status = NoThread();
  }
  if (status.ok()) return {};
  running_ = false;
  changed_.notify_all();
  return status;
}

Status PageRun::Execute(const PageRunRequest& request) {
  executing_ = std::this_thread::get_id();
  std::vector<Loop> loops;
  std::shared_ptr<StartOfAll> start;
  try {
    loops.reserve(runners_.size());
    if (!runners_.empty()) start = std::make_shared<StartOfAll>(runners_[0]->session().scope().runs(), static_cast<int>(runners_.size()));
    StartLoops(request, start, loops);
    if (Status status = TakeTurns(request, start.get()); !status.ok()) Fail(status);
  } catch (...) {
    Fail(StatusOfException("the run of the page ended"));
  }
  const auto ended = [](const Loop& loop) { return loop.runner->ended(loop.start); };
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return std::all_of(loops.begin(), loops.end(), ended); });
  }
  for (const Loop& loop : loops) {
    if (Status status = loop.runner->last_status(); !status.ok()) Fail(status);
  }
  std::lock_guard lock(mutex_);
  if (first_.ok() && cancelled_.load()) first_ = WasCancelled();
  last_status_ = first_;
  executing_ = std::thread::id();
  running_ = false;
  changed_.notify_all();
  return last_status_;
}

void PageRun::StartLoops(const PageRunRequest& request, const std::shared_ptr<StartOfAll>& start, std::vector<Loop>& loops) {
  RunRequest run;
  run.steps = request.steps.value_or(-1);
  run.deadline = request.deadline;
  run.interval = request.interval;
  for (size_t i = 0; i < runners_.size(); ++i) {
    Runner& runner = *runners_[i];
    if (!runner.session().spec().loop || Ends()) continue;
    if (runner.on_running_thread()) {
      return Fail(FailedPrecondition("a thread that runs the session '", runner.session().id(), "' cannot wait for its next run"));
    }
    start->Expect();
    watches_[i]->SetStart(start);
    if (Status status = runner.Start(run); !status.ok()) Fail(status);
    else loops.push_back({&runner, runner.last_start()});
  }
}

// One session runs as often as it is to; of several, each once, then each again.
Status PageRun::TakeTurns(const PageRunRequest& request, StartOfAll* start) {
  std::optional<RunGate::Series> series;  // also from the end of one session's turn to the next one's
  if (start != nullptr) {
    series.emplace(runners_[0]->session().scope().runs());
    start->NoteBegun();
  }
  std::vector<Runner*> runners;
  for (const std::shared_ptr<Runner>& runner : runners_) {
    if (!runner->session().spec().loop) runners.push_back(runner.get());
  }
  RunRequest run;
  run.deadline = request.deadline;
  run.interval = request.interval;
  run.steps = request.steps.value_or(1);
  if (runners.size() == 1 && !Ends()) return runners[0]->RunBlocking(run);
  const int64_t turns = std::exchange(run.steps, 1);
  for (int64_t turn = 0; (turns < 0 || turn < turns) && !runners.empty(); ++turn) {
    const auto next = std::chrono::steady_clock::now() + request.interval;
    for (Runner* runner : runners) {
      if (Ends()) return {};
      WEFT_RETURN_IF_ERROR(runner->RunBlocking(run));
    }
    if (request.interval.count() <= 0) continue;
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, next, [&] { return Ends(); });
  }
  return {};
}

// The first failure counts; the cancelling that it brings about fails the others.
void PageRun::Fail(const Status& status) {
  {
    std::lock_guard lock(mutex_);
    if (!first_.ok()) return;
    first_ = status;
  }
  Cancel();
}

Status PageRun::Wait(std::chrono::nanoseconds timeout, bool* running) {
  if (this->running() && on_running_thread()) {
    if (running != nullptr) *running = true;
    return FailedPrecondition("a thread that runs the page cannot wait for it");
  }
  std::unique_lock lock(mutex_);
  // A time point beyond the clock's end would wait for nothing.
  constexpr std::chrono::nanoseconds kLong = std::chrono::hours(24 * 365);
  const auto ended = [&] { return !this->running(); };
  if (timeout.count() < 0) changed_.wait(lock, ended);
  else changed_.wait_until(lock, std::chrono::steady_clock::now() + std::min(timeout, kLong), ended);
  if (running != nullptr) *running = this->running();
  return this->running() ? Status() : last_status_;
}

void PageRun::Stop() {
  stopped_ = true;
  for (const std::shared_ptr<Runner>& runner : runners_) runner->Stop();
  std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void PageRun::Cancel() {
  cancelled_ = true;
  for (const std::shared_ptr<Runner>& runner : runners_) runner->Cancel();
  std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void PageRun::Interrupt() {
  cancelled_.store(true);
  for (const std::shared_ptr<Runner>& runner : runners_) runner->session().Cancel();
}

bool PageRun::executes_here() const { return WaitsForThisThread(executing_.load()); }

bool PageRun::on_running_thread() const {
  return executes_here() || std::any_of(runners_.begin(), runners_.end(), [](const auto& runner) { return runner->on_running_thread(); });
}

Result<ResultValue> PageRun::Get(std::string_view name, size_t* session) const {
  Status best = NotFound("no session of the page computes '", name, "'");
  for (size_t i = 0; i < runners_.size(); ++i) {
    Result<ResultValue> result = runners_[i]->session().Get(name);
    if (result.ok() && session != nullptr) *session = i;
    if (result.ok()) return result;
    // Of a value that is known to be none of the page, the first session says as much as any.
    if (i == 0 || (best.code() == Code::kNotFound && result.status().code() != Code::kNotFound)) best = std::move(result).status();
  }
  return best;
}

std::vector<std::string> PageRun::Results() const {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const std::shared_ptr<Runner>& runner : runners_) {
    for (auto& [name, value] : runner->session().Results()) {
      if (known.insert(name).second) names.push_back(std::move(name));
    }
  }
  return names;
}

std::vector<std::pair<std::string, ResultValue>> PageRun::Values() const {
  struct Named {
    std::string name;
    std::optional<ResultValue> value;
  };
  std::vector<Named> all;
  std::unordered_map<std::string, size_t> places;
  for (const std::shared_ptr<Runner>& runner : runners_) {
    const Session& session = runner->session();
    for (auto& [name, value] : session.Results()) {
      const auto [place, fresh] = places.emplace(name, all.size());
      if (fresh) all.push_back({std::move(name), std::nullopt});
      Named& one = all[place->second];
      if (one.value) continue;
      if (auto result = session.Get(one.name); result.ok()) one.value = std::move(*result);
    }
  }
  std::vector<std::pair<std::string, ResultValue>> values;
  for (Named& one : all) {
    if (one.value) values.emplace_back(std::move(one.name), std::move(*one.value));
  }
  return values;
}

std::vector<std::shared_ptr<Runner>> OpenRunners(const std::shared_ptr<Scope>& scope, const std::shared_ptr<Revision>& revision,
                                                 std::vector<SessionSpec> sessions, Keep keep, const std::shared_ptr<const void>& owner,
                                                 Diagnostics& found) {
  std::vector<std::shared_ptr<Runner>> runners;
  for (SessionSpec& spec : sessions) {
    std::shared_ptr<Session> session(new Session(scope, std::move(spec), keep, revision), [owner](Session* ended) { delete ended; });
    if (Status faulty = session->CheckAsked(); !faulty.ok()) found.Error(std::move(faulty).WithPhase(Phase::kConnect));
    else session->Prepare(found);
    runners.push_back(std::make_shared<Runner>(std::move(session)));
  }
  return runners;
}

}  // namespace weft
