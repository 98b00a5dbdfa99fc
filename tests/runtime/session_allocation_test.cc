// A repeated run takes no memory from the heap, and costs tens of nanoseconds a block.
#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/runtime/session_kit.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WEFT_SANITIZED 1
#else
#define WEFT_SANITIZED 0
#endif

#if !WEFT_SANITIZED
namespace {
std::atomic<uint64_t> allocations{0};

void* Take(std::size_t size, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return alignment <= alignof(std::max_align_t) ? std::malloc(size) : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void* TakeOrThrow(std::size_t size, std::size_t alignment) {
  void* memory = Take(size == 0 ? 1 : size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t size) { return TakeOrThrow(size, 1); }
void* operator new[](std::size_t size) { return TakeOrThrow(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) { return TakeOrThrow(size, static_cast<std::size_t>(alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return TakeOrThrow(size, static_cast<std::size_t>(alignment)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return Take(size == 0 ? 1 : size, 1); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return Take(size == 0 ? 1 : size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Take(size == 0 ? 1 : size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Take(size == 0 ? 1 : size, static_cast<std::size_t>(alignment));
}
// Not inlined: the compiler would take free for the wrong end of a new that it sees.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace weft::test {
namespace {

/// Calls of operator new in 100 runs after some to warm up.
uint64_t AllocationsOf(Session& session) {
  for (int run = 0; run < 10; ++run) RunOk(session);
  uint64_t before = allocations;
  Status status = session.RunSteps(100);
  uint64_t after = allocations;
  REQUIRE(status.ok());
  return after - before;
}

std::vector<std::string> ScalarChain(int length) {
  std::vector<std::string> blocks = {Variable("v", Scalar(0.5)), Variable("w", Scalar(0.25))};
  std::string last = "v.ref";
  for (int i = 0; i < length; ++i) {
    blocks.push_back(Block(Cat("b", i), "Add", {{"x", last}, {"y", "w.ref"}}));
    last = Cat("b", i, ".z");
  }
  return blocks;
}

TEST_CASE("A chain of scalar blocks repeats without allocating", "[session-api]") {
  TestPage page(ScalarChain(1000));
  for (Keep keep : {Keep::kAll, Keep::kAsked}) {
    auto session = page.Open({"b999.z"}, {}, keep);
    CHECK(AllocationsOf(*session) == 0);
    CHECK(Get(*session, "b999.z") == Floats{250.5});
  }
}

TEST_CASE("A chain of scalar blocks costs tens of nanoseconds a block", "[session-api]") {
  TestPage page(ScalarChain(1000));
  auto session = page.Open({"b999.z"}, {}, Keep::kAsked);
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    Clock::time_point start = Clock::now();
    REQUIRE(session->RunSteps(20).ok());
    best = std::min(best, MillisecondsSince(start) * 1e6 / 20 / 1000);
  }
  INFO(best << " ns a block");
#ifdef __OPTIMIZE__
  CHECK(best < 150);  // 50 on a machine that does nothing else
#endif
}

TEST_CASE("A training step repeats without allocating", "[session-api]") {
  auto weights = [](std::string_view id, int rows, int columns) {
    std::vector<double> values;
    for (int i = 0; i < rows * columns; ++i) values.push_back(0.1 * (i % 7) - 0.3);
    return Variable(id, Literal("DT_FLOAT", {rows, columns}, values));
  };
  auto move = [](std::string_view id, const std::string& var, const std::string& delta) {
    return Block(id, "ApplyGradientDescent", {{"var", var}, {"alpha", Scalar(0.1)}, {"delta", delta}});
  };
  TestPage page({Block("x", "Const", {{"value", Literal("DT_FLOAT", {4, 2}, {0, 0, 0, 1, 1, 0, 1, 1})}}),
                 Block("y", "Const", {{"value", Literal("DT_FLOAT", {4, 1}, {0, 1, 1, 0})}}), weights("w1", 2, 4), weights("w2", 4, 1),
                 Block("m1", "MatMul", {{"a", "x.output"}, {"b", "w1.ref"}}), Block("h", "Sigmoid", {{"x", "m1.product"}}),
                 Block("m2", "MatMul", {{"a", "h.y"}, {"b", "w2.ref"}}), Block("o", "Sigmoid", {{"x", "m2.product"}}),
                 Block("e", "Subtract", {{"x", "o.y"}, {"y", "y.output"}}), Block("loss", "L2Loss", {{"t", "e.z"}}),
                 Block("g", "AddSymbolicGradients", {{"outputs", "[\"loss.output\"]"}, {"inputs", "[\"w1.ref\", \"w2.ref\"]"}}),
                 move("u1", "w1.ref", "g.grad_outputs[0]"), move("u2", "w2.ref", "g.grad_outputs[1]"), move("again", "w1.ref", "g.grad_outputs[0]")});
  for (Keep keep : {Keep::kAll, Keep::kAsked}) {
    auto session = page.Open({"loss.output"}, {"u1", "u2", "again"}, keep);
    CHECK(AllocationsOf(*session) == 0);
  }
}

TEST_CASE("Fused steps repeat without allocating", "[session-api]") {
  TestPage page({Block("x", "Placeholder", {}, "dtype_ = DT_FLOAT;"), Block("s", "Square", {{"x", "x.output"}}),
                 Block("t", "Tanh", {{"x", "s.y"}}), Block("n", "Negate", {{"x", "t.y"}}),
                 Block("m", "Mean", {{"input", "n.y"}, {"axis", Ints({0})}})});
  for (Keep keep : {Keep::kAll, Keep::kAsked}) {
    auto session = page.Open({"m.output"}, {}, keep);
    Tensor zeros = Tensor::Allocate(DType::kFloat, Shape{500000}).value();
    for (float& v : zeros.values<float>()) v = 0;
    REQUIRE(page.Feed(*session, "x.output", zeros).ok());
    CHECK(AllocationsOf(*session) == 0);
    CHECK(session->plan()->fused.size() == 1);
  }
}

TEST_CASE("Dynamic steps of a steady shape repeat without allocating", "[session-api]") {
  TestPage page({Block("p", "Placeholder", {}, "dtype_ = DT_FLOAT;"), Block("d", "Placeholder", {}, "dtype_ = DT_INT32;shape_ = [2];"),
                 Block("f", "Fill", {{"dims", "d.output"}, {"value", Scalar(2)}}), Block("s", "Square", {{"x", "f.output"}}),
                 Block("m", "Multiply", {{"x", "s.y"}, {"y", "p.output"}})});
  auto session = page.Open({"m.z"}, {}, Keep::kAsked);
  REQUIRE(page.Feed(*session, "p.output", Tensor::Scalar(3.f)).ok());
  REQUIRE(page.Feed(*session, "d.output", Tensor::Of<int32_t>({3, 4})).ok());
  CHECK(AllocationsOf(*session) == 0);
  CHECK(Get(*session, "m.z") == Floats(12, 12));
}

/// Two results of 40,000 bytes, small ones, and a variable that each run changes.
TestPage ReadPageOf() {
  return TestPage({Variable("v", Literal("DT_FLOAT", {1, 100}, std::vector<double>(100, 0.5))),
                   Block("ones", "Fill", {{"dims", Ints({100, 1})}, {"value", Scalar(1)}}),
                   Block("big", "MatMul", {{"a", "ones.output"}, {"b", "v.ref"}}), Block("bent", "Tanh", {{"x", "big.product"}}),
                   Block("mean", "Mean", {{"input", "bent.y"}, {"axis", Ints({0, 1})}}),
                   Block("up", "AssignAdd", {{"ref", "v.ref"}, {"value", Literal("DT_FLOAT", {1, 100}, std::vector<double>(100, 1))}})});
}

/// All results of a session.
std::vector<Result<ResultValue>> ReadAll(const Session& session) {
  const auto names = session.Results();
  std::vector<std::string_view> views;
  for (const auto& [name, value] : names) views.push_back(name);
  return session.GetAll(views);
}

TEST_CASE("A page whose results are all read after every run repeats without allocating", "[session-api]") {
  for (size_t held : {1u, 2u, 3u}) {  // runs whose results the reader holds while the next one goes on
    TestPage page = ReadPageOf();
    auto session = page.Open({"mean.output"}, {"up"});
    std::vector<std::vector<Result<ResultValue>>> reads;
    uint64_t taken = 0;
    for (int run = 1; run <= 50; ++run) {
      const uint64_t before = allocations;
      RunOk(*session);
      if (run > 20) taken += allocations - before;
      reads.push_back(ReadAll(*session));
      if (reads.size() > held) reads.erase(reads.begin());
    }
    INFO(held << " held");
    CHECK(taken == 0);
    REQUIRE(reads.size() == held);
    for (size_t i = 0; i < held; ++i) {
      for (const Result<ResultValue>& result : reads[i]) {
        REQUIRE(result.ok());
        CHECK(result->run == 50 - held + 1 + i);
      }
    }
  }
}

TEST_CASE("Memory that readers made a session take is given back when nobody reads any more", "[session-api]") {
  TestPage page = ReadPageOf();
  auto session = page.Open({"mean.output"}, {"up"});
  REQUIRE(session->RunSteps(10).ok());
  const int64_t unread = page.runtime().budget()->used();
  for (int run = 0; run < 10; ++run) {
    const auto held = ReadAll(*session);
    RunOk(*session);
    RunOk(*session);
  }
  CHECK(page.runtime().budget()->used() > unread + 40000);
  REQUIRE(session->RunSteps(200).ok());
  CHECK(page.runtime().budget()->used() < unread + 10000);  // but for the variable's few hundred bytes
}

}  // namespace
}  // namespace weft::test
#endif
