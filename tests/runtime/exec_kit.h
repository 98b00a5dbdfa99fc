// The parts of the executor, made for a page of a test without a session: toy blocks, plans, and what the parts need.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "runtime/exec/fused.h"
#include "runtime/exec/results.h"
#include "runtime/exec/run_memory.h"
#include "runtime/exec/run_services.h"
#include "runtime/exec/session_plan.h"
#include "runtime/state/variable_store.h"
#include "tests/runtime/session_kit.h"
#include "weft/block/block.h"

namespace weft::test {

constexpr In<0> toy_x{"x", "T", "any shape"};
constexpr RefIn<0> toy_var{"var", "T", "any shape"};
constexpr RefOut<0, 0> toy_out{"out", "T", "the shape of var"};
constexpr Out<0> toy_y{"y", "T", "the shape of x"};
constexpr auto kToyTypes = TypeList<float>{};

/// y = x + 1. Its page says how often it was planned.
inline BlockDef ToyNext(std::atomic<int>* plans = nullptr) {
  return weft::Block("ToyNext", "Adds one.").Ports(toy_x, toy_y).Types("T", kToyTypes).Elementwise().Kernel(
      [plans](PlanContext& ctx) -> Status {
        if (plans != nullptr) ++*plans;
        if (ctx.shape(toy_x).rank() > 3) return ctx.Error(toy_x, "needs at most three dimensions");
        ctx.set(toy_y, ctx.shape(toy_x));
        return {};
      },
      []<class T>(const NoParameters&, RunContext& ctx) {
        for (size_t i = 0; i < ctx.in<T>(toy_x).size(); ++i) ctx.out<T>(toy_y)[i] = ctx.in<T>(toy_x)[i] + T(1);
      });
}

/// Updates a variable to what it was, plus one.
inline BlockDef ToyCount() {
  return weft::Block("ToyCount", "Adds one to a variable.").Ports(toy_var, toy_out).Types("T", kToyTypes).Updates(toy_var).Kernel(
      [](PlanContext& ctx) -> Status {
        ctx.set(toy_out, ctx.shape(toy_var));
        return {};
      },
      []<class T>(const NoParameters&, RunContext& ctx) {
        for (size_t i = 0; i < ctx.in<T>(toy_var).size(); ++i) ctx.update<T>(toy_var)[i] = ctx.in<T>(toy_var)[i] + T(1);
      });
}

/// A page of catalog and toy blocks, planned, with what parts of the executor need. Nothing of it runs.
class PlannedPage {
 public:
  PlannedPage(const std::vector<std::string>& blocks, const std::vector<std::string>& fetches, const std::vector<std::string>& run = {},
              Keep keep = Keep::kAll, std::vector<BlockDef> toys = MakeToys(), RuntimeOptions options = {.threads = 2, .memory_limit = 0})
      : page(blocks, options, {}, std::move(toys)), services(*page.scope(), cancelled) {
    for (const std::string& error : page.errors()) FAIL_CHECK(error);
    for (const std::string& wire : fetches) spec.fetches.push_back({wire, Value(wire)});
    for (const std::string& id : run) spec.run.push_back(page.graph().FindNode(id).value());
    planned = PlanNow(keep);
  }

  static std::vector<BlockDef> MakeToys() {
    std::vector<BlockDef> toys;
    toys.push_back(ToyNext());
    toys.push_back(ToyCount());
    return toys;
  }

  /// Of the values that variables have now.
  std::shared_ptr<const SessionPlan> PlanNow(Keep keep) {
    const std::shared_ptr<Revision> revision = page.scope()->revision();
    PlanRequest request = RequestFor(spec, keep);
    request.shape_of = ShapesNow(*revision, page.scope()->variables());
    Diagnostics found;
    Plan plan = MakePlan(*revision->graph, request, found);
    for (const Diagnostic& diagnostic : found.all()) FAIL_CHECK(ToString(diagnostic));
    request.shape_of = nullptr;
    return std::make_shared<SessionPlan>(revision, std::move(request), std::move(plan), page.scope()->NumberPlan(keep));
  }

  const Plan& plan() const { return planned->plan; }
  const Graph& graph() const { return planned->graph; }
  ValueRef Value(const std::string& wire) const { return page.graph().FindValue(wire).value(); }
  uint32_t Slot(const std::string& wire) const {
    const int slot = planned->plan.SlotOf(Value(wire));
    REQUIRE(slot >= 0);
    return static_cast<uint32_t>(slot);
  }
  /// The step of a block.
  size_t StepOf(const std::string& id) const {
    const int node = page.graph().FindNode(id).value();
    for (size_t s = 0; s < plan().steps.size(); ++s) {
      if (plan().steps[s].node == node) return s;
    }
    FAIL("no step runs '" << id << "'");
    return 0;
  }
  const std::shared_ptr<MemoryBudget>& budget() const { return services.budget(); }

  TestPage page;
  std::atomic<bool> cancelled{false};
  RunServices services;
  SessionSpec spec;
  std::shared_ptr<const SessionPlan> planned;
};

/// The memory of a planned page.
struct PlannedMemory {
  explicit PlannedMemory(PlannedPage& page)
      : fused(page.plan(), page.services.services()), memory(*page.planned, fused, page.budget()) {
    REQUIRE(memory.TakeArena().ok());
    REQUIRE(fused.Make(page.services.workers().threads()).ok());
  }
  FusedRunner fused;
  RunMemory memory;
};

inline std::vector<float> FloatsOf(const Value& value) {
  const auto* data = static_cast<const float*>(value.data);
  return {data, data + value.count};
}
inline void Fill(const Value& value, float with) { std::fill_n(static_cast<float*>(value.data), value.count, with); }

inline std::string PlaceholderOf(std::string_view id, std::string_view shape) {
  return Block(id, "Placeholder", {}, Cat("dtype_ = DT_FLOAT;shape_ = ", shape, ";"));
}
inline std::string Next(std::string_view id, std::string_view of) { return Block(id, "ToyNext", {{"x", std::string(of)}}); }

}  // namespace weft::test
