// A host of the C interface that observes a page.
#pragma once

#include "tests/capi/capi_kit.h"

namespace weft::test {

/// v counts the runs; seen.z is 1 + the number of runs before, say prints it.
inline std::vector<std::string> WatchedBlocks() {
  return {Variable("v", Scalar(0)), Block("seen", "Add", {{"x", "v.ref"}, {"y", Scalar(1)}}),
          Block("half", "Multiply", {{"x", "seen.z"}, {"y", Scalar(0.5)}}),
          Block("say", "Print", {{"input", "half.z"}, {"data", "[\"seen.z\"]"}}, "message_ = seen ;"),
          Block("count", "ApplyGradientDescent", {{"var", "v.ref"}, {"alpha", Scalar(-1)}, {"delta", Scalar(1)}}),
          Block("run", "ClientSession", {{"fetch_outputs", "[\"say.output\"]"}, {"run_outputs", "[\"count.operation\"]"}})};
}

struct WatchingHost {
  WatchingHost() {
    Problems problems;
    session = OwnedSession();
    C_OK(problems, weft_session_open(page, nullptr, session.out(), problems.out()));
  }
  void Run(int64_t steps) {
    weft_run_options options = WEFT_RUN_OPTIONS_INIT;
    options.steps = steps;
    C_OK(problems, weft_session_run(session, &options, problems.out()));
  }
  void Start(int64_t steps) {
    weft_run_options options = WEFT_RUN_OPTIONS_INIT;
    options.steps = steps;
    C_OK(problems, weft_session_start(session, &options, problems.out()));
  }
  /// Waits for a pause, or the end.
  int32_t Wait() {
    int32_t state = WEFT_RUNNING;
    C_OK(problems, weft_session_wait(session, 20000, &state, problems.out()));
    return state;
  }
  OwnedEvents Events(uint32_t kinds, uint64_t source = 1) {
    OwnedEvents events;
    C_OK(problems, weft_events_open(nullptr, events.out(), problems.out()));
    C_OK(problems, weft_events_add(events, session, kinds, source, problems.out()));
    return events;
  }
  OwnedBreakpoint Break(weft_breakpoint_options options) {
    OwnedBreakpoint breakpoint;
    C_OK(problems, weft_session_break(session, &options, breakpoint.out(), problems.out()));
    return breakpoint;
  }
  /// What the paused run has computed.
  float Peek(const char* name) {
    OwnedView view = ViewOf(session, name);
    CHECK(InfoOf(view).in_progress != 0);
    return FloatsOf(view).at(0);
  }

  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, WatchedBlocks());
  OwnedSession session;
  Problems problems;
};

/// A page whose run fails, at pick.indices: what its queue tells are errors alone.
struct FailingHost {
  FailingHost() {
    C_OK(problems, weft_events_open(nullptr, events.out(), problems.out()));
    C_OK(problems, weft_events_add(events, session, WEFT_EVENT_BIT(WEFT_EVENT_ERROR), 0, problems.out()));
  }
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, {Block("x", "Const", {{"value", Ints({5})}}),
                                      Block("pick", "Gather", {{"params", Vector({1, 2})}, {"indices", "x.output"}})});
  OwnedSession session = OpenSession(page, {"pick.output"});
  OwnedEvents events;
  Problems problems;
};

inline std::vector<weft_event> Poll(weft_events* events, size_t capacity = 64) {
  std::vector<weft_event> array(capacity, weft_event WEFT_EVENT_INIT);
  size_t count = 0;
  REQUIRE(weft_events_poll(events, array.data(), capacity, &count, nullptr) == WEFT_OK);
  array.resize(count);
  return array;
}

}  // namespace weft::test
