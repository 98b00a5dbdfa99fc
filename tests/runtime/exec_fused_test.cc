// Fused steps on toy blocks: tiles shared out to threads, the failure that is told, and steps that run alone.
#include "tests/runtime/exec_kit.h"

namespace weft::test {
namespace {

constexpr int64_t kFusedCount = 100'003;  // the last tile is shorter

/// y = x, but where x is 13 it fails.
BlockDef ToyUnlucky() {
  return weft::Block("ToyUnlucky", "Fails on 13.").Ports(toy_x, toy_y).Types("T", kToyTypes).Elementwise().Kernel(
      [](PlanContext& ctx) -> Status {
        ctx.set(toy_y, ctx.shape(toy_x));
        return {};
      },
      []<class T>(const NoParameters&, RunContext& ctx) -> Status {
        for (size_t i = 0; i < ctx.in<T>(toy_x).size(); ++i) {
          if (ctx.in<T>(toy_x)[i] == T(13)) return ctx.Error(toy_x, "found 13");
          ctx.out<T>(toy_y)[i] = ctx.in<T>(toy_x)[i];
        }
        return {};
      });
}

std::vector<BlockDef> FusedToys() {
  std::vector<BlockDef> toys = PlannedPage::MakeToys();
  toys.push_back(ToyUnlucky());
  return toys;
}

/// x, then a chain of blocks whose last is fetched.
struct ChainPage : PlannedPage {
  explicit ChainPage(const std::vector<std::string>& types, int threads = 2)
      : PlannedPage(BlocksOf(types), {Cat("b", types.size() - 1, ".y")}, {}, Keep::kAsked, FusedToys(),
                    {.threads = threads, .memory_limit = 0, .processors = threads}),
        parts(*this) {
    REQUIRE(plan().fused.size() == 1);
    REQUIRE(parts.memory.Bind(set).ok());
    set.Own(Slot("x.output"), Tensor::Allocate(DType::kFloat, Shape{kFusedCount}).value());
    for (int64_t i = 0; i < kFusedCount; ++i) Input()[i] = static_cast<float>(i % 1000 + 100);
  }
  static std::vector<std::string> BlocksOf(const std::vector<std::string>& types) {
    std::vector<std::string> blocks = {PlaceholderOf("x", Cat("[", kFusedCount, "]"))};
    std::string last = "x.output";
    for (size_t i = 0; i < types.size(); ++i) {
      blocks.push_back(Block(Cat("b", i), types[i], {{"x", last}}));
      last = Cat("b", i, ".y");
    }
    return blocks;
  }
  float* Input() { return static_cast<float*>(set.values[Slot("x.output")].data); }
  Status Run(size_t& at) { return parts.fused.RunGroup(plan().fused[0], set.values.data(), services.workers(), at); }

  PlannedMemory parts;
  ResultSet set;
};

TEST_CASE("Fused steps compute every element once, in tiles that never lie in memory as a whole", "[exec]") {
  for (int threads : {1, 2, 5}) {
    ChainPage chain({"ToyNext", "ToyNext", "ToyNext"}, threads);
    CHECK(chain.plan().slots[chain.Slot("b0.y")].storage == Slot::Storage::kTile);
    CHECK(chain.budget()->used() < 3 * kFusedCount * 4);
    size_t at = 0;
    REQUIRE(chain.Run(at).ok());
    const Floats made = FloatsOf(chain.set.values[chain.Slot("b2.y")]);
    bool right = made.size() == static_cast<size_t>(kFusedCount);
    for (size_t i = 0; right && i < made.size(); ++i) right = made[i] == chain.Input()[i] + 3;
    CHECK(right);
  }
}

TEST_CASE("Of several failures that is told which would have come first, on any number of threads", "[exec]") {
  for (int threads : {1, 2, 5}) {
    ChainPage chain({"ToyUnlucky", "ToyNext", "ToyUnlucky"}, threads);
    chain.Input()[10] = 12;          // fails at b2, in the first tile
    chain.Input()[kFusedCount - 1] = 13;  // at b0, in the last
    size_t at = 99;
    const Status status = chain.Run(at);
    CHECK(status.code() == Code::kInvalidArgument);
    CHECK(at == chain.StepOf("b0"));
    chain.Input()[kFusedCount - 1] = 1;
    CHECK_FALSE(chain.Run(at).ok());
    CHECK(at == chain.StepOf("b2"));
    chain.Input()[10] = 1;
    CHECK(chain.Run(at).ok());
  }
}

TEST_CASE("Fused steps end early where the run is cancelled", "[exec]") {
  ChainPage chain({"ToyUnlucky", "ToyNext"});
  for (int64_t i = 0; i < kFusedCount; ++i) chain.Input()[i] = 13;
  chain.cancelled = true;
  size_t at = 0;
  CHECK(chain.Run(at).ok());  // no tile was looked at
}

TEST_CASE("Values of fused steps get whole memory when a step runs alone, and keep it", "[exec]") {
  ChainPage chain({"ToyNext", "ToyNext", "ToyNext"});
  ResultSet other;
  REQUIRE(chain.parts.memory.Bind(other).ok());
  CHECK_FALSE(chain.parts.fused.whole());
  REQUIRE(chain.parts.fused.MakeWhole(chain.set).ok());
  REQUIRE(chain.parts.fused.whole());
  const Value& a = chain.set.values[chain.Slot("b0.y")];
  Fill(a, 1);
  CHECK(FloatsOf(a) == Floats(static_cast<size_t>(kFusedCount), 1));
  // The other set's values are pointed at it before its next run.
  CHECK(chain.set.tiles_whole);
  CHECK_FALSE(other.tiles_whole);
  chain.parts.memory.Point(other);
  CHECK(other.values[chain.Slot("b0.y")].data == a.data);
  size_t at = 0;
  REQUIRE(chain.Run(at).ok());
  CHECK(FloatsOf(chain.set.values[chain.Slot("b2.y")])[7] == chain.Input()[7] + 3);
}

}  // namespace
}  // namespace weft::test
