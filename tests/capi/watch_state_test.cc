// Snapshots through the C interface, and all that a host observes from several threads at once.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/capi/watch_kit.h"

using namespace weft;
using namespace weft::test;

TEST_CASE("C: state is saved and restored, and what does not fit is all said", "[capi][watch]") {
  namespace fs = std::filesystem;
  const fs::path file = fs::temp_directory_path() / Cat("weft_capi_", getpid(), ".snap");
  WatchingHost host;
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

TEST_CASE("C: a page runs while other threads poll, take samples, set breakpoints, save, cancel and read", "[capi][watch][threads]") {
  namespace fs = std::filesystem;
  const fs::path file = fs::temp_directory_path() / Cat("weft_capi_threads_", getpid(), ".snap");
  WatchingHost host;
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
    (void)weft_session_view(host.session, "seen.z", view.out(), nullptr);
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
