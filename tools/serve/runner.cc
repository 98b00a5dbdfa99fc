// Sessions and runs.
#include "tools/serve/runner.h"

#include <algorithm>
#include <ctime>

#include "tools/serve/document.h"

namespace weft::serve {
namespace {

constexpr uint32_t kKinds = WEFT_EVENT_BIT(WEFT_EVENT_STATE) | WEFT_EVENT_BIT(WEFT_EVENT_ERROR) | WEFT_EVENT_BIT(WEFT_EVENT_PRINT) |
                            WEFT_EVENT_BIT(WEFT_EVENT_VALUES);
constexpr int64_t kMillisecond = 1000000;

const char* ModeName(int32_t mode) {
  static constexpr const char* kNames[] = {"EDIT", "FREEZE", "STEP", "RUN"};
  return mode >= 0 && mode < 4 ? kNames[mode] : "EDIT";
}

}  // namespace

Runner::Runner(Document& document, Context& context) : document_(document), context_(context), limits_(context.limits) {
  Call([&](weft_diagnostics** problems) { return weft_events_open(nullptr, events_.out(), problems); });
}

Runner::~Runner() = default;

void Runner::Close() {
  if (watch_) watch_->Close();
  // Sessions wait until they have ended, and events that are handled meanwhile need the lock.
  PageRunHandle run;
  std::vector<OpenSession> sessions;
  std::optional<OpenSession> fetches;
  {
    const Lock lock(mutex_);
    closed_ = true;
    values_.clear();
    breakpoints_.clear();
    for (OpenSession* session : AllSessions()) weft_session_on_event(session->handle.get(), nullptr, nullptr, WEFT_ALL_EVENTS, 0, nullptr);
    run = std::move(page_run_);
    sessions = std::move(sessions_);
    sessions_.clear();
    if (fetches_) fetches = std::move(*fetches_);
    fetches_.reset();
  }
}

std::vector<OpenSession*> Runner::AllSessions() {
  std::vector<OpenSession*> all;
  for (OpenSession& session : sessions_) all.push_back(&session);
  if (fetches_) all.push_back(&*fetches_);
  return all;
}

OpenSession& Runner::SessionOf(const std::string& id) {
  for (OpenSession* session : AllSessions()) {
    if (session->id == id) return *session;
  }
  throw ApiError(404, "not_found", "the page has no session '" + id + "' that has run");
}

/// Everything that is set for the page holds for a session that has just been opened.
void Runner::Adopt(OpenSession& session) {
  Call([&](weft_diagnostics** problems) { return weft_events_add(events_.get(), session.handle.get(), kKinds, 1, problems); });
  if (!watch_ && context_.net != nullptr) {
    int32_t fd = -1;
    Call([&](weft_diagnostics** problems) { return weft_events_fd(events_.get(), &fd, problems); });
    watch_ = context_.net->MakeWatch(fd, [weak = weak_from_this(), work = &context_.work] {
      if (!(*work)([weak] {
            if (auto self = weak.lock()) self->Drain();
          })) {
        if (auto self = weak.lock()) self->Arm();
      }
    });
    watch_->Arm();
  }
  for (PageBreakpoint& breakpoint : breakpoints_) InsertBreakpoint(breakpoint, session);
  for (const auto& [name, value] : feeds_) weft_session_feed(session.handle.get(), name.c_str(), &value->buffer, nullptr);
  progress_on_ = timings_on_ = false;
  ChooseProgress();
}

void Runner::OpenSessions() {
  const auto wanted = TextsFrom([&](weft_strings** ids, weft_diagnostics** problems) { return weft_page_sessions(document_.page(), ids, problems); });
  std::vector<std::string> have;
  for (const OpenSession& session : sessions_) have.push_back(session.id);
  if (page_run_ && (have == wanted || (wanted.empty() && have == std::vector<std::string>{"default"}))) return;
  PageRunHandle opened;
  Call([&](weft_diagnostics** problems) { return weft_page_run_open(document_.page(), nullptr, opened.out(), problems); }, Refusal::kEngine);
  const bool had = static_cast<bool>(page_run_);
  Abandon();
  page_run_ = std::move(opened);
  for (const std::string& id : TextsFrom([&](weft_strings** ids, weft_diagnostics** problems) { return weft_page_run_sessions(page_run_.get(), ids, problems); })) {
    OpenSession session;
    session.id = id;
    Call([&](weft_diagnostics** problems) { return weft_page_run_session(page_run_.get(), id.c_str(), session.handle.out(), problems); });
    sessions_.push_back(std::move(session));
  }
  for (OpenSession& session : sessions_) Adopt(session);
  for (ValueWatch& watch : values_) {
    try {
      Subscribe(watch, false);
    } catch (const ApiError&) {
      // Of another type now: it waits.
    }
  }
  if (had) document_.log().Publish({{"type", "values.reset"}});
}

/// The sessions of before go; they are idle.
void Runner::Abandon() {
  for (ValueWatch& watch : values_) {
    if (watch.session != "fetch") watch.engine.reset();
  }
  for (PageBreakpoint& breakpoint : breakpoints_) {
    std::erase_if(breakpoint.in_sessions, [](const auto& entry) { return entry.first != "fetch"; });
  }
  sessions_.clear();
  page_run_.reset();
}

OpenSession& Runner::OpenFetches(const Json& body) {
  const std::vector<std::string> fetches = TextsField(body, "fetches", 256), operations = TextsField(body, "operations", 256);
  std::vector<const char*> fetched, run;
  for (const std::string& name : fetches) fetched.push_back(name.c_str());
  for (const std::string& name : operations) run.push_back(name.c_str());
  weft_session_options options = WEFT_SESSION_OPTIONS_INIT;
  options.fetches = fetched.data();
  options.fetch_count = fetched.size();
  options.operations = run.data();
  options.operation_count = run.size();
  OpenSession session;
  session.id = "fetch";
  Call([&](weft_diagnostics** problems) { return weft_session_open(document_.page(), &options, session.handle.out(), problems); }, Refusal::kEngine);
  for (PageBreakpoint& breakpoint : breakpoints_) {
    std::erase_if(breakpoint.in_sessions, [](const auto& entry) { return entry.first == "fetch"; });
  }
  fetches_ = std::move(session);
  Adopt(*fetches_);
  return *fetches_;
}

bool Runner::Idle() {
  for (OpenSession* session : AllSessions()) {
    weft_session_info info = WEFT_SESSION_INFO_INIT;
    if (weft_session_get_info(session->handle.get(), &info, nullptr) == WEFT_OK && info.state != WEFT_IDLE) return false;
  }
  int32_t state = WEFT_IDLE;
  if (page_run_) weft_page_run_wait(page_run_.get(), 0, &state, nullptr);
  return state == WEFT_IDLE;
}

bool Runner::busy() {
  const Lock lock(mutex_);
  return !Idle();
}

weft_run_options Runner::RunOptions(const Json& body, std::string& until_block) const {
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  const auto steps = body.find("steps");
  if (steps != body.end() && steps->is_string()) {
    if (*steps != "until_stopped") throw ApiError(400, "invalid_argument", "'steps' must be a number or \"until_stopped\"");
    options.steps = WEFT_UNTIL_STOPPED;
  } else {
    options.steps = NumberField(body, "steps", 0, 1, INT64_MAX);
  }
  options.interval_ns = NumberField(body, "interval_ms", 0, 0, 86400000) * kMillisecond;
  options.deadline_ns = NumberField(body, "deadline_ms", 0, 0, int64_t{86400000} * 30) * kMillisecond;
  until_block = TextField(body, "until_block", "");
  if (!until_block.empty()) options.until_block = until_block.c_str();
  return options;
}

/// A breakpoint that holds before the first block of the next run, once.
void Runner::PauseBeforeFirst(OpenSession& session) {
  weft_breakpoint_options options = WEFT_BREAKPOINT_OPTIONS_INIT;
  options.kind = WEFT_BREAK_CONDITION;
  options.condition = "run >= 0";
  options.once = 1;
  Call([&](weft_diagnostics** problems) { return weft_session_break(session.handle.get(), &options, session.first_block.out(), problems); });
}

RunRecord& Runner::NewRun(const std::string& target, const std::string& by) {
  RunRecord run;
  run.id = document_.id() + "r" + std::to_string(next_run_++);
  run.target = target;
  run.by = by;
  run.started = static_cast<int64_t>(std::time(nullptr));
  run.revision = document_.revision();
  runs_.push_front(std::move(run));
  while (runs_.size() > limits_.runs_kept) runs_.pop_back();
  return runs_.front();
}

Json Runner::Start(const Json& body, const std::string& by) {
  const Lock lock(mutex_);
  Refresh(true);
  if (!Idle()) throw ApiError(409, "failed_precondition", "the page runs already", "stop it first, or step it where it is paused");
  std::string until_block;
  weft_run_options options = RunOptions(body, until_block);
  const std::string session = TextField(body, "session", "");
  const bool fetch = !body.value("fetches", Json::array()).empty() || !body.value("operations", Json::array()).empty();
  const bool paused = FlagField(body, "paused", false);
  if (fetch) OpenFetches(body);
  else OpenSessions();
  const bool one = fetch || !session.empty() || sessions_.size() == 1;
  OpenSession* target = fetch ? &*fetches_ : !session.empty() ? &SessionOf(session) : &sessions_[0];
  for (OpenSession* other : AllSessions()) other->first_block.reset();
  if (paused) {
    if (one) PauseBeforeFirst(*target);
    else for (OpenSession& each : sessions_) PauseBeforeFirst(each);
  }
  times_.Clear();
  RunRecord& run = NewRun(fetch ? "fetches" : !session.empty() ? "session" : "page", by);
  fetches_latest_ = fetch;
  try {
    // (A page's run takes no until_block; its only session does.)
    run.by_page_run = !fetch && session.empty() && (sessions_.size() > 1 || until_block.empty());
    if (!run.by_page_run && options.steps == 0) options.steps = 1;
    Call([&](weft_diagnostics** problems) {
      return run.by_page_run ? weft_page_run_start(page_run_.get(), &options, problems) : weft_session_start(target->handle.get(), &options, problems);
    }, Refusal::kEngine);
  } catch (const ApiError&) {
    runs_.pop_front();
    throw;
  }
  document_.log().Publish({{"type", "run.started"}, {"run", RunJson(run)}});
  Refresh(true);
  KeepTicking();
  return RunJson(run);
}

Json Runner::RunJson(const RunRecord& run) const {
  const int64_t elapsed =
      run.ended ? run.elapsed_ms : std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - run.began).count();
  return {{"id", run.id}, {"page", document_.id()}, {"target", run.target}, {"state", run.state}, {"outcome", run.outcome.empty() ? Json(nullptr) : Json(run.outcome)},
          {"error", run.error}, {"mode", run.mode}, {"by", run.by.empty() ? Json(nullptr) : Json(run.by)}, {"started", TimeText(run.started)},
          {"elapsed_ms", elapsed}, {"revision", run.revision}, {"sessions", run.sessions}};
}

Json Runner::PauseJson(OpenSession& session, const weft_session_info& info) {
  static constexpr const char* kReasons[] = {"none", "asked", "reached", "stepped", "break"};
  StringsHandle place;
  Json pause = {{"reason", info.pause_reason >= 0 && info.pause_reason < 5 ? kReasons[info.pause_reason] : "none"}, {"block", nullptr}, {"text", nullptr}};
  if (weft_session_paused_at(session.handle.get(), place.out(), nullptr) == WEFT_OK) {
    if (std::string block = TextOf(place, 0); !block.empty()) pause["block"] = std::move(block);
    if (std::string text = TextOf(place, 1); !text.empty()) pause["text"] = std::move(text);
  }
  if (info.pause_reason != WEFT_PAUSE_BREAK) return pause;
  const auto paused_by = [](weft_breakpoint* breakpoint) {
    weft_breakpoint_info state = WEFT_BREAKPOINT_INFO_INIT;
    return weft_breakpoint_get_info(breakpoint, &state, nullptr) == WEFT_OK && state.paused != 0;
  };
  if (session.first_block && paused_by(session.first_block.get())) {
    pause["reason"] = "asked";
    pause["text"] = nullptr;
    return pause;
  }
  for (const PageBreakpoint& breakpoint : breakpoints_) {
    for (const auto& [id, handle] : breakpoint.in_sessions) {
      if (id == session.id && paused_by(handle.get())) pause["breakpoint"] = breakpoint.id;
    }
  }
  return pause;
}

Json Runner::SessionJson(OpenSession& session, bool& running, bool& paused) {
  static constexpr const char* kStates[] = {"idle", "running", "paused"};
  weft_session_info info = WEFT_SESSION_INFO_INIT;
  if (weft_session_get_info(session.handle.get(), &info, nullptr) != WEFT_OK) return nullptr;
  running = running || info.state == WEFT_RUNNING;
  paused = paused || info.state == WEFT_PAUSED;
  return {{"id", session.id}, {"state", kStates[info.state]}, {"runs", info.runs}, {"steps_left", info.steps_left}, {"elapsed_ms", info.elapsed_ns / kMillisecond},
          {"outdated_page", info.outdated_page != 0}, {"mode", ModeName(info.mode)},
          {"pause", info.state == WEFT_PAUSED ? PauseJson(session, info) : Json(nullptr)}};
}

/// Looks how the latest run is, and tells when that is new.
void Runner::Refresh(bool publish) {
  if (runs_.empty() || runs_.front().ended) return;
  RunRecord& run = runs_.front();
  bool running = false, paused = false;
  LookAtSessions(run, running, paused);
  const bool active = running || paused;
  int32_t page_state = WEFT_IDLE;
  if (!active && run.by_page_run) weft_page_run_wait(page_run_.get(), 0, &page_state, nullptr);
  settling_ = !active && page_state != WEFT_IDLE;
  if (!active && page_state == WEFT_IDLE) return End(run);
  const std::string state = paused && !running ? "paused" : "running";
  const bool is_new = state != run.state;
  run.state = state;
  if (!publish || !is_new) return;
  document_.log().Publish({{"type", "run.state"}, {"run", RunJson(run)}});
  if (run.state == "paused") PublishBreakpoints();  // their hits
}

void Runner::LookAtSessions(RunRecord& run, bool& running, bool& paused) {
  Json sessions = Json::array();
  for (OpenSession* session : AllSessions()) {
    if ((session->id == "fetch") == (run.target == "fetches")) sessions.push_back(SessionJson(*session, running, paused));
  }
  run.sessions = std::move(sessions);
}

void Runner::End(RunRecord& run) {
  // Again: a session may have been idle because it had not begun.
  bool running = false, paused = false;
  LookAtSessions(run, running, paused);
  run.ended = true;
  run.state = "ended";
  run.elapsed_ms = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - run.began).count();
  weft_status status = WEFT_OK;
  weft_diagnostics* problems = nullptr;
  if (run.by_page_run) {
    status = weft_page_run_wait(page_run_.get(), 0, nullptr, &problems);
  } else {
    for (OpenSession* session : AllSessions()) {
      if ((session->id == "fetch") != (run.target == "fetches") || status != WEFT_OK) continue;
      if (problems != nullptr) weft_diagnostics_release(problems);
      status = weft_session_wait(session->handle.get(), 0, nullptr, &problems);
    }
  }
  const DiagnosticsHandle owned(problems);
  run.outcome = status == WEFT_OK ? (run.stop_asked ? "stopped" : "ok") : status == WEFT_CANCELLED ? "cancelled" : "failed";
  if (run.outcome == "failed") run.error = ErrorOf(status, problems);
  for (OpenSession* session : AllSessions()) session->first_block.reset();
  document_.log().Publish({{"type", "run.ended"}, {"run", RunJson(run)}});
  PublishBreakpoints();
}

Json Runner::LatestRun() {
  const Lock lock(mutex_);
  Refresh(true);
  return runs_.empty() ? Json(nullptr) : RunJson(runs_.front());
}

Json Runner::Runs() {
  const Lock lock(mutex_);
  Refresh(true);
  Json list = Json::array();
  for (const RunRecord& run : runs_) list.push_back(RunJson(run));
  return list;
}

std::optional<Json> Runner::RunOf(const std::string& id) {
  const Lock lock(mutex_);
  Refresh(true);
  for (const RunRecord& run : runs_) {
    if (run.id == id) return RunJson(run);
  }
  return std::nullopt;
}

RunRecord& Runner::Find(const std::string& id) {
  for (RunRecord& run : runs_) {
    if (run.id == id) return run;
  }
  throw ApiError(404, "not_found", "there is no run '" + id + "'");
}

/// The sessions that a call is about: those of the latest run, or the one that it names.
std::vector<OpenSession*> Runner::SessionsFor(const Json& body) {
  const std::string id = TextField(body, "session", "");
  if (!id.empty()) return {&SessionOf(id)};
  std::vector<OpenSession*> chosen;
  for (OpenSession* session : AllSessions()) {
    if ((session->id == "fetch") == (runs_.front().target == "fetches")) chosen.push_back(session);
  }
  return chosen;
}

Json Runner::Control(const std::string& id, const std::string& action, const Json& body) {
  const Lock lock(mutex_);
  Refresh(true);
  RunRecord& run = Find(id);
  if (run.ended) throw ApiError(409, "failed_precondition", "the run '" + id + "' is over");
  const std::vector<OpenSession*> sessions = SessionsFor(body);
  int done = 0;
  Json failure;
  // Of several sessions, those that are not in the state are left alone; one must be.
  const auto each = [&](auto&& function) {
    for (OpenSession* session : sessions) {
      weft_diagnostics* problems = nullptr;
      const weft_status status = function(session->handle.get(), &problems);
      const DiagnosticsHandle owned(problems);
      if (status == WEFT_OK) ++done;
      else if (failure.is_null() || status != WEFT_FAILED_PRECONDITION) failure = {{"http", HttpStatusOf(status, Refusal::kCall)}, {"error", ErrorOf(status, problems)}};
    }
    if (done == 0 && !failure.is_null()) throw ApiError(failure["http"].get<int>(), failure["error"]);
  };
  if (action == "pause") {
    each([](weft_session* session, weft_diagnostics** problems) { return weft_session_pause(session, problems); });
  } else if (action == "resume") {
    each([](weft_session* session, weft_diagnostics** problems) { return weft_session_resume(session, WEFT_GO_ON, problems); });
  } else if (action == "step") {
    const std::string by = TextField(body, "by", "run");
    if (by != "block" && by != "run") throw ApiError(400, "invalid_argument", "'by' must be \"block\" or \"run\"");
    each([&](weft_session* session, weft_diagnostics** problems) {
      return weft_session_resume(session, by == "block" ? WEFT_STEP_BLOCK : WEFT_STEP_RUN, problems);
    });
  } else if (action == "stop") {
    run.stop_asked = true;
    if (run.by_page_run) weft_page_run_stop(page_run_.get(), nullptr);
    each([](weft_session* session, weft_diagnostics** problems) { return weft_session_stop(session, problems); });
  } else if (action == "cancel") {
    if (run.by_page_run) weft_page_run_cancel(page_run_.get(), nullptr);
    each([](weft_session* session, weft_diagnostics** problems) { return weft_session_cancel(session, problems); });
  } else if (action == "override") {
    const auto value = body.find("value");
    if (value == body.end()) throw ApiError(400, "invalid_argument", "'value' is missing");
    const std::unique_ptr<OwnedBuffer> buffer = BufferFromJson(*value);
    const std::string name = TextField(body, "name");
    each([&](weft_session* session, weft_diagnostics** problems) { return weft_session_override(session, name.c_str(), &buffer->buffer, problems); });
  }
  // What was asked for is mostly so at once: the answer shows it.
  for (OpenSession* session : sessions) {
    if (action == "pause" || action == "step") weft_session_wait(session->handle.get(), 20, nullptr, nullptr);
  }
  if (run.state == "paused" && action != "override") run.state = "running";
  Refresh(true);
  KeepTicking();
  return RunJson(run);
}

Json Runner::SetMode(const Json& body, const std::string& by) {
  const Lock lock(mutex_);
  Refresh(true);
  const std::string name = TextField(body, "mode");
  int32_t mode = -1;
  for (int32_t k = 0; k < 4; ++k) {
    if (name == ModeName(k)) mode = k;
  }
  if (mode < 0) throw ApiError(400, "invalid_argument", "'" + name + "' is no mode", "EDIT, FREEZE, STEP or RUN");
  const bool starts = (mode == WEFT_MODE_STEP || mode == WEFT_MODE_RUN) && Idle();
  std::string until_block;
  weft_run_options options = RunOptions(body, until_block);
  if (options.steps == 0) options.steps = 1;
  if (starts) {
    OpenSessions();
    fetches_latest_ = false;
    NewRun("page", by);
  }
  if (mode == WEFT_MODE_EDIT && page_run_) weft_page_run_cancel(page_run_.get(), nullptr);
  for (OpenSession& session : sessions_) {
    Call([&](weft_diagnostics** problems) { return weft_session_set_mode(session.handle.get(), mode, &options, problems); }, Refusal::kEngine);
  }
  if (!runs_.empty()) {
    runs_.front().mode = name;
    if (starts) document_.log().Publish({{"type", "run.started"}, {"run", RunJson(runs_.front())}});
    if (!starts && runs_.front().state == "paused" && mode >= WEFT_MODE_STEP) runs_.front().state = "running";
  }
  Refresh(true);
  KeepTicking();
  return {{"mode", name}, {"run", runs_.empty() ? Json(nullptr) : RunJson(runs_.front())}};
}

Json Runner::Timings() { return times_.Report(); }

}  // namespace weft::serve
