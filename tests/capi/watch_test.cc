// What a host observes and controls through the C interface: events, samples, breakpoints.
#include <poll.h>

#include <thread>

#include "tests/capi/watch_kit.h"

using namespace weft;
using namespace weft::test;

TEST_CASE("C: a queue of events tells states, runs, blocks, prints and errors", "[capi][watch]") {
  WatchingHost host;
  OwnedEvents events = host.Events(WEFT_ALL_EVENTS, 42);
  std::vector<weft_event> first = Poll(events);
  REQUIRE(first.size() == 1);
  CHECK(first[0].kind == WEFT_EVENT_STATE);
  CHECK(first[0].state == WEFT_IDLE);
  host.Run(3);
  int prints = 0, blocks = 0, runs = 0;
  uint64_t seq = first[0].seq;
  for (const weft_event& event : Poll(events)) {
    CHECK(event.source == 42);
    CHECK(event.seq == ++seq);
    CHECK(std::string(event.page) == "page");
    CHECK(std::string(event.session) == "run");
    if (event.kind == WEFT_EVENT_PRINT) {
      CHECK(std::string(event.text).find("seen") != std::string::npos);
      CHECK(std::string(event.block) == "say");
      CHECK(event.run == static_cast<uint64_t>(++prints));
    }
    if (event.kind == WEFT_EVENT_PROGRESS) {
      ++blocks;
      CHECK(event.progress == WEFT_ENDED);
      CHECK(event.merged == 5);
    }
    if (event.kind == WEFT_EVENT_RUN) {
      ++runs;
      CHECK(event.run == 3);
    }
  }
  CHECK(prints == 3);
  CHECK(blocks == 4);
  CHECK(runs == 1);
  CHECK(weft_events_add(events, host.session, WEFT_ALL_EVENTS, 1, host.problems.out()) == WEFT_ALREADY_EXISTS);
  C_OK(host.problems, weft_events_remove(events, host.session, host.problems.out()));
  CHECK(weft_events_remove(events, host.session, host.problems.out()) == WEFT_NOT_FOUND);
  host.Run(1);
  CHECK(Poll(events).empty());
  CHECK(weft_events_add(events, host.session, 0, 1, nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_events_add(events, host.session, 0x100, 1, nullptr) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: an error event has the whole diagnostic", "[capi][watch]") {
  FailingHost host;
  const weft_status status = weft_session_run(host.session, nullptr, host.problems.out());
  CHECK(status != WEFT_OK);
  std::vector<weft_event> told = Poll(host.events);
  REQUIRE(told.size() == 1);
  CHECK(told[0].code == status);
  CHECK(std::string(told[0].text) == host.problems.at(0).message);
  CHECK(std::string(told[0].block) == "pick");
  CHECK(std::string(told[0].port) == "indices");
  CHECK(std::string(told[0].pointer) == host.problems.at(0).pointer);
}

TEST_CASE("C: a queue that nobody drains is bounded and says what it dropped", "[capi][watch]") {
  WatchingHost host;
  OwnedEvents events;
  weft_events_options options = WEFT_EVENTS_OPTIONS_INIT;
  options.most_events = 10;
  C_OK(host.problems, weft_events_open(&options, events.out(), host.problems.out()));
  C_OK(host.problems, weft_events_add(events, host.session, WEFT_EVENT_BIT(WEFT_EVENT_PRINT) | WEFT_EVENT_BIT(WEFT_EVENT_STATE), 0, host.problems.out()));
  host.Run(500);
  uint64_t dropped = 0, prints = 0, states = 0;
  for (const weft_event& event : Poll(events)) {
    dropped += event.dropped[WEFT_EVENT_PRINT];
    CHECK(event.dropped[WEFT_EVENT_STATE] == 0);
    prints += event.kind == WEFT_EVENT_PRINT;
    states += event.kind == WEFT_EVENT_STATE;
  }
  CHECK(dropped + prints == 500);
  CHECK(states == 3);
  CHECK(prints + states <= 10);
}

TEST_CASE("C: a host waits for events by descriptor, by call, and is interrupted", "[capi][watch]") {
  WatchingHost host;
  OwnedEvents events = host.Events(WEFT_EVENT_BIT(WEFT_EVENT_PRINT));
  int32_t fd = -1, ready = 1;
  C_OK(host.problems, weft_events_fd(events, &fd, host.problems.out()));
  C_OK(host.problems, weft_events_wait(events, 0, &ready, host.problems.out()));
  CHECK(ready == 0);
  host.Start(1);
  pollfd wanted{fd, POLLIN, 0};
  CHECK(poll(&wanted, 1, 20000) == 1);
  C_OK(host.problems, weft_events_wait(events, -1, &ready, host.problems.out()));
  CHECK(ready == 1);
  CHECK(Poll(events).size() == 1);
  CHECK(poll(&wanted, 1, 0) == 0);
  weft_status interrupted = WEFT_INTERNAL;
  std::thread other([&] { interrupted = weft_events_interrupt(events, nullptr); });
  C_OK(host.problems, weft_events_wait(events, 20000, &ready, host.problems.out()));
  CHECK(ready == 0);
  other.join();
  CHECK(interrupted == WEFT_OK);
  // To close the handle ends a wait, too.
  weft_events* raw = events.release();
  std::thread waiting([&] { (void)weft_events_wait(raw, -1, nullptr, nullptr); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(weft_events_close(raw) == WEFT_OK);
  waiting.join();
}

TEST_CASE("C: events are written into structs of the host's size", "[capi][watch]") {
  WatchingHost host;
  OwnedEvents events = host.Events(WEFT_EVENT_BIT(WEFT_EVENT_PRINT));
  host.Run(2);
  struct Short {
    uint32_t size;
    int32_t kind;
    uint64_t seq;
  } array[3] = {{sizeof(Short), -1, 0}, {sizeof(Short), -1, 0}, {sizeof(Short), -1, 0}};
  size_t count = 0;
  C_OK(host.problems, weft_events_poll(events, reinterpret_cast<weft_event*>(array), 3, &count, host.problems.out()));
  CHECK(count == 2);
  CHECK(array[0].kind == WEFT_EVENT_PRINT);
  CHECK(array[1].seq == 2);
  CHECK(array[2].kind == -1);
  weft_event bad = WEFT_EVENT_INIT;
  bad.size = 3;
  CHECK(weft_events_poll(events, &bad, 1, &count, nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_events_poll(events, nullptr, 1, &count, nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_events_poll(events, nullptr, 0, &count, nullptr) == WEFT_OK);
  CHECK(weft_events_poll(events, &bad, 1, nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: callbacks have their user data, come on the running thread, and may call back", "[capi][watch]") {
  WatchingHost host;
  struct Seen {
    weft_session* session;
    std::thread::id thread;
    int prints = 0, values = 0, wrong = 0;
  } seen{host.session, std::this_thread::get_id()};
  auto callback = [](void* user, const weft_event* event) {
    auto& s = *static_cast<Seen*>(user);
    s.prints += event->kind == WEFT_EVENT_PRINT;
    s.values += event->kind == WEFT_EVENT_VALUES;
    s.wrong += std::this_thread::get_id() != s.thread;
    weft_session_info info = WEFT_SESSION_INFO_INIT;
    s.wrong += weft_session_get_info(s.session, &info, nullptr) != WEFT_OK;
    s.wrong += weft_session_wait(s.session, 0, nullptr, nullptr) != WEFT_FAILED_PRECONDITION && info.state == WEFT_RUNNING;
  };
  C_OK(host.problems, weft_session_on_event(host.session, callback, &seen, WEFT_ALL_EVENTS, -1, host.problems.out()));
  OwnedSubscription subscription;
  C_OK(host.problems, weft_session_subscribe(host.session, "seen.z", nullptr, subscription.out(), host.problems.out()));
  host.Run(4);
  CHECK(seen.prints == 4);
  CHECK(seen.values == 1);
  CHECK(seen.wrong == 0);
  C_OK(host.problems, weft_session_on_event(host.session, nullptr, nullptr, 0, 0, host.problems.out()));
  host.Run(4);
  CHECK(seen.prints == 4);
  CHECK(weft_session_on_event(host.session, callback, &seen, 0, 0, nullptr) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: samples of many subscriptions are taken at once", "[capi][watch]") {
  WatchingHost host;
  OwnedEvents events = host.Events(WEFT_EVENT_BIT(WEFT_EVENT_VALUES), 5);
  OwnedSubscription last, mean, range;
  weft_subscription_options options = WEFT_SUBSCRIPTION_OPTIONS_INIT;
  options.tag = 1;
  C_OK(host.problems, weft_session_subscribe(host.session, "seen.z", &options, last.out(), host.problems.out()));
  options.tag = 2;
  options.reduction = WEFT_HISTOGRAM;
  options.bins = 2;
  C_OK(host.problems, weft_session_subscribe(host.session, "half.result_z", &options, mean.out(), host.problems.out()));
  options.tag = 3;
  options.reduction = WEFT_MIN_MAX;
  C_OK(host.problems, weft_session_subscribe(host.session, "seen.z", &options, range.out(), host.problems.out()));
  host.Run(2);
  std::vector<weft_event> told = Poll(events);
  REQUIRE(told.size() == 1);
  CHECK(told[0].kind == WEFT_EVENT_VALUES);
  CHECK(told[0].source == 5);
  weft_sample array[4];
  for (weft_sample& sample : array) sample = weft_sample WEFT_SAMPLE_INIT;
  size_t count = 0;
  C_OK(host.problems, weft_subscription_samples(range, array, 4, &count, host.problems.out()));
  REQUIRE(count == 1);
  {
    OwnedView low(array[0].value), high(array[0].high);
    CHECK(FloatsOf(low) == std::vector<float>{2});
    CHECK(FloatsOf(high) == std::vector<float>{2});
    CHECK(array[0].tag == 3);
    CHECK(array[0].run == 2);
  }
  C_OK(host.problems, weft_session_samples(host.session, array, 1, &count, host.problems.out()));
  REQUIRE(count == 1);
  OwnedView value(array[0].value);
  CHECK(array[0].tag == 1);
  CHECK(FloatsOf(value) == std::vector<float>{2});
  CHECK(InfoOf(value).generation == 2);
  C_OK(host.problems, weft_session_samples(host.session, array, 4, &count, host.problems.out()));
  REQUIRE(count == 1);
  OwnedView bins(array[0].value);
  CHECK(array[0].tag == 2);
  CHECK(InfoOf(bins).dtype == WEFT_INT64);
  CHECK(array[0].lowest == 1);
  CHECK(array[0].high == nullptr);
  CHECK(weft_session_subscribe(host.session, "nothing.z", nullptr, last.out(), host.problems.out()) == WEFT_NOT_FOUND);
  for (auto change : {+[](weft_subscription_options& o) { o.reduction = 6; }, +[](weft_subscription_options& o) { o.reduction = -1; },
                      +[](weft_subscription_options& o) { o.interval_ns = -1; }, +[](weft_subscription_options& o) { o.max_bytes = -1; },
                      +[](weft_subscription_options& o) { o.bins = -1; }}) {
    weft_subscription_options wrong = WEFT_SUBSCRIPTION_OPTIONS_INIT;
    change(wrong);
    OwnedSubscription none;
    CHECK(weft_session_subscribe(host.session, "seen.z", &wrong, none.out(), nullptr) == WEFT_INVALID_ARGUMENT);
    CHECK(static_cast<weft_subscription*>(none) == nullptr);
  }
}

TEST_CASE("C: a breakpoint pauses, values are looked at, and the run goes on", "[capi][watch]") {
  WatchingHost host;
  weft_breakpoint_options options = WEFT_BREAKPOINT_OPTIONS_INIT;
  options.block = "half";
  OwnedBreakpoint breakpoint = host.Break(options);
  host.Start(2);
  REQUIRE(host.Wait() == WEFT_PAUSED);
  CHECK(InfoOf(host.session).pause_reason == WEFT_PAUSE_BREAK);
  OwnedStrings place;
  C_OK(host.problems, weft_session_paused_at(host.session, place.out(), host.problems.out()));
  const char* text = nullptr;
  REQUIRE(weft_strings_get(place, 1, &text, nullptr) == WEFT_OK);
  CHECK(std::string(text) == "breakpoint 1: before half");
  CHECK(host.Peek("seen.z") == 1);
  OwnedView none;
  CHECK(weft_session_view(host.session, "half.z", none.out(), nullptr) == WEFT_FAILED_PRECONDITION);
  weft_breakpoint_info info = WEFT_BREAKPOINT_INFO_INIT;
  C_OK(host.problems, weft_breakpoint_get_info(breakpoint, &info, host.problems.out()));
  CHECK(info.paused != 0);
  CHECK(info.hits == 1);
  C_OK(host.problems, weft_session_resume(host.session, WEFT_STEP_BLOCK, host.problems.out()));
  REQUIRE(host.Wait() == WEFT_PAUSED);
  CHECK(host.Peek("half.z") == 0.5F);
  C_OK(host.problems, weft_breakpoint_enable(breakpoint, 0, host.problems.out()));
  C_OK(host.problems, weft_session_resume(host.session, WEFT_GO_ON, host.problems.out()));
  CHECK(host.Wait() == WEFT_IDLE);
  CHECK(InfoOf(host.session).runs == 2);
  CHECK(InfoOf(ViewOf(host.session, "seen.z")).in_progress == 0);
}

TEST_CASE("C: breakpoints on conditions, and a debugger that is lost", "[capi][watch]") {
  WatchingHost host;
  weft_breakpoint_options options = WEFT_BREAKPOINT_OPTIONS_INIT;
  options.kind = WEFT_BREAK_CONDITION;
  options.condition = "half.z >= 2";
  OwnedBreakpoint breakpoint = host.Break(options);
  CHECK(weft_session_heartbeat(host.session, nullptr) == WEFT_FAILED_PRECONDITION);
  C_OK(host.problems, weft_session_lease(host.session, 100, host.problems.out()));
  host.Start(6);
  int32_t state = WEFT_RUNNING;
  for (const Clock::time_point start = Clock::now(); state != WEFT_IDLE && MillisecondsSince(start) < 20000;) {
    C_OK(host.problems, weft_session_wait(host.session, 5, &state, host.problems.out()));
    if (state == WEFT_PAUSED) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(InfoOf(host.session).runs == 6);
  weft_breakpoint_info info = WEFT_BREAKPOINT_INFO_INIT;
  C_OK(host.problems, weft_breakpoint_get_info(breakpoint, &info, host.problems.out()));
  CHECK(info.enabled == 0);
  CHECK(info.hits == 1);
  CHECK(weft_session_heartbeat(host.session, nullptr) == WEFT_FAILED_PRECONDITION);
  CHECK(weft_session_lease(host.session, -1, nullptr) == WEFT_INVALID_ARGUMENT);
  OwnedBreakpoint none;
  CHECK(weft_session_break(host.session, nullptr, none.out(), nullptr) == WEFT_INVALID_ARGUMENT);
  for (auto change : {+[](weft_breakpoint_options& o) { o.kind = 3; }, +[](weft_breakpoint_options& o) { o.condition = "half.z"; },
                      +[](weft_breakpoint_options& o) { o.condition = nullptr; }, +[](weft_breakpoint_options& o) { o.port = "z"; }}) {
    weft_breakpoint_options wrong = options;
    change(wrong);
    CHECK(weft_session_break(host.session, &wrong, none.out(), nullptr) == WEFT_INVALID_ARGUMENT);
  }
  weft_breakpoint_options missing = WEFT_BREAKPOINT_OPTIONS_INIT;
  missing.block = "hal";
  CHECK(weft_session_break(host.session, &missing, none.out(), host.problems.out()) == WEFT_NOT_FOUND);
  CHECK(std::string(host.problems.at(0).hint).find("half") != std::string::npos);
}

TEST_CASE("C: what is observed ends with its session, in any order", "[capi][watch]") {
  OwnedEvents events;
  OwnedSubscription subscription;
  OwnedBreakpoint breakpoint;
  {
    WatchingHost host;
    events = host.Events(WEFT_ALL_EVENTS);
    C_OK(host.problems, weft_session_subscribe(host.session, "seen.z", nullptr, subscription.out(), host.problems.out()));
    weft_breakpoint_options options = WEFT_BREAKPOINT_OPTIONS_INIT;
    options.block = "half";
    breakpoint = host.Break(options);
    host.Start(-1);
    REQUIRE(host.Wait() == WEFT_PAUSED);
  }
  weft_breakpoint_info info = WEFT_BREAKPOINT_INFO_INIT;
  CHECK(weft_breakpoint_get_info(breakpoint, &info, nullptr) == WEFT_OK);
  weft_sample sample = WEFT_SAMPLE_INIT;
  size_t count = 1;
  CHECK(weft_subscription_samples(subscription, &sample, 1, &count, nullptr) == WEFT_OK);
  CHECK(count == 0);
  CHECK_FALSE(Poll(events).empty());
}
