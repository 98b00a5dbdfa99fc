// Whole pages that run, by the C interface.
#include "tests/capi/capi_kit.h"

#include <atomic>
#include <thread>

using namespace weft;
using namespace weft::test;

namespace {

std::string ClientSession(std::string_view id, const std::string& fetches, const std::string& run = "", bool loop = false) {
  std::vector<std::pair<std::string, std::string>> inputs = {{"fetch_outputs", Cat("[", fetches, "]")}};
  if (!run.empty()) inputs.emplace_back("run_outputs", Cat("[", run, "]"));
  return Block(id, "ClientSession", inputs, loop ? "INFINITE_LOOP_ = true;" : "");
}

/// "fill" puts 1, 2, 3, ... into a queue of two places and "empty" takes them out, both for ever; "once" counts its runs.
std::vector<std::string> QueueBlocks() {
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

OwnedPageRun OpenRun(weft_page* page) {
  OwnedPageRun run;
  Problems problems;
  C_OK(problems, weft_page_run_open(page, nullptr, run.out(), problems.out()));
  return run;
}

float Result(weft_page_run* run, const char* name) {
  OwnedView view;
  Problems problems;
  C_OK(problems, weft_page_run_view(run, name, view.out(), problems.out()));
  return FloatsOf(view).at(0);
}

std::vector<std::string> Texts(weft_strings* strings) {
  size_t count = 0;
  REQUIRE(weft_strings_count(strings, &count) == WEFT_OK);
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) {
    const char* text = nullptr;
    REQUIRE(weft_strings_get(strings, i, &text, nullptr) == WEFT_OK);
    texts.emplace_back(text);
  }
  return texts;
}

TEST_CASE("C: a session says whether the page has it run until it is stopped", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, QueueBlocks());
  OwnedPageRun run = OpenRun(page);
  Problems problems;
  for (const auto& [id, loops] : {std::pair("fill", 1u), std::pair("empty", 1u), std::pair("once", 0u)}) {
    OwnedSession session;
    C_OK(problems, weft_page_run_session(run, id, session.out(), problems.out()));
    CHECK(InfoOf(session).loops == loops);
  }
  OwnedSession once;
  C_OK(problems, weft_page_run_session(run, "once", once.out(), problems.out()));
  const char* edit = R"({"op": "set", "block": "once", "attr": "INFINITE_LOOP", "value": "true"})";
  C_OK(problems, weft_page_edit(page, edit, WEFT_EDIT_APPLY, nullptr, problems.out()));
  CHECK(InfoOf(once).loops == 1);  // at once, not only when it runs
}

TEST_CASE("C: a page runs with all its sessions, and its results are read by their names", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, QueueBlocks());
  OwnedPageRun run = OpenRun(page);
  Problems problems;
  OwnedStrings ids, names;
  C_OK(problems, weft_page_run_sessions(run, ids.out(), problems.out()));
  CHECK(Texts(ids) == std::vector<std::string>{"fill", "empty", "once"});
  OwnedView view;
  CHECK(weft_page_run_view(run, "next.z", view.out(), problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(weft_page_run_view(run, "nowhere.z", view.out(), problems.out()) == WEFT_NOT_FOUND);

  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.steps = 20;
  C_OK(problems, weft_page_run_all(run, &options, problems.out()));
  CHECK(Result(run, "next.z") == 20);
  CHECK(Result(run, "take.components[0]") == 20);
  CHECK(Result(run, "count.output_ref") == 20);
  C_OK(problems, weft_page_run_results(run, names.out(), problems.out()));
  const std::vector<std::string> known = Texts(names);
  for (const char* name : {"next.z", "take.components[0]", "count.output_ref"}) CHECK(std::count(known.begin(), known.end(), name) == 1);

  for (auto [steps, deadline, interval] : {std::tuple<int64_t, int64_t, int64_t>{-2, 0, 0}, {1, -1, 0}, {1, 0, -1}}) {
    options = WEFT_RUN_OPTIONS_INIT;
    options.steps = steps, options.deadline_ns = deadline, options.interval_ns = interval;
    CHECK(weft_page_run_all(run, &options, problems.out()) == WEFT_INVALID_ARGUMENT);
  }
  // As many steps as the page says, with a deadline: the sessions that loop end there.
  options = WEFT_RUN_OPTIONS_INIT;
  options.steps = 0, options.deadline_ns = 100'000'000;
  CHECK(weft_page_run_all(run, &options, problems.out()) == WEFT_CANCELLED);
  CHECK(Result(run, "next.z") > 21);
  CHECK(Result(run, "count.output_ref") == 21);
  options = WEFT_RUN_OPTIONS_INIT;
  options.until_block = "next";
  CHECK(weft_page_run_start(run, &options, problems.out()) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: sessions of a run of the page go by the ids that their blocks have now, and by those that they had", "[capi][following]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, QueueBlocks());
  OwnedPageRun run = OpenRun(page);
  Problems problems;
  const char* edits = R"([{"op": "rename", "block": "once", "to": "again"}, {"op": "rename", "block": "fill", "to": "once"}])";
  C_OK(problems, weft_page_edit(page, edits, WEFT_EDIT_APPLY, nullptr, problems.out()));
  OwnedStrings ids;
  C_OK(problems, weft_page_run_sessions(run, ids.out(), problems.out()));
  CHECK(Texts(ids) == std::vector<std::string>{"once", "empty", "again"});
  OwnedSession again, fill, once;
  C_OK(problems, weft_page_run_session(run, "again", again.out(), problems.out()));
  C_OK(problems, weft_page_run_session(run, "fill", fill.out(), problems.out()));
  C_OK(problems, weft_page_run_session(run, "once", once.out(), problems.out()));
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.steps = 2;
  C_OK(problems, weft_page_run_all(run, &options, problems.out()));
  CHECK(FloatsOf(again, "count.output_ref").at(0) == 2);
  CHECK(FloatsOf(fill, "next.z").at(0) == 2);
  CHECK(FloatsOf(once, "next.z").at(0) == 2);
}

TEST_CASE("C: a page that was started is waited for, watched, stopped and cancelled", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, QueueBlocks());
  OwnedPageRun run = OpenRun(page);
  Problems problems;
  OwnedSession empty, missing;
  C_OK(problems, weft_page_run_session(run, "empty", empty.out(), problems.out()));
  CHECK(weft_page_run_session(run, "none", missing.out(), problems.out()) == WEFT_NOT_FOUND);
  C_OK(problems, weft_page_run_start(run, nullptr, problems.out()));
  CHECK(weft_page_run_start(run, nullptr, problems.out()) == WEFT_FAILED_PRECONDITION);
  while (InfoOf(empty).runs < 10) {
    int32_t state = WEFT_IDLE;
    C_OK(problems, weft_page_run_wait(run, 1, &state, problems.out()));
    REQUIRE(state == WEFT_RUNNING);
  }
  // One session is paused, and goes on.
  C_OK(problems, weft_session_pause(empty, problems.out()));
  C_OK(problems, weft_session_wait(empty, 20000, nullptr, problems.out()));
  CHECK(InfoOf(empty).state == WEFT_PAUSED);
  C_OK(problems, weft_session_resume(empty, WEFT_GO_ON, problems.out()));
  // Its handle may go; the session stays.
  REQUIRE(weft_session_close(empty.release()) == WEFT_OK);
  int32_t state = WEFT_IDLE;
  C_OK(problems, weft_page_run_wait(run, 0, &state, problems.out()));
  CHECK(state == WEFT_RUNNING);
  C_OK(problems, weft_page_run_cancel(run, problems.out()));
  CHECK(weft_page_run_wait(run, -1, &state, problems.out()) == WEFT_CANCELLED);
  CHECK(state == WEFT_IDLE);
  CHECK(Result(run, "count.output_ref") == 1);

  C_OK(problems, weft_page_run_start(run, nullptr, problems.out()));
  C_OK(problems, weft_page_run_stop(run, problems.out()));
  (void)weft_page_run_wait(run, -1, &state, problems.out());
  CHECK(state == WEFT_IDLE);
  C_OK(problems, weft_page_run_start(run, nullptr, problems.out()));
  REQUIRE(weft_page_run_close(run.release()) == WEFT_OK);
}

struct FromCallback {
  weft_page_run* run = nullptr;
  std::atomic<int> closed{-1}, waited{-1};
};

TEST_CASE("C: from a callback of its own run a page can be stopped, but neither closed nor waited for", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, QueueBlocks());
  OwnedPageRun run = OpenRun(page);
  Problems problems;
  OwnedSession once;
  C_OK(problems, weft_page_run_session(run, "once", once.out(), problems.out()));
  FromCallback seen;
  seen.run = run;
  auto call = [](void* user, const weft_event*) {
    auto* from = static_cast<FromCallback*>(user);
    from->closed = weft_page_run_close(from->run);
    from->waited = weft_page_run_wait(from->run, -1, nullptr, nullptr);
    (void)weft_page_run_cancel(from->run, nullptr);
  };
  C_OK(problems, weft_session_on_event(once, call, &seen, 1u << WEFT_EVENT_RUN, 0, problems.out()));
  C_OK(problems, weft_page_run_start(run, nullptr, problems.out()));
  CHECK(weft_page_run_wait(run, 20000, nullptr, problems.out()) == WEFT_CANCELLED);
  CHECK(seen.closed == WEFT_FAILED_PRECONDITION);
  CHECK(seen.waited == WEFT_FAILED_PRECONDITION);
}

TEST_CASE("C: between two runs of its sessions, too, a callback can neither close the run of its page nor wait for it", "[capi]") {
  for (bool starts : {true, false}) {
    INFO("starts " << starts);
    OwnedRuntime runtime = OpenRuntime();
    OwnedPage page = LoadPage(runtime, {Variable("m", Scalar(0)), Block("count", "AssignAdd", {{"ref", "m.ref"}, {"value", Scalar(1)}}),
                                        ClientSession("once", "\"count.output_ref\"")});
    OwnedPageRun run = OpenRun(page);
    Problems problems;
    OwnedSession once;
    C_OK(problems, weft_page_run_session(run, "once", once.out(), problems.out()));
    FromCallback seen;
    seen.run = run;
    auto call = [](void* user, const weft_event* event) {
      if (event->state != WEFT_IDLE) return;
      auto* from = static_cast<FromCallback*>(user);
      from->closed = weft_page_run_close(from->run);
      from->waited = weft_page_run_wait(from->run, -1, nullptr, nullptr);
    };
    C_OK(problems, weft_session_on_event(once, call, &seen, WEFT_EVENT_BIT(WEFT_EVENT_STATE), 0, problems.out()));
    if (starts) C_OK(problems, weft_page_run_start(run, nullptr, problems.out()));
    else C_OK(problems, weft_page_run_all(run, nullptr, problems.out()));
    C_OK(problems, weft_page_run_wait(run, 20000, nullptr, problems.out()));
    CHECK(seen.closed == WEFT_FAILED_PRECONDITION);
    CHECK(seen.waited == WEFT_FAILED_PRECONDITION);
    CHECK(Result(run, "count.output_ref") == 1);
    REQUIRE(weft_page_run_close(run.release()) == WEFT_OK);
  }
}

TEST_CASE("C: a callback on the thread of a session that loops cannot have the page run before it returns", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, {Variable("m", Scalar(0)), Block("count", "AssignAdd", {{"ref", "m.ref"}, {"value", Scalar(1)}}),
                                      ClientSession("loops", "\"count.output_ref\"", "", true)});
  OwnedPageRun run = OpenRun(page);
  Problems problems;
  OwnedSession loops;
  C_OK(problems, weft_page_run_session(run, "loops", loops.out(), problems.out()));
  struct {
    weft_page_run* run;
    std::atomic<int> ran{-1};
  } seen = {run};
  auto call = [](void* user, const weft_event* event) {
    if (event->state != WEFT_IDLE) return;
    auto* from = static_cast<decltype(seen)*>(user);
    int32_t state = WEFT_RUNNING;
    while (state == WEFT_RUNNING) (void)weft_page_run_wait(from->run, 0, &state, nullptr);
    from->ran = weft_page_run_all(from->run, nullptr, nullptr);
  };
  C_OK(problems, weft_session_on_event(loops, call, &seen, WEFT_EVENT_BIT(WEFT_EVENT_STATE), 0, problems.out()));
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.steps = 2;
  C_OK(problems, weft_page_run_start(run, &options, problems.out()));
  const Clock::time_point start = Clock::now();
  while (seen.ran == -1 && MillisecondsSince(start) < 20000) std::this_thread::yield();
  CHECK(seen.ran == WEFT_FAILED_PRECONDITION);
  REQUIRE(weft_page_run_close(run.release()) == WEFT_OK);
}

TEST_CASE("C: a page whose sessions cannot be planned is refused with all faults", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  Problems problems;
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  options.keep_faulty = 1;
  OwnedPage page = LoadPage(runtime, {Block("sum", "Add", {{"x", Vector({1, 2})}, {"y", Vector({1, 2, 3})}}), ClientSession("a", "\"sum.z\"")}, &options);
  weft_page_run* run = nullptr;
  CHECK(weft_page_run_open(page, nullptr, &run, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(run == nullptr);
  CHECK(std::string(problems.at(0).block) == "sum");
}

}  // namespace
