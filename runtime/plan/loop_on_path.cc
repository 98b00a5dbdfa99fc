#include "runtime/plan/loop_on_path.h"

#include "runtime/base/call_limit.h"
#include "runtime/plan/frames.h"

namespace weft {

Status LoopOnPath::Refuse(int i, std::string_view why) const {
  return Unsupported("the block '", node(i).id, "' (", node(i).def->name, ") of the loop '", graph().frames()[static_cast<size_t>(frame_)].name,
                     "' lies on the path and ", why)
      .WithPort("outputs");
}

bool LoopOnPath::Makes(ValueRef value) const { return node(value.node).frame == frame_ && !HoldsInEveryFrame(node(value.node)); }

bool LoopOnPath::IsGate(int i) const { return Flows(node(i), Flow::kSwitch) && node(i).inputs[1].node == condition_; }

std::vector<int> LoopOnPath::Body() const {
  std::vector<int> body;
  for (int i : nodes_) {
    const bool own = Has(i) && (Flows(node(i), Flow::kEnter) || Flows(node(i), Flow::kExit) || Flows(node(i), Flow::kNextIteration));
    if (!own && !variable_of_.contains(i)) body.push_back(i);
  }
  return body;
}

// Types of what leads back are compared when all blocks are connected.
bool LoopOnPath::IsConnected(int next, int merge) const {
  const Node& back = node(next);
  return !back.broken && back.order >= 0 && back.inputs.size() == 1 && graph().TypeOf(back.inputs[0]) == node(merge).output_types[0];
}

// A Merge with a NextIteration is a variable of the loop; others end an if.
Status LoopOnPath::ReadVariable(int merge) {
  LoopVariable variable{merge, -1, -1, {}, {}};
  for (ValueRef input : node(merge).inputs) {
    const bool next = Flows(node(input.node), Flow::kNextIteration);
    if (next && node(input.node).frame == 0) return FailedPrecondition("the loop has a fault");  // CheckFeedback tells of it
    if (node(input.node).frame != frame_) continue;
    if (next) variable.next = input.node;
    if (Flows(node(input.node), Flow::kEnter)) variable.enter = input.node;
  }
  if (variable.next >= 0 && !IsConnected(variable.next, merge)) return FailedPrecondition("the loop has a fault");
  if (variable.next < 0 || !rewrite_.path().Has(merge) || !IsDifferentiable(node(merge).output_types[0])) return {};
  if (variable.enter < 0 || node(merge).inputs.size() != 2) return Refuse(merge, "takes other values than one that enters and one of a NextIteration");
  if (const auto gate = gates_.find(merge); gate != gates_.end()) variable.leaves = {gate->second, 0};
  variable_of_[merge] = variables_.size();
  variables_.push_back(std::move(variable));
  return {};
}

Status LoopOnPath::ReadExit(int exit) {
  if (!rewrite_.path().Has(exit) || !IsDifferentiable(node(exit).output_types[0])) return {};
  const ValueRef from = node(exit).inputs[0];
  if (IsGate(from.node) && from.output == 0) {
    const ValueRef data = node(from.node).inputs[0];
    if (const auto found = variable_of_.find(data.node); found != variable_of_.end() && data.output == 0) {
      variables_[found->second].exits.push_back(exit);
      return {};
    }
  }
  return Refuse(exit, "takes something else out of it than a loop variable, which a Merge, and a Switch of the LoopCond, lead to it");
}

Status LoopOnPath::Read() {
  for (int i : nodes_) {
    if (IsLoopCondition(node(i)) && Has(i)) condition_ = i;
  }
  for (int i : nodes_) {
    if (!Has(i)) continue;
    conditional_ |= Flows(node(i), Flow::kSwitch) && !IsGate(i);
    if (IsGate(i) && node(i).inputs[0].output == 0) gates_.emplace(node(i).inputs[0].node, i);
  }
  for (int i : nodes_) {
    CallLimit::Check();
    if (Has(i) && Flows(node(i), Flow::kMerge)) WEFT_RETURN_IF_ERROR(ReadVariable(i));
  }
  for (int i : nodes_) {
    if (Flows(node(i), Flow::kExit) && Has(i)) WEFT_RETURN_IF_ERROR(ReadExit(i));
  }
  return {};
}

}  // namespace weft
