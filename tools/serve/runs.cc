#include "tools/serve/runs.h"

#include <ctime>

#include "tools/serve/document.h"
#include "tools/serve/limits.h"

namespace weft::serve {
namespace {

int64_t MillisecondsSince(Clock::time_point began) { return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began).count(); }

/// One thing to do with a session.
using Action = std::function<weft_status(weft_session* session, weft_diagnostics** problems)>;

/// Does it with each. Of several sessions those that are not in the state are left alone; one must be.
void DoWithEach(const std::vector<OpenSession*>& sessions, const Action& action) {
  int done = 0;
  std::optional<ApiError> failure;
  for (OpenSession* session : sessions) {
    weft_diagnostics* problems = nullptr;
    const weft_status status = action(session->handle.get(), &problems);
    const DiagnosticsHandle owned(problems);
    if (status == WEFT_OK) ++done;
    else if (!failure || status != WEFT_FAILED_PRECONDITION) failure = ApiError(HttpStatusOf(status, Refusal::kCall), ErrorOf(status, problems));
  }
  if (done == 0 && failure) throw *failure;
}

int32_t StepNamed(const std::string& by) {
  if (by == "block") return WEFT_STEP_BLOCK;
  if (by == "run") return WEFT_STEP_RUN;
  throw ApiError(400, "invalid_argument", "'by' must be \"block\" or \"run\"");
}

}  // namespace

const char* ModeName(int32_t mode) {
  static constexpr const char* kNames[] = {"EDIT", "FREEZE", "STEP", "RUN"};
  return mode >= 0 && mode < 4 ? kNames[mode] : "EDIT";
}

RunRecord& PageRuns::Add(const std::string& target, const std::string& by) {
  RunRecord run;
  run.id = document_.id() + "r" + std::to_string(next_++);
  run.target = target;
  run.by = by;
  run.started = static_cast<int64_t>(std::time(nullptr));
  run.revision = document_.revision();
  runs_.push_front(std::move(run));
  while (runs_.size() > limits_.runs_kept) runs_.pop_back();
  return runs_.front();
}

void PageRuns::PublishStart() { document_.log().Publish({{"type", "run.started"}, {"run", Latest()}}); }

Json PageRuns::Describe(const RunRecord& run) const {
  const int64_t elapsed = run.ended ? run.elapsed_ms : MillisecondsSince(run.began);
  return {{"id", run.id}, {"page", document_.id()}, {"target", run.target}, {"state", run.state}, {"outcome", TextOrNull(run.outcome)},
          {"error", run.error}, {"mode", run.mode}, {"by", TextOrNull(run.by)}, {"started", TimeText(run.started)},
          {"elapsed_ms", elapsed}, {"revision", run.revision}, {"sessions", run.sessions}};
}

Json PageRuns::PauseJson(OpenSession& session, const weft_session_info& info) const {
  static constexpr const char* kReasons[] = {"none", "asked", "reached", "stepped", "break"};
  StringsHandle place;
  Json pause = {{"reason", info.pause_reason >= 0 && info.pause_reason < 5 ? kReasons[info.pause_reason] : "none"}, {"block", nullptr}, {"text", nullptr}};
  if (weft_session_paused_at(session.handle.get(), place.out(), nullptr) == WEFT_OK) {
    if (std::string block = TextOf(place, 0); !block.empty()) pause["block"] = std::move(block);
    if (std::string text = TextOf(place, 1); !text.empty()) pause["text"] = std::move(text);
  }
  if (info.pause_reason != WEFT_PAUSE_BREAK) return pause;
  if (Pauses(session.first_block)) {
    pause["reason"] = "asked";
    pause["text"] = nullptr;
  } else if (const std::string breakpoint = breakpoints_.Pausing(session); !breakpoint.empty()) {
    pause["breakpoint"] = breakpoint;
  }
  return pause;
}

Json PageRuns::SessionJson(OpenSession& session, bool& running, bool& paused) const {
  static constexpr const char* kStates[] = {"idle", "running", "paused"};
  weft_session_info info = WEFT_SESSION_INFO_INIT;
  if (weft_session_get_info(session.handle.get(), &info, nullptr) != WEFT_OK) return nullptr;
  running = running || info.state == WEFT_RUNNING;
  paused = paused || info.state == WEFT_PAUSED;
  return {{"id", session.id}, {"state", kStates[info.state]}, {"runs", info.runs}, {"steps_left", info.steps_left}, {"elapsed_ms", info.elapsed_ns / kMillisecond},
          {"outdated_page", info.outdated_page != 0}, {"mode", ModeName(info.mode)},
          {"pause", info.state == WEFT_PAUSED ? PauseJson(session, info) : Json(nullptr)}};
}

void PageRuns::Refresh() {
  if (!active()) return;
  RunRecord& run = runs_.front();
  bool running = false, paused = false;
  LookAtSessions(run, running, paused);
  const bool idle = !running && !paused;
  int32_t page_state = WEFT_IDLE;
  if (idle && run.by_page_run) weft_page_run_wait(sessions_.page_run(), 0, &page_state, nullptr);
  settling_ = idle && page_state != WEFT_IDLE;
  if (idle && !settling_) return End(run);
  const std::string state = paused && !running ? "paused" : "running";
  const bool is_new = state != run.state;
  run.state = state;
  if (!is_new) return;
  document_.log().Publish({{"type", "run.state"}, {"run", Describe(run)}});
  if (run.state == "paused") breakpoints_.PublishHits();
}

void PageRuns::LookAtSessions(RunRecord& run, bool& running, bool& paused) {
  Json sessions = Json::array();
  for (OpenSession* session : sessions_.Which(run.target == "fetches")) {
    Json described = SessionJson(*session, running, paused);
    if (!described.is_null()) sessions.push_back(std::move(described));
  }
  run.sessions = std::move(sessions);
}

void PageRuns::End(RunRecord& run) {
  // Again: a session may have been idle because it had not begun.
  bool running = false, paused = false;
  LookAtSessions(run, running, paused);
  run.ended = true;
  run.state = "ended";
  run.elapsed_ms = MillisecondsSince(run.began);
  weft_status status = WEFT_OK;
  weft_diagnostics* problems = nullptr;
  if (run.by_page_run) {
    status = weft_page_run_wait(sessions_.page_run(), 0, nullptr, &problems);
  } else {
    for (OpenSession* session : sessions_.Which(run.target == "fetches")) {
      if (status != WEFT_OK) break;
      if (problems != nullptr) weft_diagnostics_release(problems);
      status = weft_session_wait(session->handle.get(), 0, nullptr, &problems);
    }
  }
  const DiagnosticsHandle owned(problems);
  run.outcome = status == WEFT_OK ? (run.stop_asked ? "stopped" : "ok") : status == WEFT_CANCELLED ? "cancelled" : "failed";
  if (run.outcome == "failed") run.error = ErrorOf(status, problems);
  for (OpenSession* session : sessions_.All()) session->first_block.reset();
  document_.log().Publish({{"type", "run.ended"}, {"run", Describe(run)}});
  breakpoints_.PublishHits();
}

Json PageRuns::Latest() const { return runs_.empty() ? Json(nullptr) : Describe(runs_.front()); }

Json PageRuns::List() const {
  Json list = Json::array();
  for (const RunRecord& run : runs_) list.push_back(Describe(run));
  return list;
}

std::optional<Json> PageRuns::Find(const std::string& id) const {
  for (const RunRecord& run : runs_) {
    if (run.id == id) return Describe(run);
  }
  return std::nullopt;
}

/// The sessions that a call is about: those of the latest run, or the one that it names.
std::vector<OpenSession*> PageRuns::SessionsFor(const Json& body) {
  const std::string id = TextField(body, "session", "");
  return id.empty() ? sessions_.Which(runs_.front().target == "fetches") : std::vector{&sessions_.Of(id)};
}

Json PageRuns::Control(const std::string& id, const std::string& action, const Json& body) {
  if (!Find(id)) throw ApiError(404, "not_found", "there is no run '" + id + "'");
  // Only the latest can be in progress.
  RunRecord& run = runs_.front();
  if (run.id != id || run.ended) throw ApiError(409, "failed_precondition", "the run '" + id + "' is over");
  const std::vector<OpenSession*> sessions = SessionsFor(body);
  if (action == "pause") {
    DoWithEach(sessions, weft_session_pause);
  } else if (action == "resume") {
    DoWithEach(sessions, [](weft_session* session, weft_diagnostics** problems) { return weft_session_resume(session, WEFT_GO_ON, problems); });
  } else if (action == "step") {
    const int32_t step = StepNamed(TextField(body, "by", "run"));
    DoWithEach(sessions, [step](weft_session* session, weft_diagnostics** problems) { return weft_session_resume(session, step, problems); });
  } else if (action == "stop") {
    run.stop_asked = true;
    if (run.by_page_run) weft_page_run_stop(sessions_.page_run(), nullptr);
    DoWithEach(sessions, weft_session_stop);
  } else if (action == "cancel") {
    if (run.by_page_run) weft_page_run_cancel(sessions_.page_run(), nullptr);
    DoWithEach(sessions, weft_session_cancel);
  } else if (action == "override") {
    const auto value = body.find("value");
    if (value == body.end()) throw ApiError(400, "invalid_argument", "'value' is missing");
    const std::unique_ptr<OwnedBuffer> buffer = BufferFromJson(*value);
    const std::string name = TextField(body, "name");
    DoWithEach(sessions, [&](weft_session* session, weft_diagnostics** problems) {
      return weft_session_override(session, name.c_str(), &buffer->buffer, problems);
    });
  }
  // What was asked for is mostly so at once: the answer shows it.
  for (OpenSession* session : sessions) {
    if (action == "pause" || action == "step") weft_session_wait(session->handle.get(), 20, nullptr, nullptr);
  }
  if (run.state == "paused" && action != "override") run.state = "running";
  Refresh();
  return Describe(run);
}

}  // namespace weft::serve
