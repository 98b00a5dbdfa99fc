// The parts of a scope's state by themselves: the gate of runs, lines of turns, resources by name, revisions.
#include <catch2/catch.hpp>

#include <thread>

#include "runtime/state/resource_store.h"
#include "runtime/state/revision_history.h"
#include "runtime/state/run_gate.h"
#include "runtime/state/thread_pool.h"
#include "runtime/state/turn_line.h"
#include "runtime/state/variable_store.h"
#include "tests/runtime/session_kit.h"

namespace weft::test {
namespace {

using namespace std::chrono_literals;
const auto kNever = [] { return false; };

TEST_CASE("A gate is closed when no run goes on, and keeps new ones out", "[state]") {
  RunGate gate;
  {
    RunGate::Entry run(gate, kNever);
    RunGate::Closing refused(gate);
    CHECK(refused.Close(5ms, false).code() == Code::kFailedPrecondition);
  }
  std::atomic<bool> inside{false};
  std::thread late;
  {
    RunGate::Closing closing(gate);
    REQUIRE(closing.Close(5ms, false).ok());
    late = std::thread([&] {
      RunGate::Entry run(gate, kNever);
      inside = true;
    });
    std::this_thread::sleep_for(30ms);
    CHECK_FALSE(inside);
    RunGate::Entry stopped(gate, [] { return true; });  // a run that shall end does not wait
  }
  late.join();
  CHECK(inside);
}

TEST_CASE("A gate may be closed while runs wait or are paused", "[state]") {
  RunGate gate;
  RunGate::Entry waits(gate, kNever), pauses(gate, kNever);
  RunGate::Waiting waiting(gate);
  {
    RunGate::Closing closing(gate);
    CHECK_FALSE(closing.Close(5ms, true).ok());
  }
  gate.SetPaused(true);
  {
    RunGate::Closing closing(gate);
    CHECK(closing.Close(5ms, true).ok());
    RunGate::Closing other(gate);
    CHECK_FALSE(other.Close(5ms, true).ok());
  }
  {
    RunGate::Closing closing(gate);
    CHECK_FALSE(closing.Close(5ms, false).ok());
  }
  gate.SetPaused(false);
}

TEST_CASE("A gate is not waited for inside a run, nor by what helps it", "[state]") {
  RunGate gate;
  ThreadPool pool(2);
  const RunGate::Entry run(gate, kNever);
  const auto refused = [&](bool but_waiting) {
    RunGate::Closing closing(gate);
    return closing.Close(30s, but_waiting).code() == Code::kFailedPrecondition;
  };
  const Clock::time_point start = Clock::now();
  CHECK(refused(true));
  CHECK(refused(false));
  std::atomic<int> came{0}, refusals{0};
  const auto task = [&](int64_t) {
    ++came;
    while (came < pool.threads() && MillisecondsSince(start) < 10000) std::this_thread::yield();  // each on a thread of its own
    refusals += refused(true) && refused(false) ? 1 : 0;
  };
  pool.Run(2, task, kNever);
  CHECK(refusals == 2);
  gate.SetPaused(true);
  CHECK_FALSE(refused(true));
  CHECK(refused(false));
  gate.SetPaused(false);
  CHECK(refused(true));
  CHECK(MillisecondsSince(start) < 25000);
}

TEST_CASE("Runs are stalled for as long as all of them wait and nothing comes about", "[state]") {
  RunGate gate;
  RunGate::Entry one(gate, kNever), other(gate, kNever);
  RunGate::Waiting first(gate);
  std::this_thread::sleep_for(20ms);
  CHECK(first.Stalled() == 0ns);  // the other run may bring it about
  {
    RunGate::Waiting second(gate);
    first.Stalled();
    std::this_thread::sleep_for(20ms);
    CHECK(first.Stalled() >= 15ms);
    CHECK(second.Stalled() >= 15ms);
  }
  CHECK(first.Stalled() == 0ns);
}

TEST_CASE("A run whose wait may be over already is not stalled, nor is one that another thread's next run may end", "[state]") {
  RunGate gate;
  RunGate::Entry one(gate, kNever), other(gate, kNever);
  RunGate::Waiting first(gate, "'a' waits for b");
  const RunGate::Complete all_run(gate, 2);
  CHECK(first.Stalled() == 0ns);
  {
    RunGate::Waiting second(gate, "'c' waits for d");
    CHECK(second.Stalled() == 0ns);  // before it waited it may have brought about what the first waits for
    CHECK(first.Stalled() > 1h);
    CHECK(second.Stalled() > 1h);
    CHECK(second.AllThatWait() == "'a' waits for b, 'c' waits for d");
    RunGate::Waiting timed(gate, "", true);
    CHECK(first.Stalled() == 0ns);  // ends by itself, and its run goes on
  }
  RunGate::Waiting second(gate);
  std::thread thread([&] {
    const RunGate::Series series(gate);
    first.Stalled(), second.Stalled();
    CHECK(first.Stalled() == 0ns);
    { const RunGate::Entry run(gate, kNever); }
    first.Stalled(), second.Stalled();
    CHECK(first.Stalled() == 0ns);
  });
  thread.join();
  first.Stalled(), second.Stalled();
  CHECK(first.Stalled() > 1h);
}

/// Looks at a condition every millisecond, until it may not.
class TestWaiter : public Waiter {
 public:
  Status Wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, FunctionRef<bool()> ready, int64_t, std::string_view what) override {
    while (!ready()) {
      if (cancelled) return Cancelled("while it waited for ", what);
      changed.wait_for(lock, 1ms);
    }
    return {};
  }
  std::atomic<bool> cancelled{false};
};

TEST_CASE("Turns are taken in the order in which they were asked for; who gives up leaves the line", "[state]") {
  TurnLine line;
  TestWaiter patient, impatient;
  TurnLine::Turn first(line), second(line), third(line);
  REQUIRE(first.Take(patient, "a turn").ok());
  REQUIRE(first.Take(patient, "a turn").ok());  // has it
  std::string order;
  std::thread b([&] {
    CHECK(second.Take(impatient, "a turn").code() == Code::kCancelled);
    order += "b";
  });
  std::this_thread::sleep_for(20ms);
  std::thread c([&] {
    CHECK(third.Take(patient, "a turn").ok());
    order += "c";
  });
  std::this_thread::sleep_for(20ms);
  CHECK_FALSE(third.taken());
  impatient.cancelled = true;
  b.join();
  first.Give();
  c.join();
  CHECK(order == "bc");
  CHECK_FALSE(second.taken());
  CHECK(third.taken());
  third.Give();
  REQUIRE(second.Take(patient, "a turn").ok());
}

struct Numbered : Resource {
  explicit Numbered(int number) : number(number) {}
  std::string_view kind() const override { return "number"; }
  int number;
};
int NumberOf(const ResourceHandle& handle) { return static_cast<const Numbered&>(*handle).number; }

TEST_CASE("A resource is made once, from what a snapshot holds of it where it does", "[state]") {
  ResourceStore store;
  int made = 0;
  const auto make = [&]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<Numbered>(++made)); };
  const auto restore = [](Resource& resource, const ResourceStore::Saved& saved) -> Status {
    if (saved.state == "bad") return DataLoss("no");
    static_cast<Numbered&>(resource).number = 100;
    return {};
  };
  CHECK(NumberOf(*store.FindOrMake("own/Queue/q", make, restore)) == 1);
  CHECK(NumberOf(*store.FindOrMake("own/Queue/q", make, restore)) == 1);
  {
    ResourceStore::Access access(store);
    ResourceStore::SavedStates saved = {{"own/Queue/r", {"number", "good"}}, {"own/Queue/s", {"number", "bad"}}};
    access.SwapSaved(saved);
  }
  CHECK(NumberOf(*store.FindOrMake("own/Queue/r", make, restore)) == 100);
  CHECK(store.FindOrMake("own/Queue/s", make, restore).status().code() == Code::kDataLoss);
  ResourceStore::Access access(store);
  CHECK(access.saved().size() == 1);      // the one that did not fit waits for another try
  CHECK(access.resources().size() == 2);
}

TEST_CASE("Resources may exchange their names; what gets none is dropped", "[state]") {
  ResourceStore store;
  int made = 0;
  const auto make = [&]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<Numbered>(++made)); };
  const auto restore = [](Resource&, const ResourceStore::Saved&) -> Status { return {}; };
  for (const char* key : {"a", "b", "c"}) REQUIRE(store.FindOrMake(key, make, restore).ok());
  ResourceStore::Access access(store);
  access.Move({{"a", "b"}, {"b", "a"}, {"c", ""}, {"none", "d"}});
  REQUIRE(access.resources().size() == 2);
  CHECK(NumberOf(access.resources().at("a")) == 2);
  CHECK(NumberOf(access.resources().at("b")) == 1);
}

TEST_CASE("Values are counted when they are set, in whichever cell", "[state]") {
  VariableStore store;
  VariableCell cell, other;
  VariableAccess access(store);
  CHECK_FALSE(cell.value(access).defined());
  const uint64_t before = access.changes();
  cell.Set(Tensor::Scalar<float>(3), access);
  other.Set(Tensor::Scalar<float>(3), access);
  CHECK(access.changes() == before + 2);
  CHECK(cell.value(access).values<float>()[0] == 3);
}

}  // namespace
}  // namespace weft::test
