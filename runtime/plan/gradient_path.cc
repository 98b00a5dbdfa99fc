#include "runtime/plan/gradient_path.h"

#include <algorithm>
#include <climits>
#include <map>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/plan/frames.h"
#include "runtime/plan/step_order.h"

namespace weft {
namespace {

/// Whether gradients pass the node; else the xs before it are none of what it gives.
bool Passes(const Node& node) { return node.def == nullptr || node.def->structural == Structural::kNone; }

/// Whether a gradient block takes nothing but type and shape from the input: no way for the gradient of a gradient.
bool OnlyLikes(const Node& node, size_t input) {
  if (!node.added || node.def == nullptr) return false;
  if (node.def->name == "OnesLike" || node.def->name == "ZerosLike") return true;
  const auto& ports = node.def->inputs;
  const auto like = std::ranges::find(ports, "like", &PortSpec::name);
  const auto port = static_cast<size_t>(like - ports.begin());
  return like != ports.end() && node.in_first[port] <= input && input < node.in_first[port + 1];
}

}  // namespace

Status GradientPath::Find(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs) {
  WEFT_RETURN_IF_ERROR(CheckEnds(ys, xs));
  FindLeading(ys, xs);
  FindPath(xs);
  if (conditional_ && !loops_) FindDeadTerms();
  return loops_ ? CheckFirstOrder() : Status();
}

Status GradientPath::CheckEnds(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs) const {
  for (ValueRef y : ys) {
    DType type = graph_.TypeOf(y);
    if (!IsDifferentiable(type)) return InvalidArgument("needs outputs of a floating-point or complex type, found ", type).WithPort("outputs");
    if (node(y.node).frame == 0) continue;
    return Unsupported("needs values from outside of loops, found one of the block '", node(y.node).id, "', which belongs to a loop")
        .WithPort("outputs")
        .WithHint("an Exit block takes a value out of a loop");
  }
  for (ValueRef x : xs) {
    if (node(x.node).frame == 0) continue;
    return Unsupported("needs values from outside of loops, found one of the block '", node(x.node).id, "', which belongs to a loop")
        .WithPort("inputs")
        .WithHint("take the gradient of what enters the loop");
  }
  return {};
}

// Producers have a lower Node::order than their readers, but for what leads back in a loop: what comes before all xs reads none.
void GradientPath::FindLeading(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs) {
  int first = graph_.frames().size() > 1 ? 0 : INT_MAX;
  for (ValueRef x : xs) first = std::min(first, node(x.node).order);
  const auto add = [&](int i) {
    if (node(i).order < first || node(i).order < 0 || node(i).broken || std::exchange(place_[static_cast<size_t>(i)], 0) >= 0) return;
    leading_.push_back(i);
  };
  for (ValueRef y : ys) add(y.node);
  for (size_t next = 0; next < leading_.size(); ++next) {
    CallLimit::Check();
    if (!Passes(node(leading_[next]))) continue;
    for (ValueRef input : node(leading_[next]).inputs) add(input.node);
  }
  std::ranges::sort(leading_, {}, [&](int i) { return node(i).order; });
  uint32_t values = 0;
  for (size_t at = 0; at < leading_.size(); ++at) {
    const bool in_loop = graph_.HomeFrame(leading_[at]) != 0;
    loops_ |= in_loop;
    conditional_ |= !in_loop && (Flows(node(leading_[at]), Flow::kSwitch) || Flows(node(leading_[at]), Flow::kMerge));
    place_[static_cast<size_t>(leading_[at])] = static_cast<int>(at);
    first_value_.push_back(values);
    values += static_cast<uint32_t>(node(leading_[at]).output_types.size());
  }
  on_path_.assign(leading_.size(), 0);
  wanted_.assign(values, 0);
  values_ = values;
}

void GradientPath::FindPath(const std::vector<ValueRef>& xs) {
  for (ValueRef x : xs) {
    if (Leads(x)) on_path_[PlaceOf(x)] = wanted_[IndexOf(x)] = 1;
  }
  const auto extends = [&](size_t at) {
    const Node& reader = node(leading_[at]);
    if (on_path_[at] != 0 || !Passes(reader)) return false;
    for (size_t i = 0; i < reader.inputs.size(); ++i) {
      const ValueRef input = reader.inputs[i];
      if (Leads(input) && on_path_[PlaceOf(input)] != 0 && IsDifferentiable(graph_.TypeOf(input)) && !OnlyLikes(reader, i)) return true;
    }
    return false;
  };
  for (size_t at = 0; at < leading_.size(); ++at) {
    if (extends(at)) on_path_[at] = 1;
  }
  if (!loops_) return;
  // Values lead back in loops: what is on the path may extend it to earlier nodes.
  std::vector<std::vector<size_t>> readers(leading_.size());
  std::vector<size_t> open;
  for (size_t at = 0; at < leading_.size(); ++at) {
    if (on_path_[at] != 0) open.push_back(at);
    for (ValueRef input : node(leading_[at]).inputs) {
      if (Leads(input)) readers[PlaceOf(input)].push_back(at);
    }
  }
  while (!open.empty()) {
    CallLimit::Check();
    const size_t from = open.back();
    open.pop_back();
    for (size_t at : readers[from]) {
      if (!extends(at)) continue;
      on_path_[at] = 1;
      open.push_back(at);
    }
  }
}

// A Switch gives one of its outputs no value, and the gradient of a Merge goes to one of its inputs: no gradient comes back on a way that
// was not taken. A way ends at a Merge; all before it may get a gradient from it, or none.
void GradientPath::FindDeadTerms() {
  dead_terms_.assign(leading_.size(), 0);
  std::vector<char> dead(leading_.size(), 0);  // by place: may have no value, or no gradient
  const auto is_dead = [&](ValueRef input) { return Leads(input) && dead[PlaceOf(input)] != 0; };
  for (size_t at = 0; at < leading_.size(); ++at) {
    CallLimit::Check();
    const Node& reader = node(leading_[at]);
    dead[at] = Flows(reader, Flow::kSwitch) || (!Flows(reader, Flow::kMerge) && std::ranges::any_of(reader.inputs, is_dead));
  }
  for (size_t at = leading_.size(); at-- > 0;) {
    const Node& reader = node(leading_[at]);
    if (on_path_[at] == 0 || (dead[at] == 0 && !Flows(reader, Flow::kMerge))) continue;
    for (ValueRef input : reader.inputs) {
      if (Leads(input)) dead[PlaceOf(input)] = dead_terms_[PlaceOf(input)] = 1;
    }
  }
}

// What the gradient of a loop takes out of its history depends on what was put in, and no wire says so.
Status GradientPath::CheckFirstOrder() const {
  const auto block = [&](int i, std::string_view name) { return node(i).def != nullptr && node(i).def->name == name; };
  if (std::ranges::none_of(leading_, [&](int i) { return block(i, "LoopHistoryPop"); })) return {};
  for (int i : leading_) {
    if (!block(i, "LoopHistoryPush") || !Has(node(i).inputs[2].node)) continue;
    return Unsupported("the gradient of a loop has no gradient itself: second-order gradients stop at loops").WithPort("outputs");
  }
  return {};
}

std::vector<std::vector<int>> GradientPath::LastFirst(int frame, const std::vector<int>& nodes) const {
  std::map<int, std::vector<int>> loops;
  std::vector<int> units;
  for (int i : nodes) {
    const int within = FrameWithin(graph_, i, frame);
    if (within == frame) units.push_back(i);
    else loops[within].push_back(i);
  }
  Clusters clusters;
  for (const auto& [within, members] : loops) {
    clusters.Join(members);
    units.push_back(members[0]);
  }
  std::ranges::sort(units, {}, [&](int i) { return node(i).order; });
  if (!loops.empty()) units = ProducersFirst(graph_, units, clusters);
  std::vector<std::vector<int>> last_first;
  for (size_t at = units.size(); at-- > 0;) {
    const std::span<const int> members = clusters.Members(units[at]);
    last_first.emplace_back(members.begin(), members.end());
  }
  return last_first;
}

}  // namespace weft
