// Sessions on several threads: cancelling, deadlines, stalls, queues between sessions.
#include "tests/kit/sanitized.h"
#include "tests/runtime/session_kit.h"

namespace weft::test {
namespace {

using std::chrono::milliseconds;

std::string Product(int size) {
  return Block("big", "Fill", {{"dims", Ints({static_cast<double>(size), static_cast<double>(size)})}, {"value", Scalar(1)}});
}

/// A queue of floats, what fills it and what empties it.
std::vector<std::string> QueuePage(int capacity) {
  return {Block("q", "FIFOQueue", {}, Cat("component_types_ = {DT_FLOAT};capacity_ = ", capacity, ";")),
          Variable("sent", Scalar(0)), Variable("total", Scalar(0)),
          Block("count", "ApplyGradientDescent", {{"var", "sent.ref"}, {"alpha", Scalar(-1)}, {"delta", Scalar(1)}}),
          Block("put", "QueueEnqueue", {{"handle", "q.handle"}, {"components", "[\"count.out\"]"}}),
          Block("take", "QueueDequeue", {{"handle", "q.handle"}}, "component_types_ = {DT_FLOAT};"),
          Block("add", "ApplyGradientDescent", {{"var", "total.ref"}, {"alpha", Scalar(-1)}, {"delta", "flat.output"}}),
          Block("flat", "Reshape", {{"tensor", "take.components[0]"}, {"shape", Literal("DT_INT32", {0}, {})}})};
}

TEST_CASE("A run is cancelled from another thread, also inside a long kernel", "[session-api]") {
  TestPage page({Product(4096), Block("m", "MatMul", {{"a", "big.output"}, {"b", "big.output"}}), Variable("v", Scalar(1)),
                 Block("u", "Assign", {{"ref", "v.ref"}, {"value", Scalar(2)}})});
  auto session = page.Open({"m.product"}, {"u"});
  Clock::time_point asked;
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(150));
    asked = Clock::now();
    session->Cancel();
  });
  Status status = session->Run();
  double late = MillisecondsSince(asked);
  other.join();
  CHECK(status.code() == Code::kCancelled);
  CHECK(late < (kit::kSanitized ? 20000 : 1000));  // a piece of a kernel takes some milliseconds on a machine that has time for it
  CHECK(page.Var("v") == Floats{1});
  CHECK(session->Get("m.product").status().code() == Code::kFailedPrecondition);
}

TEST_CASE("A Cancel before a run ends that run, and only that", "[session-api]") {
  TestPage page({Variable("v", Scalar(1)), Block("u", "Assign", {{"ref", "v.ref"}, {"value", Scalar(2)}})});
  auto session = page.Open({}, {"u"});
  session->Cancel();
  CHECK(session->RunSteps(0).ok());
  CHECK(session->Run().code() == Code::kCancelled);
  CHECK(page.Var("v") == Floats{1});
  RunOk(*session);
  CHECK(page.Var("v") == Floats{2});
  session->Cancel();
  CHECK(session->RunSteps(10).code() == Code::kCancelled);
  CHECK(session->runs() == 1);
}

TEST_CASE("A deadline ends a run, and says so", "[session-api]") {
  TestPage page(QueuePage(4), {.threads = 2, .memory_limit = 0}, StallAfter(-1));
  auto session = page.Open({"take.components[0]"});
  RunOptions options;
  options.deadline = Clock::now() + milliseconds(60);
  Clock::time_point start = Clock::now();
  Status status = session->Run(options);
  CHECK(status.code() == Code::kCancelled);
  CHECK(status.message().find("deadline") != std::string::npos);
  CHECK(MillisecondsSince(start) < 2000);
  options.deadline = Clock::now() - milliseconds(1);
  CHECK(page.Open({}, {"put"})->Run(options).code() == Code::kCancelled);
  CHECK(page.Var("sent") == Floats{0});
  RunOk(*page.Open({}, {"put"}));
  RunOk(*session);
}

TEST_CASE("A wait that nobody can end is found out, or cancelled", "[session-api]") {
  TestPage page(QueuePage(1), {.threads = 2, .memory_limit = 0}, StallAfter(60));
  auto taker = page.Open({"take.components[0]"});
  Clock::time_point start = Clock::now();
  Status status = taker->Run();
  CHECK(status.code() == Code::kFailedPrecondition);
  CHECK(status.place().block == "take");
  CHECK(MillisecondsSince(start) < 3000);
  TestPage patient(QueuePage(1), {.threads = 2, .memory_limit = 0}, StallAfter(-1));
  auto waiting = patient.Open({"take.components[0]"});
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(50));
    waiting->Cancel();
  });
  CHECK(waiting->Run().code() == Code::kCancelled);
  other.join();
}

TEST_CASE("A session that holds its updates while it waits does not hold others for ever", "[session-api]") {
  // `put` waits for room with the update of `sent` not committed; the one that makes room wants to update, too.
  TestPage page(QueuePage(1), {.threads = 2, .memory_limit = 0}, StallAfter(100));
  auto put = page.Open({}, {"put"});
  RunOk(*put);
  Status blocked, other;
  std::thread thread([&] { blocked = put->Run(); });
  std::this_thread::sleep_for(milliseconds(30));
  auto count = page.Open({}, {"count"});
  other = count->Run();
  thread.join();
  CHECK((blocked.code() == Code::kFailedPrecondition || other.code() == Code::kFailedPrecondition));
  RunOk(*page.Open({}, {"count"}));
}

TEST_CASE("One session fills a queue while another empties it", "[session-api]") {
  constexpr int kRuns = 200;
  for (int capacity : {1, kRuns}) {  // both update variables where none ever waits for room: who waits holds the other's updates up
    TestPage page(QueuePage(capacity));
    auto fill = page.Open({}, {"put"}), empty = page.Open({"take.components[0]"}, capacity == 1 ? std::vector<std::string>{} : std::vector<std::string>{"add"});
    Status filled, emptied;
    std::thread other([&] { filled = fill->RunSteps(kRuns); });
    emptied = empty->RunSteps(kRuns);
    other.join();
    INFO(ToString(filled) << " / " << ToString(emptied));
    CHECK(filled.ok());
    CHECK(emptied.ok());
    CHECK(page.Var("sent") == Floats{kRuns});
    CHECK(Get(*empty, "take.components[0]") == Floats{kRuns});
    if (capacity > 1) CHECK(page.Var("total") == Floats{kRuns * (kRuns + 1) / 2});
  }
}

TEST_CASE("Looping sessions end by Cancel", "[session-api]") {
  TestPage page(QueuePage(3));
  auto fill = page.Open({}, {"put"}), empty = page.Open({"take.components[0]"});
  Status filled, emptied;
  std::thread one([&] { filled = fill->RunSteps(-1); }), two([&] { emptied = empty->RunSteps(-1); });
  while (empty->runs() < 50) std::this_thread::sleep_for(milliseconds(1));
  empty->Cancel();
  two.join();
  fill->Cancel();
  one.join();
  CHECK(filled.code() == Code::kCancelled);
  CHECK(emptied.code() == Code::kCancelled);
  CHECK(page.Var("sent") == Floats{static_cast<float>(fill->runs())});
}

TEST_CASE("Sessions that compute at the same time share the threads", "[session-api]") {
  TestPage page({Product(256), Block("m", "MatMul", {{"a", "big.output"}, {"b", "big.output"}}), Block("n", "MatMul", {{"a", "m.product"}, {"b", "big.output"}})},
                {.threads = 3, .memory_limit = 0, .processors = 3});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, session = page.Open({"n.product"})] {
      for (int run = 0; run < 5; ++run) {
        bool good = session->Run().ok();
        for (float value : session->Get("n.product")->tensor.values<float>()) good &= value == 65536;
        wrong += !good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace weft::test
