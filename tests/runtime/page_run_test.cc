// A whole page that runs: sessions that loop beside one another, the others in turn.
#include <catch2/catch.hpp>

#include <algorithm>
#include <mutex>

#include "tests/runtime/session_kit.h"
#include "weft/host/page_run.h"
#include "weft/host/session_choice.h"

namespace weft::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

std::string ClientSession(std::string_view id, const std::string& fetches, const std::string& run = "", bool loop = false) {
  std::vector<std::pair<std::string, std::string>> inputs = {{"fetch_outputs", Cat("[", fetches, "]")}};
  if (!run.empty()) inputs.emplace_back("run_outputs", Cat("[", run, "]"));
  return Block(id, "ClientSession", inputs, loop ? "INFINITE_LOOP_ = true;" : "");
}

/// Two sessions that loop: one puts 1, 2, 3, ... into a queue of two places, the other takes them out; and a counter that runs once.
std::vector<std::string> QueuePage() {
  return {Block("queue", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};capacity_ = 2;"),
          Variable("n", Scalar(0)),
          Block("next", "Add", {{"x", "n.ref"}, {"y", Scalar(1)}}),
          Block("keep", "Assign", {{"ref", "n.ref"}, {"value", "next.z"}}),
          Block("put", "QueueEnqueue", {{"handle", "queue.handle"}, {"components", "[\"next.z\"]"}}),
          ClientSession("fill", "\"next.z\"", "\"put.operation\", \"keep.operation\"", true),
          Block("take", "QueueDequeue", {{"handle", "queue.handle"}}, "component_types_ = {DT_FLOAT};"),
          ClientSession("empty", "\"take.components[0]\"", "", true),
          Variable("m", Scalar(0)),
          Block("count", "AssignAdd", {{"ref", "m.ref"}, {"value", Scalar(1)}}),
          ClientSession("once", "\"count.output_ref\"")};
}

/// What ran, in the order in which the runs ended.
struct Noted {
  PageRun::AfterRun Note() {
    return [this](Session& session, uint64_t run) {
      std::lock_guard lock(mutex);
      runs.push_back(Cat(session.spec().id, " ", run));
    };
  }
  size_t Of(std::string_view session) {
    std::lock_guard lock(mutex);
    return static_cast<size_t>(std::count_if(runs.begin(), runs.end(), [&](const std::string& run) { return run.starts_with(session); }));
  }
  std::mutex mutex;
  std::vector<std::string> runs;
};

std::unique_ptr<PageRun> Open(const TestPage& page, PageRun::AfterRun after_run = {}) {
  for (const std::string& error : page.errors()) FAIL_CHECK(error);
  const std::shared_ptr<Revision> revision = page.scope()->revision();
  Diagnostics found;
  auto runners = OpenRunners(page.scope(), revision, SessionsOf(*revision->graph), Keep::kAll, nullptr, found);
  INFO(ToString(found.FirstError()));
  REQUIRE(!found.has_errors());
  return std::make_unique<PageRun>(std::move(runners), std::move(after_run));
}

RunRequest Steps(int64_t steps) {
  RunRequest request;
  request.steps = steps;
  return request;
}

void CheckOk(const Status& status) {
  INFO(ToString(status));
  REQUIRE(status.ok());
}

TEST_CASE("Page runs: a session that fills a queue and one that empties it run beside one another, the others in turn", "[page-run]") {
  const TestPage page(QueuePage());
  Noted noted;
  auto run = Open(page, noted.Note());
  CheckOk(run->Run({.steps = 50}));
  CHECK(noted.Of("fill") == 50);
  CHECK(noted.Of("empty") == 50);
  CHECK(noted.Of("once") == 50);
  CHECK(Values(run->Get("take.components[0]")->tensor) == Floats{50});
  CHECK(Values(run->Get("count.output_ref")->tensor) == Floats{50});
  CHECK(run->Get("none.z").status().code() == Code::kNotFound);
  const std::vector<std::string> names = run->Results();
  for (const char* name : {"next.z", "take.components[0]", "count.output_ref"}) CHECK(std::count(names.begin(), names.end(), name) == 1);
  CHECK(!run->running());
}

TEST_CASE("Page runs: without a number loops run until they are stopped, the others once", "[page-run]") {
  const TestPage page(QueuePage());
  Noted noted;
  auto run = Open(page, noted.Note());
  CheckOk(run->Start({}));
  bool running = false;
  while (noted.Of("empty") < 20 || noted.Of("once") < 1) {
    CheckOk(run->Wait(milliseconds(1), &running));
    REQUIRE(running);
  }
  CHECK(run->Start({}).code() == Code::kFailedPrecondition);
  run->Stop();
  // The one that fills ends first or last; whichever waits for the other then ends by the stall limit, or did not have to wait.
  (void)run->Wait(seconds(20), &running).ok();
  CHECK(!running);
  CHECK(noted.Of("once") == 1);
}

TEST_CASE("Page runs: cancelled, from outside or by a signal's handler", "[page-run]") {
  for (const bool interrupt : {false, true}) {
    const TestPage page(QueuePage());
    Noted noted;
    auto run = Open(page, noted.Note());
    CheckOk(run->Start({}));
    while (noted.Of("empty") < 5) std::this_thread::sleep_for(milliseconds(1));
    interrupt ? run->Interrupt() : run->Cancel();
    bool running = true;
    CHECK(run->Wait(seconds(20), &running).code() == Code::kCancelled);
    CHECK(!running);
    // It can run again, and one session alone, too.
    CHECK(run->runners()[2]->RunBlocking(Steps(2)).ok());
    CheckOk(run->Run({.steps = 3}));
  }
}

TEST_CASE("Page runs: to close one ends what runs", "[page-run]") {
  const TestPage page(QueuePage());
  auto run = Open(page);
  CheckOk(run->Start({}));
  run->Close();
  CHECK(!run->running());
  CHECK(run->Run({}).code() == Code::kFailedPrecondition);
  run = Open(page);
  CheckOk(run->Start({}));
  run.reset();
}

TEST_CASE("Page runs: sessions that do not loop take turns in page order", "[page-run]") {
  const TestPage page({Variable("n", Scalar(0)), Block("add", "AssignAdd", {{"ref", "n.ref"}, {"value", Scalar(1)}}),
                       Block("seen", "Identity", {{"input", "n.ref"}}), ClientSession("look", "\"seen.output\""),
                       ClientSession("change", "\"add.output_ref\"")});
  Noted noted;
  auto run = Open(page, noted.Note());
  CheckOk(run->Run({.steps = 2}));
  CHECK(noted.runs == std::vector<std::string>{"look 1", "change 1", "look 2", "change 2"});
  CHECK(Values(run->Get("seen.output")->tensor) == Floats{1});
  CheckOk(run->Run({}));
  CHECK(noted.runs.size() == 6);
  CHECK(Values(run->Get("seen.output")->tensor) == Floats{2});
}

TEST_CASE("Page runs: a session that fails cancels the others, and is the failure that is told", "[page-run]") {
  std::vector<std::string> blocks = QueuePage();
  blocks.push_back(Block("index", "Placeholder", {}, "dtype_ = DT_INT32;shape_ = [];"));
  blocks.push_back(Block("pick", "Gather", {{"params", Vector({1, 2})}, {"indices", "index.output"}}));
  blocks.push_back(ClientSession("wrong", "\"pick.output\""));
  const TestPage page(blocks);
  Noted noted;
  auto run = Open(page, noted.Note());
  Status status = run->Run({});
  CHECK(!status.ok());
  CHECK(status.code() != Code::kCancelled);
  CHECK(status.place().block == "index");
  CHECK(!run->running());
}

TEST_CASE("Page runs: what a host does with a value fails between two runs, and the other sessions are not told to wait for more", "[page-run]") {
  const TestPage page(QueuePage());
  auto run = Open(page);
  std::atomic<int> taken = 0;
  for (const auto& runner : run->runners()) {
    if (runner->session().spec().id != "empty") continue;
    const Status set = runner->SetOutput("take.components[0]", [&taken](const ResultValue&) {
      return ++taken < 3 ? Status() : Unsupported("the host's disk is full");
    });
    REQUIRE(set.ok());
  }
  const Status status = run->Run({});
  CHECK(ToString(status).find("the host's disk is full") != std::string::npos);
  CHECK(status.code() == Code::kUnsupported);
  CHECK(!run->running());
}

TEST_CASE("Page runs: a deadline ends all sessions", "[page-run]") {
  const TestPage page(QueuePage());
  auto run = Open(page);
  PageRunRequest request;
  request.deadline = Clock::now() + milliseconds(50);
  CHECK(run->Run(request).code() == Code::kCancelled);
  request.deadline.reset();
  request.interval = milliseconds(20);
  request.steps = 3;
  const Clock::time_point start = Clock::now();
  CheckOk(run->Run(request));
  CHECK(MillisecondsSince(start) >= 40);
}

TEST_CASE("Page runs: while a session runs by itself, the page does not", "[page-run]") {
  const TestPage page(QueuePage());
  auto run = Open(page);
  Runner& once = *run->runners()[2];
  CheckOk(once.Start(Steps(-1)));
  CHECK(run->Run({}).code() == Code::kFailedPrecondition);
  once.Stop();
  CheckOk(once.Wait(seconds(20)));
  CheckOk(run->Run({.steps = 1}));
}

TEST_CASE("Sessions are chosen by name, by what they compute, or as the page has them", "[page-run]") {
  const TestPage page(QueuePage());
  const Graph& graph = page.graph();
  auto ids = [](const std::vector<SessionSpec>& specs) {
    std::string text;
    for (const SessionSpec& spec : specs) text += Cat(spec.id, "(", spec.fetches.size(), ",", spec.run.size(), ") ");
    return text;
  };
  CHECK(ids(*ChooseSessions(graph, {})) == "fill(1,2) empty(1,0) once(1,0) ");
  CHECK(ChooseSession(graph, {})->id == "fill");
  CHECK(ids(*ChooseSessions(graph, {.session = "once"})) == "once(1,0) ");
  CHECK(ids(*ChooseSessions(graph, {.session = "once", .fetches = {"next.z"}})) == "once(2,0) ");
  CHECK(ids(*ChooseSessions(graph, {.fetches = {"next.z"}, .operations = {"put"}})) == "host(1,1) ");
  auto none = ChooseSessions(graph, {.session = "ones"});
  CHECK(none.status().code() == Code::kNotFound);
  CHECK(none.status().hint() == "there is fill, empty, once");
  CHECK(ChooseSession(graph, {.fetches = {"next"}}).status().hint() == "it has next.z");
  CHECK(ChooseSession(graph, {.operations = {"nowhere"}}).status().code() == Code::kNotFound);
  const TestPage bare({Block("x", "Const", {{"value", Vector({1})}})});
  CHECK(ids(SessionsOf(bare.graph())) == "default(1,0) ");
}

}  // namespace
}  // namespace weft::test
