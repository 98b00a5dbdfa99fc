// What sessions make for plans and to run them counts in the page's budget.
#include <catch2/catch.hpp>

#include "runtime/base/call_limit.h"
#include "runtime/exec/plain_updates.h"
#include "runtime/exec/run_resources.h"
#include "tests/runtime/session_kit.h"
#include "weft/plan/partial_shapes.h"

namespace weft::test {
namespace {

TEST_CASE("What a session makes to run its plan counts as long as the session lives", "[memory]") {
  constexpr int kBlocks = 10000;
  constexpr int64_t kLeast = kBlocks * static_cast<int64_t>(sizeof(Value) + sizeof(Tensor) + sizeof(ResourceHandle));
  std::vector<std::string> blocks = {Block("b0", "Const", {{"value", Scalar(1)}})};
  for (int i = 1; i <= kBlocks; ++i) blocks.push_back(Block(Cat("b", i), "Negate", {{"x", Cat("b", i - 1, i == 1 ? ".output" : ".y")}}));
  const TestPage page(blocks, {.threads = 1, .memory_limit = 64 << 20});
  const std::shared_ptr<MemoryBudget> budget = page.scope()->budget();
  auto session = page.Open({Cat("b", kBlocks, ".y")}, {}, Keep::kAsked);
  Diagnostics found;
  session->Prepare(found);
  REQUIRE(found.FirstError().ok());
  const int64_t planned = budget->used();
  {
    const Tensor rest = Tensor::Allocate(DType::kUInt8, Shape{budget->available() - kLeast}, budget).value();
    const Status status = session->Run();
    INFO(ToString(status));
    CHECK(status.code() == Code::kResourceExhausted);
    CHECK_THAT(status.message(), Catch::Matchers::Contains("bytes of memory"));
  }
  CHECK(budget->used() < planned + kLeast);
  RunOk(*session);
  CHECK(budget->used() >= planned + kLeast);
  session = nullptr;
  CHECK(budget->used() <= planned);
}

TEST_CASE("Variables that updates may choose from are kept and counted once for all that go through one block", "[memory]") {
  constexpr int kVariables = 300;
  std::vector<std::string> blocks = {Block("index", "Const", {{"value", Literal("DT_INT32", {}, {1})}}),
                                     Block("one", "Const", {{"value", Scalar(1)}})};
  std::string variables;
  std::vector<std::string> updates;
  for (int i = 0; i < kVariables; ++i) {
    blocks.push_back(Variable(Cat("v", i), Scalar(0)));
    variables += Cat(i ? ", " : "", "\"v", i, ".ref\"");
    updates.push_back(Cat("u", i));
  }
  blocks.push_back(Block("select", "RefSelect", {{"index", "index.output"}, {"inputs", Cat("[", variables, "]")}}));
  for (const std::string& id : updates) blocks.push_back(Block(id, "AssignAdd", {{"ref", "select.output"}, {"value", "one.output"}}));
  const TestPage page(blocks);
  const auto session = page.Open({}, updates, Keep::kAsked);
  RunOk(*session);
  CHECK(page.Var("v1") == Floats{kVariables});
  CHECK(page.Var("v2") == Floats{0});
  const Plan& plan = *session->plan();
  REQUIRE(plan.choices.size() == 1);
  CHECK(plan.choices[0].size() == kVariables);
  size_t updating = 0;
  for (const Step& step : plan.steps) {
    for (const Step::Update& update : step.updates) {
      CHECK(update.choices.data() == plan.choices[0].data());
      CHECK(update.choices.size() == kVariables);
      ++updating;
    }
  }
  CHECK(updating == kVariables);
  const size_t others = plan.slots.size() * sizeof(Slot) + plan.steps.size() * sizeof(Step) + plan.operands.size() * sizeof(uint32_t);
  CHECK(plan.bytes() >= static_cast<int64_t>(others + kVariables * (sizeof(Step::Update) + sizeof(std::optional<Shape>) + sizeof(int))));
}

/// What counts in a call's budget while it plans to run some blocks.
int64_t CountedWhilePlanning(const TestPage& page, const std::vector<std::string>& run) {
  for (const std::string& error : page.errors()) FAIL_CHECK(error);
  PlanRequest request;
  request.keep = Keep::kAsked;
  for (const std::string& id : run) request.run.push_back(page.graph().FindNode(id).value());
  const auto budget = std::make_shared<MemoryBudget>(int64_t{1} << 30);
  const CallLimit limit(std::nullopt, nullptr, budget);
  Diagnostics found;
  const Plan plan = MakePlan(page.graph(), request, found);
  INFO(ToString(found.FirstError()));
  CHECK(!found.has_errors());
  return budget->used();
}

TEST_CASE("Shapes that are known in part count while a plan is made", "[memory]") {
  constexpr int kParts = 20000;
  const TestPage page({Block("split", "SparseSplit",
                             {{"split_dim", Literal("DT_INT64", {}, {0})},
                              {"indices", Literal("DT_INT64", {1, 1}, {0})},
                              {"values", Vector({1})},
                              {"shape", Literal("DT_INT64", {1}, {kParts})}},
                             Cat("num_split_ = ", kParts, ";"))});
  constexpr size_t kOfPartial = sizeof(PartialShapes::value_type) + sizeof(PartialShape) + 2 * sizeof(int64_t);
  CHECK(CountedWhilePlanning(page, {"split"}) >= static_cast<int64_t>(kParts * (3 * sizeof(Slot) + 2 * kOfPartial)));
}

TEST_CASE("Slots that only one step uses count while a plan is made", "[memory]") {
  constexpr int kUpdates = 20000;
  std::vector<std::string> blocks = {Variable("v", Scalar(0)), Block("one", "Const", {{"value", Scalar(1)}})}, updates;
  for (int i = 0; i < kUpdates; ++i) {
    updates.push_back(Cat("u", i));
    blocks.push_back(Block(updates.back(), "AssignAdd", {{"ref", "v.ref"}, {"value", "one.output"}}));
  }
  const TestPage page(blocks);
  const size_t outputs = page.graph().node(page.graph().FindNode("u0").value()).output_types.size();
  const size_t of_update = sizeof(Step) + sizeof(Step::Update) + (outputs + 1) * sizeof(Slot);
  CHECK(CountedWhilePlanning(page, updates) >= static_cast<int64_t>(kUpdates * of_update));
}

TEST_CASE("What a run needs for updates, handles and a reference that is only read counts before it is made", "[memory]") {
  constexpr int kBlocks = 1000;
  std::vector<std::string> blocks = {Variable("v", Scalar(0)), Variable("w", Scalar(0)), Block("one", "Const", {{"value", Scalar(1)}}),
                                     Block("select", "RefSelect", {{"index", Literal("DT_INT32", {}, {1})}, {"inputs", R"(["v.ref", "w.ref"])"}}),
                                     Block("b0", "Negate", {{"x", "select.output"}}),
                                     Block("up", "AssignAdd", {{"ref", "v.ref"}, {"value", "one.output"}}),
                                     Block("q", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};"),
                                     Block("size", "QueueSize", {{"handle", "q.handle"}})};
  for (int i = 1; i < kBlocks; ++i) blocks.push_back(Block(Cat("b", i), "Negate", {{"x", Cat("b", i - 1, ".y")}}));
  const TestPage page(blocks);
  const auto planned = [&](const std::string& wire, const std::vector<std::string>& run) {
    auto session = page.Open({wire}, run, Keep::kAsked);
    Diagnostics found;
    session->Prepare(found);
    INFO(ToString(found.FirstError()));
    REQUIRE(session->plan() != nullptr);
    return session;
  };
  const auto reading = planned(Cat("b", kBlocks - 1, ".y"), {});
  CHECK(reading->plan()->choices.empty());
  CHECK(VariableTransaction::BytesFor(*reading->plan()) >= static_cast<int64_t>(kBlocks * sizeof(int)));
  CHECK(PlainUpdates::BytesFor(*reading->plan()) == 0);
  CHECK(RunResources::BytesFor(*reading->plan()) == 0);
  const auto updating = planned("size.size", {"up"});
  CHECK(PlainUpdates::BytesFor(*updating->plan()) > 0);
  CHECK(RunResources::BytesFor(*updating->plan()) > 0);
}

}  // namespace
}  // namespace weft::test
