// What a host observes and controls through the C interface: events, samples, breakpoints, snapshots.
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "tests/capi/capi_kit.h"

using namespace weft;
using namespace weft::test;

namespace {

using OwnedEvents = Owned<weft_events, weft_events_close>;
using OwnedSubscription = Owned<weft_subscription, weft_subscription_close>;
using OwnedBreakpoint = Owned<weft_breakpoint, weft_breakpoint_close>;

/// v counts the runs; seen.z is 1 + the number of runs before, say prints it.
std::vector<std::string> WatchedBlocks() {
  return {Variable("v", Scalar(0)), Block("seen", "Add", {{"x", "v.ref"}, {"y", Scalar(1)}}),
          Block("half", "Multiply", {{"x", "seen.z"}, {"y", Scalar(0.5)}}),
          Block("say", "Print", {{"input", "half.z"}, {"data", "[\"seen.z\"]"}}, "message_ = seen ;"),
          Block("count", "ApplyGradientDescent", {{"var", "v.ref"}, {"alpha", Scalar(-1)}, {"delta", Scalar(1)}}),
          Block("run", "ClientSession", {{"fetch_outputs", "[\"say.output\"]"}, {"run_outputs", "[\"count.operation\"]"}})};
}

struct Host {
  Host() {
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
  float Look(const char* name) {
    OwnedView view;
    C_OK(problems, weft_session_look(session, name, view.out(), problems.out()));
    return FloatsOf(view).at(0);
  }

  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, WatchedBlocks());
  OwnedSession session;
  Problems problems;
};

std::vector<weft_event> Poll(weft_events* events, size_t capacity = 64) {
  std::vector<weft_event> array(capacity, weft_event WEFT_EVENT_INIT);
  size_t count = 0;
  REQUIRE(weft_events_poll(events, array.data(), capacity, &count, nullptr) == WEFT_OK);
  array.resize(count);
  return array;
}

}  // namespace

TEST_CASE("C: a queue of events tells states, runs, blocks, prints and errors", "[capi][watch]") {
  Host host;
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
  CHECK(weft_events_add(events, host.session, 0x80, 1, nullptr) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: an error event has the whole diagnostic", "[capi][watch]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, {Block("x", "Const", {{"value", test::Ints({5})}}),
                                      Block("pick", "Gather", {{"params", Vector({1, 2})}, {"indices", "x.output"}})});
  OwnedSession session = OpenSession(page, {"pick.output"});
  OwnedEvents events;
  Problems problems;
  C_OK(problems, weft_events_open(nullptr, events.out(), problems.out()));
  C_OK(problems, weft_events_add(events, session, WEFT_EVENT_BIT(WEFT_EVENT_ERROR), 0, problems.out()));
  const weft_status status = weft_session_run(session, nullptr, problems.out());
  CHECK(status != WEFT_OK);
  std::vector<weft_event> told = Poll(events);
  REQUIRE(told.size() == 1);
  CHECK(told[0].code == status);
  CHECK(std::string(told[0].text) == problems.at(0).message);
  CHECK(std::string(told[0].block) == "pick");
  CHECK(std::string(told[0].port) == "indices");
  CHECK(std::string(told[0].pointer) == problems.at(0).pointer);
}

TEST_CASE("C: a queue that nobody drains is bounded and says what it dropped", "[capi][watch]") {
  Host host;
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
  Host host;
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
  std::thread other([&] { CHECK(weft_events_interrupt(events, nullptr) == WEFT_OK); });
  C_OK(host.problems, weft_events_wait(events, 20000, &ready, host.problems.out()));
  CHECK(ready == 0);
  other.join();
  // To close the handle ends a wait, too.
  weft_events* raw = events.release();
  std::thread waiting([&] { (void)weft_events_wait(raw, -1, nullptr, nullptr); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(weft_events_close(raw) == WEFT_OK);
  waiting.join();
}

TEST_CASE("C: events are written into structs of the host's size", "[capi][watch]") {
  Host host;
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
  Host host;
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
  Host host;
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
  Host host;
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
  CHECK(host.Look("seen.z") == 1);
  OwnedView none;
  CHECK(weft_session_look(host.session, "half.z", none.out(), nullptr) == WEFT_FAILED_PRECONDITION);
  weft_breakpoint_info info = WEFT_BREAKPOINT_INFO_INIT;
  C_OK(host.problems, weft_breakpoint_get_info(breakpoint, &info, host.problems.out()));
  CHECK(info.paused != 0);
  CHECK(info.hits == 1);
  C_OK(host.problems, weft_session_resume(host.session, WEFT_STEP_BLOCK, host.problems.out()));
  REQUIRE(host.Wait() == WEFT_PAUSED);
  CHECK(host.Look("half.z") == 0.5F);
  C_OK(host.problems, weft_breakpoint_enable(breakpoint, 0, host.problems.out()));
  C_OK(host.problems, weft_session_resume(host.session, WEFT_GO_ON, host.problems.out()));
  CHECK(host.Wait() == WEFT_IDLE);
  CHECK(InfoOf(host.session).runs == 2);
  CHECK(weft_session_look(host.session, "seen.z", none.out(), nullptr) == WEFT_FAILED_PRECONDITION);
}

TEST_CASE("C: breakpoints on conditions, and a debugger that is lost", "[capi][watch]") {
  Host host;
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

TEST_CASE("C: state is saved and restored, and what does not fit is all said", "[capi][watch]") {
  namespace fs = std::filesystem;
  const fs::path file = fs::temp_directory_path() / Cat("weft_capi_", getpid(), ".snap");
  Host host;
  host.Run(3);
  weft_snapshot_info info = WEFT_SNAPSHOT_INFO_INIT;
  C_OK(host.problems, weft_page_save_state(host.page, file.c_str(), nullptr, &info, host.problems.out()));
  CHECK(info.variables == 1);
  CHECK(info.resources == 1);  // how often say has printed
  CHECK(info.bytes == static_cast<int64_t>(fs::file_size(file)));
  host.Run(2);
  C_OK(host.problems, weft_page_restore_state(host.page, file.c_str(), nullptr, nullptr, host.problems.out()));
  host.Run(1);
  CHECK(FloatsOf(host.session, "seen.z") == std::vector<float>{4});
  OwnedPage other = LoadPage(host.runtime, {Variable("v", Vector({1, 2})), Variable("w", Scalar(1))});
  CHECK(weft_page_restore_state(other, file.c_str(), nullptr, nullptr, host.problems.out()) != WEFT_OK);
  size_t count = 0;
  REQUIRE(weft_diagnostics_count(host.problems.list(), &count) == WEFT_OK);
  CHECK(count == 3);
  weft_snapshot_options options = WEFT_SNAPSHOT_OPTIONS_INIT;
  options.partial = 1;
  C_OK(host.problems, weft_page_restore_state(other, file.c_str(), &options, nullptr, host.problems.out()));
  std::ofstream(file, std::ios::binary) << "WeftSnap";
  CHECK(weft_page_restore_state(host.page, file.c_str(), nullptr, nullptr, host.problems.out()) == WEFT_DATA_LOSS);
  fs::remove(file);
  CHECK(weft_page_restore_state(host.page, file.c_str(), nullptr, nullptr, nullptr) == WEFT_NOT_FOUND);
  CHECK(weft_page_save_state(host.page, "", nullptr, nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_page_save_state(host.page, nullptr, nullptr, nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
  // A run that is paused keeps its state.
  weft_breakpoint_options before = WEFT_BREAKPOINT_OPTIONS_INIT;
  before.block = "half";
  OwnedBreakpoint breakpoint = host.Break(before);
  host.Start(1);
  REQUIRE(host.Wait() == WEFT_PAUSED);
  C_OK(host.problems, weft_page_save_state(host.page, file.c_str(), nullptr, nullptr, host.problems.out()));
  options.patience_ms = -1;
  CHECK(weft_page_restore_state(host.page, file.c_str(), &options, nullptr, host.problems.out()) == WEFT_FAILED_PRECONDITION);
  C_OK(host.problems, weft_session_cancel(host.session, host.problems.out()));
  fs::remove(file);
}

TEST_CASE("C: what is observed ends with its session, in any order", "[capi][watch]") {
  OwnedEvents events;
  OwnedSubscription subscription;
  OwnedBreakpoint breakpoint;
  {
    Host host;
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

TEST_CASE("C: a page runs while other threads poll, take samples, set breakpoints, save, cancel and read", "[capi][watch][threads]") {
  namespace fs = std::filesystem;
  const fs::path file = fs::temp_directory_path() / Cat("weft_capi_threads_", getpid(), ".snap");
  Host host;
  OwnedEvents events = host.Events(WEFT_ALL_EVENTS);
  OwnedSubscription subscription;
  weft_subscription_options each = WEFT_SUBSCRIPTION_OPTIONS_INIT;
  each.reduction = WEFT_EACH;
  C_OK(host.problems, weft_session_subscribe(host.session, "half.z", &each, subscription.out(), host.problems.out()));
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0}, taken{0};
  auto expect = [&](bool holds) { wrong += !holds; };
  std::vector<std::thread> threads;
  auto again = [&](auto body) {
    threads.emplace_back([&done, body] {
      while (!done) body();
    });
  };
  again([&] {
    expect(weft_events_wait(events, 2, nullptr, nullptr) == WEFT_OK);
    std::vector<weft_event> array(16, weft_event WEFT_EVENT_INIT);
    size_t count = 0;
    expect(weft_events_poll(events, array.data(), 16, &count, nullptr) == WEFT_OK);
    weft_sample samples[16];
    for (weft_sample& sample : samples) sample = weft_sample WEFT_SAMPLE_INIT;
    expect(weft_session_samples(host.session, samples, 16, &count, nullptr) == WEFT_OK);
    for (size_t i = 0; i < count; ++i) {
      OwnedView view(samples[i].value);
      weft_view_info info = WEFT_VIEW_INFO_INIT;
      expect(weft_view_get_info(view, &info) == WEFT_OK && *static_cast<const float*>(info.data) >= 0.5F);
      ++taken;
    }
  });
  again([&] {
    weft_breakpoint_options options = WEFT_BREAKPOINT_OPTIONS_INIT;
    options.block = "half";
    options.once = 1;
    OwnedBreakpoint breakpoint;
    expect(weft_session_break(host.session, &options, breakpoint.out(), nullptr) == WEFT_OK);
    OwnedView view;
    (void)weft_session_look(host.session, "seen.z", view.out(), nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    (void)weft_session_resume(host.session, WEFT_GO_ON, nullptr);
  });
  again([&] {
    weft_snapshot_options options = WEFT_SNAPSHOT_OPTIONS_INIT;
    options.patience_ms = 1000;
    expect(weft_page_save_state(host.page, file.c_str(), &options, nullptr, nullptr) == WEFT_OK);
    OwnedView view;
    (void)weft_session_view(host.session, "half.z", view.out(), nullptr);
    weft_session_info info = WEFT_SESSION_INFO_INIT;
    expect(weft_session_get_info(host.session, &info, nullptr) == WEFT_OK);
  });
  // The page's threads are started again and again, and cancelled.
  for (int i = 0; i < 20; ++i) {
    weft_run_options options = WEFT_RUN_OPTIONS_INIT;
    options.steps = WEFT_UNTIL_STOPPED;
    CHECK(weft_session_start(host.session, &options, nullptr) == WEFT_OK);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(weft_session_cancel(host.session, nullptr) == WEFT_OK);
    int32_t state = WEFT_RUNNING;
    for (const Clock::time_point start = Clock::now(); state != WEFT_IDLE && MillisecondsSince(start) < 20000;) {
      (void)weft_session_wait(host.session, 5, &state, nullptr);
      if (state == WEFT_PAUSED) (void)weft_session_cancel(host.session, nullptr);
    }
    REQUIRE(state == WEFT_IDLE);
  }
  done = true;
  CHECK(weft_events_interrupt(events, nullptr) == WEFT_OK);
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(taken > 0);
  fs::remove(file);
}
