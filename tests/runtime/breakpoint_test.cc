// Breakpoints: before blocks, on values, on conditions; what can be read and done while a run is paused; leases.
#include "runtime/host/break_condition.h"
#include "tests/runtime/host_kit.h"
#include "weft/host/breakpoints.h"

namespace weft::test {
namespace {

struct Debugged : Driven {
  template <class... Args>
  explicit Debugged(Args&&... args) : Driven(std::forward<Args>(args)...), points(std::make_shared<Breakpoints>(*runner)) {
    runner->AddListener(points);
  }
  ~Debugged() { runner->Close(); }
  uint64_t Add(BreakSpec spec) {
    auto id = points->Add(std::move(spec));
    INFO(ToString(id.status()));
    REQUIRE(id.ok());
    return *id;
  }
  void GoOn(weft::GoOn how = weft::GoOn::kRun) { REQUIRE(runner->Resume(how).ok()); }
  std::shared_ptr<Breakpoints> points;
};

BreakSpec Before(std::string block) { return {.kind = BreakKind::kBefore, .block = std::move(block), .port = {}, .condition = {}}; }
BreakSpec NotFinite(std::string block = "", std::string port = "") {
  return {.kind = BreakKind::kNotFinite, .block = std::move(block), .port = std::move(port), .condition = {}};
}
BreakSpec When(std::string condition) { return {.kind = BreakKind::kCondition, .block = {}, .port = {}, .condition = std::move(condition)}; }

TEST_CASE("A breakpoint pauses before its block; what has been computed can be read, the rest not", "[breakpoints]") {
  TestPage page(CountingPage());
  Debugged host(page, std::vector<std::string>{"half.z"}, std::vector<std::string>{"count"});
  const uint64_t id = host.Add(Before("half"));
  host.Start(2);
  RunnerState state = host.Paused();
  CHECK(state.reason == PauseReason::kBreak);
  CHECK(state.block == "half");
  CHECK(state.detail == Cat("breakpoint ", id, ": before half"));
  CHECK(host.points->hit().id == id);
  CHECK(host.points->hit().run == 1);
  CHECK(host.Peek("seen.z") == 1);
  CHECK(host.Peek("v.ref") == 0);
  CHECK(host.Read("half.z").status().code() == Code::kFailedPrecondition);
  CHECK(host.Read("half.x").status().code() == Code::kNotFound);
  host.GoOn();
  host.Paused();
  CHECK(host.points->hit().run == 2);
  CHECK(host.Peek("seen.z") == 2);
  REQUIRE(host.points->Remove(id).ok());
  CHECK(host.points->Remove(id).code() == Code::kNotFound);
  host.GoOn();
  CHECK(host.Ended().ok());
  CHECK_FALSE(host.Read("seen.z").value().in_progress);
  CHECK(page.Var("v") == Floats{2});
}

TEST_CASE("A paused run goes on by one block, or to the end of its run", "[breakpoints]") {
  TestPage page(CountingPage());
  Debugged host(page, std::vector<std::string>{"half.z"}, std::vector<std::string>{"count"});
  BreakSpec once = Before("seen");
  once.once = true;
  host.Add(once);
  host.Start(3);
  CHECK(host.Paused().block == "seen");
  CHECK(host.points->All().empty());
  host.GoOn(GoOn::kStepBlock);
  RunnerState state = host.Paused();
  CHECK(state.reason == PauseReason::kStepped);
  CHECK(state.block != "seen");
  CHECK(host.Peek("seen.z") == 1);
  host.GoOn(GoOn::kStepRun);
  state = host.Paused();
  CHECK(state.block.empty());
  CHECK(host.session->runs() == 1);
  host.GoOn(GoOn::kStepRun);
  host.Paused();
  CHECK(host.session->runs() == 2);
  host.GoOn();
  CHECK(host.Ended().ok());
  CHECK(host.session->runs() == 3);
}

TEST_CASE("A paused run is cancelled at once, also by its deadline", "[breakpoints]") {
  TestPage page(CountingPage());
  Debugged host(page, std::vector<std::string>{"half.z"}, std::vector<std::string>{"count"});
  host.Add(Before("half"));
  host.Start(-1);
  host.Paused();
  const Clock::time_point asked = Clock::now();
  host.runner->Cancel();
  CHECK(host.Ended().code() == Code::kCancelled);
  CHECK(MillisecondsSince(asked) < 2000);
  RunRequest request;
  request.deadline = Clock::now() + milliseconds(50);
  REQUIRE(host.runner->Start(request).ok());
  CHECK(host.EndedAtLast().code() == Code::kCancelled);
  CHECK(MillisecondsSince(*request.deadline) < 5000);
  CHECK(page.Var("v") == Floats{0});
}

TEST_CASE("A NaN or an infinity pauses after the block that made it, and says where it is", "[breakpoints]") {
  TestPage page({Block("x", "Const", {{"value", Vector({4, 0, -1})}}), Block("root", "Sqrt", {{"x", "x.output"}}),
                 Block("inverse", "Reciprocal", {{"x", "x.output"}}), Block("whole", "Cast", {{"x", "x.output"}}, "SrcT_ = DT_FLOAT;DstT_ = DT_INT32;")});
  for (Keep keep : {Keep::kAll, Keep::kAsked}) {
    Debugged host(page, std::vector<std::string>{"whole.y"}, std::vector<std::string>{"root", "inverse"}, keep);
    host.Add(NotFinite());
    host.Start(1);
    std::vector<std::string> seen = {host.Paused().detail};
    if (host.points->hit().block == "root") {
      CHECK(host.points->hit().port == "y");
      CHECK(host.Peek("root.y") == 2);
    }
    host.GoOn();
    seen.push_back(host.Paused().detail);
    host.GoOn();
    CHECK(host.Ended().ok());
    std::sort(seen.begin(), seen.end());
    CHECK(seen == std::vector<std::string>{"breakpoint 1: inverse.y[1] is inf", "breakpoint 1: root.y[2] is nan"});
  }
  Debugged host(page, std::vector<std::string>{"inverse.y", "root.y"});
  host.Add(NotFinite("root", "y"));
  host.Start(1);
  CHECK(host.Paused().block == "root");
  host.GoOn();
  CHECK(host.Ended().ok());
}

TEST_CASE("Conditions compare the number of the run and elements of values", "[breakpoints]") {
  TestPage page(CountingPage());
  Debugged host(page, std::vector<std::string>{"half.z"}, std::vector<std::string>{"count"});
  const uint64_t run = host.Add(When("run == 3"));
  const uint64_t value = host.Add(When(" half.result_z>=2.5"));
  const uint64_t variable = host.Add(When("v.ref > 6"));
  host.Start(10);
  CHECK(host.Paused().detail == Cat("breakpoint ", run, ": run is 3"));
  host.GoOn();
  RunnerState state = host.Paused();
  CHECK(state.detail == Cat("breakpoint ", value, ": half.result_z is 2.5"));
  CHECK(host.points->hit().run == 5);
  REQUIRE(host.points->Enable(value, false).ok());
  host.GoOn();
  CHECK(host.Paused().detail == Cat("breakpoint ", variable, ": v.ref is 7"));
  CHECK(host.points->hit().run == 8);
  CHECK(host.points->Enable(99, true).code() == Code::kNotFound);
  REQUIRE(host.points->Enable(variable, false).ok());
  host.GoOn();
  CHECK(host.Ended().ok());
  CHECK(host.points->All().at(1).hits == 1);
}

TEST_CASE("Conditions compare integers of 64 bits exactly", "[breakpoints]") {
  const Tensor longs = Tensor::Of<int64_t>({9007199254740992, 9007199254740993, -5});
  const Tensor unsigned_longs = Tensor::Of<uint64_t>({18446744073709551615u, 18446744073709551614u, 7});
  const Tensor floats = Tensor::Of<float>({0.5f, 2});
  struct Row {
    const Tensor& values;
    std::string_view comparison;
    int64_t first;  // of which it holds; -1: none
  };
  for (const Row& row : {Row{longs, "== 9007199254740993", 1}, {longs, "> 9007199254740992", 1}, {longs, "!= +9007199254740992", 1},
                         {longs, "<= -4.5", 2}, {longs, "< -5.5", -1}, {longs, ">= -5.5", 0}, {longs, "< 1e3", 2}, {longs, "> 1e30", -1},
                         {longs, "< 18446744073709551615", 0}, {longs, "== nan", -1}, {longs, "!= nan", 0}, {longs, "> -inf", 0},
                         {unsigned_longs, "== 18446744073709551614", 1}, {unsigned_longs, "== 18446744073709551616", -1},
                         {unsigned_longs, "< 18446744073709551616", 0}, {unsigned_longs, "< 18446744073709551615", 1},
                         {unsigned_longs, "> 1e19", 0}, {unsigned_longs, "< 1e19", 2}, {unsigned_longs, "> -1", 0}, {unsigned_longs, "<= -0.5", -1},
                         {floats, "== 2", 1}, {floats, "> 0", 0}, {floats, "< -9007199254740993", -1}}) {
    INFO(row.comparison);
    const Result<BreakCondition> condition = ParseCondition(Cat("a.z ", row.comparison));
    REQUIRE(condition.ok());
    CHECK(FindHolding(*condition, row.values).value_or(-1) == row.first);
  }
}

TEST_CASE("A breakpoint can wait for the nth time", "[breakpoints]") {
  TestPage page(CountingPage());
  Debugged host(page, std::vector<std::string>{"half.z"}, std::vector<std::string>{"count"});
  BreakSpec spec = Before("half");
  spec.from_hit = 4;
  host.Add(spec);
  host.Start(5);
  host.Paused();
  CHECK(host.points->hit().run == 4);
  CHECK(host.points->All().at(0).hits == 4);
  host.GoOn();
  host.Paused();
  host.GoOn();
  CHECK(host.Ended().ok());
}

TEST_CASE("What cannot be a breakpoint is refused, with what is wrong", "[breakpoints]") {
  TestPage page({Block("x", "Const", {{"value", Vector({1, 2})}}), Block("y", "Square", {{"x", "x.output"}}),
                 Block("text", "Const", {{"value", R"({"dtype": "DT_STRING", "shape": [], "values": ["a"]})"}})});
  Debugged host(page, std::vector<std::string>{"y.y", "text.output"});
  auto refused = [&](const BreakSpec& spec, Code code, std::string_view text) {
    auto added = host.points->Add(spec);
    INFO(ToString(added.status()));
    CHECK(added.status().code() == code);
    CHECK(ToString(added.status()).find(text) != std::string::npos);
  };
  refused(Before(""), Code::kInvalidArgument, "id of the block");
  refused(Before("yy"), Code::kNotFound, "did you mean 'y'?");
  refused(NotFinite("y", "z"), Code::kNotFound, "did you mean 'y'?");
  refused(NotFinite("", "y"), Code::kInvalidArgument, "block of the port");
  for (std::string condition : {"", "run", "run ==", "== 3", "run = 3", "run <> 3", "run < x", "y.y < 0.5 "}) {
    const bool good = condition == "y.y < 0.5 ";
    CHECK(host.points->Add(When(condition)).ok() == good);
  }
  refused(When("y.q < 1"), Code::kNotFound, "");
  refused(When("text.output < 1"), Code::kInvalidArgument, "DT_STRING");
  BreakSpec never = Before("y");
  never.from_hit = 0;
  refused(never, Code::kInvalidArgument, "1 or more");
  BreakSpec both = Before("y");
  both.condition = "run > 1";
  refused(both, Code::kInvalidArgument, "condition");
  CHECK(host.points->All().size() == 1);
}

TEST_CASE("When a debugger's lease is over its breakpoints are off and the run goes on", "[breakpoints]") {
  TestPage page(CountingPage());
  Debugged host(page, std::vector<std::string>{"half.z"}, std::vector<std::string>{"count"});
  CHECK(host.points->Heartbeat().code() == Code::kFailedPrecondition);
  const uint64_t id = host.Add(Before("half"));
  host.points->SetLease(milliseconds(150));
  host.Start(3);
  host.Paused();
  // Heartbeats keep it paused for longer than the lease.
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
    REQUIRE(host.points->Heartbeat().ok());
  }
  CHECK(host.runner->state().state == RunState::kPaused);
  CHECK(host.EndedAtLast().ok());
  CHECK(page.Var("v") == Floats{3});
  CHECK_FALSE(host.points->All().at(0).enabled);
  CHECK(host.points->Heartbeat().code() == Code::kFailedPrecondition);
  // Another debugger, or the same again.
  host.points->SetLease(seconds(60));
  REQUIRE(host.points->Enable(id, true).ok());
  host.Start(1);
  host.Paused();
  REQUIRE(host.points->Heartbeat().ok());
  host.GoOn();
  CHECK(host.Ended().ok());
}

TEST_CASE("Breakpoints see each iteration of a loop, and values that a Switch left out are not looked at", "[breakpoints]") {
  const std::string frame = "frame_name_ = f;";
  TestPage page({Block("enter", "Enter", {{"data", Scalar(0)}}, frame), Block("merge", "Merge", {{"inputs", "[\"enter.output\", \"next.output\"]"}}),
                 Block("less", "Less", {{"x", "merge.output"}, {"y", "limit.output"}}),
                 Block("limit", "Enter", {{"data", Scalar(3)}}, frame + "is_constant_ = true;"), Block("go", "LoopCond", {{"input", "less.z"}}),
                 Block("switch", "Switch", {{"data", "merge.output"}, {"pred", "go.output"}}),
                 Block("one", "Enter", {{"data", Scalar(1)}}, frame + "is_constant_ = true;"),
                 Block("plus", "Add", {{"x", "switch.output_true"}, {"y", "one.output"}}), Block("next", "NextIteration", {{"data", "plus.z"}}),
                 Block("exit", "Exit", {{"data", "switch.output_false"}})});
  Debugged host(page, std::vector<std::string>{"exit.output"});
  host.Add(Before("plus"));
  host.Start(1);
  for (int iteration = 0; iteration < 3; ++iteration) {
    host.Paused();
    CHECK(host.Peek("merge.output") == static_cast<float>(iteration));
    host.GoOn();
  }
  // The iteration that ends the loop reaches the block, and leaves it out.
  if (host.runner->state().state != RunState::kIdle) {
    RunState state = RunState::kRunning;
    static_cast<void>(host.runner->Wait(seconds(20), &state).ok());
    if (state == RunState::kPaused) host.GoOn();
  }
  CHECK(host.Ended().ok());
  CHECK(Get(*host.session, "exit.output") == Floats{3});
}

TEST_CASE("Breakpoints that are off cost no calls, and one that is added while a run goes on is met in it", "[breakpoints]") {
  TestPage page(CountingPage());
  Debugged host(page, std::vector<std::string>{"half.z"}, std::vector<std::string>{"count"});
  CHECK(host.points->wants_steps()->load() == 0);
  host.Start(-1);
  const uint64_t id = host.Add(Before("seen"));
  CHECK(host.points->wants_steps()->load() == 1);
  host.Paused();
  REQUIRE(host.points->Enable(id, false).ok());
  CHECK(host.points->wants_steps()->load() == 0);
  host.GoOn();
  host.runner->Stop();
  CHECK(host.Ended().ok());
}

}  // namespace
}  // namespace weft::test
