#include "runtime/plan/faulty_blocks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/plan/port_facts.h"

namespace weft {
namespace {

constexpr size_t kMostSettings = 16;

/// The values that an attribute may have, as far as shapes can depend on it; none where they cannot be counted.
std::vector<AttrValue> ValuesOf(const AttrSpec& spec) {
  if (spec.type == AttrType::kBool) return {AttrValue(false), AttrValue(true)};
  if (spec.type == AttrType::kFloat && spec.default_value) return {*spec.default_value};
  std::vector<AttrValue> values;
  if (spec.type == AttrType::kString) values.assign(spec.allowed.begin(), spec.allowed.end());
  return values;
}

/// The settings of a node with each value for those that could not be read; empty where there may be too many.
std::vector<std::vector<AttrValue>> SettingsOf(const Node& node) {
  const std::span<const AttrValue> given = node.attrs;
  std::vector<std::vector<AttrValue>> settings = {{given.begin(), given.end()}};
  for (size_t a = 0; a < given.size(); ++a) {
    if (given[a].index() != 0 || node.def->attrs[a].inferred) continue;
    const std::vector<AttrValue> values = ValuesOf(node.def->attrs[a]);
    std::vector<std::vector<AttrValue>> more;
    if (values.size() * settings.size() > kMostSettings) return {};
    for (const std::vector<AttrValue>& one : settings) {
      for (const AttrValue& value : values) more.emplace_back(one)[a] = value;
    }
    settings = std::move(more);
  }
  return settings;
}

/// What is known of the inputs; false where that is not enough to plan the block.
bool InputsOf(const Node& node, const StepPlanner::Context& context, std::vector<InputInfo>& inputs) {
  const Graph& graph = context.graph;
  for (uint32_t v = 0; v < node.inputs.size(); ++v) {
    const ValueRef value = node.inputs[v];
    if (!value.valid() || context.plan.first_slot[static_cast<size_t>(value.node)] < 0) return false;
    const Slot& slot = context.slots.Of(value);
    if (!slot.shape_known) return false;
    const Tensor& constant = graph.node(value.node).constant.get();
    const bool known = slot.storage == Slot::Storage::kConstant && constant.defined() && constant.shape() == slot.shape;
    inputs.push_back({slot.dtype, &slot.shape, known ? &constant : nullptr, graph.InfoOf(node, v)});
  }
  for (int port : node.def->shaped_by) {
    for (uint32_t v = node.in_first[port]; v < node.in_first[port + 1]; ++v) {
      if (inputs[v].value == nullptr) return false;
    }
  }
  return true;
}

/// The fault that all settings have in common; ok where there is none.
Status CommonFault(const Node& node, std::span<const InputInfo> inputs) {
  Status common;
  for (std::vector<AttrValue>& settings : SettingsOf(node)) {
    Node set = node;
    set.attrs = AttrList(std::move(settings));
    PlannedShapes shapes;
    auto planned = PlanNode(set, inputs, shapes);
    if (planned.ok()) return {};
    const Status& fault = planned.status();
    const std::string& port = fault.place().port;
    if (node.def->FindInput(std::string_view(port).substr(0, port.find('['))) < 0) return {};
    if (!common.ok() && (common.message() != fault.message() || common.place().port != port)) return {};
    common = fault;
  }
  return common;
}

}  // namespace

void CheckFaultyBlocks(const std::vector<int>& blocks, const StepPlanner::Context& context) {
  for (int block : blocks) {
    const Node& node = context.graph.node(block);
    std::vector<InputInfo> inputs;
    if (node.def->structural != Structural::kNone || node.frame != 0 || !node.def->plan || !InputsOf(node, context, inputs)) continue;
    Status fault = CommonFault(node, inputs);
    if (fault.ok()) continue;
    fault = WithPortFacts(context.graph, node, std::move(fault), [&](uint32_t v) { return inputs[v].shape; });
    context.diagnostics.Error(PlaceAtNode(context.graph, block, std::move(fault)));
  }
}

}  // namespace weft
