// Steps that are planned while a run goes on, on a toy block that counts its plans.
#include "runtime/exec/dynamic_steps.h"
#include "tests/runtime/exec_kit.h"

namespace weft::test {
namespace {

std::atomic<int> plans{0};

constexpr In<0> sizes{"sizes", "DT_INT32", "a vector"};
constexpr Out<0> ones{"ones", "DT_FLOAT", "of those sizes"};

/// An output of the sizes that its input says.
BlockDef ToyOnes() {
  return weft::Block("ToyOnes", "Ones.").Ports(sizes, ones).ShapedBy(sizes).Kernel(
      [](PlanContext& ctx) -> Status {
        ++plans;
        return ctx.set_checked(ones, ctx.ints(sizes), sizes);
      },
      [](const NoParameters&, RunContext& ctx) {
        for (float& one : ctx.out<float>(ones)) one = 1;
      });
}

std::vector<BlockDef> Toys() {
  std::vector<BlockDef> toys;
  toys.push_back(ToyNext(&plans));
  toys.push_back(ToyOnes());
  return toys;
}

/// The size comes from a feed, so that only a run can tell what is behind it.
struct Unknown : PlannedPage {
  Unknown()
      : PlannedPage({Block("n", "Placeholder", {}, "dtype_ = DT_INT32;shape_ = [2];"), Block("o", "ToyOnes", {{"sizes", "n.output"}}), Next("t", "o.ones")},
                    {"t.y"}, {}, Keep::kAll, Toys()),
        parts(*this),
        steps(*page.scope(), *planned, budget()) {
    REQUIRE(parts.memory.Bind(set).ok());
  }
  void SetSizes(int32_t a, int32_t b) { set.Own(Slot("n.output"), Tensor::Of<int32_t>({a, b})); }
  Result<const DynamicSteps::Entry*> Prepare(const std::string& block) { return steps.Prepare(set, StepOf(block)); }

  PlannedMemory parts;
  DynamicSteps steps;
  ResultSet set;
};

TEST_CASE("A dynamic step is planned again when its shapes change, and not before", "[exec]") {
  Unknown page;
  REQUIRE(page.plan().steps[page.StepOf("t")].kind == Step::Kind::kDynamic);
  plans = 0;
  page.set.Own(page.Slot("o.ones"), Tensor::Of<float>({1, 1}));
  for (int i = 0; i < 3; ++i) {
    auto entry = page.Prepare("t");
    REQUIRE(entry.ok());
    CHECK((*entry)->planned.outputs[0] == Shape{2});
  }
  CHECK(plans == 1);
  page.set.Own(page.Slot("o.ones"), Tensor::Of<float>({1, 1, 1}));
  auto entry = page.Prepare("t");
  REQUIRE(entry.ok());
  CHECK((*entry)->planned.outputs[0] == Shape{3});
  CHECK(plans == 2);
}

TEST_CASE("A dynamic step is planned again when the values that shape it change", "[exec]") {
  Unknown page;
  page.SetSizes(2, 3);
  plans = 0;
  auto entry = page.Prepare("o");
  REQUIRE(entry.ok());
  CHECK((*entry)->planned.outputs[0] == Shape{2, 3});
  REQUIRE(page.Prepare("o").ok());
  page.SetSizes(2, 3);  // the same values, elsewhere
  REQUIRE(page.Prepare("o").ok());
  CHECK(plans == 1);
  page.SetSizes(3, 2);
  entry = page.Prepare("o");
  REQUIRE(entry.ok());
  CHECK((*entry)->planned.outputs[0] == Shape{3, 2});
  CHECK(plans == 2);
}

TEST_CASE("A dynamic step that its block refuses is asked for again", "[exec]") {
  Unknown page;
  page.SetSizes(-1, 3);
  CHECK(page.Prepare("o").status().code() == Code::kInvalidArgument);
  plans = 0;
  CHECK(page.Prepare("o").status().code() == Code::kInvalidArgument);
  CHECK(plans == 1);
  page.SetSizes(1, 3);
  REQUIRE(page.Prepare("o").ok());
}

}  // namespace
}  // namespace weft::test
