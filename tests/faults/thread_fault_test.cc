// Threads that cannot be started: fewer, or a status; nothing waits for them.
#include <cerrno>

#include "tests/faults/call_fault.h"
#include "tests/faults/fault_kit.h"
#include "tests/kit/test_services.h"

namespace weft::faults {
namespace {

weft_run_options Steps(int64_t steps) {
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.steps = steps;
  return options;
}

TEST_CASE("A runtime has the threads that can be started", "[threads]") {
  for (const bool lasts : {false, true}) {
    for (uint64_t number = 1; number <= 3; ++number) {
      const Watchdog watchdog("open a runtime without threads", number);
      const Held before;
      {
        OwnedRuntime runtime;
        {
          const CallFault fault(Call::kThread, number, EAGAIN, lasts);
          runtime = OpenRuntime(4);
        }
        weft_runtime_info info = WEFT_RUNTIME_INFO_INIT;
        REQUIRE(weft_runtime_get_info(runtime, &info, nullptr) == WEFT_OK);
        CHECK(info.threads <= 4);
        OwnedPage page = LoadLoops(runtime);
        OwnedSession session;
        weft_session_options options = WEFT_SESSION_OPTIONS_INIT;
        options.session = "once";
        REQUIRE(weft_session_open(page, &options, session.out(), nullptr) == WEFT_OK);
        CHECK(weft_session_run(session, nullptr, nullptr) == WEFT_OK);
      }
      CHECK(Held() == before);
    }
  }
}

TEST_CASE("A session that cannot have a thread says so, and starts when it can", "[threads]") {
  const Watchdog watchdog("start a session without a thread", 0);
  const OwnedRuntime runtime = OpenRuntime();
  const OwnedPage page = LoadLoops(runtime);
  OwnedSession session;
  weft_session_options options = WEFT_SESSION_OPTIONS_INIT;
  options.session = "once";
  REQUIRE(weft_session_open(page, &options, session.out(), nullptr) == WEFT_OK);
  {
    const CallFault fault(Call::kThread, 1, EAGAIN);
    OwnedProblems problems;
    CHECK(weft_session_start(session, nullptr, problems.out()) == WEFT_RESOURCE_EXHAUSTED);
    const char* text = "";
    REQUIRE(weft_diagnostics_text(problems, &text) == WEFT_OK);
    CHECK_THAT(text, Catch::Contains("no thread can be started"));
  }
  IsIdleAndStarts(session);
}

TEST_CASE("A page whose sessions cannot all have threads ends, and runs when they can", "[threads]") {
  const OwnedRuntime runtime = OpenRuntime();
  for (const bool lasts : {false, true}) {
    for (const bool waits : {false, true}) {
      for (uint64_t number = 1; number <= 3; ++number) {
        const Watchdog watchdog("run a page without threads", number);
        const OwnedPage page = LoadLoops(runtime);
        OwnedPageRun run;
        REQUIRE(weft_page_run_open(page, nullptr, run.out(), nullptr) == WEFT_OK);
        const weft_run_options steps = Steps(20);
        weft_status status = WEFT_OK;
        bool happened = false;
        {
          const CallFault fault(Call::kThread, number, EAGAIN, lasts);
          if (waits) {
            status = weft_page_run_all(run, &steps, nullptr);
          } else {
            status = weft_page_run_start(run, &steps, nullptr);
            if (status == WEFT_OK) status = weft_page_run_wait(run, -1, nullptr, nullptr);
          }
          happened = fault.happened();
        }
        CHECK(status == (happened ? WEFT_RESOURCE_EXHAUSTED : WEFT_OK));
        // (What a cancelled run has put into the queue, or taken from it, stays so: the sessions are not told to run as often as one another.)
        const OwnedPage again = LoadLoops(runtime);
        OwnedPageRun second;
        REQUIRE(weft_page_run_open(again, nullptr, second.out(), nullptr) == WEFT_OK);
        CHECK(weft_page_run_all(second, &steps, nullptr) == WEFT_OK);
        const weft_run_options once = Steps(1);
        CHECK(weft_page_run_start(run, &once, nullptr) == WEFT_OK);
        (void)weft_page_run_cancel(run, nullptr);
        (void)weft_page_run_wait(run, -1, nullptr, nullptr);
      }
    }
  }
}

}  // namespace
}  // namespace weft::faults
