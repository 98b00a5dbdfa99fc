#include "runtime/plan/faulty_blocks.h"

#include <string>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/plan/connecting.h"
#include "runtime/plan/port_facts.h"
#include "runtime/plan/refusals.h"

namespace weft {
namespace {

constexpr size_t kMostSettings = 16;

/// What a block is given, as far as that is known before the run.
struct KnownInputs {
  std::vector<Tensor> literals;  // by input value; undefined for what wires bring
  std::vector<InputInfo> infos;
};

/// The values that an attribute may have, as far as shapes can depend on it; none where they cannot be counted.
std::vector<AttrValue> ValuesOf(const AttrSpec& spec) {
  if (spec.type == AttrType::kBool) return {AttrValue(false), AttrValue(true)};
  if (spec.type == AttrType::kFloat && spec.default_value) return {*spec.default_value};
  if (spec.type != AttrType::kString) return {};
  return {spec.allowed.begin(), spec.allowed.end()};
}

/// The block's settings with each value for those that could not be read; empty where there may be too many.
std::vector<std::vector<AttrValue>> SettingsOf(const BlockInPart& part) {
  const std::span<const AttrValue> given = part.node.attrs;
  std::vector<std::vector<AttrValue>> settings = {{given.begin(), given.end()}};
  for (size_t a = 0; a < given.size(); ++a) {
    if (!part.unread[a]) continue;
    const std::vector<AttrValue> values = ValuesOf(part.node.def->attrs[a]);
    if (values.size() * settings.size() > kMostSettings) return {};
    std::vector<std::vector<AttrValue>> more;
    for (const std::vector<AttrValue>& one : settings) {
      for (const AttrValue& value : values) more.emplace_back(one)[a] = value;
    }
    settings = std::move(more);
  }
  return settings;
}

/// Whether the shapes of all inputs are known, and the values that shape the outputs.
bool ReadInputs(const BlockInPart& part, const StepPlanner::Context& context, KnownInputs& known) {
  const Graph& graph = context.graph;
  known.literals.resize(part.inputs.size());
  for (uint32_t v = 0; v < part.inputs.size(); ++v) {
    const InputInPart& input = part.inputs[v];
    if (input.literal != nullptr) {
      auto value = LiteralTensor(*input.literal, input.type.type);
      if (!value.ok() || value->dtype() != input.type.type) return false;
      known.literals[v] = std::move(*value);
      known.infos.push_back({input.type.type, &known.literals[v].shape(), &known.literals[v], nullptr});
      continue;
    }
    if (context.plan.first_slot[input.value.node] < 0) return false;
    const Slot& slot = context.slots.Of(input.value);
    if (!slot.shape_known) return false;
    const Tensor& constant = graph.node(input.value.node).constant.get();
    const bool is_known = slot.storage == Slot::Storage::kConstant && constant.defined() && constant.shape() == slot.shape;
    known.infos.push_back({slot.dtype, &slot.shape, is_known ? &constant : nullptr, graph.InfoOf(part.node, v)});
  }
  for (int port : part.node.def->shaped_by) {
    for (uint32_t v = part.node.in_first[static_cast<size_t>(port)]; v < part.node.in_first[static_cast<size_t>(port) + 1]; ++v) {
      if (known.infos[v].value == nullptr) return false;
    }
  }
  return true;
}

bool IsOfInput(const BlockDef& def, const Status& fault) {
  const std::string& port = fault.place().port;
  return def.FindInput(std::string_view(port).substr(0, port.find('['))) >= 0;
}

bool SameFault(const ShapeRefusal& a, const ShapeRefusal& b) { return a.fault.message() == b.fault.message() && a.fault.place().port == b.fault.place().port; }

/// The faults of inputs that all settings have in common.
std::vector<ShapeRefusal> CommonFaults(const BlockInPart& part, std::span<const InputInfo> inputs) {
  std::optional<std::vector<ShapeRefusal>> common;
  for (std::vector<AttrValue>& settings : SettingsOf(part)) {
    Node set = part.node;
    set.attrs = AttrList(std::move(settings));
    PlannedShapes shapes;
    auto planned = PlanNode(set, inputs, shapes);
    if (planned.ok()) return {};
    std::vector<ShapeRefusal> refused = AllRefusals(set, inputs, std::move(planned).status());
    std::erase_if(refused, [&](const ShapeRefusal& one) { return !IsOfInput(*set.def, one.fault); });
    if (!common) {
      common = std::move(refused);
      continue;
    }
    std::erase_if(*common, [&](ShapeRefusal& one) {
      const auto same = std::ranges::find_if(refused, [&](const ShapeRefusal& other) { return SameFault(one, other); });
      if (same != refused.end() && same->shape != one.shape) one.shape.clear();
      return same == refused.end();
    });
  }
  return common.value_or(std::vector<ShapeRefusal>());
}

}  // namespace

void CheckFaultyBlocks(const std::vector<int>& blocks, const StepPlanner::Context& context) {
  const TypesInPart unknown;
  for (int block : blocks) {
    CallLimit::Check();
    const Node& node = context.graph.node(block);
    const bool plain = node.def != nullptr && (node.def->flow == Flow::kPlain || node.def->flow == Flow::kForward) && context.graph.frames().size() == 1;
    if (!plain || !node.def->plan) continue;
    std::optional<BlockInPart> part = ReadInPart(context.graph, block, unknown);
    KnownInputs known;
    if (!part || !part->InferTypes().empty() || !part->knows_outputs() || !ReadInputs(*part, context, known)) continue;
    const auto type = [&](uint32_t v) { return part->inputs[v].type; };
    for (ShapeRefusal& one : CommonFaults(*part, known.infos)) {
      Status fault = WithPortFacts(part->node, std::move(one.fault), type, [&](uint32_t v) { return known.infos[v].shape; }, one.shape);
      context.diagnostics.Error(PlaceAtNode(context.graph, block, std::move(fault)));
    }
  }
}

}  // namespace weft
