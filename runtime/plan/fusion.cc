#include "runtime/plan/fusion.h"

#include <algorithm>
#include <map>

#include "runtime/base/call_limit.h"
#include "runtime/plan/chains.h"
#include "runtime/plan/plan_slots.h"
#include "weft/base/divide.h"
#include "weft/base/processor.h"

namespace weft {
namespace {

using Operand = FusedSteps::Operand;

/// Elements of a tile: 32 KB of floats. A chain's one tensor nearly fits the first-level cache, the two or three of other groups the second
/// level; the fixed cost of a tile is small beside its work.
constexpr int64_t kTile = 8192;
static_assert(kTile % PartialReduction::kChunk == 0);
/// Elements below which whole tensors stay in the cache, so that fusing them gains nothing.
constexpr int64_t kLeast = 4 * kTile;

/// Bytes of a group's results from which on they are written past the cache: it cannot hold those of two runs. Below, that costs more than
/// it gains.
int64_t CopiedBytes() {
  constexpr int64_t kUnknown = int64_t{64} << 20;
  return FastCacheBytes() > 0 ? FastCacheBytes() / 2 : kUnknown;
}

/// The shape in which kernels see a single element: theirs, or that of a scalar where a tile has fewer axes.
Shape OneShape(const Shape& shape) { return shape.rank() <= 1 ? shape : Shape{}; }

class Fusion {
 public:
  Fusion(const Graph& graph, Plan& plan)
      : graph_(graph), plan_(plan), roots_(RootsOf(plan, [](const Slot& slot) { return slot.storage == Slot::Storage::kShared && slot.bound; })) {}
  void Run();

 private:
  int64_t ElementsOf(const Step& step) const;
  int64_t ReducedBy(const Step& step) const;
  bool ReadsTail(const Step& step) const;
  bool PlanFor(const Step& step, const Shape& shape, PlannedBlock& block) const;
  bool Add(int s);
  void Close();
  bool PlanRemainders();
  void MakeOperands();
  uint32_t OperandOf(uint32_t slot, bool one);
  void PlaceOutputs();
  void PlaceTiles();

  const Step& StepAt(int s) const { return plan_.steps[static_cast<size_t>(s)]; }
  uint32_t InputOf(const Step& step, size_t v) const { return plan_.operands[step.first_input + v]; }
  uint32_t OutputOf(const Step& step) const { return plan_.operands[step.first_output]; }
  const Slot& In(const Step& step, size_t v) const { return plan_.slots[InputOf(step, v)]; }
  const Slot& Out(const Step& step) const { return plan_.slots[OutputOf(step)]; }
  const Node& NodeOf(const Step& step) const { return graph_.node(step.node); }
  uint32_t RootOf(uint32_t slot) const { return static_cast<uint32_t>(roots_[slot]); }

  const Graph& graph_;
  Plan& plan_;
  const std::vector<int> roots_;          // by slot: the one whose memory it is bound to
  FusedSteps group_;                      // as far as it goes now
  std::map<uint32_t, uint32_t> operand_;  // slot -> operand of group_
};

/// Whether nothing is touched by the step but its inputs and its one output.
bool IsPlain(const Step& step, const Node& node) {
  const BlockDef& def = *node.def;
  return step.kind == Step::Kind::kRun && !def.stateful && !def.waits && step.block.bind == nullptr && step.updates.empty() &&
         node.output_types.size() == 1 && !node.inputs.empty();
}

bool IsPlanned(const Slot& slot) { return slot.storage == Slot::Storage::kArena || slot.storage == Slot::Storage::kKept; }

// How many elements the step makes, where it can be a member of a group; else 0.
int64_t Fusion::ElementsOf(const Step& step) const {
  const Node& node = NodeOf(step);
  if (!IsPlain(step, node) || !node.def->elementwise || !node.def->shaped_by.empty() || step.scratch_bytes > 0 || !IsPlanned(Out(step)))
    return 0;
  const int64_t count = Out(step).shape.count();
  if (count < kLeast) return 0;
  for (size_t v = 0; v < node.inputs.size(); ++v) {
    const Slot& in = In(step, v);
    if (!in.shape_known || IsManaged(in.dtype) || (in.shape.count() != count && in.shape.count() != 1)) return 0;
  }
  return count;
}

// How many elements the step reduces to one, where it can end a group; else 0.
int64_t Fusion::ReducedBy(const Step& step) const {
  if (!IsPlain(step, NodeOf(step)) || step.block.partial_reduction == nullptr) return 0;
  if (!In(step, 0).shape_known || !IsPlanned(Out(step)) || Out(step).shape.count() != 1) return 0;
  const int64_t count = In(step, 0).shape.count();
  return count < kLeast ? 0 : count;
}

bool Fusion::ReadsTail(const Step& step) const {
  for (size_t v = 0; v < NodeOf(step).inputs.size(); ++v) {
    const uint32_t root = RootOf(InputOf(step, v));
    for (const FusedSteps::Reduction& reduction : group_.reductions) {
      if (reduction.output == root) return true;
    }
  }
  return false;
}

bool Fusion::PlanFor(const Step& step, const Shape& shape, PlannedBlock& block) const {
  const Node& node = NodeOf(step);
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
  const Step& step = StepAt(s);
  const int64_t made = ElementsOf(step), reduced = made > 0 ? 0 : ReducedBy(step);
  const bool empty = group_.members.empty();
  if (made + reduced == 0 || (!empty && made + reduced != group_.count) || ReadsTail(step)) return false;
  if (reduced > 0) {
    if (empty) return false;  // alone, it would read its input once, too
    FusedSteps::Reduction reduction;
    reduction.step = s;
    reduction.partial = *step.block.partial_reduction;
    reduction.parameters = step.block.parameters;
    reduction.output = OutputOf(step);
    if (reduction.partial.parts != DivideUp(reduced, reduction.partial.part_elements)) return false;
    if (!group_.reductions.empty() && reduction.partial.part_elements != group_.part) return false;
    group_.part = reduction.partial.part_elements;
    group_.last = s;
    group_.reductions.push_back(std::move(reduction));
    return true;
  }
  FusedSteps::Member member;
  member.step = s;
  if (!PlanFor(step, Shape{kTile}, member.blocks.emplace_back())) return false;
  if (empty) {
    group_.first = s;
    group_.count = made;
    group_.tile = group_.part = kTile;
  }
  group_.last = s;
  group_.members.push_back(std::move(member));
  return true;
}

// Plans the members for the shorter tiles at the ends of parts.
bool Fusion::PlanRemainders() {
  group_.shapes = {Shape{group_.tile}};
  for (int64_t part : {group_.part, group_.count % group_.part}) {
    const Shape remainder{part % group_.tile};
    if (remainder.count() == 0 || remainder == group_.shapes.back()) continue;
    group_.shapes.push_back(remainder);
    for (FusedSteps::Member& member : group_.members) {
      if (!PlanFor(StepAt(member.step), remainder, member.blocks.emplace_back())) return false;
    }
  }
  return true;
}

uint32_t Fusion::OperandOf(uint32_t slot, bool one) {
  if (!one) slot = RootOf(slot);
  auto [it, fresh] = operand_.emplace(slot, static_cast<uint32_t>(group_.operands.size()));
  if (fresh) {
    Operand operand;
    operand.slot = slot;
    operand.kind = one ? Operand::Kind::kOne : Operand::Kind::kSliced;
    operand.element_bytes = static_cast<int64_t>(ElementSize(plan_.slots[slot].dtype));
    if (one) operand.shape = OneShape(plan_.slots[slot].shape);
    group_.operands.push_back(std::move(operand));
  }
  return it->second;
}

// What only the group reads becomes tiles; large results are copied from tiles.
void Fusion::PlaceOutputs() {
  int64_t bytes = 0;
  std::vector<Operand*> results;
  for (const FusedSteps::Member& member : group_.members) {
    Operand& operand = group_.operands[group_.table[member.first_output]];
    Slot& slot = plan_.slots[operand.slot];
    if (slot.storage == Slot::Storage::kArena && slot.last_use <= group_.last) {
      slot.storage = Slot::Storage::kTile;
      operand.kind = Operand::Kind::kTile;
    } else if (slot.storage == Slot::Storage::kKept) {
      bytes += group_.count * operand.element_bytes;
      results.push_back(&operand);
    }
  }
  for (Operand* operand : results) {
    if (bytes >= CopiedBytes()) operand->kind = Operand::Kind::kCopied;
  }
}

void Fusion::MakeOperands() {
  operand_.clear();
  for (FusedSteps::Member& member : group_.members) {
    const Step& step = StepAt(member.step);
    const Node& node = NodeOf(step);
    member.in_first = node.in_first;
    member.out_first = node.out_first;
    member.first_input = static_cast<uint32_t>(group_.table.size());
    for (size_t v = 0; v < node.inputs.size(); ++v) group_.table.push_back(OperandOf(InputOf(step, v), In(step, v).shape.count() == 1));
    member.first_output = static_cast<uint32_t>(group_.table.size());
    group_.table.push_back(OperandOf(OutputOf(step), false));
  }
  for (FusedSteps::Reduction& reduction : group_.reductions) reduction.operand = OperandOf(InputOf(StepAt(reduction.step), 0), false);
}

// A thread's memory, in bytes for each element of a tile: an output takes the place of an input that is read for the last time, or any that
// is free, of its element's size.
void Fusion::PlaceTiles() {
  std::vector<size_t> last_read(group_.operands.size(), 0);
  for (size_t m = 0; m < group_.members.size(); ++m) {
    const FusedSteps::Member& member = group_.members[m];
    for (uint32_t i = member.first_input; i <= member.first_output; ++i) last_read[group_.table[i]] = m;
  }
  for (const FusedSteps::Reduction& reduction : group_.reductions) last_read[reduction.operand] = group_.members.size();
  std::multimap<int64_t, int64_t> free;  // element size -> offset
  auto give = [&](uint32_t o, size_t m) {
    Operand& operand = group_.operands[o];
    if (!operand.InThread() || last_read[o] != m) return;
    last_read[o] = group_.members.size();  // once
    free.emplace(operand.element_bytes, operand.offset);
  };
  for (size_t m = 0; m < group_.members.size(); ++m) {
    const FusedSteps::Member& member = group_.members[m];
    const uint32_t output = group_.table[member.first_output];
    // What is read here for the last time is given back first: an element-wise kernel may write over what it reads.
    for (uint32_t i = member.first_input; i < member.first_output; ++i) give(group_.table[i], m);
    Operand& out = group_.operands[output];
    if (!out.InThread()) continue;
    auto [first, end] = free.equal_range(out.element_bytes);
    if (first != end) {
      out.offset = std::prev(end)->second;  // the last that was read
      free.erase(std::prev(end));
    } else {
      out.offset = group_.element_bytes;
      group_.element_bytes += out.element_bytes;
    }
    if (out.kind == Operand::Kind::kTile) plan_.slots[out.slot].offset = out.offset;
    give(output, m);  // nobody reads it
  }
}

void Fusion::Close() {
  if (group_.members.empty()) return;
  if (group_.members.size() + group_.reductions.size() > 1 && PlanRemainders()) {
    MakeOperands();
    PlaceOutputs();
    PlaceTiles();
    MakeChains(group_);
    CallLimit::Grow(group_.bytes());
    plan_.fused.push_back(std::move(group_));
  }
  group_ = FusedSteps();
}

void Fusion::Run() {
  for (int s = 0; s < static_cast<int>(plan_.steps.size()); ++s) {
    if (Add(s) || group_.members.empty()) continue;
    Close();
    Add(s);
  }
  Close();
}

}  // namespace

void FuseSteps(const Graph& graph, Plan& plan) {
  // A group has no way to leave out a member whose input is dead, or to run again.
  if (plan.has_dead_values || !plan.loops.empty()) return;
  const bool large = std::ranges::any_of(plan.slots, [](const Slot& slot) { return slot.shape_known && slot.shape.count() >= kLeast; });
  if (!large) return;
  Fusion(graph, plan).Run();
}

}  // namespace weft
