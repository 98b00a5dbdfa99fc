// Sessions and how they run.
#include <algorithm>

#include "runtime/capi/objects.h"
#include "runtime/capi/run_options.h"
#include "runtime/capi/watching.h"
#include "weft/host/session_choice.h"

using namespace weft;
using namespace weft::capi;

namespace {

Result<RunRequest> ReadRequest(const weft_run_options* options, bool blocks) {
  WEFT_ASSIGN_OR_RETURN(const weft_run_options known, ReadRunOptions(options));
  if (blocks && known.until_block != nullptr) {
    return InvalidArgument("a run on the calling thread cannot be left paused").WithPort("until_block").WithHint("use weft_session_start");
  }
  RunRequest request;
  SetTiming(known, request);
  if (known.until_block != nullptr) request.until = known.until_block;
  return request;
}

/// What the options ask for.
Result<SessionRequest> ReadRequest(const weft_session_options& options) {
  SessionRequest request;
  if (options.session != nullptr) request.session = options.session;
  WEFT_ASSIGN_OR_RETURN(request.fetches, ReadTexts(options.fetches, options.fetch_count, "fetches"));
  WEFT_ASSIGN_OR_RETURN(request.operations, ReadTexts(options.operations, options.operation_count, "operations"));
  return request;
}

/// Whether the page as it is now has the session among those that loop.
bool LoopsOnPage(const Session& session) {
  const std::shared_ptr<const Revision> revision = session.scope().revision();
  const auto& sessions = revision->graph->sessions();
  const auto found = std::ranges::find(sessions, session.id(), &SessionSpec::id);
  return found != sessions.end() && found->loop;
}

int32_t ToC(RunState state) { return static_cast<int32_t>(state); }
static_assert(static_cast<int32_t>(RunState::kPaused) == WEFT_PAUSED && static_cast<int32_t>(RunState::kIdle) == WEFT_IDLE);
static_assert(static_cast<int32_t>(PauseReason::kBreak) == WEFT_PAUSE_BREAK &&
              static_cast<int32_t>(PauseReason::kAsked) == WEFT_PAUSE_ASKED);
static_assert(static_cast<int32_t>(Mode::kEdit) == WEFT_MODE_EDIT && static_cast<int32_t>(Mode::kFreeze) == WEFT_MODE_FREEZE &&
              static_cast<int32_t>(Mode::kStep) == WEFT_MODE_STEP && static_cast<int32_t>(Mode::kRun) == WEFT_MODE_RUN);
static_assert(static_cast<int32_t>(GoOn::kStepBlock) == WEFT_STEP_BLOCK && static_cast<int32_t>(GoOn::kStepRun) == WEFT_STEP_RUN);

}  // namespace

namespace weft::capi {

SessionObject::SessionObject(std::shared_ptr<PageObject> of, std::shared_ptr<Runner> runs, bool in_page_run)
    : page(std::move(of)),
      runner(std::move(runs)),
      of_page_run(in_page_run),
      modes(std::make_unique<Modes>(*runner)),
      watching(std::make_shared<Watching>(*runner)) {}

}  // namespace weft::capi

weft_status weft_session_open(weft_page* page, const weft_session_options* options, weft_session** session, weft_diagnostics** problems) {
  Diagnostics found;
  weft_status status = Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(session, "session"));
    *session = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    weft_session_options known = WEFT_SESSION_OPTIONS_INIT;
    WEFT_RETURN_IF_ERROR(ReadStruct(options, known, "weft_session_options"));
    WEFT_ASSIGN_OR_RETURN(SessionRequest request, ReadRequest(known));
    const std::shared_ptr<Revision> revision = object->scope->revision();
    Result<SessionSpec> spec = ChooseSession(*revision->graph, request);
    if (!spec.ok()) {
      // Where what is asked for has no value, the faults of the page say why.
      if (spec.status().code() != Code::kFailedPrecondition) return std::move(spec).status();
      found.Error(std::move(spec).status().WithPhase(Phase::kConnect));
      found.Append(object->document->diagnostics());
      return {};
    }
    const Keep keep = known.keep_asked != 0 ? Keep::kAsked : Keep::kAll;
    // The session keeps the page, and that the runtime, also where its thread outlives the handle.
    std::shared_ptr<Runner> runner = OpenRunners(object->scope, revision, {std::move(*spec)}, keep, object, found).front();
    if (!runner->session().CheckAsked().ok()) found.Append(object->document->diagnostics());
    found.SetPhase(Phase::kCompile);
    auto made = std::make_shared<SessionObject>(std::move(object), std::move(runner), false);
    return found.has_errors() ? Status() : Give(std::move(made), session);
  });
  return status == WEFT_OK && found.has_errors() ? ReportAll(found, problems) : status;
}

weft_status weft_session_close(weft_session* session) {
  return Guard(nullptr, [&]() -> Status {
    if (session == nullptr) return {};
    WEFT_RETURN_IF_ERROR(Find(session).status());  // to close it waits for its run
    WEFT_ASSIGN_OR_RETURN(auto object, Close(session));
    if (!object->of_page_run) object->runner->Close();
    return {};
  });
}

weft_status weft_session_run(weft_session* session, const weft_run_options* options, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    WEFT_ASSIGN_OR_RETURN(RunRequest request, ReadRequest(options, true));
    return object->runner->RunBlocking(request);
  });
}

weft_status weft_session_start(weft_session* session, const weft_run_options* options, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    WEFT_ASSIGN_OR_RETURN(RunRequest request, ReadRequest(options, false));
    return object->runner->Start(request);
  });
}

weft_status weft_session_wait(weft_session* session, int64_t timeout_ms, int32_t* state, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    if (state != nullptr) *state = WEFT_IDLE;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    const std::chrono::nanoseconds timeout = ToTimeout(timeout_ms);
    RunState now = RunState::kIdle;
    Status status = object->runner->Wait(timeout, &now);
    if (state != nullptr) *state = ToC(now);
    return status;
  });
}

weft_status weft_session_pause(weft_session* session, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    return object->runner->Pause();
  });
}

weft_status weft_session_resume(weft_session* session, int32_t how, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    if (how < WEFT_GO_ON || how > WEFT_STEP_RUN) {
      return InvalidArgument("needs WEFT_GO_ON, WEFT_STEP_BLOCK or WEFT_STEP_RUN, found ", how).WithPort("how");
    }
    return object->runner->Resume(static_cast<GoOn>(how));
  });
}

weft_status weft_session_stop(weft_session* session, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    object->runner->Stop();
    return {};
  });
}

weft_status weft_session_cancel(weft_session* session, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    object->runner->Cancel();
    return {};
  });
}

weft_status weft_session_cancel_start(weft_session* session, uint64_t start, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    return object->runner->CancelStart(start);
  });
}

weft_status weft_session_get_info(weft_session* session, weft_session_info* info, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    weft_session_info filled = WEFT_SESSION_INFO_INIT;
    WEFT_RETURN_IF_ERROR(FillStruct(filled, info, "weft_session_info"));
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    const RunnerInfo now = object->runner->info();
    filled.state = ToC(now.state.state);
    filled.pause_reason = static_cast<int32_t>(now.state.reason);
    filled.mode = static_cast<int32_t>(object->modes->mode());
    filled.last_status = CodeOf(now.last_status);
    filled.outdated_page = object->runner->session().outdated_page() ? 1 : 0;
    filled.runs = object->runner->session().runs();
    filled.steps_left = now.steps_left;
    filled.elapsed_ns = now.elapsed.count();
    filled.start = now.state.start;
    filled.loops = LoopsOnPage(object->runner->session()) ? 1 : 0;
    return FillStruct(filled, info, "weft_session_info");
  });
}

weft_status weft_session_faults(weft_session* session, weft_diagnostics** faults, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(faults, "faults"));
    *faults = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    return Give(std::make_shared<DiagnosticsObject>(object->runner->session().faults()), faults);
  });
}

weft_status weft_session_paused_at(weft_session* session, weft_strings** place, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(place, "place"));
    *place = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    RunnerState now = object->runner->state();
    if (now.state != RunState::kPaused) return FailedPrecondition("the session is not paused");
    return GiveTexts({std::move(now.block), std::move(now.detail)}, place);
  });
}

weft_status weft_session_set_mode(weft_session* session, int32_t mode, const weft_run_options* options, weft_diagnostics** problems) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(session));
    WEFT_ASSIGN_OR_RETURN(RunRequest request, ReadRequest(options, false));
    if (mode < WEFT_MODE_EDIT || mode > WEFT_MODE_RUN) {
      return InvalidArgument("needs WEFT_MODE_EDIT, _FREEZE, _STEP or _RUN, found ", mode).WithPort("mode");
    }
    return object->modes->Set(static_cast<Mode>(mode), std::move(request));
  });
}
