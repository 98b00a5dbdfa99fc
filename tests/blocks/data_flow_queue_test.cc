// Queues between threads: order, capacity, closing, cancelling.
#include <thread>

#include "blocks/data_flow/queue_blocks.h"
#include "catch2/catch.hpp"
#include "tests/kit/test_services.h"

namespace weft {
namespace {

using blocks::Queue;
using blocks::QueueElement;
using blocks::QueueSpec;

/// Waits as the engine does, until cancelled or out of time.
class RealWaiter : public Waiter {
 public:
  Status Wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, FunctionRef<bool()> ready, int64_t timeout_ms,
              std::string_view what) override {
    ++waiting;
    const auto start = std::chrono::steady_clock::now();
    while (!ready()) {
      if (cancelled) return Status(Code::kCancelled, "cancelled");
      if (timeout_ms >= 0 && std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(timeout_ms)) {
        return Status(Code::kCancelled, Cat("no ", what, " in time"));
      }
      changed.wait_for(lock, std::chrono::milliseconds(1));
    }
    return {};
  }
  std::atomic<bool> cancelled{false};
  std::atomic<int> waiting{0};  // waits so far
};

std::unique_ptr<Queue> MakeQueue(int64_t capacity) {
  return std::make_unique<Queue>(QueueSpec{"FIFOQueue", {DType::kInt32}, {PartialShape(Shape{})}, capacity}, blocks::MakeFifoStore());
}

std::vector<QueueElement> ElementsFrom(int begin, int end) {
  std::vector<QueueElement> elements;
  for (int i = begin; i < end; ++i) elements.push_back({Tensor::Scalar<int32_t>(i)});
  return elements;
}

std::vector<int> Values(const std::vector<QueueElement>& elements) {
  std::vector<int> values;
  for (const QueueElement& element : elements) values.push_back(element.at(0).values<int32_t>()[0]);
  return values;
}

void WaitFor(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_CASE("A queue keeps the order and its capacity", "[queue]") {
  auto queue = MakeQueue(3);
  RealWaiter waiter;
  Status status;
  std::thread producer([&] { status = queue->Enqueue(ElementsFrom(0, 500), waiter, -1); });
  std::vector<int> got;
  while (got.size() < 500) {
    CHECK(queue->size() <= 3);
    auto taken = queue->Dequeue(1, false, waiter, -1);
    REQUIRE(taken.ok());
    got.push_back(Values(*taken)[0]);
  }
  producer.join();
  CHECK(status.ok());
  for (int i = 0; i < 500; ++i) REQUIRE(got[static_cast<size_t>(i)] == i);
}

TEST_CASE("Many producers and consumers lose and repeat nothing", "[queue]") {
  auto queue = MakeQueue(5);
  RealWaiter waiter;
  std::vector<std::thread> threads;
  std::vector<std::vector<int>> got(3);
  for (int p = 0; p < 4; ++p) {
    threads.emplace_back([&, p] {
      for (int i = 0; i < 100; i += 4) {
        if (!queue->Enqueue(ElementsFrom(100 * p + i, 100 * p + i + 4), waiter, -1).ok()) std::abort();
      }
    });
  }
  for (size_t c = 0; c < got.size(); ++c) {
    threads.emplace_back([&, c] {
      // More at a time than fit.
      for (;;) {
        auto taken = queue->Dequeue(7, true, waiter, -1);
        if (!taken.ok()) break;
        for (int value : Values(*taken)) got[c].push_back(value);
      }
    });
  }
  for (int p = 0; p < 4; ++p) threads[static_cast<size_t>(p)].join();
  CHECK(queue->Close(false).ok());
  for (size_t t = 4; t < threads.size(); ++t) threads[t].join();
  std::vector<int> all;
  for (const auto& part : got) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  REQUIRE(all.size() == 400);
  for (int i = 0; i < 400; ++i) REQUIRE(all[static_cast<size_t>(i)] == i);
}

TEST_CASE("A cancelled dequeue leaves the queue as it was", "[queue]") {
  auto queue = MakeQueue(-1);
  RealWaiter waiter, other;
  REQUIRE(queue->Enqueue(ElementsFrom(0, 3), waiter, -1).ok());
  Status status;
  std::thread consumer([&] { status = queue->Dequeue(5, false, waiter, -1).status(); });
  WaitFor([&] { return waiter.waiting > 0; });
  waiter.cancelled = true;
  consumer.join();
  CHECK(status.code() == Code::kCancelled);
  CHECK(queue->size() == 3);
  auto taken = queue->Dequeue(3, false, other, -1);
  REQUIRE(taken.ok());
  CHECK(Values(*taken) == std::vector<int>{0, 1, 2});
}

TEST_CASE("A time limit ends the waiting", "[queue]") {
  auto queue = MakeQueue(1);
  RealWaiter waiter;
  CHECK(queue->Dequeue(1, false, waiter, 5).status().code() == Code::kCancelled);
  CHECK(queue->Dequeue(1, false, waiter, 0).status().code() == Code::kCancelled);
  REQUIRE(queue->Enqueue(ElementsFrom(0, 1), waiter, 0).ok());
  CHECK(queue->Enqueue(ElementsFrom(1, 2), waiter, 5).code() == Code::kCancelled);
  CHECK(Values(*queue->Dequeue(1, false, waiter, 0)) == std::vector<int>{0});
  CHECK(queue->size() == 0);
}

TEST_CASE("Who waits first is served first", "[queue]") {
  auto queue = MakeQueue(-1);
  RealWaiter waiter;
  std::vector<int> first, second;
  std::thread a([&] { first = Values(*queue->Dequeue(3, false, waiter, -1)); });
  WaitFor([&] { return waiter.waiting == 1; });
  std::thread b([&] { second = Values(*queue->Dequeue(1, false, waiter, -1)); });
  WaitFor([&] { return waiter.waiting == 2; });
  RealWaiter producer;
  for (int i = 0; i < 4; ++i) REQUIRE(queue->Enqueue(ElementsFrom(i, i + 1), producer, -1).ok());
  a.join();
  b.join();
  CHECK(first == std::vector<int>{0, 1, 2});
  CHECK(second == std::vector<int>{3});
}

TEST_CASE("Closing: what waits for room still goes in, unless cancelled", "[queue]") {
  for (bool cancel : {false, true}) {
    auto queue = MakeQueue(2);
    RealWaiter waiter, other;
    Status status;
    std::thread producer([&] { status = queue->Enqueue(ElementsFrom(0, 4), waiter, -1); });
    WaitFor([&] { return waiter.waiting > 0; });
    REQUIRE(queue->Close(cancel).ok());
    CHECK(queue->Enqueue(ElementsFrom(9, 10), other, -1).code() == Code::kCancelled);
    auto taken = queue->Dequeue(4, true, other, -1);
    producer.join();
    CHECK(status.code() == (cancel ? Code::kCancelled : Code::kOk));
    REQUIRE(taken.ok());
    CHECK(Values(*taken) == (cancel ? std::vector<int>{0, 1} : std::vector<int>{0, 1, 2, 3}));
    CHECK(queue->Dequeue(1, true, other, -1).status().code() == Code::kOutOfRange);
    CHECK(queue->Close(false).code() == Code::kCancelled);
    CHECK(queue->Close(true).ok());
  }
}

TEST_CASE("Too few in a closed queue stay in it", "[queue]") {
  auto queue = MakeQueue(-1);
  RealWaiter waiter;
  REQUIRE(queue->Enqueue(ElementsFrom(0, 3), waiter, -1).ok());
  REQUIRE(queue->Close(false).ok());
  CHECK(queue->Dequeue(4, false, waiter, -1).status().code() == Code::kOutOfRange);
  CHECK(Values(*queue->Dequeue(3, false, waiter, -1)) == std::vector<int>{0, 1, 2});
}

TEST_CASE("Blocks of one shared name must want the same queue", "[queue]") {
  kit::TestState state;
  const QueueSpec spec{"FIFOQueue", {DType::kFloat}, {PartialShape(Shape{2})}, 4};
  auto bind = [&](const QueueSpec& wanted) { return blocks::BindQueue(state, "", "one", wanted, blocks::MakeFifoStore); };
  auto first = bind(spec);
  REQUIRE(first.ok());
  CHECK(*bind(spec) == *first);
  QueueSpec types = spec, shapes = spec, capacity = spec, kind = spec;
  types.types = {DType::kInt32};
  shapes.shapes = {};
  capacity.capacity = -1;
  kind.block = "PriorityQueue";
  for (const QueueSpec& other : {types, shapes, capacity, kind}) {
    auto found = bind(other);
    CHECK(found.status().code() == Code::kInvalidArgument);
    CHECK(found.status().place().port == "shared_name");
  }
}

}  // namespace
}  // namespace weft
