#include "weft/host/runner.h"

#include "runtime/exec/result_name.h"
#include "runtime/host/kept_name.h"
#include "runtime/host/run_loop.h"

namespace weft {

struct Runner::Parts : std::enable_shared_from_this<Parts> {
  explicit Parts(std::shared_ptr<Session> given) : session(std::move(given)) {}
  Result<ResultValue> ReadInRun(std::string_view name) const;

  const std::shared_ptr<Session> session;
  ListenerList listeners;
  RunWorker worker;
  PauseRequests pauses{listeners.steps_wanted()};
  RunControl control{*session, pauses, worker};
  RunObserver observer{control, pauses, listeners};
  RunFeeds feeds;
  RunOutputs outputs;
  RunLoop loop{*session, control, pauses, observer, feeds, outputs};
};

Runner::Runner(std::shared_ptr<Session> session) : parts_(std::make_shared<Parts>(std::move(session))) {}
Runner::~Runner() { Close(); }
Session& Runner::session() const { return *parts_->session; }

// ---- running ---------------------------------------------------------------------------------------------------------------------------

namespace {

/// The block to pause before, where there is to be one.
Result<std::optional<KeptName>> FindUntil(const Session& session, const std::string& until) {
  if (until.empty()) return std::optional<KeptName>();
  const auto [graph, found] = LookUpForNextRun(session, [&](const Graph& page) { return page.FindNode(until); });
  WEFT_RETURN_IF_ERROR(found.status());
  return std::optional(KeptName::OfBlock(session.scope(), *graph, until));
}

}  // namespace

Status Runner::RunBlocking(const RunRequest& request) {
  WEFT_ASSIGN_OR_RETURN(std::optional<KeptName> until, FindUntil(*parts_->session, request.until));
  WEFT_RETURN_IF_ERROR(parts_->control.Begin(request, std::move(until), parts_->feeds.waiting(*parts_->session)));
  parts_->loop.Drive();
  return parts_->control.last_status();
}

Status Runner::Start(const RunRequest& request) {
  WEFT_ASSIGN_OR_RETURN(std::optional<KeptName> until, FindUntil(*parts_->session, request.until));
  WEFT_RETURN_IF_ERROR(parts_->worker.Make([parts = parts_] { parts->loop.Drive(); }));
  WEFT_RETURN_IF_ERROR(parts_->control.Begin(request, std::move(until), parts_->feeds.waiting(*parts_->session)));
  parts_->worker.Post();
  return {};
}

Status Runner::Wait(std::chrono::nanoseconds timeout, RunState* state) { return parts_->control.Wait(timeout, state); }
Status Runner::Pause(PauseAt at) { return parts_->control.Pause(at); }
Status Runner::Resume(GoOn how) { return parts_->control.Resume(how); }
void Runner::Stop() { parts_->control.Stop(); }
void Runner::Cancel() { static_cast<void>(parts_->control.Cancel(std::nullopt).ok()); }  // without a number nothing can fail
Status Runner::CancelStart(uint64_t start) { return parts_->control.Cancel(start); }

void Runner::Close() {
  const bool idle = parts_->control.Close();
  parts_->worker.Close();
  if (!idle) return;  // the last calls go to the listeners yet
  parts_->listeners.Clear();
  parts_->outputs.Clear();
}

RunnerState Runner::state() const { return parts_->control.info().state; }
RunnerInfo Runner::info() const { return parts_->control.info(); }
uint64_t Runner::last_start() const { return parts_->control.start(); }
bool Runner::ended(uint64_t start) const { return parts_->control.ended(start); }
Status Runner::last_status() const { return parts_->control.last_status(); }
bool Runner::on_running_thread() const { return parts_->control.on_running_thread(); }

// ---- values ----------------------------------------------------------------------------------------------------------------------------

// The running thread cannot continue meanwhile.
Result<ResultValue> Runner::Parts::ReadInRun(std::string_view name) const {
  const RunView& view = observer.view();
  WEFT_ASSIGN_OR_RETURN(const NamedValue named, FindNamedValue(*view.graph(), name));
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, view.Peek(named.value));
  WEFT_ASSIGN_OR_RETURN(tensor, ElementOf(tensor, named.indices));
  ResultValue read;
  WEFT_ASSIGN_OR_RETURN(read.tensor, tensor.Clone(session->scope().budget()));
  read.run = view.run();
  read.outdated_page = session->outdated_page();
  read.in_progress = true;
  return read;
}

std::vector<Result<ResultValue>> Runner::Read(std::span<const std::string_view> names) const {
  std::vector<Result<ResultValue>> values;
  const bool paused = parts_->control.WhilePausedInRun([&] {
    std::vector<std::string_view> others;
    for (std::string_view name : names) {
      values.push_back(parts_->ReadInRun(name));
      if (!values.back().ok()) others.push_back(name);
    }
    if (others.empty()) return;
    std::vector<Result<ResultValue>> last = parts_->session->GetAll(others);
    auto next = last.begin();
    for (Result<ResultValue>& value : values) {
      if (value.ok()) continue;
      if (next->ok()) value = std::move(*next);
      ++next;
    }
  });
  if (paused) return values;
  if (names.size() != 1) return parts_->session->GetAll(names);
  values.push_back(parts_->session->Get(names[0]));
  return values;
}

Status Runner::Override(std::string_view name, const Tensor& tensor) {
  Status status;
  const bool paused = parts_->control.WhilePausedInRun([&] {
    status = [&]() -> Status {
      RunView& view = parts_->observer.view();
      WEFT_ASSIGN_OR_RETURN(const NamedValue named, FindNamedValue(*view.graph(), name));
      if (!named.indices.empty()) return Unsupported("a value is replaced as a whole, found one element, '", name, "'");
      return view.Override(named.value, tensor);
    }();
  });
  return paused ? status : FailedPrecondition("the session is not paused within a run");
}

Status Runner::Feed(std::string_view name, std::optional<Tensor> tensor) {
  WEFT_RETURN_IF_ERROR(parts_->feeds.Add(*parts_->session, name, std::move(tensor)));
  Status status;
  const bool idle = parts_->control.WhileIdle([&] { status = parts_->feeds.Apply(*parts_->session); });
  if (!idle) parts_->control.NoteWork();
  return status;
}

Status Runner::SetOutput(std::string_view name, std::function<Status(const ResultValue&)> take) {
  return parts_->outputs.Set(*parts_->session, name, std::move(take));
}

// ---- listeners -------------------------------------------------------------------------------------------------------------------------

void Runner::AddListener(std::shared_ptr<RunListener> listener) {
  RunListener& added = *listener;
  if (!parts_->listeners.Add(std::move(listener)) || !added.joins_at_once()) return;
  parts_->control.WhilePausedInRun([&] { added.OnJoin(parts_->observer.view()); });
}

void Runner::RemoveListener(const RunListener* listener) { parts_->listeners.Remove(listener); }

Status Runner::PauseRun(PauseReason reason, std::string_view block, std::string_view detail) {
  return parts_->observer.Pause(reason, block, detail);
}

RunView& Runner::view() const { return parts_->observer.view(); }
void Runner::SetLease(std::optional<std::chrono::steady_clock::time_point> until) { parts_->control.SetLease(until); }

}  // namespace weft
