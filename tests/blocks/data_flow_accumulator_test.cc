// Accumulators between sessions: waiting, cancelling, snapshots, memory; and a soak test in which no gradient is lost or doubled.
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <random>
#include <thread>

#include "tests/kit/sanitized.h"
#include "tests/kit/test_services.h"
#include "tests/runtime/session_kit.h"
#include "weft/state/snapshot.h"

namespace weft::test {
namespace {

using std::chrono::milliseconds;

ScopeOptions NoStalls() {
  ScopeOptions options;
  options.stall_limit_ms = -1;
  return options;
}

std::string Fed(std::string_view id, std::string_view dtype) { return Block(id, "Placeholder", {}, Cat("dtype_ = ", dtype, ";")); }

/// An accumulator `a` of vectors, and what works on it.
std::vector<std::string> DensePage(std::string_view settings) {
  return {Block("a", "ConditionalAccumulator", {}, Cat("dtype_ = DT_FLOAT;", settings)),
          Fed("g", "DT_FLOAT"),
          Fed("step", "DT_INT64"),
          Fed("n", "DT_INT32"),
          Block("apply", "AccumulatorApplyGradient", {{"handle", "a.handle"}, {"local_step", "step.output"}, {"gradient", "g.output"}}),
          Block("take", "AccumulatorTakeGradient", {{"handle", "a.handle"}, {"num_required", "n.output"}}, "dtype_ = DT_FLOAT;"),
          Block("num", "AccumulatorNumAccumulated", {{"handle", "a.handle"}})};
}

std::vector<std::string> SparsePage(std::string_view settings) {
  return {Block("a", "SparseConditionalAccumulator", {}, Cat("dtype_ = DT_FLOAT;", settings)),
          Fed("i", "DT_INT64"),
          Fed("g", "DT_FLOAT"),
          Fed("step", "DT_INT64"),
          Fed("n", "DT_INT32"),
          Block("apply", "SparseAccumulatorApplyGradient",
                {{"handle", "a.handle"},
                 {"local_step", "step.output"},
                 {"gradient_indices", "i.output"},
                 {"gradient_values", "g.output"},
                 {"gradient_shape", Literal("DT_INT64", {0}, {})}},
                "has_known_shape_ = false;"),
          Block("take", "SparseAccumulatorTakeGradient", {{"handle", "a.handle"}, {"num_required", "n.output"}}, "dtype_ = DT_FLOAT;"),
          Block("num", "AccumulatorNumAccumulated", {{"handle", "a.handle"}})};
}

void Apply(const TestPage& page, Tensor gradient, int64_t step = 0) {
  auto session = page.Open({}, {"apply"});
  REQUIRE(page.Feed(*session, "g.output", std::move(gradient)).ok());
  REQUIRE(page.Feed(*session, "step.output", Tensor::Scalar<int64_t>(step)).ok());
  RunOk(*session);
}
std::unique_ptr<Session> Taker(const TestPage& page, int32_t required) {
  auto session = page.Open({"take.average"});
  REQUIRE(page.Feed(*session, "n.output", Tensor::Scalar<int32_t>(required)).ok());
  return session;
}
int32_t Number(const TestPage& page) {
  auto session = page.Open({"num.num_accumulated"});
  RunOk(*session);
  return Get<int32_t>(*session, "num.num_accumulated")[0];
}
double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

TEST_CASE("Who waits for gradients takes no core, and ends soon after its deadline or a cancel", "[accumulator]") {
  TestPage page(DensePage("shape_ = [2];"), {.threads = 2, .memory_limit = 0}, NoStalls());
  Apply(page, Tensor::Of<float>({1, 2}));
  auto taker = Taker(page, 2);
  constexpr double kLatest = kit::kSanitized ? 200 : 10;  // milliseconds, in one of some tries: others may keep the machine busy
  double late = 1e9;
  for (int attempt = 0; attempt < 5 && late > kLatest; ++attempt) {
    const double cpu = CpuSeconds();
    const Clock::time_point deadline = Clock::now() + milliseconds(200);
    CHECK(taker->Run({.observer = nullptr, .deadline = deadline}).code() == Code::kCancelled);
    late = MillisecondsSince(deadline);
    CHECK(CpuSeconds() - cpu < 0.1);
  }
  CHECK(late <= kLatest);
  late = 1e9;
  for (int attempt = 0; attempt < 5 && late > kLatest; ++attempt) {
    Clock::time_point asked;
    std::thread other([&] {
      std::this_thread::sleep_for(milliseconds(50));
      asked = Clock::now();
      taker->Cancel();
    });
    CHECK(taker->Run().code() == Code::kCancelled);
    other.join();
    late = MillisecondsSince(asked);
  }
  CHECK(late <= kLatest);
  CHECK(Number(page) == 1);  // it took none
}

TEST_CASE("A wait for gradients that nobody applies is found out", "[accumulator]") {
  ScopeOptions options;
  options.stall_limit_ms = 50;
  TestPage page(DensePage("shape_ = [2];"), {.threads = 2, .memory_limit = 0}, std::move(options));
  const Status status = Taker(page, 1)->Run();
  CHECK(status.code() == Code::kFailedPrecondition);
  CHECK(status.place().block == "take");
}

TEST_CASE("Who waits for gradients first is served first, however few the next one wants", "[accumulator]") {
  TestPage page(DensePage("shape_ = [1];reduction_type_ = SUM;"), {.threads = 2, .memory_limit = 0}, NoStalls());
  auto first = Taker(page, 3), second = Taker(page, 1);
  Status three, last;
  std::thread one([&] { three = first->Run(); });
  std::this_thread::sleep_for(milliseconds(60));
  std::thread two([&] { last = second->Run(); });
  std::this_thread::sleep_for(milliseconds(60));
  for (float value : {1.f, 2.f, 4.f}) Apply(page, Tensor::Of<float>({value}), 9);
  one.join();
  Apply(page, Tensor::Of<float>({8}), 9);
  two.join();
  CHECK(three.ok());
  CHECK(last.ok());
  CHECK(Get(*first, "take.average") == Floats{7});
  CHECK(Get(*second, "take.average") == Floats{8});
}

TEST_CASE("A gradient for which there is no memory is not counted", "[accumulator]") {
  TestPage page(DensePage("shape_ = ?;"), {.threads = 2, .memory_limit = 8 << 20});
  constexpr int64_t kMany = 1 << 20;
  Tensor gradient = Tensor::Allocate(DType::kFloat, Shape{kMany}).value();
  std::fill_n(gradient.values<float>().data(), kMany, 1.f);
  auto session = page.Open({}, {"apply"});
  REQUIRE(page.Feed(*session, "g.output", gradient).ok());
  REQUIRE(page.Feed(*session, "step.output", Tensor::Scalar<int64_t>(0)).ok());
  RunOk(*session);
  const Status status = session->Run();  // the sum, and memory for the next one
  INFO(ToString(status));
  CHECK(status.code() == Code::kResourceExhausted);
  CHECK(Number(page) == 1);
  auto taker = Taker(page, 1);
  RunOk(*taker);
  CHECK(Get(*taker, "take.average")[kMany - 1] == 1);
}

TEST_CASE("Snapshots keep gradients, steps and session tensors", "[accumulator]") {
  const kit::TemporaryFolder folder;
  const auto file = folder.path() / "state.snap";
  auto blocks = DensePage("shape_ = [2];");
  blocks.push_back(Block("s", "SparseConditionalAccumulator", {}, "dtype_ = DT_FLOAT;shape_ = [9][2];shared_name_ = rows;"));
  blocks.push_back(Block("apply_s", "SparseAccumulatorApplyGradient",
                         {{"handle", "s.handle"},
                          {"local_step", Literal("DT_INT64", {}, {0})},
                          {"gradient_indices", Literal("DT_INT64", {2}, {3, 5})},
                          {"gradient_values", Literal("DT_FLOAT", {2, 2}, {1, 2, 3, 4})},
                          {"gradient_shape", Literal("DT_INT64", {2}, {9, 2})}},
                         "has_known_shape_ = true;"));
  blocks.push_back(Block("take_s", "SparseAccumulatorTakeGradient",
                         {{"handle", "s.handle"}, {"num_required", Literal("DT_INT32", {}, {2})}}, "dtype_ = DT_FLOAT;"));
  blocks.push_back(Block("keep", "GetSessionHandle", {{"value", Vector({7, 8, 9})}}));
  blocks.push_back(Block("name", "Variable", {}, "dtype_ = DT_STRING;shape_ = [];"));
  blocks.push_back(Block("remember", "Assign", {{"ref", "name.ref"}, {"value", "keep.handle"}}));
  blocks.push_back(Block("kept", "GetSessionTensor", {{"handle", "name.ref"}}, "dtype_ = DT_FLOAT;"));
  {
    TestPage page(blocks);
    Apply(page, Tensor::Of<float>({1, 1}));
    RunOk(*Taker(page, 1));  // on to step 1
    Apply(page, Tensor::Of<float>({1, 2}), 1);
    Apply(page, Tensor::Of<float>({3, 6}), 1);
    RunOk(*page.Open({}, {"apply_s", "remember"}));
    const auto saved = SaveSnapshot(*page.scope(), file);
    INFO(ToString(saved.status()));
    REQUIRE(saved.ok());
  }
  const auto check = [](const TestPage& page) {
    auto kept = page.Open({"kept.value"});
    RunOk(*kept);
    CHECK(Get(*kept, "kept.value") == Floats{7, 8, 9});
    CHECK(Number(page) == 2);
    Apply(page, Tensor::Of<float>({50, 50}), 0);  // of an earlier step
    auto taker = Taker(page, 2);
    RunOk(*taker);
    CHECK(Get(*taker, "take.average") == Floats{2, 4});
    RunOk(*page.Open({}, {"apply_s"}));
    auto rows = page.Open({"take_s.indices", "take_s.values"});
    RunOk(*rows);
    CHECK(Get<int64_t>(*rows, "take_s.indices") == std::vector<int64_t>{3, 5});
    CHECK(Get(*rows, "take_s.values") == Floats{1, 2, 3, 4});
  };
  TestPage fresh(blocks);
  for (int round = 0; round < 2; ++round) {  // into a page of which nothing has run yet, and into one that has
    Diagnostics problems;
    const auto restored = RestoreSnapshot(*fresh.scope(), file, {}, problems);
    INFO(ToString(restored.status()));
    REQUIRE(restored.ok());
    check(fresh);
  }
}

// ---- the soak test ---------------------------------------------------------------------------------------------------------------------

constexpr int kPlaces = 16;
using Totals = std::array<int64_t, kPlaces>;

/// What runs have put in and taken out, also those that were cancelled after they had done so.
class Ledger final : public Observer {
 public:
  Ledger(std::mutex& mutex, Totals& applied, Totals& taken) : mutex_(mutex), applied_(applied), taken_(taken) {}
  int place = 0;       // of what this observer's runs apply
  bool stale = false;  // it is of an earlier step

  Status OnRunStart(uint64_t, RunView& view) override {
    view_ = &view;
    return {};
  }
  void OnStepEnd(size_t, const Node& node, bool) override {
    std::lock_guard lock(mutex_);
    if (node.id == "apply" && !stale) ++applied_[static_cast<size_t>(place)];
    if (node.id == "take") CountTaken();
  }

 private:
  void CountTaken() {
    const auto value = [&](const char* name) { return view_->Peek(view_->graph()->FindValue(name).value()).value(); };
    if (!view_->graph()->FindValue("take.indices").ok()) {
      const Tensor sum = value("take.average");
      for (size_t i = 0; i < kPlaces; ++i) taken_[i] += static_cast<int64_t>(sum.values<float>()[i]);
      return;
    }
    const Tensor rows = value("take.indices"), sums = value("take.values");
    for (size_t i = 0; i < rows.values<int64_t>().size(); ++i) {
      taken_[static_cast<size_t>(rows.values<int64_t>()[i])] += static_cast<int64_t>(sums.values<float>()[i]);
    }
  }

  std::mutex& mutex_;
  Totals &applied_, &taken_;
  RunView* view_ = nullptr;
};

/// A producer, two consumers and one who cancels.
class Soak {
 public:
  Soak(TestPage& page, bool sparse, double seconds)
      : page_(page), sparse_(sparse), end_(Clock::now() + milliseconds(static_cast<int64_t>(seconds * 1000))) {}

  void Run() {
    std::vector<std::thread> threads;
    threads.emplace_back([this] { Produce(1); });
    for (uint32_t seed : {2u, 3u}) threads.emplace_back([this, seed] { Consume(seed); });
    threads.emplace_back([this] { CancelSome(4); });
    for (std::thread& thread : threads) thread.join();
    Drain();
  }

  Totals applied{}, taken{};
  std::atomic<int> cancelled{0}, wrong{0}, runs{0};

 private:
  using Random = std::mt19937;
  static uint32_t Below(Random& random, uint32_t limit) { return static_cast<uint32_t>(random() % limit); }
  bool Over() const { return Clock::now() >= end_; }

  /// One run, which may be cancelled meanwhile or have a deadline.
  void RunOnce(Session& session, size_t place, Ledger& ledger, Random& random) {
    RunOptions options{.observer = &ledger, .deadline = {}};
    if (Below(random, 8) == 0) options.deadline = Clock::now() + std::chrono::microseconds(Below(random, 3000));
    {
      std::lock_guard lock(mutex_);
      running_[place] = &session;
    }
    const Status status = session.Run(options);
    {
      std::lock_guard lock(mutex_);
      running_[place] = nullptr;
    }
    ++runs;
    if (status.code() == Code::kCancelled) ++cancelled;
    else if (!status.ok()) ++wrong;
  }

  void Produce(uint32_t seed) {
    Random random(seed);
    Ledger ledger(totals_mutex_, applied, taken);
    std::unique_ptr<Session> session;
    while (!Over()) {
      if (session == nullptr || Below(random, 50) == 0) session = OpenSession({}, {"apply"});
      ledger.place = static_cast<int>(Below(random, kPlaces));
      ledger.stale = Below(random, 20) == 0;
      Tensor gradient = Tensor::Allocate(DType::kFloat, sparse_ ? Shape{1} : Shape{kPlaces}).value();
      for (float& value : gradient.values<float>()) value = 0;
      gradient.values<float>()[sparse_ ? 0 : static_cast<size_t>(ledger.place)] = 1;
      bool fed = page_.Feed(*session, "g.output", gradient).ok();
      if (sparse_) fed &= page_.Feed(*session, "i.output", Tensor::Of<int64_t>({ledger.place})).ok();
      fed &= page_.Feed(*session, "step.output", Tensor::Scalar<int64_t>(ledger.stale ? -1 : int64_t{1} << 60)).ok();
      wrong += !fed;
      RunOnce(*session, 0, ledger, random);
    }
  }

  /// As TestPage::Open, whose checks are for one thread.
  std::unique_ptr<Session> OpenSession(const std::vector<std::string>& fetches, const std::vector<std::string>& run) {
    SessionSpec spec;
    spec.id = "soak";
    for (const std::string& wire : fetches) spec.fetches.push_back({wire, page_.graph().FindValue(wire).value()});
    for (const std::string& id : run) spec.run.push_back(page_.graph().FindNode(id).value());
    return std::make_unique<Session>(page_.scope(), std::move(spec));
  }

  std::unique_ptr<Session> OpenTaker(int32_t required) {
    auto session = sparse_ ? OpenSession({"take.indices", "take.values"}, {}) : OpenSession({"take.average"}, {});
    wrong += !page_.Feed(*session, "n.output", Tensor::Scalar<int32_t>(required)).ok();
    return session;
  }

  void Consume(uint32_t seed) {
    Random random(seed);
    Ledger ledger(totals_mutex_, applied, taken);
    std::unique_ptr<Session> session;
    while (!Over()) {
      if (session == nullptr || Below(random, 20) == 0) session = OpenTaker(1 + static_cast<int32_t>(Below(random, 4)));
      RunOnce(*session, seed - 1, ledger, random);
    }
  }

  void CancelSome(uint32_t seed) {
    Random random(seed);
    const auto cancel = [&](size_t place) {
      std::lock_guard lock(mutex_);
      if (running_[place] != nullptr) running_[place]->Cancel();
    };
    while (!Over()) {
      std::this_thread::sleep_for(std::chrono::microseconds(Below(random, 2000)));
      cancel(Below(random, 3));
    }
    // Those who wait when it is over.
    for (int i = 0; i < 50; ++i) {
      for (size_t place : {1, 2}) cancel(place);
      std::this_thread::sleep_for(milliseconds(10));
    }
  }

  void Drain() {
    if (Number(page_) == 0) return;
    Ledger ledger(totals_mutex_, applied, taken);
    auto session = OpenTaker(1);
    RunOk(*session, {.observer = &ledger, .deadline = {}});
  }

  TestPage& page_;
  const bool sparse_;
  const Clock::time_point end_;
  std::mutex mutex_, totals_mutex_;
  std::array<Session*, 3> running_{};
};

TEST_CASE("No gradient is lost or doubled while sessions are opened, cancelled and closed", "[accumulator][soak]") {
  const char* asked = std::getenv("WEFT_SOAK_SECONDS");
  const double seconds = asked == nullptr ? 1 : std::atof(asked);
  for (bool sparse : {false, true}) {
    const std::string shape = Cat("shape_ = [", kPlaces, "];reduction_type_ = SUM;");
    TestPage page(sparse ? SparsePage(shape) : DensePage(shape), {.threads = 2, .memory_limit = 0}, NoStalls());
    const int64_t before = page.scope()->budget()->used();
    Soak soak(page, sparse, seconds / 2);
    soak.Run();
    INFO(soak.runs << " runs, " << soak.cancelled << " cancelled");
    CHECK(soak.wrong == 0);
    CHECK(soak.runs > 100);
    CHECK(soak.cancelled > 0);
    CHECK(soak.taken == soak.applied);
    CHECK(page.scope()->budget()->used() - before < (1 << 16));
  }
}

}  // namespace
}  // namespace weft::test
