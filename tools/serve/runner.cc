// What takes several parts of a page's runs.
#include "tools/serve/runner.h"

#include "tools/serve/document.h"
#include "tools/serve/limits.h"

namespace weft::serve {
namespace {

constexpr uint32_t kKinds = WEFT_EVENT_BIT(WEFT_EVENT_STATE) | WEFT_EVENT_BIT(WEFT_EVENT_ERROR) | WEFT_EVENT_BIT(WEFT_EVENT_PRINT) |
                            WEFT_EVENT_BIT(WEFT_EVENT_VALUES);

/// How a body wants to run. `until_block` keeps the text that the options point to.
weft_run_options RunOptions(const Json& body, std::string& until_block) {
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
void PauseBeforeFirst(OpenSession& session) {
  weft_breakpoint_options options = WEFT_BREAKPOINT_OPTIONS_INIT;
  options.kind = WEFT_BREAK_CONDITION;
  options.condition = "run >= 0";
  options.once = 1;
  Call([&](weft_diagnostics** problems) { return weft_session_break(session.handle.get(), &options, session.first_block.out(), problems); });
}

int32_t ModeNamed(const std::string& name) {
  for (int32_t mode = 0; mode < 4; ++mode) {
    if (name == ModeName(mode)) return mode;
  }
  throw ApiError(400, "invalid_argument", "'" + name + "' is no mode", "EDIT, FREEZE, STEP or RUN");
}

bool IsListOf(const Json& body, const char* name) { return !body.value(name, Json::array()).empty(); }

}  // namespace

Runner::Runner(Document& document, Context& context)
    : document_(document), context_(context), sessions_(document, context.limits), breakpoints_(document, sessions_, context.limits),
      runs_(document, sessions_, breakpoints_, context.limits), values_(document, sessions_, context.limits), progress_(document, sessions_, context.limits) {
  Call([&](weft_diagnostics** problems) { return weft_events_open(nullptr, events_.out(), problems); });
}

Runner::~Runner() = default;

void Runner::Close() {
  // Sessions wait until they have ended, and events that are handled meanwhile need the lock.
  PageSessions::Taken taken;
  {
    const Lock lock(mutex_);
    closed_ = true;
    if (watch_) watch_->Close();
    values_.Clear();
    breakpoints_.Clear();
    for (OpenSession* session : sessions_.All()) weft_session_on_event(session->handle.get(), nullptr, nullptr, WEFT_ALL_EVENTS, 0, nullptr);
    taken = sessions_.TakeAll();
  }
}

Locked<PageRuns> Runner::runs() {
  Locked<PageRuns> runs(mutex_, runs_);
  runs->Refresh();
  return runs;
}

// ---- sessions --------------------------------------------------------------------------------------------------------------

/// Everything that is set for the page holds for sessions that have just been opened. Those that could not be given all of it must not run:
/// the next start opens others.
void Runner::Adopt(bool of_fetches) {
  try {
    for (OpenSession* session : sessions_.Which(of_fetches)) {
      Call([&](weft_diagnostics** problems) { return weft_events_add(events_.get(), session->handle.get(), kKinds, 1, problems); });
      WatchEvents();
      breakpoints_.InsertAll(*session);
      sessions_.FeedTo(*session);
      progress_.SessionsChanged();
    }
  } catch (...) {
    breakpoints_.Detach(of_fetches);
    sessions_.Drop(of_fetches);
    throw;
  }
  values_.Resume();
}

void Runner::OpenSessions() {
  if (sessions_.AreThoseOfPage()) return;
  PageRunHandle opened = sessions_.OpenPageRun();
  const bool had = sessions_.page_run() != nullptr;
  values_.Detach(false);
  breakpoints_.Detach(false);
  if (had) document_.log().Publish({{"type", "values.reset"}});
  sessions_.Replace(std::move(opened));
  Adopt(false);
}

OpenSession& Runner::OpenFetches(const Json& body) {
  OpenSession& session = sessions_.OpenFetches(body);
  breakpoints_.Detach(true);
  values_.Detach(true);
  Adopt(true);
  return session;
}

// ---- runs ------------------------------------------------------------------------------------------------------------------

Json Runner::Start(const Json& body, const std::string& by) {
  const Lock lock(mutex_);
  runs_.Refresh();
  if (!sessions_.Idle()) throw ApiError(409, "failed_precondition", "the page runs already", "stop it first, or step it where it is paused");
  std::string until_block;
  weft_run_options options = RunOptions(body, until_block);
  const std::string session = TextField(body, "session", "");
  const bool fetch = IsListOf(body, "fetches") || IsListOf(body, "operations"), paused = FlagField(body, "paused", false);
  if (fetch) OpenFetches(body);
  else OpenSessions();
  // A page's run takes no until_block; its only session does.
  const std::vector<OpenSession*> all = sessions_.Which(fetch);
  const bool by_page_run = !fetch && session.empty() && (all.size() > 1 || until_block.empty());
  const std::vector<OpenSession*> started = session.empty() || fetch ? all : std::vector{&sessions_.Of(session)};
  for (OpenSession* other : sessions_.All()) other->first_block.reset();
  for (OpenSession* each : started) {
    if (paused) PauseBeforeFirst(*each);
  }
  progress_.RunStarts();
  RunRecord& run = runs_.Add(fetch ? "fetches" : !session.empty() ? "session" : "page", by);
  sessions_.PreferFetches(fetch);
  try {
    run.by_page_run = by_page_run;
    if (!by_page_run && options.steps == 0) options.steps = sessions_.Loops(*started[0]) ? WEFT_UNTIL_STOPPED : 1;
    Call([&](weft_diagnostics** problems) {
      return by_page_run ? weft_page_run_start(sessions_.page_run(), &options, problems) : weft_session_start(started[0]->handle.get(), &options, problems);
    }, Refusal::kEngine);
  } catch (...) {
    runs_.Withdraw();
    throw;
  }
  runs_.PublishStart();
  runs_.Refresh();
  KeepTicking();
  return runs_.Latest();
}

Json Runner::Control(const std::string& run, const std::string& action, const Json& body) {
  Json answer = runs()->Control(run, action, body);
  KeepTicking();
  return answer;
}

Json Runner::SetMode(const Json& body, const std::string& by) {
  const Lock lock(mutex_);
  runs_.Refresh();
  const std::string name = TextField(body, "mode");
  const int32_t mode = ModeNamed(name);
  const bool goes = mode == WEFT_MODE_STEP || mode == WEFT_MODE_RUN;
  if (goes && runs_.active() && runs_.latest()->target == "fetches") {
    throw ApiError(409, "failed_precondition", "a run of fetches is in progress", "stop it first, or step it where it is paused");
  }
  const bool starts = goes && sessions_.Idle();
  std::string until_block;
  weft_run_options options = RunOptions(body, until_block);
  if (options.steps == 0) options.steps = 1;
  if (starts) {
    OpenSessions();
    sessions_.PreferFetches(false);
    runs_.Add("page", by);
  }
  try {
    sessions_.SetModes(mode, options);
  } catch (...) {
    if (starts) {
      for (OpenSession* session : sessions_.Which(false)) weft_session_cancel(session->handle.get(), nullptr);
      runs_.Withdraw();
    }
    throw;
  }
  if (RunRecord* run = runs_.latest()) {
    run->mode = name;
    if (starts) runs_.PublishStart();
    if (!starts && run->state == "paused" && mode >= WEFT_MODE_STEP) run->state = "running";
  }
  runs_.Refresh();
  KeepTicking();
  return {{"mode", name}, {"run", runs_.Latest()}};
}

Json Runner::AddBreakpoint(const Json& body, const std::string& by) {
  const Lock lock(mutex_);
  if (sessions_.none()) {
    try {
      OpenSessions();
    } catch (const ApiError&) {
      // The page has faults: the breakpoint waits for its first run.
    }
  }
  return breakpoints_.Add(body, by);
}

void Runner::Release(const Client& client) {
  const Lock lock(mutex_);
  if (breakpoints_.Release(client.id())) runs_.Refresh();
}

void Runner::Feed(const std::string& name, std::unique_ptr<OwnedBuffer> value) {
  const Lock lock(mutex_);
  if (sessions_.Which(false).empty()) OpenSessions();
  sessions_.Feed(name, std::move(value));
}

void Runner::Edited(const Json& renamed) {
  Renames renames;
  for (const Json& pair : renamed) renames.emplace(pair[0].get<std::string>(), pair[1].get<std::string>());
  const Lock lock(mutex_);
  if (!renames.empty()) {
    breakpoints_.Rename(renames);
    values_.Rename(renames);
    progress_.Rename(renames);
    sessions_.Rename(renames);
  }
  breakpoints_.Resume();
  values_.Resume();
}

void Runner::WatchTicks(const std::shared_ptr<Client>& client, const Json& call) {
  const Lock lock(mutex_);
  progress_.AddTicks(client, call);
  TickSoon();
}

void Runner::WatchSummaries(const std::shared_ptr<Client>& client, const Json& call) {
  const Lock lock(mutex_);
  progress_.AddSummaries(client, call);
  TickSoon();
}

void Runner::Unwatch(const Client& client, const std::string& topic) {
  const Lock lock(mutex_);
  if (topic.empty() || topic == "value") values_.RemoveAll(client);
  if (topic != "value") progress_.Remove(client, topic);
}

}  // namespace weft::serve
