// Ending long work, and a session used from many threads.
#include <atomic>
#include <ctime>
#include <thread>

#include "tests/capi/capi_kit.h"
#include "tests/kit/sanitized.h"

using namespace weft;
using namespace weft::test;

TEST_CASE("C: a float product of 8192 x 8192 is cancelled within 50 ms", "[capi][cancel]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, {Block("x", "Fill", {{"dims", test::Ints({8192, 8192})}, {"value", Scalar(1)}}),
                                      Block("product", "MatMul", {{"a", "x.output"}, {"b", "x.output"}})});
  OwnedSession session = OpenSession(page, {"product.product"});
  Problems problems;
  // The quickest of a few: a busy machine may hold up any of them. Where it does so with all, what they worked after the cancel counts.
  double quickest = 1e9, least_work = 1e9;
  for (int attempt = 0; attempt < 10 && quickest >= 50; ++attempt) {
    weft_run_options options = WEFT_RUN_OPTIONS_INIT;
    options.until_block = "product";
    C_OK(problems, weft_session_start(session, &options, problems.out()));
    C_OK(problems, weft_session_wait(session, -1, nullptr, problems.out()));
    C_OK(problems, weft_session_resume(session, WEFT_GO_ON, problems.out()));
    std::this_thread::sleep_for(std::chrono::milliseconds(30 + 7 * attempt));
    REQUIRE(InfoOf(session).state == WEFT_RUNNING);
    Clock::time_point begin = Clock::now();
    const std::clock_t work = std::clock();  // of all threads
    CHECK(weft_session_cancel(session, nullptr) == WEFT_OK);
    CHECK(weft_session_wait(session, -1, nullptr, nullptr) == WEFT_CANCELLED);
    quickest = std::min(quickest, MillisecondsSince(begin));
    least_work = std::min(least_work, 1000.0 * static_cast<double>(std::clock() - work) / CLOCKS_PER_SEC);
  }
  INFO(quickest << " ms, " << least_work << " ms of work");
  CHECK((quickest < 50 * kSlow || (least_work < 50 * kSlow && quickest < 1000 * kSlow)));
  OwnedView view;
  CHECK(weft_session_view(session, "product.product", view.out(), problems.out()) == WEFT_FAILED_PRECONDITION);
}

TEST_CASE("C: a deadline ends a long product in time", "[capi][cancel]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, {Block("x", "Fill", {{"dims", test::Ints({4096, 4096})}, {"value", Scalar(1)}}),
                                      Block("p", "MatMul", {{"a", "x.output"}, {"b", "x.output"}}),
                                      Block("q", "MatMul", {{"a", "p.product"}, {"b", "x.output"}})});
  OwnedSession session = OpenSession(page, {"q.product"});
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.deadline_ns = 200'000'000;
  Problems problems;
  Clock::time_point begin = Clock::now();
  CHECK(weft_session_run(session, &options, problems.out()) == WEFT_CANCELLED);
  CHECK(std::string(problems.at(0).message).find("deadline") != std::string::npos);
  CHECK(MillisecondsSince(begin) < 200 + 100 * kSlow);
}

TEST_CASE("C: polled, read, fed, paused and cancelled from many threads", "[capi][threads]") {
  OwnedRuntime runtime = OpenRuntime();
  std::vector<std::string> blocks = CounterBlocks();
  blocks.push_back(Block("x", "Const", {{"value", Vector({1, 2})}}));
  blocks.push_back(Block("y", "Add", {{"x", "x.output"}, {"y", "n.ref"}}));
  blocks.push_back(Block("z", "Subtract", {{"x", "y.z"}, {"y", "n.ref"}}));
  OwnedPage page = LoadPage(runtime, blocks);
  OwnedSession session;
  const char* fetches[] = {"z.z"};
  const char* operations[] = {"next"};
  weft_session_options options = WEFT_SESSION_OPTIONS_INIT;
  options.fetches = fetches;
  options.fetch_count = 1;
  options.operations = operations;
  options.operation_count = 1;
  REQUIRE(weft_session_open(page, &options, session.out(), nullptr) == WEFT_OK);
  REQUIRE(weft_session_run(session, nullptr, nullptr) == WEFT_OK);
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  auto keep = [&](auto work) {
    threads.emplace_back([&, work] {
      while (!done) work();
    });
  };
  keep([&] {  // reads: z is what was fed to x, whatever n is
    OwnedView view;
    if (weft_session_view(session, "z.z", view.out(), nullptr) != WEFT_OK) return void(++wrong);
    weft_view_info info = WEFT_VIEW_INFO_INIT;
    if (weft_view_get_info(view, &info) != WEFT_OK || info.count != 2) return void(++wrong);
    const float* z = static_cast<const float*>(info.data);
    if (z[1] - z[0] != 1) ++wrong;
  });
  keep([&] {  // polls
    weft_session_info info = WEFT_SESSION_INFO_INIT;
    if (weft_session_get_info(session, &info, nullptr) != WEFT_OK) ++wrong;
    (void)weft_session_wait(session, 0, nullptr, nullptr);
  });
  int fed = 0;
  keep([&] {  // feeds
    FloatBuffer values({static_cast<float>(fed), static_cast<float>(fed + 1)});
    fed = (fed + 1) % 1000;
    weft_buffer buffer = values.get();
    if (weft_session_feed(session, "x.output", &buffer, nullptr) != WEFT_OK) ++wrong;
  });
  keep([&] {  // pauses and goes on
    (void)weft_session_pause(session, nullptr);
    std::this_thread::yield();
    (void)weft_session_resume(session, WEFT_STEP_BLOCK, nullptr);
    (void)weft_session_resume(session, WEFT_GO_ON, nullptr);
  });
  keep([&] {  // starts what has ended
    weft_run_options run = WEFT_RUN_OPTIONS_INIT;
    run.steps = 50;
    (void)weft_session_start(session, &run, nullptr);
    std::this_thread::yield();
  });
  // As long as it takes a busy machine to come to the end of another run, but not for ever.
  for (int i = 0; i < 30 || (i < 4000 && InfoOf(session).runs < 2); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (weft_session_cancel(session, nullptr) != WEFT_OK) ++wrong;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(weft_session_set_mode(session, WEFT_MODE_EDIT, nullptr, nullptr) == WEFT_OK);
  CHECK(wrong == 0);
  CHECK(InfoOf(session).runs > 1);
}
