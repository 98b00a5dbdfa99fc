// How deep a kernel lies below the call of the C interface that runs it: who debugs a block sees a short stack.
#include <execinfo.h>

#include "runtime/capi/objects.h"
#include "tests/capi/capi_kit.h"
#include "tests/kit/sanitized.h"
#include "weft/block/block.h"

using namespace weft;
using namespace weft::test;

namespace {

constexpr In<0> x{"x", "T", "any shape"};
constexpr Out<0> y{"y", "T", "the shape of x"};
int kernel_depth = 0;

[[gnu::noinline]] int Depth() {
  void* frames[128];
  return backtrace(frames, 128);
}

Status Measure(const void* /*parameters*/, RunContext& /*ctx*/) {
  kernel_depth = Depth();
  return {};
}

/// The kernel is called without a wrapper.
BlockDef DepthBlock() {
  BlockDef def = weft::Block("ToyDepth", "Measures how deep it lies.").Ports(x, y).Types("T", TypeList<float>{}).Kernel(
      [](PlanContext& ctx) -> Status {
        ctx.set(y, ctx.shape(x));
        return {};
      },
      []<class T>(const NoParameters&, RunContext&) {});
  def.plan = [of = def.plan](PlanContext& ctx) -> Result<PlannedBlock> {
    Result<PlannedBlock> planned = of(ctx);
    if (planned.ok()) planned->run = Measure;
    return planned;
  };
  return def;
}

}  // namespace

TEST_CASE("C: from weft_session_run to a kernel there are few frames", "[capi]") {
  if (kit::kSanitized) {
    WARN("not measured: sanitizers add frames of their own");
    return;
  }
  constexpr int kMostFrames = 8;  // the engine's own, the kernel's included: four down to Session::Run, four from there
  OwnedRuntime runtime = OpenRuntime();
  REQUIRE((*capi::Find<weft_runtime>(runtime))->runtime.AddBlock(DepthBlock()).ok());
  OwnedPage page = LoadPage(runtime, {Variable("v", Vector({1, 2})), weft::test::Block("depth", "ToyDepth", {{"x", "v.ref"}}),
                                      weft::test::Block("run", "ClientSession", {{"fetch_outputs", "[\"depth.y\"]"}})});
  OwnedSession session = OpenSession(page);
  Problems problems;
  for (int run = 0; run < 3; ++run) {
    kernel_depth = 0;
    const int here = Depth();
    const weft_status status = weft_session_run(session, nullptr, problems.out());
    INFO(problems.text());
    REQUIRE(status == WEFT_OK);
    INFO(kernel_depth - here << " frames");
    CHECK(kernel_depth - here >= 2);
    CHECK(kernel_depth - here <= kMostFrames);
  }
}
