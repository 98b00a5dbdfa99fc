// Sessions on several threads that read variables and then update them: no update is lost, and nobody waits for ever.
#include <atomic>
#include <thread>

#include "tests/kit/sanitized.h"
#include "tests/runtime/session_kit.h"

namespace weft::test {
namespace {

using std::chrono::milliseconds;

constexpr int kRuns = kit::kSanitized ? 1000 : 10000;

std::string Add(std::string_view id, const std::string& x, const std::string& y) { return Block(id, "Add", {{"x", x}, {"y", y}}); }
std::string Assign(std::string_view id, const std::string& ref, const std::string& value) {
  return Block(id, "Assign", {{"ref", ref}, {"value", value}});
}
std::string Count(std::string_view id, const std::string& ref) { return Block(id, "AssignAdd", {{"ref", ref}, {"value", Scalar(1)}}); }
/// Runs each session `runs` times on a thread of its own; how many runs each had that succeeded.
std::vector<int> RunAll(const std::vector<Session*>& sessions, int runs, Status* first_failure = nullptr) {
  std::vector<int> succeeded(sessions.size(), 0);
  std::vector<std::thread> threads;
  std::mutex mutex;
  for (size_t s = 0; s < sessions.size(); ++s) {
    threads.emplace_back([&, s] {
      for (int run = 0; run < runs; ++run) {
        const Status status = sessions[s]->Run();
        succeeded[s] += status.ok();
        std::lock_guard lock(mutex);
        if (!status.ok() && first_failure != nullptr && first_failure->ok()) *first_failure = status;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return succeeded;
}

TEST_CASE("A run that reads a variable and then sets it loses no update of another session", "[session-api]") {
  // What is set is worked out of thousands of copies of what was read, so that the runs overlap.
  const auto following = [](const std::string& read) {
    return std::vector<std::string>{Block("zeros", "Fill", {{"dims", Ints({8192})}, {"value", Scalar(0)}}),
                                    Add("spread", read, "zeros.output"), Block("top", "Max", {{"input", "spread.z"}, {"axis", Ints({0})}}),
                                    Add("next", "top.output", Scalar(1))};
  };
  std::vector<std::vector<std::string>> pages = {
      {Variable("v", Scalar(0)), Assign("set", "v.ref", "next.z")},
      {Variable("v", Scalar(0)), Block("same", "Identity", {{"input", "v.ref"}}), Assign("set", "v.ref", "next.z")},
      {Block("h", "VarHandleOp", {}, "dtype_ = DT_FLOAT;shape_ = [];shared_name_ = v;"), Variable("v", Scalar(0)),
       Block("read", "ReadVariableOp", {{"resource", "h.resource"}}, "dtype_ = DT_FLOAT;"),
       Block("set", "AssignVariableOp", {{"resource", "h.resource"}, {"value", "next.z"}})}};
  const char* reads[] = {"v.ref", "same.output", "read.value"};
  for (size_t p = 0; p < pages.size(); ++p) {
    const std::vector<std::string> blocks = following(reads[p]);
    pages[p].insert(pages[p].end(), blocks.begin(), blocks.end());
    TestPage page(pages[p]);
    auto a = page.Open({}, {"set"}), b = page.Open({"next.z"}, {"set"}, Keep::kAsked);
    CHECK(RunAll({a.get(), b.get()}, kRuns) == std::vector<int>{kRuns, kRuns});
    CHECK(page.Var("v") == Floats{2 * kRuns});
  }
}

TEST_CASE("What a run fetches is what it updated, whatever other sessions do", "[session-api]") {
  TestPage page({Variable("v", Scalar(0)), Add("next", "v.ref", Scalar(1)), Assign("set", "v.ref", "next.z"), Count("count", "v.ref")});
  auto set = page.Open({"v.ref", "next.z", "set.output_ref"}), count = page.Open({}, {"count"});
  std::thread other([&] { RunAll({count.get()}, kRuns / 10); });
  for (int run = 0; run < kRuns / 10; ++run) {
    REQUIRE(set->Run().ok());
    const float before = Get(*set, "v.ref")[0];
    REQUIRE(Get(*set, "next.z")[0] == before + 1);
    REQUIRE(Get(*set, "set.output_ref")[0] == before + 1);
  }
  other.join();
  CHECK(page.Var("v") == Floats{2 * (kRuns / 10)});
}

TEST_CASE("A loop that reads a variable and sets it loses no update of another session", "[session-api]") {
  const std::string five = Scalar(5);
  const auto frame = [](std::string_view id, const std::string& data, std::string_view more = "") {
    return Block(id, "Enter", {{"data", data}}, Cat("frame_name_ = w;", more));
  };
  TestPage page(
      {Variable("v", Scalar(0)), frame("enter", Scalar(0)), Block("merge", "Merge", {{"inputs", "[\"enter.output\", \"again.output\"]"}}),
       frame("limit", five, "is_constant_ = true;"), Block("less", "Less", {{"x", "merge.output"}, {"y", "limit.output"}}),
       Block("cond", "LoopCond", {{"input", "less.z"}}), Block("switch", "Switch", {{"data", "merge.output"}, {"pred", "cond.output"}}),
       Block("up", "AddN", {{"inputs", "[\"switch.output_true\", \"one.output\"]"}}), frame("one", Scalar(1), "is_constant_ = true;"),
       Block("again", "NextIteration", {{"data", "up.sum"}}), Block("exit", "Exit", {{"data", "switch.output_false"}}),
       Block("zero", "Multiply", {{"x", "switch.output_true"}, {"y", Scalar(0)}}), Add("plus", "zero.z", Scalar(1)),
       Add("next", "v.ref", "plus.z"), Assign("set", "v.ref", "next.z")});
  auto a = page.Open({"exit.output"}, {"set"}), b = page.Open({"exit.output"}, {"set"});
  constexpr int kLoops = kRuns / 20;
  Status failure;
  RunAll({a.get(), b.get()}, kLoops, &failure);
  INFO(ToString(failure));
  CHECK(failure.ok());
  CHECK(page.Var("v") == Floats{2 * 5 * kLoops});
}

/// Stops a run at a block until it is let go.
class Hold final : public Observer {
 public:
  explicit Hold(std::string block) : block_(std::move(block)) {}
  Status OnStep(size_t, const Node& node) override {
    if (node.id != block_) return {};
    held = true;
    while (!released) std::this_thread::sleep_for(milliseconds(1));
    return {};
  }
  void WaitUntilHeld() const {
    while (!held) std::this_thread::sleep_for(milliseconds(1));
  }
  std::atomic<bool> held{false}, released{false};

 private:
  const std::string block_;
};

TEST_CASE("While a run is between its read and its update, others read, and who updates waits and can be cancelled", "[session-api]") {
  TestPage page({Variable("v", Scalar(1)), Variable("w", Scalar(0)), Add("next", "v.ref", Scalar(1)), Assign("set", "v.ref", "next.z"),
                 Add("look", "v.ref", "w.ref"), Count("count", "w.ref")},
                {.threads = 2, .memory_limit = 0}, StallAfter(-1));
  auto set = page.Open({}, {"set"}), look = page.Open({"look.z"}), count = page.Open({}, {"count"});
  Hold hold("set");
  Status held;
  std::thread other([&] { held = set->Run({.observer = &hold, .deadline = {}}); });
  hold.WaitUntilHeld();
  RunOk(*look);
  CHECK(Get(*look, "look.z") == Floats{1});
  const Clock::time_point deadline = Clock::now() + milliseconds(50);
  const Status late = count->Run({.observer = nullptr, .deadline = deadline});
  CHECK(late.code() == Code::kCancelled);
  CHECK(MillisecondsSince(deadline) < 500);
  CHECK(page.Var("w") == Floats{0});
  hold.released = true;
  other.join();
  CHECK(held.ok());
  RunOk(*count);
  CHECK(page.Var("v") == Floats{2});
  CHECK(page.Var("w") == Floats{1});
}

TEST_CASE("Runs that fail or are cancelled after they have read give others their turn, and lose nothing of theirs", "[session-api]") {
  TestPage page({Variable("v", Scalar(0)), Add("next", "v.ref", Scalar(1)),
                 Block("odd", "Mod", {{"x", Literal("DT_INT32", {}, {1})}, {"y", "d.output"}}),
                 Block("d", "Placeholder", {}, "dtype_ = DT_INT32;shape_ = [];"), Assign("set", "v.ref", "next.z"),
                 Block("same", "Identity", {{"input", "set.output_ref"}})});
  auto good = page.Open({}, {"set"}), bad = page.Open({"odd.z", "same.output"}), stopped = page.Open({"same.output"});
  REQUIRE(page.Feed(*bad, "d.output", Tensor::Scalar<int32_t>(0)).ok());
  std::atomic<bool> over{false};
  std::thread canceller([&] {
    while (!over) {
      stopped->Cancel();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  constexpr int kEach = kRuns / 5;
  const std::vector<int> succeeded = RunAll({good.get(), bad.get(), stopped.get()}, kEach);
  over = true;
  canceller.join();
  CHECK(succeeded[0] == kEach);
  CHECK(succeeded[1] == 0);
  CHECK(page.Var("v") == Floats{static_cast<float>(succeeded[0] + succeeded[2])});
}

/// Trainers take from a queue that a producer fills; all of them update variables. Trainers read their weights for a penalty, too, which
/// does not depend on what they take.
std::vector<std::string> TrainingPage(int capacity) {
  return {Variable("w", Scalar(0)),
          Variable("made", Scalar(0)),
          Block("q", "FIFOQueue", {}, Cat("component_types_ = {DT_FLOAT};capacity_ = ", capacity, ";")),
          Block("put", "QueueEnqueue", {{"handle", "q.handle"}, {"components", Cat("[", Scalar(1), "]")}}),
          Count("count", "made.ref"),
          Block("penalty", "Multiply", {{"x", "w.ref"}, {"y", Scalar(1)}}),
          Block("take", "QueueDequeue", {{"handle", "q.handle"}}, "component_types_ = {DT_FLOAT};"),
          Block("one", "Reshape", {{"tensor", "take.components[0]"}, {"shape", Literal("DT_INT32", {0}, {})}}),
          Add("next", "penalty.z", "one.output"),
          Assign("train", "w.ref", "next.z")};
}

TEST_CASE("A run that waits for a queue does so before it reads what it updates", "[session-api]") {
  for (int capacity : {1, 50}) {
    TestPage page(TrainingPage(capacity), {.threads = 2, .memory_limit = 0}, StallAfter(2000));
    constexpr int kSteps = 500;
    auto make = page.Open({}, {"put", "count"});
    auto one = page.Open({}, {"train"}), two = page.Open({}, {"train"});
    Status failure;
    std::thread producer([&] { RunAll({make.get()}, 2 * kSteps, &failure); });
    Status trained;
    RunAll({one.get(), two.get()}, kSteps, &trained);
    producer.join();
    INFO(ToString(failure) << " / " << ToString(trained));
    CHECK(failure.ok());
    CHECK(trained.ok());
    CHECK(page.Var("w") == Floats{2 * kSteps});
    CHECK(page.Var("made") == Floats{2 * kSteps});
  }
}

TEST_CASE("A run that must wait between its read and its update holds nobody up, and says so where its read is out of date",
          "[session-api]") {
  // What is put in is the variable: it must be read before the run takes from the other queue.
  TestPage page(
      {Variable("v", Scalar(5)), Block("out", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};"),
       Block("back", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};"),
       Block("ask", "QueueEnqueue", {{"handle", "out.handle"}, {"components", "[\"v.ref\"]"}}),
       Block("answer", "QueueDequeue", {{"handle", "back.handle"}}, "component_types_ = {DT_FLOAT};"),
       Block("got", "Reshape", {{"tensor", "answer.components[0]"}, {"shape", Literal("DT_INT32", {0}, {})}}),
       Add("next", "v.ref", "got.output"), Assign("set", "v.ref", "next.z"),
       Block("reply", "QueueEnqueue", {{"handle", "back.handle"}, {"components", Cat("[", Scalar(1), "]")}}), Count("count", "v.ref")},
      {.threads = 2, .memory_limit = 0}, StallAfter(-1));
  auto asking = page.Open({}, {"ask", "set"}), reply = page.Open({}, {"reply"}), count = page.Open({}, {"count"});
  RunOk(*reply);
  RunOk(*asking);
  CHECK(page.Var("v") == Floats{6});
  Status status;
  std::thread other([&] { status = asking->Run(); });
  std::this_thread::sleep_for(milliseconds(50));
  RunOk(*count);  // while the other waits
  RunOk(*reply);
  other.join();
  INFO(ToString(status));
  CHECK(status.code() == Code::kAborted);
  CHECK(status.message().find("'v'") != std::string::npos);
  CHECK(page.Var("v") == Floats{7});
}

}  // namespace
}  // namespace weft::test
