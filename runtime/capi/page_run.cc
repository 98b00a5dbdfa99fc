// Whole pages that run.
#include <algorithm>

#include "runtime/capi/objects.h"
#include "runtime/capi/run_options.h"
#include "runtime/capi/watching.h"
#include "weft/host/session_choice.h"

using namespace weft;
using namespace weft::capi;

namespace {

Result<PageRunRequest> ReadRequest(const weft_run_options* options) {
  PageRunRequest request;
  if (options == nullptr) return request;
  WEFT_ASSIGN_OR_RETURN(const weft_run_options known, ReadRunOptions(options, 0));
  if (known.until_block != nullptr) {
    return InvalidArgument("the run of a page pauses before no block").WithPort("until_block").WithHint("use weft_session_start");
  }
  SetTiming(known, request);
  if (known.steps == 0) request.steps.reset();
  return request;
}

/// Calls use(PageRunObject&) -> Status.
template <class Use>
weft_status WithRun(weft_page_run* run, weft_diagnostics** problems, Use use) {
  return Guard(problems, [&]() -> Status {
    WEFT_ASSIGN_OR_RETURN(auto object, Find(run));
    return use(*object);
  });
}

}  // namespace

weft_status weft_page_run_open(weft_page* page, const weft_page_run_options* options, weft_page_run** run, weft_diagnostics** problems) {
  Diagnostics found;
  weft_status status = Guard(problems, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(run, "run"));
    *run = nullptr;
    WEFT_ASSIGN_OR_RETURN(auto object, Find(page));
    weft_page_run_options known = WEFT_PAGE_RUN_OPTIONS_INIT;
    WEFT_RETURN_IF_ERROR(ReadStruct(options, known, "weft_page_run_options"));
    const std::shared_ptr<Revision> revision = object->scope->revision();
    const Keep keep = known.keep_asked != 0 ? Keep::kAsked : Keep::kAll;
    std::vector<SessionSpec> specs = SessionsOf(*revision->graph);
    if (object->runtime->job->size() > 1) WEFT_RETURN_IF_ERROR(CheckSideBySide(*revision->graph, specs).WithHint("open one of them by weft_session_open"));
    std::vector<std::shared_ptr<Runner>> runners = OpenRunners(object->scope, revision, std::move(specs), keep, object, found);
    const bool asked = std::ranges::all_of(runners, [](const auto& runner) { return runner->session().CheckAsked().ok(); });
    if (!asked) found.Append(object->document->diagnostics());
    found.SetPhase(Phase::kCompile);
    if (found.has_errors()) return {};
    auto made = std::make_shared<PageRunObject>();
    for (const std::shared_ptr<Runner>& runner : runners) {
      made->ids.push_back(KeptName::OfBlock(*object->scope, *revision->graph, runner->session().spec().id));
      made->sessions.push_back(std::make_shared<SessionObject>(object, runner, true));
    }
    made->run = std::make_unique<PageRun>(std::move(runners));
    return Give(std::move(made), run);
  });
  return status == WEFT_OK && found.has_errors() ? ReportAll(found, problems) : status;
}

weft_status weft_page_run_close(weft_page_run* run) {
  return Guard(nullptr, [&]() -> Status {
    if (run == nullptr) return {};
    WEFT_ASSIGN_OR_RETURN(auto object, Find(run));
    if (object->run->on_running_thread()) return FailedPrecondition("a thread that runs the page cannot wait for its end");
    WEFT_RETURN_IF_ERROR(Close(run).status());
    object->run->Close();
    return {};
  });
}

weft_status weft_page_run_sessions(weft_page_run* run, weft_strings** ids, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](PageRunObject& object) -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(ids, "ids"));
    *ids = nullptr;
    std::vector<std::string> texts;
    for (const KeptName& id : object.ids) texts.push_back(id.text());
    return GiveTexts(std::move(texts), ids);
  });
}

weft_status weft_page_run_session(weft_page_run* run, const char* id, weft_session** session, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](PageRunObject& object) -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(session, "session"));
    *session = nullptr;
    auto found = object.ids.begin();
    if (id != nullptr) found = std::ranges::find_if(object.ids, [&](const KeptName& kept) { return kept.text() == id; });
    if (found == object.ids.end()) found = std::ranges::find(object.ids, id, &KeptName::given);
    if (found == object.ids.end()) return NotFound("there is no session '", id, "'");
    return Give(object.sessions[static_cast<size_t>(found - object.ids.begin())], session);
  });
}

weft_status weft_page_run_start(weft_page_run* run, const weft_run_options* options, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](PageRunObject& object) -> Status {
    WEFT_ASSIGN_OR_RETURN(const PageRunRequest request, ReadRequest(options));
    return object.run->Start(request);
  });
}

weft_status weft_page_run_all(weft_page_run* run, const weft_run_options* options, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](PageRunObject& object) -> Status {
    WEFT_ASSIGN_OR_RETURN(const PageRunRequest request, ReadRequest(options));
    return object.run->Run(request);
  });
}

weft_status weft_page_run_wait(weft_page_run* run, int64_t timeout_ms, int32_t* state, weft_diagnostics** problems) {
  if (state != nullptr) *state = WEFT_IDLE;
  return WithRun(run, problems, [&](PageRunObject& object) -> Status {
    bool running = false;
    Status status = object.run->Wait(ToTimeout(timeout_ms), &running);
    if (state != nullptr && running) *state = WEFT_RUNNING;
    return status;
  });
}

weft_status weft_page_run_stop(weft_page_run* run, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](PageRunObject& object) -> Status {
    object.run->Stop();
    return {};
  });
}

weft_status weft_page_run_cancel(weft_page_run* run, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](PageRunObject& object) -> Status {
    object.run->Cancel();
    return {};
  });
}

weft_status weft_page_run_view(weft_page_run* run, const char* name, weft_view** view, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](PageRunObject& object) -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(view, "view"));
    *view = nullptr;
    WEFT_RETURN_IF_ERROR(NeedPointer(name, "name"));
    size_t session = 0;
    WEFT_ASSIGN_OR_RETURN(ResultValue result, object.run->Get(name, &session));
    return GiveResult(*object.sessions[session], std::move(result), view);
  });
}

weft_status weft_page_run_results(weft_page_run* run, weft_strings** names, weft_diagnostics** problems) {
  return WithRun(run, problems, [&](PageRunObject& object) -> Status {
    WEFT_RETURN_IF_ERROR(NeedPointer(names, "names"));
    *names = nullptr;
    return GiveTexts(object.run->Results(), names);
  });
}
