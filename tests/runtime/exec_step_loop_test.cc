// The loop over steps: what kernels that fail or throw make of a run, and how deep a kernel lies below the call that runs it.
#include <execinfo.h>

#include <stdexcept>

#include "tests/kit/sanitized.h"
#include "tests/runtime/exec_kit.h"

namespace weft::test {
namespace {

std::string trouble;  // what the next kernel of ToyTrouble does

BlockDef ToyTrouble() {
  return weft::Block("ToyTrouble", "Fails as it is told.").Ports(toy_x, toy_y).Types("T", kToyTypes).Kernel(
      [](PlanContext& ctx) -> Status {
        ctx.set(toy_y, ctx.shape(toy_x));
        return {};
      },
      []<class T>(const NoParameters&, RunContext& ctx) -> Status {
        if (trouble == "fail") return ctx.Error(toy_x, "is no good");
        if (trouble == "throw") throw std::runtime_error("out of luck");
        if (trouble == "memory") throw std::bad_alloc();
        std::fill_n(ctx.out<T>(toy_y).begin(), ctx.out<T>(toy_y).size(), T(5));
        return {};
      });
}

TEST_CASE("A kernel that fails or throws ends the run with its block and the shapes of its inputs, and nothing else", "[exec]") {
  std::vector<BlockDef> toys;
  toys.push_back(ToyTrouble());
  TestPage page({Variable("v", Vector({1, 2})), Block("n", "AssignAdd", {{"ref", "v.ref"}, {"value", Vector({1, 1})}}),
                 Block("t", "ToyTrouble", {{"x", "n.output_ref"}})},
                {.threads = 1, .memory_limit = 0}, {}, std::move(toys));
  auto session = page.Open({"t.y"}, {"n"});
  trouble = "";
  RunOk(*session);
  CHECK(page.Var("v") == Floats{2, 3});
  struct Case {
    const char* trouble;
    Code code;
    const char* says;
  };
  for (const Case& test : {Case{"fail", Code::kInvalidArgument, "is no good"}, Case{"throw", Code::kInternal, "the block failed unexpectedly: out of luck"},
                           Case{"memory", Code::kResourceExhausted, "no memory left"}}) {
    trouble = test.trouble;
    const Status status = session->Run();
    INFO(ToString(status));
    CHECK(status.code() == test.code);
    CHECK(status.place().block == "t");
    CHECK(status.message().find(test.says) != std::string::npos);
    CHECK(status.message().find("x DT_FLOAT [2]") != std::string::npos);
    CHECK(page.Var("v") == Floats{2, 3});
    CHECK(Get(*session, "t.y") == Floats{5, 5});
  }
  trouble = "";
  RunOk(*session);
  CHECK(page.Var("v") == Floats{3, 4});
}

// ---- frames ----------------------------------------------------------------------------------------------------------------------------

int kernel_depth = 0;

int Depth() {
  void* frames[128];
  return backtrace(frames, 128);
}

Status Measure(const void* /*parameters*/, RunContext& ctx) {
  kernel_depth = Depth();
  if (FrameOf(ctx).updates != nullptr) std::fill_n(static_cast<float*>(FrameOf(ctx).updates[0].data), FrameOf(ctx).updates[0].count, 1.0f);
  return {};
}

/// Of one shape with its input; the kernel is called without a wrapper.
BlockDef ToyDepth(const char* name, bool updates) {
  const auto plan = [](PlanContext& ctx) -> Status {
    ctx.set(toy_y, ctx.shape(toy_x));
    return {};
  };
  const auto plan_update = [](PlanContext& ctx) -> Status {
    ctx.set(toy_out, ctx.shape(toy_var));
    return {};
  };
  const auto run = []<class T>(const NoParameters&, RunContext&) {};
  BlockDef def = updates ? weft::Block(name, "Measures.").Ports(toy_var, toy_out).Types("T", kToyTypes).Updates(toy_var).Kernel(plan_update, run)
                         : weft::Block(name, "Measures.").Ports(toy_x, toy_y).Types("T", kToyTypes).Kernel(plan, run);
  def.plan = [of = def.plan](PlanContext& ctx) -> Result<PlannedBlock> {
    Result<PlannedBlock> planned = of(ctx);
    if (planned.ok()) planned->run = Measure;
    return planned;
  };
  return def;
}

TEST_CASE("From a session's Run to a kernel there are four frames", "[exec]") {
  if (kit::kSanitized) {
    WARN("not measured: sanitizers add frames of their own");
    return;
  }
  std::vector<BlockDef> toys;
  toys.push_back(ToyDepth("ToyDepth", false));
  toys.push_back(ToyDepth("ToyDepthOfUpdate", true));
  TestPage page({Variable("v", Vector({1, 2})), Variable("w", Vector({1, 2})), PlaceholderOf("x", "[2]"), PlaceholderOf("u", "?"),
                 Block("plain", "ToyDepth", {{"x", "x.output"}}), Block("dynamic", "ToyDepth", {{"x", "u.output"}}),
                 Block("update", "ToyDepthOfUpdate", {{"var", "v.ref"}}), Block("one", "ToyDepthOfUpdate", {{"var", "w.ref"}}),
                 Block("two", "ToyDepthOfUpdate", {{"var", "one.out"}}),
                 Block("pred", "Placeholder", {}, "dtype_ = DT_BOOL;shape_ = [];"),
                 Block("way", "Switch", {{"data", "x.output"}, {"pred", "pred.output"}}), Block("behind", "ToyDepth", {{"x", "way.output_true"}})},
                {.threads = 1, .memory_limit = 0}, {}, std::move(toys));
  for (const char* wire : {"plain.y", "dynamic.y", "update.out", "two.out", "behind.y"}) {
    auto session = page.Open({wire});
    if (std::string_view(wire) == "plain.y" || std::string_view(wire) == "behind.y") REQUIRE(page.Feed(*session, "x.output", Tensor::Of<float>({1, 2})).ok());
    if (std::string_view(wire) == "dynamic.y") REQUIRE(page.Feed(*session, "u.output", Tensor::Of<float>({1, 2})).ok());
    if (std::string_view(wire) == "behind.y") REQUIRE(page.Feed(*session, "pred.output", Tensor::Scalar<bool>(true)).ok());
    for (int run = 0; run < 2; ++run) {
      kernel_depth = 0;
      RunOk(*session);
    }
    const int here = Depth();
    Status status = session->Run();
    REQUIRE(status.ok());
    INFO(wire << ": " << kernel_depth - here << " frames");
    CHECK(kernel_depth - here <= 4);
    CHECK(kernel_depth - here >= 1);
  }
}

}  // namespace
}  // namespace weft::test
