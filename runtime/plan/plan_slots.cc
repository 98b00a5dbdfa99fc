#include "runtime/plan/plan_slots.h"

#include <utility>

#include "runtime/base/call_limit.h"

namespace weft {

void PlanSlots::AddAll(const NodesToRun& nodes, const PlanRequest& request) {
  plan_.first_slot = NodeNumbers(graph_.nodes().size(), nodes.order.size());
  plan_.slots.reserve(nodes.outputs + nodes.updates + request.feeds.size());
  plan_.operands.reserve(nodes.outputs + nodes.inputs);
  plan_.steps.reserve(nodes.order.size());
  const size_t blocks = request.keep == Keep::kAll ? graph_.page().blocks.size() : 0;
  for (int i : nodes.order) {
    const Node& node = graph_.node(i);
    plan_.first_slot.Set(i, static_cast<int>(plan_.slots.size()));
    const bool result = std::cmp_less(i, blocks) && !(node.def != nullptr && node.def->structural == Structural::kGradients);
    for (size_t v = 0; v < node.output_types.size(); ++v) {
      CallLimit::Check();
      Slot& slot = plan_.slots.emplace_back();
      slot.value = {i, static_cast<int>(v)};
      slot.dtype = node.output_types[v];
      slot.kept = slot.result = result;
    }
  }
  for (const PlanRequest::Feed& feed : request.feeds) {
    if (plan_.first_slot[feed.value.node] < 0) continue;
    Slot& slot = Of(feed.value);
    slot.storage = Slot::Storage::kFeed;
    slot.shape = feed.shape;
    slot.shape_known = true;
  }
  first_source_.reserve(plan_.slots.capacity());
  first_source_.assign(plan_.slots.size(), -1);
}

uint32_t PlanSlots::AddOwn(ValueRef value, std::string_view block) {
  CallLimit::Grow(sizeof(Slot) + sizeof(int), block);
  Slot& slot = plan_.slots.emplace_back();
  slot.value = value;
  slot.dtype = graph_.TypeOf(value);
  first_source_.push_back(-1);
  return static_cast<uint32_t>(plan_.slots.size()) - 1;
}

void PlanSlots::Share(uint32_t slot, int source) {
  const int root = RootOf(source);
  plan_.slots[slot].storage = Slot::Storage::kShared;
  plan_.slots[slot].source = source;
  sources_.push_back({source, std::exchange(first_source_[slot], static_cast<int>(sources_.size())), root});
}

}  // namespace weft
