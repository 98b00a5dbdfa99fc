#include "runtime/plan/fusion.h"

#include <algorithm>
#include <map>

namespace weft {
namespace {

using Operand = FusedSteps::Operand;

/// Elements of a tile: a float's, two or three at a time, stay in the nearest cache, and the call of a kernel costs little beside its work.
constexpr int64_t kTile = 4096;
/// Below this, whole tensors stay in the cache.
constexpr int64_t kLeast = 8 * kTile;

class Fusion {
 public:
  Fusion(const Graph& graph, Plan& plan) : graph_(graph), plan_(plan) {}
  void Run();

 private:
  int64_t ElementsOf(const Step& step) const;
  bool Add(int s);
  bool PlanFor(const Step& step, const Shape& shape, PlannedBlock& block) const;
  void Close();
  void MakeOperands();
  uint32_t OperandOf(uint32_t slot, bool one);
  void PlaceTiles();

  const Slot& In(const Step& step, size_t v) const { return plan_.slots[plan_.operands[step.first_input + v]]; }
  uint32_t OutputOf(int s) const { return plan_.operands[plan_.steps[static_cast<size_t>(s)].first_output]; }
  const Node& NodeOf(int s) const { return graph_.node(plan_.steps[static_cast<size_t>(s)].node); }
  uint32_t RootOf(uint32_t slot) const {
    while (plan_.slots[slot].storage == Slot::Storage::kShared && plan_.slots[slot].bound) slot = static_cast<uint32_t>(plan_.slots[slot].source);
    return slot;
  }

  const Graph& graph_;
  Plan& plan_;
  FusedSteps group_;                       // as far as it goes now
  std::map<uint32_t, uint32_t> operand_;  // slot -> operand of group_
};

/// The shape in which kernels see a single element: theirs, or that of a scalar where a tile has fewer axes.
Shape OneShape(const Shape& shape) { return shape.rank() <= 1 ? shape : Shape{}; }

// How many elements the step gives, where it can be one of a group; else 0.
int64_t Fusion::ElementsOf(const Step& step) const {
  const Node& node = graph_.node(step.node);
  const BlockDef& def = *node.def;
  if (step.kind != Step::Kind::kRun || !def.elementwise || def.stateful || def.waits || !def.shaped_by.empty()) return 0;
  if (step.block.run == nullptr || step.block.bind != nullptr || step.scratch_bytes > 0 || !step.updates.empty()) return 0;
  if (node.output_types.size() != 1 || node.inputs.empty()) return 0;
  const Slot& out = plan_.slots[plan_.operands[step.first_output]];
  if (out.storage != Slot::Storage::kArena && out.storage != Slot::Storage::kKept) return 0;
  const int64_t count = out.shape.count();
  if (count < kLeast) return 0;
  for (size_t v = 0; v < node.inputs.size(); ++v) {
    const Slot& in = In(step, v);
    if (!in.shape_known || IsManaged(in.dtype) || (in.shape.count() != count && in.shape.count() != 1)) return 0;
  }
  return count;
}

bool Fusion::PlanFor(const Step& step, const Shape& shape, PlannedBlock& block) const {
  const Node& node = graph_.node(step.node);
  std::vector<Shape> shapes;
  for (size_t v = 0; v < node.inputs.size(); ++v) shapes.push_back(In(step, v).shape.count() == 1 ? OneShape(In(step, v).shape) : shape);
  std::vector<InputInfo> inputs;
  for (size_t v = 0; v < node.inputs.size(); ++v) {
    inputs.push_back({In(step, v).dtype, &shapes[v], nullptr, graph_.InfoOf(node, static_cast<uint32_t>(v))});
  }
  PlannedShapes planned;
  auto made = PlanNode(node, inputs, planned);
  if (!made.ok() || made->run == nullptr || made->bind != nullptr || planned.scratch_bytes > 0) return false;
  if (planned.outputs.size() != 1 || !(planned.outputs[0] == shape)) return false;
  block = std::move(*made);
  return true;
}

// Whether the step can be one of the group, which then has it.
bool Fusion::Add(int s) {
  const Step& step = plan_.steps[static_cast<size_t>(s)];
  const int64_t count = ElementsOf(step);
  if (count == 0 || (!group_.members.empty() && count != group_.count)) return false;
  FusedSteps::Member member;
  const Shape tile{kTile}, rest{count % kTile};
  if (!PlanFor(step, tile, member.tile) || (rest.count() > 0 && !PlanFor(step, rest, member.rest))) return false;
  if (group_.members.empty()) {
    group_.first = s;
    group_.count = count;
    group_.tile = kTile;
    group_.tile_shape = tile;
    group_.rest_shape = rest;
  }
  group_.last = s;
  group_.members.push_back(std::move(member));
  return true;
}

uint32_t Fusion::OperandOf(uint32_t slot, bool one) {
  const uint32_t root = RootOf(slot);
  const bool tile = plan_.slots[root].storage == Slot::Storage::kTile;
  if (tile) slot = root;
  auto [it, fresh] = operand_.emplace(slot, static_cast<uint32_t>(group_.operands.size()));
  if (fresh) {
    Operand operand;
    operand.slot = slot;
    operand.kind = one ? Operand::Kind::kOne : tile ? Operand::Kind::kTile : Operand::Kind::kSliced;
    operand.element_bytes = static_cast<int64_t>(ElementSize(plan_.slots[slot].dtype));
    if (one) operand.shape = OneShape(plan_.slots[slot].shape);
    group_.operands.push_back(std::move(operand));
  }
  return it->second;
}

void Fusion::MakeOperands() {
  operand_.clear();
  for (int s = group_.first; s <= group_.last; ++s) {
    const Step& step = plan_.steps[static_cast<size_t>(s)];
    FusedSteps::Member& member = group_.members[static_cast<size_t>(s - group_.first)];
    const Node& node = NodeOf(s);
    member.in_first = node.in_first;
    member.out_first = node.out_first;
    member.first_input = static_cast<uint32_t>(group_.table.size());
    for (size_t v = 0; v < node.inputs.size(); ++v) {
      group_.table.push_back(OperandOf(plan_.operands[step.first_input + v], In(step, v).shape.count() == 1));
    }
    member.first_output = static_cast<uint32_t>(group_.table.size());
    group_.table.push_back(OperandOf(OutputOf(s), false));
  }
}

// A thread's memory, in bytes for each element of a tile: an output takes the place of an input that is read for the last time, or any that
// is free, of its element's size.
void Fusion::PlaceTiles() {
  std::vector<int> last_read(group_.operands.size(), -1);
  const int members = static_cast<int>(group_.members.size());
  auto operands_of = [&](int m, auto&& each) {
    const FusedSteps::Member& member = group_.members[static_cast<size_t>(m)];
    for (uint32_t i = member.first_input; i <= member.first_output; ++i) each(group_.table[i]);
  };
  for (int m = 0; m < members; ++m) operands_of(m, [&](uint32_t o) { last_read[o] = m; });
  std::multimap<int64_t, int64_t> free;  // element size -> offset
  for (int m = 0; m < members; ++m) {
    // What is read here for the last time is given back first: an element-wise kernel may write over what it reads.
    std::vector<uint32_t> seen;
    const uint32_t output = group_.table[group_.members[static_cast<size_t>(m)].first_output];
    operands_of(m, [&](uint32_t o) {
      if (o == output || last_read[o] != m || group_.operands[o].kind != Operand::Kind::kTile) return;
      if (std::find(seen.begin(), seen.end(), o) != seen.end()) return;
      seen.push_back(o);
      free.emplace(group_.operands[o].element_bytes, group_.operands[o].offset);
    });
    Operand& out = group_.operands[output];
    if (out.kind != Operand::Kind::kTile) continue;
    auto [first, end] = free.equal_range(out.element_bytes);
    if (first != end) {
      out.offset = std::prev(end)->second;  // the last that was read
      free.erase(std::prev(end));
    } else {
      out.offset = group_.element_bytes;
      group_.element_bytes += out.element_bytes;
    }
    plan_.slots[out.slot].offset = out.offset;
    if (last_read[output] == m) free.emplace(out.element_bytes, out.offset);  // nobody reads it
  }
}

void Fusion::Close() {
  if (group_.members.size() > 1) {
    for (int s = group_.first; s <= group_.last; ++s) {
      Slot& out = plan_.slots[OutputOf(s)];
      if (out.storage == Slot::Storage::kArena && out.last_use <= group_.last) out.storage = Slot::Storage::kTile;
    }
    MakeOperands();
    PlaceTiles();
    plan_.fused.push_back(std::move(group_));
  }
  group_ = FusedSteps();
}

void Fusion::Run() {
  for (int s = 0; s < static_cast<int>(plan_.steps.size()); ++s) {
    if (Add(s)) continue;
    Close();
    Add(s);
  }
  Close();
}

}  // namespace

void FuseSteps(const Graph& graph, Plan& plan) {
  // Dead values, and steps that run again, are for single steps to look after.
  if (plan.has_dead_values || !plan.loops.empty()) return;
  Fusion(graph, plan).Run();
}

}  // namespace weft
