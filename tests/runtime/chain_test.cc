// Chains of fused steps: the same bits as one by one, for every block that can be a link, wherever its operands are.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tests/runtime/fusion_kit.h"
#include "weft/block/registry.h"
#include "weft/plan/plan.h"

namespace weft::test {
namespace {

constexpr int64_t kCount = 4 * 8192 + 4096 + 77;  // tiles, and a shorter one whose end fills no registers

/// Numbers of all sizes, with those among them that are special, at ever other places.
Tensor Specials(DType dtype, int64_t count, uint32_t seed) {
  Tensor tensor = Numbers(dtype, Shape{count}, seed);
  Dispatch(dtype, TypeList<float, double>(), [&]<class T>() {
    using Limits = std::numeric_limits<T>;
    const T special[] = {
        0, T(-0.0), Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::max(), Limits::lowest(), Limits::min(), 6, 1};
    std::mt19937 random(seed);
    for (T& v : tensor.values<T>()) {
      if (random() % 4 == 0) v = special[random() % std::size(special)];
    }
  });
  return tensor;
}

/// Bit by bit, but which NaN a NaN is.
bool SameNumbers(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.count() != b.count()) return false;
  return Dispatch(a.dtype(), TypeList<float, double>(), [&]<class T>() {
    for (int64_t i = 0; i < a.count(); ++i) {
      const T x = a.values<T>()[i], y = b.values<T>()[i];
      if (std::isnan(x) ? !std::isnan(y) : x != y || std::signbit(x) != std::signbit(y)) return false;
    }
    return true;
  });
}

using Blocks = std::vector<std::string>;

Blocks Inputs(DType dtype) {
  return {Block("x", "Placeholder", {}, Cat("dtype_ = ", dtype, ";")), Block("y", "Placeholder", {}, Cat("dtype_ = ", dtype, ";")),
          Block("c", "Const", {{"value", Literal(Cat(dtype), {}, {0.75})}})};
}

/// Members that run in chains.
size_t Linked(const Plan& plan) {
  size_t count = 0;
  for (const FusedSteps& fused : plan.fused) {
    for (const FusedSteps::Chain& chain : fused.chains) count += chain.end - chain.first;
  }
  return count;
}

std::unique_ptr<Session> Ran(const TestPage& page, DType dtype, const std::vector<std::string>& fetches, Keep keep, Observer* observer,
                             int64_t count = kCount) {
  auto session = page.Open(fetches, {}, keep);
  REQUIRE(page.Feed(*session, "x.output", Specials(dtype, count, 3)).ok());
  REQUIRE(page.Feed(*session, "y.output", Specials(dtype, count, 4)).ok());
  RunOk(*session, {.observer = observer, .deadline = {}});
  return session;
}

/// Runs the page fused and one by one, with the last of the fetches alone in memory, with all fetches, and with everything.
void CheckPage(const Blocks& blocks, DType dtype, const std::vector<std::string>& fetches, size_t linked, int64_t count = kCount) {
  TestPage page(blocks);
  OneByOne observer;
  auto single = Ran(page, dtype, fetches, Keep::kAll, &observer, count);
  for (const std::vector<std::string>& some : {std::vector{fetches.back()}, fetches}) {
    for (Keep keep : {Keep::kAsked, Keep::kAll}) {
      auto fused = Ran(page, dtype, some, keep, nullptr, count);
      CHECK(Linked(*fused->plan()) == linked);
      for (const std::string& name : some) {
        INFO(name << ", " << some.size() << " fetches, everything kept: " << (keep == Keep::kAll));
        CHECK(SameNumbers(fused->Get(name)->tensor, single->Get(name)->tensor));
      }
    }
  }
}

/// Whether a page can hold the block by its inputs alone.
bool IsPlainMap(const BlockDef& def) {
  if (!def.elementwise || def.stateful || def.structural != Structural::kNone || def.flow != Flow::kPlain) return false;
  if (def.outputs.size() != 1 || def.inputs.empty() || def.inputs.size() > 2) return false;
  for (const PortSpec& port : def.inputs) {
    if (port.kind != PortKind::kTensor || port.list != PortList::kSingle || port.type_attr != "T") return false;
  }
  return def.outputs[0].type_attr == "T";
}

/// The block six times, with operands wherever they can be: both from memory, single ones on either side, one from registers, twice the
/// same, and one that was made before.
Blocks MapPage(const BlockDef& def, DType dtype, bool singles) {
  Blocks blocks = Inputs(dtype);
  const auto made = [&](int b) { return Cat("b", b, ".", def.outputs[0].name); };
  const std::string x = "x.output", y = "y.output", c = singles ? "c.output" : "x.output";
  const std::string operands[][2] = {{x, y}, {made(1), c}, {c, made(2)}, {y, made(3)}, {made(4), made(4)}, {made(5), made(1)}};
  for (int b = 1; b <= 6; ++b) {
    const auto& [left, right] = operands[b - 1];
    if (def.inputs.size() == 2) blocks.push_back(Block(Cat("b", b), def.name, {{def.inputs[0].name, left}, {def.inputs[1].name, right}}));
    else blocks.push_back(Block(Cat("b", b), def.name, {{def.inputs[0].name, b == 1 ? x : made(b - 1)}}));
  }
  return blocks;
}

TEST_CASE("Every block that can be a link of a chain gives the numbers that it gives alone", "[fusion][chains]") {
  const Registry catalog = MakeCatalog();
  std::set<std::string> linked;
  for (const auto& def : catalog.blocks()) {
    if (!IsPlainMap(*def)) continue;
    for (DType dtype : {DType::kFloat, DType::kDouble}) {
      for (bool singles : {true, false}) {
        const Blocks blocks = MapPage(*def, dtype, singles);
        TestPage page(blocks);
        if (!page.errors().empty()) continue;
        auto session = page.Open({Cat("b6.", def->outputs[0].name)}, {}, Keep::kAsked);
        REQUIRE(page.Feed(*session, "x.output", Specials(dtype, kCount, 3)).ok());
        REQUIRE(page.Feed(*session, "y.output", Specials(dtype, kCount, 4)).ok());
        Diagnostics diagnostics;
        session->Prepare(diagnostics);
        if (session->plan() == nullptr || Linked(*session->plan()) == 0) continue;
        INFO(Cat(def->name, " of ", dtype, ", singles: ", singles ? "yes" : "no"));
        std::vector<std::string> fetches;
        for (int b = 1; b <= 6; ++b) fetches.push_back(Cat("b", b, ".", def->outputs[0].name));
        CheckPage(blocks, dtype, fetches, 6);
        linked.insert(def->name);
        break;
      }
    }
  }
  for (const char* name :
       {"Add",    "AddV2",      "Subtract", "Multiply", "SquaredDifference", "Div",  "RealDiv",  "DivNoNan", "Maximum", "Minimum", "Negate",
        "Square", "Reciprocal", "Relu",     "Relu6",    "ReluGrad",          "Tanh", "TanhGrad", "Sigmoid",  "Exp",     "Log",     "Sqrt",
        "Rsqrt",  "Softplus",   "FloorMod"}) {
    INFO(name);
    CHECK(linked.count(name) == 1);
  }
}

TEST_CASE("Chains end where a block has no link, where the type changes, and where they are long", "[fusion][chains]") {
  // Two chains of floats around Floor, which is none's, then one of doubles; a value of the first is read in the second.
  Blocks blocks = Inputs(DType::kFloat);
  for (const std::string& block : {Block("a", "Square", {{"x", "x.output"}}), Block("b", "Add", {{"x", "a.y"}, {"y", "y.output"}}),
                                   Block("f", "Floor", {{"x", "b.z"}}), Block("d", "Multiply", {{"x", "a.y"}, {"y", "f.y"}}),
                                   Block("e", "Negate", {{"x", "d.z"}}), Block("w", "Cast", {{"x", "e.y"}}, "DstT_ = DT_DOUBLE;"),
                                   Block("g", "Square", {{"x", "w.y"}}), Block("h", "Subtract", {{"x", "w.y"}, {"y", "g.y"}})}) {
    blocks.push_back(block);
  }
  CheckPage(blocks, DType::kFloat, {"a.y", "b.z", "d.z", "e.y", "g.y", "h.z"}, 6);

  blocks = Inputs(DType::kDouble);
  std::string last = "x.output";
  for (int i = 0; i < 40; ++i) {
    blocks.push_back(
        Block(Cat("b", i), i % 3 == 0 ? "Add" : "Maximum", {{"x", i % 5 == 0 ? "y.output" : last}, {"y", i % 5 == 2 ? "c.output" : last}}));
    last = Cat("b", i, ".z");
  }
  CheckPage(blocks, DType::kDouble, {"b7.z", "b15.z", last}, 40);
}

TEST_CASE("Chains hold what several blocks read, and what is reduced", "[fusion][chains]") {
  Blocks blocks = Inputs(DType::kFloat);
  for (const std::string& block :
       {Block("a", "Multiply", {{"x", "x.output"}, {"y", "c.output"}}), Block("p", "Square", {{"x", "y.output"}}),
        Block("q", "Relu", {{"features", "p.y"}}), Block("r", "Minimum", {{"x", "q.activations"}, {"y", "a.z"}}),
        Block("s", "Subtract", {{"x", "a.z"}, {"y", "r.z"}}), Block("m", "Maximum", {{"x", "s.z"}, {"y", "p.y"}})}) {
    blocks.push_back(block);
  }
  for (const char* read : {"a.z", "r.z", "m.z"}) {
    blocks.push_back(Block(Cat("sum_", read[0]), "Sum", {{"input", read}, {"axis", Ints({0})}}));
  }
  for (int64_t count : {int64_t{32768}, int64_t{32769}, kCount, int64_t{500001}}) {
    INFO(count);
    CheckPage(blocks, DType::kFloat, {"sum_a.output", "sum_r.output", "q.activations", "sum_m.output"}, 6, count);
  }
}

TEST_CASE("Chains fetch in advance what comes from afar, each input once", "[fusion][chains]") {
  Blocks blocks = Inputs(DType::kFloat);
  for (const std::string& block : {Block("a", "Multiply", {{"x", "x.output"}, {"y", "y.output"}}), Block("b", "Add", {{"x", "a.z"}, {"y", "x.output"}}),
                                   Block("d", "Multiply", {{"x", "b.z"}, {"y", "a.z"}}), Block("e", "Maximum", {{"x", "d.z"}, {"y", "c.output"}})}) {
    blocks.push_back(block);
  }
  const std::vector<std::string> fetches{"a.z", "e.z"};
  for (const auto& [count, fetched] : {std::pair{kCount, int64_t{0}}, std::pair{int64_t{200003}, int64_t{2}}}) {
    CheckPage(blocks, DType::kFloat, fetches, 4, count);
    TestPage page(blocks);
    auto session = Ran(page, DType::kFloat, fetches, Keep::kAsked, nullptr, count);
    const auto& chain = session->plan()->fused[0].chains[0];
    CHECK(std::ranges::count(chain.links, ChainOp::Use::kPrefetch, &FusedSteps::Chain::Link::use) == fetched);
  }
}

TEST_CASE("A chain of many far inputs, each member's result kept, is as long as it may be", "[fusion][chains]") {
  constexpr int kMembers = 15;
  Blocks blocks;
  std::string last = "x0.output";
  for (int i = 0; i <= kMembers; ++i) blocks.push_back(Block(Cat("x", i), "Placeholder", {}, "dtype_ = DT_FLOAT;"));
  for (int i = 1; i <= kMembers; ++i) {
    blocks.push_back(Block(Cat("b", i), i % 2 == 0 ? "Maximum" : "Subtract", {{"x", last}, {"y", Cat("x", i, ".output")}}));
    last = Cat("b", i, ".z");
  }
  TestPage page(blocks);
  const auto ran = [&](Observer* observer) {
    auto session = page.Open({last}, {}, Keep::kAll);
    for (int i = 0; i <= kMembers; ++i) REQUIRE(page.Feed(*session, Cat("x", i, ".output"), Specials(DType::kFloat, 200003, 7 + i)).ok());
    RunOk(*session, {.observer = observer, .deadline = {}});
    return session;
  };
  OneByOne observer;
  const auto single = ran(&observer), fused = ran(nullptr);
  REQUIRE(fused->plan()->fused[0].chains.size() == 1);
  CHECK(Linked(*fused->plan()) == kMembers);
  CHECK(std::ranges::count(fused->plan()->fused[0].chains[0].links, ChainOp::Use::kPrefetch, &FusedSteps::Chain::Link::use) == 3);
  for (int i = 1; i <= kMembers; ++i) {
    const std::string name = Cat("b", i, ".z");
    INFO(name);
    CHECK(SameNumbers(fused->Get(name)->tensor, single->Get(name)->tensor));
  }
}

TEST_CASE("Results that chains write past the cache begin and end anywhere", "[fusion][chains]") {
  Blocks blocks = Inputs(DType::kDouble);
  std::string last = "x.output";
  for (int i = 0; i < 6; ++i) {
    blocks.push_back(Block(Cat("b", i), "Multiply", {{"x", last}, {"y", i % 2 == 0 ? "y.output" : "c.output"}}));
    last = Cat("b", i, ".z");
  }
  blocks.push_back(Block("again", "Add", {{"x", last}, {"y", "b1.z"}}));
  blocks.push_back(Block("mean", "Mean", {{"input", "again.z"}, {"axis", Ints({0})}}));
  TestPage page(blocks);
  OneByOne observer;
  constexpr int64_t kMany = 1300003;
  auto single = Ran(page, DType::kDouble, {"mean.output"}, Keep::kAll, &observer, kMany);
  auto fused = Ran(page, DType::kDouble, {"mean.output"}, Keep::kAll, nullptr, kMany);
  size_t streamed = 0;
  for (const FusedSteps::Chain& chain : fused->plan()->fused[0].chains) {
    for (const FusedSteps::Chain::Link& link : chain.links) streamed += link.run == chain.kind->stream;
  }
  CHECK(streamed == 7);
  for (const auto& [name, value] : single->Results()) {
    INFO(name);
    CHECK(SameNumbers(single->Get(value)->tensor, fused->Get(value)->tensor));
  }
}

}  // namespace
}  // namespace weft::test
