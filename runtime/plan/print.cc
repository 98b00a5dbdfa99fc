#include <algorithm>

#include "weft/plan/plan.h"

namespace weft {

std::string_view KindName(Step::Kind kind) {
  switch (kind) {
    case Step::Kind::kRun: return "run";
    case Step::Kind::kProduce: return "produce";
    case Step::Kind::kForward: return "forward";
    case Step::Kind::kSwitch: return "switch";
    case Step::Kind::kMerge: return "merge";
    case Step::Kind::kSelect: return "select";
    case Step::Kind::kDynamic: return "dynamic";
  }
  return "";
}

std::string ImplementationOf(const Step& step) {
  return step.block.implementation == nullptr ? std::string() : step.block.implementation(step.block.parameters.get());
}

namespace {

std::string PlaceText(const Graph& graph, const Plan& plan, const Slot& slot) {
  switch (slot.storage) {
    case Slot::Storage::kArena: return Cat("arena+", slot.offset);
    case Slot::Storage::kKept: return "kept";
    case Slot::Storage::kConstant: return "constant";
    case Slot::Storage::kVariable: return "variable";
    case Slot::Storage::kFeed: return "feed";
    case Slot::Storage::kOwned: return "owned";
    case Slot::Storage::kTile: return "tile";
    case Slot::Storage::kShared: return slot.source < 0 ? "shared" : Cat("as ", graph.ValueName(plan.slots[slot.source].value));
  }
  return "";
}

std::string SlotText(const Graph& graph, const Plan& plan, uint32_t index) {
  const Slot& slot = plan.slots[index];
  return Cat(graph.ValueName(slot.value), " ", slot.dtype, slot.shape_known ? ToString(slot.shape) : "[?]", " ", PlaceText(graph, plan, slot));
}

}  // namespace

std::string PrintPlan(const Graph& graph, const Plan& plan) {
  std::string out;
  auto group = plan.fused.begin();
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    const Node& node = graph.node(step.node);
    out += Cat(s, "  ", KindName(step.kind), "  ", node.id, "  ", node.def->name, "  (");
    for (size_t v = 0; v < node.inputs.size(); ++v) out += Cat(v ? ", " : "", SlotText(graph, plan, plan.operands[step.first_input + v]));
    out += ") -> (";
    for (size_t v = 0; v < node.output_types.size(); ++v) out += Cat(v ? ", " : "", SlotText(graph, plan, plan.operands[step.first_output + v]));
    out += ")";
    if (const std::string name = ImplementationOf(step); !name.empty()) out += Cat("  by ", name);
    if (step.scratch_bytes > 0) out += Cat("  scratch ", step.scratch_bytes, " bytes");
    for (const Step::Update& update : step.updates) {
      if (update.variable >= 0) out += Cat("  updates ", graph.node(graph.variables()[update.variable]).id);
      for (int variable : update.choices) out += Cat("  may update ", graph.node(graph.variables()[variable]).id);
    }
    while (group != plan.fused.end() && group->last < static_cast<int>(s)) ++group;
    if (group != plan.fused.end() && group->first <= static_cast<int>(s)) out += Cat("  fused ", group->first, "..", group->last);
    if (step.loop >= 0) out += Cat("  in loop ", graph.frames()[plan.loops[step.loop].frame].name);
    out += "\n";
  }
  out += Cat("memory: arena ", plan.arena_bytes, " bytes (at least ", plan.live_bytes, "), results ", plan.kept_bytes, " bytes");
  int64_t tiles = 0;
  for (const FusedSteps& fused : plan.fused) tiles = std::max(tiles, fused.tile * fused.element_bytes);
  if (!plan.fused.empty()) out += Cat(", tiles of ", plan.fused[0].tile, " elements: ", tiles, " bytes a thread");
  out += "\n";
  return out;
}

}  // namespace weft
