// Memory of runs and leases of results: RunMemory and Results, on toy blocks, without a session.
#include <set>
#include <utility>

#include "tests/runtime/exec_kit.h"

namespace weft::test {
namespace {

/// Chains of a small and a large value.
std::vector<std::string> SmallAndLarge() {
  return {Variable("s", Vector({1, 2, 3})), Block("l", "Fill", {{"dims", Ints({5000})}, {"value", Scalar(1)}}),
          Next("a", "s.ref"), Next("b", "a.y"), Next("c", "l.output"), Next("d", "c.y")};
}

/// Runs as the executor would, without steps: each writes a number to its results.
struct Runs {
  explicit Runs(PlannedPage& of) : page(of), parts(of) { results.SetPlan(page.planned); }

  ResultSet& Begin() {
    if (!results.back().bound) REQUIRE(parts.memory.Bind(results.back()).ok());
    REQUIRE(results.Renew(parts.memory, page.budget().get()).ok());
    return results.back();
  }
  void Run(float number) {
    ResultSet& set = Begin();
    for (const char* wire : {"a.y", "b.y", "c.y", "d.y"}) Fill(set.values[page.Slot(wire)], number);
    results.KeepStale(++run);
    results.Publish(run);
  }
  Tensor Read(const std::string& wire) const {
    auto result = results.Get(page.graph(), page.Value(wire));
    INFO(ToString(result.status()));
    REQUIRE(result.ok());
    return result->tensor;
  }

  PlannedPage& page;
  PlannedMemory parts;
  Results results;
  uint64_t run = 0;
};

TEST_CASE("Small results share one memory, large ones have one each, and values do not overlap", "[exec]") {
  PlannedPage page(SmallAndLarge(), {"b.y", "d.y"});
  const ResultLayout& layout = page.planned->layout;
  CHECK(layout.memory[page.Slot("a.y")] == layout.memory[page.Slot("b.y")]);
  CHECK(layout.memory[page.Slot("c.y")] != layout.memory[page.Slot("d.y")]);
  CHECK(layout.memory[page.Slot("c.y")] != layout.memory[page.Slot("a.y")]);
  CHECK(layout.offset[page.Slot("a.y")] % 64 == 0);
  CHECK(std::abs(layout.offset[page.Slot("a.y")] - layout.offset[page.Slot("b.y")]) >= 64);
  for (size_t m = 0; m < layout.bytes.size(); ++m) CHECK(layout.memory[static_cast<size_t>(layout.slot[m])] == static_cast<int>(m));
}

TEST_CASE("Two sets of results share the arena and nothing else", "[exec]") {
  PlannedPage page(SmallAndLarge(), {"b.y", "d.y"}, {}, Keep::kAsked);
  PlannedMemory parts(page);
  ResultSet one, other;
  REQUIRE(parts.memory.Bind(one).ok());
  REQUIRE(parts.memory.Bind(other).ok());
  for (const char* wire : {"b.y", "d.y"}) {
    const Value &a = one.values[page.Slot(wire)], &b = other.values[page.Slot(wire)];
    CHECK(a.data != nullptr);
    CHECK(a.data != b.data);
    CHECK(a.count == b.count);
  }
  for (size_t s = 0; s < page.plan().slots.size(); ++s) {
    const Slot& slot = page.plan().slots[s];
    if (slot.storage != Slot::Storage::kArena) continue;
    CHECK(one.values[s].data == parts.memory.arena() + slot.offset);
    CHECK(other.values[s].data == one.values[s].data);
  }
}

TEST_CASE("A value that has no memory in the plan uses that of the last run, unless a reader has it", "[exec]") {
  PlannedPage page(SmallAndLarge(), {"b.y"});
  PlannedMemory parts(page);
  ResultSet set;
  REQUIRE(parts.memory.Bind(set).ok());
  const uint32_t slot = page.Slot("b.y");
  REQUIRE(parts.memory.Allocate(set, slot, Shape{4}).ok());
  const void* first = set.values[slot].data;
  REQUIRE(parts.memory.Allocate(set, slot, Shape{4}).ok());
  CHECK(set.values[slot].data == first);
  const Tensor reader = set.owned[slot];
  REQUIRE(parts.memory.Allocate(set, slot, Shape{4}).ok());
  CHECK(set.values[slot].data != first);
  REQUIRE(parts.memory.Allocate(set, slot, Shape{5}).ok());
  CHECK(set.values[slot].count == 5);
}

TEST_CASE("What a reader has stays as it is, and only that memory is exchanged", "[exec]") {
  PlannedPage page(SmallAndLarge(), {"b.y", "d.y"});
  Runs runs(page);
  runs.Run(1);
  const Tensor held = runs.Read("c.y");
  const void* of_d = runs.Read("d.y").data();
  runs.Run(2);
  runs.Run(3);
  CHECK(held.values<float>()[0] == 1);
  CHECK(runs.Read("c.y").values<float>()[0] == 3);
  CHECK(runs.Read("c.y").data() != held.data());
  CHECK(runs.Read("d.y").data() == of_d);  // the first set's again
}

TEST_CASE("Where readers keep the last two results, three memories are used in turn", "[exec]") {
  PlannedPage page(SmallAndLarge(), {"b.y", "d.y"});
  Runs runs(page);
  std::set<const void*> seen;
  Tensor last, before;
  for (int run = 1; run <= 30; ++run) {
    runs.Run(static_cast<float>(run));
    before = std::exchange(last, runs.Read("d.y"));
    CHECK(last.values<float>()[4999] == static_cast<float>(run));
    if (run > 1) CHECK(before.values<float>()[4999] == static_cast<float>(run - 1));
    seen.insert(last.data());
  }
  CHECK(seen.size() == 3);
}

TEST_CASE("Memories that readers gave back are freed when nobody reads any more", "[exec]") {
  PlannedPage page(SmallAndLarge(), {"b.y", "d.y"});
  Runs runs(page);
  runs.Run(1);
  runs.Run(2);
  const int64_t unread = page.budget()->used();
  for (int run = 3; run < 10; ++run) {
    const Tensor held = runs.Read("d.y");
    runs.Run(static_cast<float>(run));
    runs.Run(static_cast<float>(run));
  }
  CHECK(page.budget()->used() > unread);
  for (int run = 0; run < 101; ++run) runs.Run(0);
  CHECK(page.budget()->used() == unread);
}

TEST_CASE("Where there is no memory for a run, what readers see stays", "[exec]") {
  PlannedPage page(SmallAndLarge(), {"b.y", "d.y"}, {}, Keep::kAll, PlannedPage::MakeToys(), {.threads = 1, .memory_limit = 200'000});
  Runs runs(page);
  runs.Run(1);
  runs.Run(2);
  const Tensor first = runs.Read("d.y");
  runs.Run(3);
  // Both sets are leased now, and the limit leaves no room for a third.
  const Tensor last = runs.Read("d.y");
  const Tensor rest = Tensor::Allocate(DType::kUInt8, Shape{page.budget()->limit() - page.budget()->used() - 1000}, page.budget()).value();
  const Status status = runs.results.Renew(runs.parts.memory, page.budget().get());
  CHECK(status.code() == Code::kResourceExhausted);
  CHECK(runs.Read("d.y").values<float>()[0] == 3);
  CHECK(first.values<float>()[0] == 2);
}

TEST_CASE("Results of a plan are read until a run of the next plan succeeds", "[exec]") {
  PlannedPage page(SmallAndLarge(), {"b.y", "d.y"});
  Runs runs(page);
  runs.Run(7);
  runs.results.SetPlan(page.PlanNow(Keep::kAll));
  CHECK(runs.Read("d.y").values<float>()[0] == 7);
  runs.results.SetPlan(nullptr);  // planning failed
  CHECK(runs.Read("d.y").values<float>()[0] == 7);
  runs.results.SetPlan(page.planned);
  Results next;  // of an edited page, say
  next.TakeOver(runs.results);
  CHECK(next.Get(page.graph(), page.Value("d.y"))->tensor.values<float>()[0] == 7);
  CHECK(next.Get(page.graph(), page.Value("d.y"))->run == 1);
  CHECK(runs.results.Get(page.graph(), page.Value("d.y")).status().code() == Code::kFailedPrecondition);
}

TEST_CASE("A value that a run left out keeps what it had, in memory of its own", "[exec]") {
  std::vector<std::string> blocks = SmallAndLarge();
  blocks.push_back(Block("pred", "Placeholder", {}, "dtype_ = DT_BOOL;shape_ = [];"));
  blocks.push_back(Block("way", "Switch", {{"data", "a.y"}, {"pred", "pred.output"}}));
  blocks.push_back(Next("left", "way.output_true"));
  PlannedPage page(blocks, {"left.y", "d.y", "b.y"});
  REQUIRE(page.plan().has_dead_values);
  Runs runs(page);
  const uint32_t left = page.Slot("left.y");
  const auto run = [&](float number, bool dead) {
    ResultSet& set = runs.Begin();
    set.values[left].dead = dead;
    if (!dead) Fill(set.values[left], number);
    runs.results.KeepStale(++runs.run);
    runs.results.Publish(runs.run);
  };
  run(1, true);
  CHECK(runs.results.Get(page.graph(), page.Value("left.y")).status().code() == Code::kFailedPrecondition);
  run(2, false);
  for (int i = 0; i < 5; ++i) {
    run(3, true);
    auto result = runs.results.Get(page.graph(), page.Value("left.y"));
    REQUIRE(result.ok());
    CHECK(result->run == 2);
    CHECK(result->stale);
    CHECK(Values(result->tensor) == Floats{2, 2, 2});
  }
  run(9, false);
  CHECK(Values(runs.Read("left.y")) == Floats{9, 9, 9});
}

}  // namespace
}  // namespace weft::test
