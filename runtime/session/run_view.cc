// A run as its observer sees it.
#include <algorithm>

#include "runtime/session/executor.h"

namespace weft {

int Executor::View::current() const {
  const std::vector<Step>& steps = executor_.plan_.steps;
  return at != nullptr && *at < steps.size() ? steps[*at].node : -1;
}

Status Executor::View::Stopped() const { return executor_.workers_.Stopped() ? executor_.Stopped() : Status(); }

void Executor::View::SetPaused(bool paused) {
  std::lock_guard lock(executor_.scope_.stall_mutex_);
  executor_.scope_.paused_ += paused ? 1 : -1;
}

Result<Tensor> Executor::View::Look(ValueRef value) const {
  const Graph& graph = *executor_.edition_->graph;
  const Plan& plan = executor_.plan_;
  const auto none = [&](std::string_view why) { return FailedPrecondition("'", graph.ValueName(value), "' ", why); };
  if (set == nullptr) return none("has no value: the run has not begun");
  const int index = plan.SlotOf(value);
  if (index < 0) return none("is no part of this run");
  const Slot& slot = plan.slots[static_cast<size_t>(index)];
  if (slot.storage == Slot::Storage::kConstant) return graph.node(value.node).constant;
  const auto step = std::find_if(plan.steps.begin(), plan.steps.end(), [&](const Step& s) { return s.node == value.node; });
  const int at = step == plan.steps.end() ? -1 : static_cast<int>(step - plan.steps.begin());
  const bool now = at >= 0 && at == ended;
  const Value& here = set->values[static_cast<size_t>(index)];
  if (at >= 0 && !now) {
    const bool lived = !plan.loops.empty() && set->lived[static_cast<size_t>(index)] != 0;
    if (!lived && static_cast<size_t>(at) >= done) return none("has no value yet in this run");
    if (!lived && here.dead) return none("has no value in this run: a Switch left it out");
  }
  if (!HasValue(here)) return none("has no value in this run");
  if (!now && !slot.kept && !set->owned[static_cast<size_t>(index)].defined()) {
    return FailedPrecondition("'", graph.ValueName(value), "' is not kept by this session").WithHint("fetch it, or keep all results");
  }
  return Tensor::View(slot.dtype, *here.shape, here.data, nullptr);
}

}  // namespace weft
