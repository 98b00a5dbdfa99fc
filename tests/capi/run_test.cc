// Running sessions through the C interface: here, on a thread, paused, stepped, stopped, cancelled; enuSpace's modes.
#include <atomic>
#include <thread>

#include "tests/capi/capi_kit.h"

using namespace weft;
using namespace weft::test;

namespace {

/// A chain of three blocks after a variable that counts the runs.
std::vector<std::string> ChainBlocks() {
  return {Variable("n", Scalar(0)),
          Block("next", "AssignAdd", {{"ref", "n.ref"}, {"value", Scalar(1)}}),
          Block("a", "Add", {{"x", "n.ref"}, {"y", Scalar(1)}}),
          Block("b", "Add", {{"x", "a.z"}, {"y", Scalar(1)}}),
          Block("c", "Add", {{"x", "b.z"}, {"y", Scalar(1)}}),
          Block("run", "ClientSession", {{"fetch_outputs", "[\"c.z\"]"}, {"run_outputs", "[\"next.operation\"]"}})};
}

struct ChainHost {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, ChainBlocks());
  OwnedSession session = OpenSession(page);
  Problems problems;

  void Start(int64_t steps, const char* until = nullptr) {
    weft_run_options options = WEFT_RUN_OPTIONS_INIT;
    options.steps = steps;
    options.until_block = until;
    C_OK(problems, weft_session_start(session, &options, problems.out()));
  }
  int32_t Wait() {
    int32_t state = -1;
    C_OK(problems, weft_session_wait(session, 10000, &state, problems.out()));
    return state;
  }
  std::string PausedAt() {
    OwnedStrings place;
    C_OK(problems, weft_session_paused_at(session, place.out(), problems.out()));
    const char* text = nullptr;
    REQUIRE(weft_strings_get(place, 0, &text, nullptr) == WEFT_OK);
    return text;
  }
  void Resume(int32_t how) { C_OK(problems, weft_session_resume(session, how, problems.out())); }
  void SetMode(int32_t mode, const weft_run_options* options = nullptr) {
    C_OK(problems, weft_session_set_mode(session, mode, options, problems.out()));
  }
};

}  // namespace

TEST_CASE("C: runs here, one or many", "[capi]") {
  ChainHost chain;
  C_OK(chain.problems, weft_session_run(chain.session, nullptr, chain.problems.out()));
  CHECK(InfoOf(chain.session).runs == 1);
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.steps = 5;
  C_OK(chain.problems, weft_session_run(chain.session, &options, chain.problems.out()));
  weft_session_info info = InfoOf(chain.session);
  CHECK(info.runs == 6);
  CHECK(info.state == WEFT_IDLE);
  CHECK(info.last_status == WEFT_OK);
  CHECK(info.steps_left == 0);
  CHECK(info.elapsed_ns > 0);
  CHECK(FloatsOf(chain.session, "c.result_z") == std::vector<float>{8});
}

TEST_CASE("C: run options have limits", "[capi]") {
  ChainHost chain;
  auto refused = [&](auto change, const char* port) {
    weft_run_options options = WEFT_RUN_OPTIONS_INIT;
    change(options);
    CHECK(weft_session_run(chain.session, &options, chain.problems.out()) == WEFT_INVALID_ARGUMENT);
    CHECK(chain.problems.at(0).port == std::string(port));
  };
  refused([](auto& o) { o.steps = 0; }, "steps");
  refused([](auto& o) { o.steps = -2; }, "steps");
  refused([](auto& o) { o.deadline_ns = -1; }, "deadline_ns");
  refused([](auto& o) { o.interval_ns = -1; }, "interval_ns");
  refused([](auto& o) { o.until_block = "b"; }, "until_block");
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.until_block = "bb";
  CHECK(weft_session_start(chain.session, &options, chain.problems.out()) == WEFT_NOT_FOUND);
  CHECK(InfoOf(chain.session).state == WEFT_IDLE);
}

TEST_CASE("C: what is asked for in the wrong state is refused", "[capi]") {
  ChainHost chain;
  weft_diagnostics** problems = chain.problems.out();
  CHECK(weft_session_pause(chain.session, problems) == WEFT_FAILED_PRECONDITION);
  CHECK(weft_session_resume(chain.session, WEFT_GO_ON, chain.problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(weft_session_resume(chain.session, 3, chain.problems.out()) == WEFT_INVALID_ARGUMENT);
  OwnedStrings place;
  CHECK(weft_session_paused_at(chain.session, place.out(), chain.problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(weft_session_stop(chain.session, nullptr) == WEFT_OK);
  CHECK(weft_session_cancel(chain.session, nullptr) == WEFT_OK);
  C_OK(chain.problems, weft_session_run(chain.session, nullptr, chain.problems.out()));  // no cancel was left over
  chain.Start(WEFT_UNTIL_STOPPED);
  CHECK(weft_session_run(chain.session, nullptr, chain.problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(weft_session_start(chain.session, nullptr, chain.problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(std::string(chain.problems.at(0).message) == "the session runs");
  int32_t state = -1;
  CHECK(weft_session_wait(chain.session, 0, &state, nullptr) == WEFT_OK);
  CHECK(state == WEFT_RUNNING);
}

TEST_CASE("C: a session runs on its own thread until it is stopped", "[capi]") {
  ChainHost chain;
  chain.Start(WEFT_UNTIL_STOPPED);
  while (InfoOf(chain.session).runs < 100) std::this_thread::yield();
  CHECK(InfoOf(chain.session).steps_left == WEFT_UNTIL_STOPPED);
  CHECK(weft_session_stop(chain.session, nullptr) == WEFT_OK);
  CHECK(chain.Wait() == WEFT_IDLE);
  uint64_t runs = InfoOf(chain.session).runs;
  CHECK(FloatsOf(chain.session, "c.z") == std::vector<float>{static_cast<float>(runs) + 2});
  OwnedView view;
  REQUIRE(weft_page_get_variable(chain.page, "n", view.out(), nullptr) == WEFT_OK);
  CHECK(FloatsOf(view) == std::vector<float>{static_cast<float>(runs)});
}

TEST_CASE("C: a cancelled run leaves nothing, and the session runs again", "[capi]") {
  ChainHost chain;
  chain.Start(WEFT_UNTIL_STOPPED);
  while (InfoOf(chain.session).runs < 10) std::this_thread::yield();
  CHECK(weft_session_cancel(chain.session, nullptr) == WEFT_OK);
  CHECK(weft_session_wait(chain.session, -1, nullptr, chain.problems.out()) == WEFT_CANCELLED);
  CHECK(InfoOf(chain.session).last_status == WEFT_CANCELLED);
  uint64_t runs = InfoOf(chain.session).runs;
  OwnedView view;
  REQUIRE(weft_page_get_variable(chain.page, "n", view.out(), nullptr) == WEFT_OK);
  CHECK(FloatsOf(view) == std::vector<float>{static_cast<float>(runs)});
  C_OK(chain.problems, weft_session_run(chain.session, nullptr, chain.problems.out()));
  CHECK(InfoOf(chain.session).runs == runs + 1);
}

TEST_CASE("C: run to a block, step by block, step by run, go on", "[capi]") {
  ChainHost chain;
  chain.Start(3, "b");
  CHECK(chain.Wait() == WEFT_PAUSED);
  CHECK(InfoOf(chain.session).pause_reason == WEFT_PAUSE_REACHED);
  CHECK(InfoOf(chain.session).runs == 0);
  CHECK(chain.PausedAt() == "b");
  chain.Resume(WEFT_STEP_BLOCK);
  CHECK(chain.Wait() == WEFT_PAUSED);
  CHECK(chain.PausedAt() == "c");
  CHECK(InfoOf(chain.session).pause_reason == WEFT_PAUSE_STEPPED);
  chain.Resume(WEFT_STEP_RUN);
  CHECK(chain.Wait() == WEFT_PAUSED);
  CHECK(chain.PausedAt() == "");
  CHECK(InfoOf(chain.session).runs == 1);
  CHECK(InfoOf(chain.session).steps_left == 2);
  CHECK(FloatsOf(chain.session, "c.z") == std::vector<float>{3});
  chain.Resume(WEFT_STEP_BLOCK);  // between two runs: the first block of the next
  CHECK(chain.Wait() == WEFT_PAUSED);
  CHECK(InfoOf(chain.session).runs == 1);
  CHECK(!chain.PausedAt().empty());
  chain.Resume(WEFT_GO_ON);
  CHECK(chain.Wait() == WEFT_IDLE);
  CHECK(InfoOf(chain.session).runs == 3);
  CHECK(FloatsOf(chain.session, "c.z") == std::vector<float>{5});
}

TEST_CASE("C: every block is stepped through once a run", "[capi]") {
  ChainHost chain;
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.until_block = "a";
  C_OK(chain.problems, weft_session_start(chain.session, &options, chain.problems.out()));
  std::vector<std::string> seen;
  while (chain.Wait() == WEFT_PAUSED) {
    seen.push_back(chain.PausedAt());
    chain.Resume(WEFT_STEP_BLOCK);
  }
  CHECK(std::count(seen.begin(), seen.end(), "a") == 1);
  CHECK(std::count(seen.begin(), seen.end(), "b") == 1);
  CHECK(std::count(seen.begin(), seen.end(), "c") == 1);
}

TEST_CASE("C: pause, and stop or cancel what is paused", "[capi]") {
  ChainHost chain;
  chain.Start(WEFT_UNTIL_STOPPED);
  C_OK(chain.problems, weft_session_pause(chain.session, chain.problems.out()));
  CHECK(chain.Wait() == WEFT_PAUSED);
  CHECK(InfoOf(chain.session).pause_reason == WEFT_PAUSE_ASKED);
  uint64_t runs = InfoOf(chain.session).runs;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(InfoOf(chain.session).runs == runs);
  CHECK(weft_session_run(chain.session, nullptr, nullptr) == WEFT_FAILED_PRECONDITION);
  SECTION("stop") {
    CHECK(weft_session_stop(chain.session, nullptr) == WEFT_OK);
    while (InfoOf(chain.session).state != WEFT_IDLE) std::this_thread::yield();
    CHECK(chain.Wait() == WEFT_IDLE);
    CHECK(InfoOf(chain.session).runs <= runs + 1);
  }
  SECTION("cancel") {
    CHECK(weft_session_cancel(chain.session, nullptr) == WEFT_OK);
    while (InfoOf(chain.session).state != WEFT_IDLE) std::this_thread::yield();
    CHECK(weft_session_wait(chain.session, -1, nullptr, nullptr) == WEFT_CANCELLED);
    CHECK(InfoOf(chain.session).runs == runs);
  }
  SECTION("close") { CHECK(weft_session_close(chain.session.release()) == WEFT_OK); }
}

TEST_CASE("C: a deadline ends runs, also paused ones", "[capi]") {
  ChainHost chain;
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.steps = WEFT_UNTIL_STOPPED;
  options.deadline_ns = 20'000'000;
  Clock::time_point begin = Clock::now();
  CHECK(weft_session_run(chain.session, &options, chain.problems.out()) == WEFT_CANCELLED);
  CHECK(std::string(chain.problems.at(0).message).find("deadline") != std::string::npos);
  CHECK(MillisecondsSince(begin) >= 19);
  options.until_block = "b";
  C_OK(chain.problems, weft_session_start(chain.session, &options, chain.problems.out()));
  while (InfoOf(chain.session).state != WEFT_IDLE) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(weft_session_wait(chain.session, -1, nullptr, chain.problems.out()) == WEFT_CANCELLED);
}

TEST_CASE("C: an interval keeps runs apart", "[capi]") {
  ChainHost chain;
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.steps = 6;
  options.interval_ns = 5'000'000;
  Clock::time_point begin = Clock::now();
  C_OK(chain.problems, weft_session_run(chain.session, &options, chain.problems.out()));
  CHECK(MillisecondsSince(begin) >= 24.5);
  options.steps = WEFT_UNTIL_STOPPED;
  options.interval_ns = 3600'000'000'000;
  C_OK(chain.problems, weft_session_start(chain.session, &options, chain.problems.out()));
  while (InfoOf(chain.session).runs < 7) std::this_thread::yield();
  C_OK(chain.problems, weft_session_pause(chain.session, chain.problems.out()));
  CHECK(chain.Wait() == WEFT_PAUSED);
  chain.Resume(WEFT_GO_ON);
  CHECK(weft_session_stop(chain.session, nullptr) == WEFT_OK);
  CHECK(chain.Wait() == WEFT_IDLE);
  CHECK(InfoOf(chain.session).runs == 7);
}

TEST_CASE("C: enuSpace's modes", "[capi]") {
  ChainHost chain;
  CHECK(InfoOf(chain.session).mode == WEFT_MODE_EDIT);
  chain.SetMode(WEFT_MODE_STEP);
  CHECK(chain.Wait() == WEFT_PAUSED);
  CHECK(InfoOf(chain.session).runs == 1);
  chain.SetMode(WEFT_MODE_STEP);
  CHECK(chain.Wait() == WEFT_PAUSED);
  CHECK(InfoOf(chain.session).runs == 2);
  chain.SetMode(WEFT_MODE_RUN);
  while (InfoOf(chain.session).runs < 50) std::this_thread::yield();
  CHECK(InfoOf(chain.session).mode == WEFT_MODE_RUN);
  chain.SetMode(WEFT_MODE_FREEZE);
  CHECK(chain.Wait() == WEFT_PAUSED);
  uint64_t runs = InfoOf(chain.session).runs;
  CHECK(FloatsOf(chain.session, "c.z") == std::vector<float>{static_cast<float>(runs) + 2});
  chain.SetMode(WEFT_MODE_STEP);
  CHECK(chain.Wait() == WEFT_PAUSED);
  CHECK(InfoOf(chain.session).runs == runs + 1);
  chain.SetMode(WEFT_MODE_EDIT);
  CHECK(InfoOf(chain.session).state == WEFT_IDLE);
  CHECK(InfoOf(chain.session).runs == runs + 1);
  chain.SetMode(WEFT_MODE_FREEZE);
  CHECK(InfoOf(chain.session).state == WEFT_IDLE);
  CHECK(weft_session_set_mode(chain.session, 4, nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_session_set_mode(chain.session, -1, nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: other threads pause, cancel and read what runs here", "[capi]") {
  ChainHost chain;
  // Catch counts checks on one thread only.
  bool paused = false, read = false, resumed = false, cancelled = false;
  std::thread other([&] {
    weft_session_info info = WEFT_SESSION_INFO_INIT;
    auto poll = [&](auto until) {
      while (weft_session_get_info(chain.session, &info, nullptr) == WEFT_OK && !until()) std::this_thread::yield();
    };
    poll([&] { return info.runs >= 20; });
    paused = weft_session_pause(chain.session, nullptr) == WEFT_OK;
    poll([&] { return info.state == WEFT_PAUSED; });
    OwnedView view;
    weft_view_info shown = WEFT_VIEW_INFO_INIT;
    read = weft_session_view(chain.session, "c.z", view.out(), nullptr) == WEFT_OK && weft_view_get_info(view, &shown) == WEFT_OK &&
           shown.count == 1;
    resumed = weft_session_resume(chain.session, WEFT_GO_ON, nullptr) == WEFT_OK;
    cancelled = weft_session_cancel(chain.session, nullptr) == WEFT_OK;
  });
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.steps = WEFT_UNTIL_STOPPED;
  CHECK(weft_session_run(chain.session, &options, chain.problems.out()) == WEFT_CANCELLED);
  other.join();
  CHECK(paused);
  CHECK(read);
  CHECK(resumed);
  CHECK(cancelled);
}

TEST_CASE("C: the thread that runs cannot wait for itself", "[capi]") {
  struct Host {
    weft_session* session = nullptr;
    weft_status wait = WEFT_OK, edit = WEFT_OK, run = WEFT_OK, cancel = WEFT_INTERNAL;
  } host;
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  options.user = &host;
  options.print = [](void* user, const char*) {
    Host& h = *static_cast<Host*>(user);
    h.wait = weft_session_wait(h.session, -1, nullptr, nullptr);
    h.edit = weft_session_set_mode(h.session, WEFT_MODE_EDIT, nullptr, nullptr);
    h.run = weft_session_run(h.session, nullptr, nullptr);
    h.cancel = weft_session_cancel(h.session, nullptr);
  };
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(
      runtime, {Block("x", "Const", {{"value", Vector({1, 2})}}), Block("p", "Print", {{"input", "x.output"}, {"data", "[\"x.output\"]"}})},
      &options);
  OwnedSession session = OpenSession(page);
  host.session = session;
  CHECK(weft_session_run(session, nullptr, nullptr) == WEFT_CANCELLED);
  CHECK(host.wait == WEFT_FAILED_PRECONDITION);
  CHECK(host.edit == WEFT_FAILED_PRECONDITION);
  CHECK(host.run == WEFT_FAILED_PRECONDITION);
  CHECK(host.cancel == WEFT_OK);
}

TEST_CASE("C: a session may be closed by a callback of its own run", "[capi]") {
  for (bool here : {true, false}) {
    struct Host {
      weft_session* session = nullptr;
      std::atomic<int> closed{-1};
    } host;
    weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
    options.user = &host;
    options.print = [](void* user, const char*) {
      static_cast<Host*>(user)->closed = weft_session_close(static_cast<Host*>(user)->session);
    };
    OwnedRuntime runtime = OpenRuntime();
    OwnedPage page = LoadPage(
        runtime,
        {Block("x", "Const", {{"value", Vector({1, 2})}}), Block("p", "Print", {{"input", "x.output"}, {"data", "[\"x.output\"]"}})},
        &options);
    weft_session* session = OpenSession(page).release();
    host.session = session;
    if (here) CHECK(weft_session_run(session, nullptr, nullptr) == WEFT_CANCELLED);
    else CHECK(weft_session_start(session, nullptr, nullptr) == WEFT_OK);
    while (host.closed == -1) std::this_thread::yield();
    CHECK(host.closed == WEFT_OK);
    CHECK(weft_session_wait(session, 0, nullptr, nullptr) == WEFT_FAILED_PRECONDITION);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the detached thread ends
  }
}

TEST_CASE("C: sessions are chosen by id, by fetches and by operations", "[capi]") {
  ChainHost chain;
  OwnedSession session;
  Problems problems;
  weft_session_options options = WEFT_SESSION_OPTIONS_INIT;
  options.session = "rum";
  CHECK(weft_session_open(chain.page, &options, session.out(), problems.out()) == WEFT_NOT_FOUND);
  CHECK(problems.at(0).hint == std::string("there is run"));
  options = WEFT_SESSION_OPTIONS_INIT;
  const char* fetches[] = {"b.z"};
  options.fetches = fetches;
  options.fetch_count = 1;
  options.keep_asked = 1;
  C_OK(problems, weft_session_open(chain.page, &options, session.out(), problems.out()));
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  CHECK(FloatsOf(session, "b.z") == std::vector<float>{2});
  OwnedView view;
  CHECK(weft_session_view(session, "a.z", view.out(), problems.out()) == WEFT_FAILED_PRECONDITION);
  const char* operations[] = {"next"};
  options.operations = operations;
  options.operation_count = 1;
  OwnedSession both;
  C_OK(problems, weft_session_open(chain.page, &options, both.out(), problems.out()));
  C_OK(problems, weft_session_run(both, nullptr, problems.out()));
  REQUIRE(weft_page_get_variable(chain.page, "n", view.out(), nullptr) == WEFT_OK);
  CHECK(FloatsOf(view) == std::vector<float>{1});
  fetches[0] = "b.zz";
  OwnedSession none;
  CHECK(weft_session_open(chain.page, &options, none.out(), problems.out()) == WEFT_NOT_FOUND);
  fetches[0] = nullptr;
  CHECK(weft_session_open(chain.page, &options, none.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
}
