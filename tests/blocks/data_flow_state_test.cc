// The state of queues, staging areas, staging maps and barriers: saved, restored, cut short; and what waits for room.
#include "blocks/data_flow/barrier.h"
#include "blocks/data_flow/queue_blocks.h"
#include "blocks/data_flow/staging.h"
#include "catch2/catch.hpp"
#include "tests/kit/test_services.h"

namespace weft {
namespace {

using namespace blocks;

Tensor Long(int64_t value) { return Tensor::Scalar<int64_t>(value); }
Tensor Text(std::string_view text) { return Tensor::Scalar<String>(String(text)); }
/// As CutRows makes them of one tensor.
std::vector<QueueElement> Rows(const std::vector<Tensor>& tensors) {
  std::vector<QueueElement> rows;
  for (const Tensor& tensor : tensors) rows.push_back(QueueElement{tensor});
  return rows;
}

/// One row for one key.
Status InsertRow(ElementBarrier& barrier, const String& key, int64_t component, const Services& services) {
  return barrier.Insert(std::span(&key, 1), component, Rows({Long(component)}), services);
}

/// Puts one value, of index 0, of a key.
Status PutPart(StagingMap& map, int64_t key, int64_t components, const std::shared_ptr<MemoryBudget>& budget) {
  kit::TestWaiter waiter;
  StagedPart part{Long(key), {0}, {Long(key)}, components};
  part.room = MemoryCharge(budget);
  return map.Put(std::move(part), {}, waiter, nullptr);
}

/// How often `put` succeeds, a thousand times at most, until the budget refuses.
int PutsUntilRefused(FunctionRef<Status(int)> put) {
  for (int i = 0; i < 1000; ++i) {
    const Status status = put(i);
    if (status.ok()) continue;
    INFO(ToString(status));
    CHECK(status.code() == Code::kResourceExhausted);
    return i;
  }
  return 1000;
}

/// What `from` saves, loaded within `limit` bytes.
template <class S>
Status LoadWithin(int64_t limit, const S& from, S& to) {
  StateWriter writer;
  REQUIRE(from.Save(writer).ok());
  const std::string bytes = std::move(writer).Take();
  const kit::TestFiles files("/");
  StateReader reader(bytes, files, std::make_shared<MemoryBudget>(limit));
  return to.Load(reader).status();
}

/// Puts what `from` saves into `to`; bytes that end too early must be refused, and change nothing.
template <class S>
void Restore(const S& from, S& to) {
  StateWriter writer;
  REQUIRE(from.Save(writer).ok());
  const std::string bytes = std::move(writer).Take();
  const kit::TestFiles files("/");
  for (size_t size = 0; size < bytes.size(); ++size) {
    StateReader reader(std::string_view(bytes).substr(0, size), files, nullptr);
    auto change = to.Load(reader);
    CHECK_FALSE((change.ok() && reader.End().ok()));
  }
  StateReader reader(bytes, files, nullptr);
  auto change = to.Load(reader);
  INFO(ToString(change.status()));
  REQUIRE(change.ok());
  REQUIRE(reader.End().ok());
  (*change)();
}

std::vector<int64_t> TakeAll(Queue& queue) {
  kit::TestWaiter waiter;
  std::vector<int64_t> taken;
  while (queue.size() > 0) taken.push_back(queue.Dequeue(1, false, waiter, -1).value()[0].back().values<int64_t>()[0]);
  return taken;
}

QueueSpec Spec(const char* block, int components) {
  QueueSpec spec;
  spec.block = block;
  spec.types = DTypes(static_cast<size_t>(components), DType::kInt64);
  spec.shapes = Shapes(static_cast<size_t>(components), PartialShape(Shape{}));
  return spec;
}

TEST_CASE("A RandomShuffleQueue goes on in its order after a snapshot", "[queue]") {
  kit::TestWaiter waiter;
  for (int before : {0, 1, 4, 7}) {
    auto make = [] { return std::make_unique<Queue>(Spec("RandomShuffleQueue", 1), MakeShuffleStore(kernels::Philox(3, 4), 0)); };
    const auto queue = make(), restored = make();
    std::vector<QueueElement> elements;
    for (int64_t i = 0; i < 30; ++i) elements.push_back({Long(i)});
    REQUIRE(queue->Enqueue(std::move(elements), waiter, 0).ok());
    for (int i = 0; i < before; ++i) REQUIRE(queue->Dequeue(1, false, waiter, 0).ok());
    Restore(*queue, *restored);
    CHECK(TakeAll(*queue) == TakeAll(*restored));
    restored->Reset();
    REQUIRE(restored->Enqueue({{Long(1)}}, waiter, 0).ok());
    CHECK(TakeAll(*restored) == std::vector<int64_t>{1});
  }
}

TEST_CASE("A PriorityQueue keeps the order of equal priorities in a snapshot", "[queue]") {
  kit::TestWaiter waiter;
  auto make = [] { return std::make_unique<Queue>(Spec("PriorityQueue", 2), MakePriorityStore()); };
  const auto queue = make(), restored = make();
  for (int64_t i = 0; i < 40; ++i) REQUIRE(queue->Enqueue({{Long(i % 3), Long(i)}}, waiter, 0).ok());
  REQUIRE(queue->Dequeue(5, false, waiter, 0).ok());
  Restore(*queue, *restored);
  CHECK(TakeAll(*queue) == TakeAll(*restored));
}

TEST_CASE("A PriorityQueue gives a batch when all of it is there", "[queue]") {
  kit::TestWaiter waiter;
  QueueSpec spec = Spec("PriorityQueue", 2);
  spec.capacity = 4;
  Queue queue(spec, MakePriorityStore());
  REQUIRE(queue.Enqueue({{Long(5), Long(50)}, {Long(1), Long(10)}}, waiter, 0).ok());
  CHECK_FALSE(queue.Dequeue(3, false, waiter, -1).ok());  // waits
  CHECK(queue.size() == 2);
  CHECK(queue.Dequeue(5, false, waiter, -1).status().code() == Code::kInvalidArgument);  // more than the queue ever holds
  REQUIRE(queue.Enqueue({{Long(0), Long(0)}}, waiter, 0).ok());
  auto batch = queue.Dequeue(3, false, waiter, -1);
  REQUIRE(batch.ok());
  CHECK((*batch)[0][1].values<int64_t>()[0] == 0);
  CHECK((*batch)[2][1].values<int64_t>()[0] == 50);
}

TEST_CASE("What could not be put back stays in its place", "[queue]") {
  kit::TestWaiter waiter;
  for (const bool shuffled : {false, true}) {
    Queue queue(Spec(shuffled ? "RandomShuffleQueue" : "PriorityQueue", 2),
                shuffled ? MakeShuffleStore(kernels::Philox(1, 2), 0) : MakePriorityStore());
    for (int64_t i = 0; i < 9; ++i) REQUIRE(queue.Enqueue({{Long(i), Long(i)}}, waiter, 0).ok());
    auto taken = queue.Dequeue(9, false, waiter, 0);
    REQUIRE(taken.ok());
    queue.Return(std::move(*taken));
    std::vector<int64_t> all = TakeAll(queue);
    std::sort(all.begin(), all.end());
    CHECK(all == std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  }
}

TEST_CASE("Staging areas and maps are restored as they were", "[staging]") {
  kit::TestWaiter waiter;
  StagingArea area, other;
  REQUIRE(area.Put({Long(1), Text("one")}, {}, waiter, nullptr).ok());
  REQUIRE(area.Put({Text("two")}, {}, waiter, nullptr).ok());
  Restore(area, other);
  CHECK(other.size() == 2);
  CHECK(other.Take({DType::kInt64}, waiter).status().code() == Code::kInvalidArgument);  // and it stays
  CHECK(other.Take({DType::kInt64, DType::kString}, waiter).value()[0].values<int64_t>()[0] == 1);
  CHECK(other.Put({Long(1)}, {1, 0}, waiter, nullptr).code() != Code::kOk);  // no room, and nobody makes it

  for (const bool ordered : {false, true}) {
    StagingMap map(ordered), restored(ordered), wrong(!ordered);
    for (int64_t key : {5, 2, 9}) REQUIRE(map.Put({Long(key), {0, 1}, {Long(10 * key), Text("x")}, 2}, {}, waiter, nullptr).ok());
    REQUIRE(map.Put({Long(7), {1}, {Text("half")}, 2}, {}, waiter, nullptr).ok());
    REQUIRE(map.Take(5, std::vector<int32_t>{1}, {DType::kString}, false, waiter).ok());
    Restore(map, restored);
    CHECK(restored.size() == 3);
    CHECK(restored.incomplete_size() == 1);
    CHECK(restored.Put({Long(7), {1}, {Text("again")}, 2}, {}, waiter, nullptr).code() == Code::kInvalidArgument);
    REQUIRE(restored.Put({Long(7), {0}, {Long(70)}, 2}, {}, waiter, nullptr).ok());
    std::vector<int64_t> keys;
    while (restored.size() > 0) {
      auto next = restored.TakeNext(std::vector<int32_t>{0}, {DType::kInt64}, waiter);
      REQUIRE(next.ok());
      keys.push_back((*next)[0].values<int64_t>()[0]);
      if (keys.back() != 5) REQUIRE(restored.Take(keys.back(), std::vector<int32_t>{1}, {DType::kString}, false, waiter).ok());
    }
    CHECK(keys == (ordered ? std::vector<int64_t>{2, 5, 7, 9} : std::vector<int64_t>{5, 2, 9, 7}));
    StateWriter writer;
    REQUIRE(map.Save(writer).ok());
    const std::string bytes = std::move(writer).Take();
    const kit::TestFiles files("/");
    StateReader reader(bytes, files, nullptr);
    CHECK(wrong.Load(reader).status().code() == Code::kInvalidArgument);
  }
}

TEST_CASE("A barrier is restored with what is ready and what is not", "[barrier]") {
  kit::TestWaiter waiter;
  kit::TestWorkers workers(1);
  Services services;
  services.waiter = &waiter;
  const DTypes types = {DType::kInt64, DType::kString};
  const Shapes shapes(2, PartialShape(Shape{}));
  ElementBarrier barrier(types, shapes), restored(types, shapes);
  const std::vector<String> keys = {String("a"), String("b")}, b = {String("b")}, a = {String("a")};
  REQUIRE(barrier.Insert(keys, 0, Rows({Long(1), Long(2)}), services).ok());
  REQUIRE(barrier.Insert(b, 1, Rows({Text("B")}), services).ok());
  REQUIRE(barrier.Close(false).ok());
  Restore(barrier, restored);
  CHECK(restored.ready_size() == 1);
  CHECK(restored.incomplete_size() == 1);
  CHECK(restored.Insert(std::vector<String>{String("c")}, 0, Rows({Long(3)}), services).code() == Code::kCancelled);
  CHECK_FALSE(restored.Take(2, false, services, workers).ok());  // waits for the one that may yet be complete
  REQUIRE(restored.Insert(a, 1, Rows({Text("A")}), services).ok());
  auto taken = restored.Take(2, false, services, workers);
  REQUIRE(taken.ok());
  CHECK((*taken)[1][0].values<int64_t>()[0] == INT64_MIN);
  CHECK(restored.Take(1, true, services, workers).status().code() == Code::kOutOfRange);
}

TEST_CASE("What a barrier keeps of keys that lack components counts, and their text", "[barrier][memory]") {
  constexpr int64_t kLimit = 1'000'000;
  kit::TestWaiter waiter;
  kit::TestWorkers workers(1);
  Services services;
  services.waiter = &waiter;
  services.budget = std::make_shared<MemoryBudget>(kLimit);
  const auto wide = [] { return ElementBarrier(DTypes(100, DType::kInt64), Shapes(100, PartialShape(Shape{}))); };
  {
    ElementBarrier barrier = wide(), other = wide();
    const int many = PutsUntilRefused([&](int i) { return InsertRow(barrier, String(Cat(i)), 0, services); });
    CHECK(many > 1);
    CHECK(many < kLimit / static_cast<int64_t>(100 * sizeof(Tensor)) + 1);
    CHECK(barrier.incomplete_size() == many);
    CHECK(LoadWithin(kLimit / 2, barrier, other).code() == Code::kResourceExhausted);
    CHECK(LoadWithin(2 * kLimit, barrier, other).ok());
    REQUIRE(barrier.Close(true).ok());
    CHECK(services.budget->used() == 0);
    barrier.Reset();
    CHECK(PutsUntilRefused([&](int i) { return InsertRow(barrier, String(Cat(i)), 0, services); }) == many);
    barrier.Reset();
    CHECK(services.budget->used() == 0);
  }
  ElementBarrier pair(DTypes(2, DType::kInt64), Shapes(2, PartialShape(Shape{})));
  const auto key = [](int i) { return String(std::string(100'000, static_cast<char>('a' + i))); };
  CHECK(PutsUntilRefused([&](int i) { return InsertRow(pair, key(i), 0, services); }) == 9);
  // One text for the key of the entry and for that of the element.
  for (int i = 0; i < 9; ++i) REQUIRE(InsertRow(pair, key(i), 1, services).ok());
  CHECK(services.budget->used() > 900'000);
  CHECK(pair.Take(9, false, services, workers).ok());
  CHECK(services.budget->used() == 0);
}

TEST_CASE("A component that finds no memory to complete its element can be given again", "[barrier][memory]") {
  kit::TestWaiter waiter;
  Services services;
  services.waiter = &waiter;
  services.budget = std::make_shared<MemoryBudget>(100'000);
  for (const int64_t types : {1, 2}) {
    ElementBarrier barrier(DTypes(static_cast<size_t>(types), DType::kInt64), Shapes(static_cast<size_t>(types), PartialShape(Shape{})));
    const String key("key");
    for (int64_t k = 0; k + 1 < types; ++k) REQUIRE(InsertRow(barrier, key, k, services).ok());
    // Whichever of its allocations is the one that is refused.
    for (int64_t left = 0; left < 4096 && barrier.ready_size() == 0; left += 16) {
      const int64_t taken = services.budget->available() - left;
      REQUIRE(services.budget->Reserve(taken));
      const Status status = InsertRow(barrier, key, types - 1, services);
      services.budget->Release(taken);
      INFO(left << " " << ToString(status));
      if (left == 0) CHECK(!status.ok());
      CHECK((status.ok() || status.code() == Code::kResourceExhausted));
      CHECK(barrier.ready_size() == (status.ok() ? 1 : 0));
      CHECK(barrier.incomplete_size() == (status.ok() ? 0 : types - 1));
    }
    CHECK(barrier.ready_size() == 1);
  }
}

TEST_CASE("What a staging map keeps of its keys counts", "[staging][memory]") {
  constexpr int64_t kLimit = 1'000'000, kWide = 100;
  kit::TestWaiter waiter;
  const auto budget = std::make_shared<MemoryBudget>(kLimit);
  StagingMap map(false), other(false);
  const int many = PutsUntilRefused([&](int i) { return PutPart(map, i, kWide, budget); });
  CHECK(many > 1);
  CHECK(many < kLimit / (kWide * static_cast<int64_t>(sizeof(Tensor))) + 1);
  CHECK(map.incomplete_size() == many);
  CHECK(LoadWithin(kLimit / 2, map, other).code() == Code::kResourceExhausted);
  CHECK(LoadWithin(2 * kLimit, map, other).ok());
  map.Clear();
  CHECK(budget->used() == 0);
  // Of keys with all their values as well, until those are taken.
  const auto small = std::make_shared<MemoryBudget>(kLimit / 10);
  CHECK(PutsUntilRefused([&](int i) { return PutPart(map, i, 1, small); }) < 1000);
  map.Clear();
  CHECK(small->used() == 0);
  REQUIRE(PutPart(map, 1, 2, budget).ok());
  StagedPart rest{Long(1), {1}, {Long(2)}, 2};
  rest.room = MemoryCharge(budget);
  REQUIRE(map.Put(std::move(rest), {}, waiter, nullptr).ok());
  CHECK(map.size() == 1);
  CHECK(budget->used() >= static_cast<int64_t>(2 * sizeof(Tensor)));
  REQUIRE(map.Take(1, std::vector<int32_t>{0, 1}, DTypes(2, DType::kInt64), false, waiter).ok());
  CHECK(budget->used() == 0);
}

TEST_CASE("A barrier takes no more keys once the run is to end, and has those before", "[barrier]") {
  struct Ending final : kit::TestWorkers {
    using TestWorkers::TestWorkers;
    bool Stopped() const override { return --left <= 0; }
    mutable int left = 3;
  };
  kit::TestWaiter waiter;
  Ending workers(1);
  Services services;
  services.waiter = &waiter;
  services.workers = &workers;
  ElementBarrier barrier({DType::kInt64}, Shapes(1, PartialShape(Shape{})));
  std::vector<String> keys;
  std::vector<Tensor> values;
  for (int64_t i = 0; i < 10000; ++i) keys.emplace_back(Cat(i)), values.push_back(Long(i));
  CHECK(barrier.Insert(keys, 0, Rows(values), services).code() == Code::kCancelled);
  CHECK(barrier.ready_size() > 0);
  CHECK(barrier.ready_size() < 10000);
  CHECK(barrier.incomplete_size() == 0);
}

}  // namespace
}  // namespace weft
