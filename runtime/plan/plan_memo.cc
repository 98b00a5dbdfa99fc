// PlanMemo and PlanReuse.
#include "runtime/plan/plan_memo.h"

#include <algorithm>

#include "runtime/plan/graph_memo.h"
#include "runtime/plan/reuse.h"

namespace weft {

bool PlanMemo::Input::Is(const InputInfo& info) const {
  if (dtype != info.dtype || has_shape != (info.shape != nullptr) || is_variable != (info.variable != nullptr)) return false;
  if (has_shape && !(shape == *info.shape)) return false;
  return !is_variable || (variable.declared == info.variable->declared && variable.temporary == info.variable->temporary);
}

bool PlanMemo::Planned::Is(const Node& node, std::span<const InputInfo> infos) const {
  return def == node.def && SameSettings(attrs, node.attrs) && outputs == node.output_types &&
         std::ranges::equal(in_first.table(), node.in_first.table()) && std::ranges::equal(out_first.table(), node.out_first.table()) &&
         std::ranges::equal(inputs, infos, [](const Input& input, const InputInfo& info) { return input.Is(info); });
}

size_t PlanMemo::Planned::bytes() const {
  const auto of = [](const Shape& shape) { return sizeof shape + static_cast<size_t>(shape.rank()) * sizeof(int64_t); };
  size_t sum = sizeof(Planned) + 4 * sizeof(void*) + kParameters;  // and where it is in the map
  for (const Input& input : inputs) sum += sizeof input + of(input.shape);
  for (const Shape& shape : shapes.outputs) sum += of(shape);
  for (const PartialShape& partial : shapes.partial) sum += sizeof partial + partial.dims().size() * sizeof(int64_t);
  return sum;
}

// A plan that looks at values depends on more than is compared.
bool PlanMemo::MayShare(const Node& node, std::span<const InputInfo> inputs) {
  constexpr size_t kMostInputs = 64;
  const BlockDef& def = *node.def;
  return def.shaped_by.empty() && !def.stateful && !def.waits && inputs.size() <= kMostInputs;
}

size_t PlanMemo::HashOf(const Node& node, std::span<const InputInfo> inputs) {
  size_t hash = reinterpret_cast<size_t>(node.def);
  const auto add = [&](size_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15u ^ hash >> 29; };
  for (const InputInfo& input : inputs) {
    add(static_cast<size_t>(input.dtype));
    if (input.shape == nullptr) continue;
    for (int64_t size : input.shape->dims()) add(static_cast<size_t>(size) + 1);
  }
  return hash;
}

PlanReuse::PlanReuse(const Graph& graph)
    : lock_(graph.memo().plans.mutex_, std::try_to_lock),
      memo_(lock_.owns_lock() ? graph.memo().plans : *(own_ = std::make_unique<PlanMemo>())) {}
PlanReuse::~PlanReuse() = default;

Result<PlanReuse::Made> PlanReuse::Plan(const Node& node, std::span<const InputInfo> inputs) {
  bool share = PlanMemo::MayShare(node, inputs);
  const size_t hash = share ? PlanMemo::HashOf(node, inputs) : 0;
  if (share) {
    // Where nearly every block has settings of its own, looking for one like it would take longer than planning.
    size_t looked_at = 0;
    auto [first, end] = memo_.planned_.equal_range(hash);
    for (auto it = first; it != end && share; ++it) {
      if (it->second.Is(node, inputs)) return Made{it->second.block, &it->second.shapes};
      share = ++looked_at < PlanMemo::kMostAlike;
    }
  }
  shapes_ = {};
  WEFT_ASSIGN_OR_RETURN(PlannedBlock block, PlanNode(node, inputs, shapes_));
  if (!share || block.bind != nullptr) return Made{std::move(block), &shapes_};
  PlanMemo::Planned planned{node.def, node.attrs, {}, node.output_types, node.in_first, node.out_first, block, std::move(shapes_)};
  for (const InputInfo& input : inputs) {
    const bool shape = input.shape != nullptr, variable = input.variable != nullptr;
    planned.inputs.push_back({input.dtype, shape, variable, shape ? *input.shape : Shape(), variable ? *input.variable : VariableInfo()});
  }
  const size_t bytes = planned.bytes();
  if (memo_.bytes_ + bytes > PlanMemo::kMostBytes) {
    memo_.planned_.clear();
    memo_.bytes_ = 0;
  }
  memo_.bytes_ += bytes;
  return Made{std::move(block), &memo_.planned_.emplace(hash, std::move(planned))->second.shapes};
}

}  // namespace weft
