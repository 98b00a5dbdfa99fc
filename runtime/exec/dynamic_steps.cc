#include "runtime/exec/dynamic_steps.h"

#include <algorithm>

#include "runtime/state/host_call.h"
#include "runtime/state/scope_services.h"
#include "runtime/state/thread_pool.h"

namespace weft {

Result<ResourceHandle> BindResource(Scope& scope, const Node& node, const PlannedBlock& block) {
  ScopeBinder binder(scope, node.def->name, node.id);
  return block.bind(block.parameters.get(), binder);
}

static bool AnyDynamic(const Plan& plan) { return std::ranges::find(plan.steps, Step::Kind::kDynamic, &Step::kind) != plan.steps.end(); }

DynamicSteps::DynamicSteps(Scope& scope, const SessionPlan& planned, std::shared_ptr<MemoryBudget> budget)
    : scope_(scope), planned_(planned), budget_(std::move(budget)) {
  if (AnyDynamic(planned.plan)) entries_.resize(planned.plan.steps.size());
}

int64_t DynamicSteps::BytesFor(const Plan& plan) { return AnyDynamic(plan) ? static_cast<int64_t>(plan.steps.size() * sizeof(Entry)) : 0; }

Result<const DynamicSteps::Entry*> DynamicSteps::Prepare(const ResultSet& set, size_t index) {
  const Step& step = planned_.plan.steps[index];
  Entry& entry = entries_[index];
  if (!entry.valid || !Fits(set, step, entry)) WEFT_RETURN_IF_ERROR(PlanEntry(set, step, entry));
  return &entry;
}

bool DynamicSteps::Fits(const ResultSet& set, const Step& step, const Entry& entry) const {
  for (size_t v = 0; v < entry.shapes.size(); ++v) {
    const Value& value = set.values[planned_.plan.operands[step.first_input + v]];
    if (!HasValue(value) || !entry.shapes[v] || !(*entry.shapes[v] == *value.shape)) return false;
    const Tensor& shaping = entry.shaping[v];
    if (shaping.defined() && !SameBits(shaping, Tensor::View(shaping.dtype(), *value.shape, value.data, nullptr))) return false;
  }
  return true;
}

Status DynamicSteps::TakeSignature(const ResultSet& set, const Step& step, Entry& entry) const {
  const Plan& plan = planned_.plan;
  const Node& node = planned_.graph.node(step.node);
  const uint32_t* slots = plan.operands.data() + step.first_input;
  entry.shapes.clear();
  entry.shaping.assign(node.inputs.size(), {});
  for (size_t v = 0; v < node.inputs.size(); ++v) {
    const Value& value = set.values[slots[v]];
    // Variables that need a value and have none were refused before.
    entry.shapes.push_back(HasValue(value) ? std::optional(*value.shape) : std::nullopt);
  }
  for (int port : node.def->shaped_by) {
    for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
      const Value& value = set.values[slots[v]];
      const Tensor view = Tensor::View(plan.slots[slots[v]].dtype, *value.shape, value.data, nullptr);
      WEFT_ASSIGN_OR_RETURN(entry.shaping[v], view.Clone(budget_));
    }
  }
  return {};
}

Status DynamicSteps::PlanEntry(const ResultSet& set, const Step& step, Entry& entry) const {
  const Planning planning(scope_);
  const KeepDenormals keep;
  const Plan& plan = planned_.plan;
  const Graph& graph = planned_.graph;
  const Node& node = graph.node(step.node);
  entry.valid = false;
  WEFT_RETURN_IF_ERROR(TakeSignature(set, step, entry));
  std::vector<InputInfo> inputs;
  for (size_t v = 0; v < node.inputs.size(); ++v) {
    const Shape* shape = entry.shapes[v] ? &*entry.shapes[v] : nullptr;
    const Tensor* shaping = entry.shaping[v].defined() ? &entry.shaping[v] : nullptr;
    const DType dtype = plan.slots[plan.operands[step.first_input + v]].dtype;
    inputs.push_back({dtype, shape, shaping, graph.InfoOf(node, static_cast<uint32_t>(v))});
  }
  WEFT_ASSIGN_OR_RETURN(entry.block, PlanNode(node, inputs, entry.planned));
  if (entry.planned.scratch_bytes > 0) {
    WEFT_ASSIGN_OR_RETURN(entry.scratch_memory, Buffer::Allocate(DType::kUInt8, entry.planned.scratch_bytes, budget_));
  }
  if (entry.block.bind != nullptr) {
    WEFT_ASSIGN_OR_RETURN(entry.resource, BindResource(scope_, node, entry.block));
  }
  entry.valid = true;
  return {};
}

}  // namespace weft
