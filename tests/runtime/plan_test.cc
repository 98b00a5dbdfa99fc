// Plans: which steps there are, in which order, and how memory is reused.
#include "runtime/plan/graph_memo.h"
#include "tests/runtime/session_kit.h"
#include "weft/plan/plan.h"

namespace weft::test {
namespace {

constexpr double kBig = 1 << 16;
constexpr int64_t kBigBytes = int64_t{4} << 16;

/// A big tensor made from a Variable, and a chain of blocks behind it.
std::vector<std::string> BigChain(int length) {
  std::vector<std::string> blocks = {Variable("v", Scalar(0.5)), Block("start", "Fill", {{"dims", Ints({kBig})}, {"value", "v.ref"}})};
  std::string last = "start.output";
  const char* kinds[] = {"Square", "Negate", "Tanh"};
  for (int i = 0; i < length; ++i) {
    blocks.push_back(Block(Cat("b", i), kinds[i % 3], {{"x", last}}));
    last = Cat("b", i, ".y");
  }
  return blocks;
}

/// The session's own.
const Plan& Planned(Session& session) {
  Diagnostics diagnostics;
  session.Prepare(diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.all()) FAIL_CHECK(ToString(diagnostic));
  REQUIRE(session.plan() != nullptr);
  return *session.plan();
}

TEST_CASE("What is known of blocks for others that are like them is bounded", "[plan]") {
  // Each sum is of a shape of its own, which is long.
  std::vector<std::string> blocks;
  std::vector<std::string> fetches;
  for (int i = 1; i <= 700; ++i) {
    std::vector<int64_t> shape(250, 1);
    shape[0] = i;
    const std::string placeholder = Cat("shape_ = ", ToString(*PartialShape::Make(shape)), ";dtype_ = DT_FLOAT;");
    blocks.push_back(Block(Cat("p", i), "Placeholder", {}, placeholder));
    std::string wires;
    for (int k = 0; k < 60; ++k) wires += Cat(k == 0 ? "" : ", ", "\"p", i, ".output\"");
    blocks.push_back(Block(Cat("s", i), "AddN", {{"inputs", Cat("[", wires, "]")}}));
    fetches.push_back(Cat("s", i, ".sum"));
  }
  TestPage page(blocks);
  auto session = page.Open(fetches);
  Planned(*session);
  const size_t bytes = session->graph()->memo().plans.bytes();
  CHECK(bytes > PlanMemo::kMostBytes / 100);
  CHECK(bytes <= PlanMemo::kMostBytes);
}

TEST_CASE("A chain of big blocks needs a buffer or two", "[plan]") {
  TestPage page(BigChain(100));
  auto asked = page.Open({"b99.y"}, {}, Keep::kAsked);
  const Plan& plan = Planned(*asked);
  CHECK(plan.steps.size() == 101);
  CHECK(plan.arena_bytes <= 2 * kBigBytes);
  CHECK(plan.arena_bytes >= plan.live_bytes);
  CHECK(plan.kept_bytes == kBigBytes);
  auto all = page.Open({"b99.y"});
  const Plan& plan_of_all = Planned(*all);
  CHECK(plan_of_all.arena_bytes == 0);
  CHECK(plan_of_all.kept_bytes >= 101 * kBigBytes);
  RunOk(*asked);
  RunOk(*all);
  CHECK(SameBits(asked->Get("b99.y")->tensor, all->Get("b99.y")->tensor));
}

TEST_CASE("A gap that is too small for the next value does not cost its size", "[plan]") {
  // When c is made, b lives, and what a leaves is too small for c.
  auto largest = [](const char* id, const char* of) { return Block(id, "Max", {{"input", of}, {"axis", Ints({0})}}); };
  TestPage page({Variable("v", Scalar(0.5)), Block("a", "Fill", {{"dims", Ints({2000})}, {"value", "v.ref"}}),
                 Block("b", "Fill", {{"dims", Ints({3000})}, {"value", "v.ref"}}), largest("most_a", "a.output"),
                 Block("c", "Fill", {{"dims", Ints({3000})}, {"value", "most_a.output"}}), largest("most_c", "c.output"), largest("most_b", "b.output"),
                 Block("sum", "Add", {{"x", "most_b.output"}, {"y", "most_c.output"}})});
  auto asked = page.Open({"sum.z"}, {}, Keep::kAsked);
  RunOk(*asked);
  CHECK(asked->plan()->live_bytes > 2 * 12000);
  CHECK(asked->plan()->arena_bytes == asked->plan()->live_bytes);
  CHECK(asked->Get("sum.z")->tensor.values<float>()[0] == 1);
}

TEST_CASE("A value that is read again later is not written over", "[plan]") {
  // Each block reads the one before and one from long before, over an Identity.
  std::vector<std::string> blocks = {Variable("v", Scalar(0.5)), Block("b0", "Fill", {{"dims", Ints({1000})}, {"value", "v.ref"}})};
  auto name = [](int i) { return i == 0 ? std::string("b0.output") : Cat("b", i, ".z"); };
  for (int i = 1; i < 40; ++i) {
    std::string old = name(std::max(0, i - 7));
    blocks.push_back(Block(Cat("same", i), "Identity", {{"input", old}}));
    blocks.push_back(Block(Cat("b", i), i % 2 ? "Add" : "Subtract", {{"x", name(i - 1)}, {"y", Cat("same", i, ".output")}}));
  }
  TestPage page(blocks);
  auto asked = page.Open({name(39)}, {}, Keep::kAsked), all = page.Open({name(39)});
  RunOk(*asked);
  RunOk(*all);
  CHECK(SameBits(asked->Get(name(39))->tensor, all->Get(name(39))->tensor));
  CHECK(asked->plan()->arena_bytes <= 12 * 4032);
}

TEST_CASE("A comparison is not written over a wider input of as many bytes", "[plan]") {
  TestPage page({Block("one", "Placeholder", {}, "dtype_ = DT_DOUBLE;shape_ = [1];"), Block("n", "Negate", {{"x", "one.output"}}),
                 Block("g", "Greater", {{"x", "n.y"}, {"y", Literal("DT_DOUBLE", {8}, {1, 2, 3, 4, 5, 6, 7, 8})}}),
                 Block("c", "Cast", {{"x", "g.z"}}, "DstT_ = DT_FLOAT;")});
  auto session = page.Open({"c.y"}, {}, Keep::kAsked);
  REQUIRE(page.Feed(*session, "one.output", Tensor::Of<double>({-4.5})).ok());
  RunOk(*session);
  CHECK(Get(*session, "c.y") == Floats{1, 1, 1, 1, 0, 0, 0, 0});
}

TEST_CASE("Forwards of planned memory need no step", "[plan]") {
  TestPage page({Variable("v", Vector({1, 2, 3, 4})), Block("s", "Square", {{"x", "v.ref"}}), Block("i", "Identity", {{"input", "s.y"}}),
                 Block("r", "Reshape", {{"tensor", "i.output"}, {"shape", Ints({2, 2})}}), Block("n", "Negate", {{"x", "r.output"}}),
                 Block("c", "Identity", {{"input", Vector({5})}}), Block("vi", "Identity", {{"input", "v.ref"}})});
  auto session = page.Open({"n.y", "c.output", "vi.output", "r.output"});
  CHECK(Planned(*session).steps.size() == 3);  // s, n, and vi: where a variable is changes from run to run
  RunOk(*session);
  CHECK(Get(*session, "r.output[1][1]") == Floats{16});
  CHECK(Get(*session, "c.output") == Floats{5});
  CHECK(Get(*session, "vi.output") == Floats{1, 2, 3, 4});
}

TEST_CASE("Sizes that no machine has are refused where they arise", "[plan]") {
  TestPage page({Block("f", "Fill", {{"dims", Literal("DT_INT64", {2}, {1LL << 31, 1LL << 31})}, {"value", Scalar(1)}}), Block("n", "Negate", {{"x", "f.output"}})});
  auto session = page.Open({"n.y"});
  Diagnostics diagnostics;
  session->Prepare(diagnostics);
  REQUIRE(diagnostics.errors() >= 1);
  CHECK(diagnostics.FirstError().code() == Code::kResourceExhausted);
  CHECK(diagnostics.FirstError().place().block == "f");
  CHECK(session->Run().code() == Code::kResourceExhausted);
}

TEST_CASE("A plan is printed with its updates and places", "[plan]") {
  TestPage page({Variable("v", Vector({1, 2})), Block("s", "Square", {{"x", "v.ref"}}),
                 Block("u", "ApplyGradientDescent", {{"var", "v.ref"}, {"alpha", Scalar(1)}, {"delta", "s.y"}})});
  auto session = page.Open({}, {"u"}, Keep::kAsked);
  std::string text = PrintPlan(page.graph(), Planned(*session));
  INFO(text);
  CHECK(text.find("1  run  u  ApplyGradientDescent") != std::string::npos);
  CHECK(text.find("updates v") != std::string::npos);
  CHECK(text.find("s.y DT_FLOAT[2] arena+0") != std::string::npos);
  CHECK(text.find("memory: arena 64 bytes") != std::string::npos);
}

}  // namespace
}  // namespace weft::test
