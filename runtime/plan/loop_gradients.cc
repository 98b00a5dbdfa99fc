#include "runtime/plan/loop_gradients.h"

#include <algorithm>

#include "runtime/base/call_limit.h"
#include "runtime/plan/frames.h"
#include "runtime/plan/step_order.h"

namespace weft {
namespace {

ValueRef Output(ValueRef first, int output) { return {first.node, output}; }

}  // namespace

Status LoopGradient::Refuse(int i, std::string_view why) const {
  return Unsupported("the block '", node(i).id, "' (", node(i).def->name, ") of the loop '",
                     rewrite_.graph().frames()[static_cast<size_t>(frame_)].name, "' lies on the path and ", why)
      .WithPort("outputs");
}

bool LoopGradient::Makes(ValueRef value) const { return node(value.node).frame == frame_ && !HoldsInEveryFrame(node(value.node)); }

// ---- adding blocks ---------------------------------------------------------------------------------------------------------------------

Result<ValueRef> LoopGradient::Add(int frame, std::string_view block, const Values& inputs, Reuse::GivenAttrs attrs) {
  const BlockDef* def = rewrite_.registry().Find(block);
  if (def == nullptr) return Unsupported("the gradient of a loop needs the block ", block, ", which this registry lacks").WithPort("outputs");
  std::vector<uint32_t> first(1, 0);
  const uint32_t each = def->inputs.size() == 1 ? static_cast<uint32_t>(inputs.size()) : 1;
  for (size_t p = 0; p < def->inputs.size(); ++p) first.push_back(first.back() + each);
  rewrite_.adder().set_frame(frame);
  WEFT_ASSIGN_OR_RETURN(const int added, rewrite_.adder().Add(block, *def, inputs, first, attrs));
  return ValueRef{added, 0};
}

Result<ValueRef> LoopGradient::Enter(int frame, ValueRef value, bool constant) {
  const std::pair<std::string_view, AttrValue> attrs[] = {{"frame_name", rewrite_.graph().frames()[static_cast<size_t>(frame)].name},
                                                          {"is_constant", constant}};
  return Add(frame, "Enter", {value}, attrs);
}

Result<ValueRef> LoopGradient::Open(int frame, ValueRef entering) {
  WEFT_ASSIGN_OR_RETURN(const ValueRef entered, Enter(frame, entering, false));
  return Add(frame, "Merge", {entered, entered});
}

Status LoopGradient::Close(int frame, ValueRef merge, ValueRef value) {
  WEFT_ASSIGN_OR_RETURN(const ValueRef next, Add(frame, "NextIteration", {value}));
  rewrite_.adder().SetInput(merge.node, 1, next);
  return {};
}

// ---- the loop --------------------------------------------------------------------------------------------------------------------------

bool LoopGradient::IsGate(int i) const { return Flows(node(i), Flow::kSwitch) && node(i).inputs[1].node == condition_; }

// Types of what leads back are compared when all blocks are connected.
bool LoopGradient::IsConnected(int next, int merge) const {
  const Node& back = node(next);
  return !back.broken && back.order >= 0 && back.inputs.size() == 1 && rewrite_.graph().TypeOf(back.inputs[0]) == node(merge).output_types[0];
}

// A Merge with a NextIteration is a variable of the loop; others end an if.
Status LoopGradient::ReadVariable(int merge) {
  Variable variable{merge, -1, -1, {}, {}, {}, {}, {}};
  for (ValueRef input : node(merge).inputs) {
    if (node(input.node).frame != frame_) continue;
    if (Flows(node(input.node), Flow::kNextIteration)) variable.next = input.node;
    if (Flows(node(input.node), Flow::kEnter)) variable.enter = input.node;
  }
  if (variable.next >= 0 && !IsConnected(variable.next, merge)) return FailedPrecondition("the loop has a fault");
  if (variable.next < 0 || !rewrite_.OnPath(merge) || !IsDifferentiable(node(merge).output_types[0])) return {};
  if (variable.enter < 0 || node(merge).inputs.size() != 2) return Refuse(merge, "takes other values than one that enters and one of a NextIteration");
  if (const auto gate = gates_.find(merge); gate != gates_.end()) variable.leaves = {gate->second, 0};
  variable_of_[merge] = variables_.size();
  variables_.push_back(std::move(variable));
  return {};
}

Status LoopGradient::ReadExit(int exit) {
  if (!rewrite_.OnPath(exit) || !IsDifferentiable(node(exit).output_types[0])) return {};
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

Status LoopGradient::ReadLoop() {
  for (int i : nodes_) {
    if (IsLoopCondition(node(i)) && home(i) == frame_) condition_ = i;
  }
  for (int i : nodes_) {
    if (home(i) != frame_) continue;
    conditional_ |= Flows(node(i), Flow::kSwitch) && !IsGate(i);
    if (IsGate(i) && node(i).inputs[0].output == 0) gates_.emplace(node(i).inputs[0].node, i);
  }
  for (int i : nodes_) {
    CallLimit::Check();
    if (home(i) == frame_ && Flows(node(i), Flow::kMerge)) WEFT_RETURN_IF_ERROR(ReadVariable(i));
  }
  for (int i : nodes_) {
    if (Flows(node(i), Flow::kExit) && home(i) == frame_) WEFT_RETURN_IF_ERROR(ReadExit(i));
  }
  return {};
}

// By variable: the gradient of what it leaves the loop with.
Status LoopGradient::TakeGradients(Values& gradients) {
  for (const Variable& variable : variables_) {
    Values of_exits;
    for (int exit : variable.exits) {
      WEFT_ASSIGN_OR_RETURN(const ValueRef gradient, rewrite_.GradientOf({exit, 0}));
      if (gradient.valid()) of_exits.push_back(gradient);
    }
    gradients.emplace_back();
    if (of_exits.empty()) continue;
    WEFT_ASSIGN_OR_RETURN(gradients.back(), rewrite_.Sum(of_exits));
  }
  return {};
}

// ---- its iterations --------------------------------------------------------------------------------------------------------------------

Status LoopGradient::AddCounter() {
  zero_ = rewrite_.AddConstant(Tensor::Scalar<int32_t>(0));
  one_ = rewrite_.AddConstant(Tensor::Scalar<int32_t>(1));
  WEFT_ASSIGN_OR_RETURN(history_, Add(parent(), "LoopHistory", {}));
  WEFT_ASSIGN_OR_RETURN(kept_in_, Enter(frame_, history_, true));
  WEFT_ASSIGN_OR_RETURN(counter_, Open(frame_, zero_));
  WEFT_ASSIGN_OR_RETURN(const ValueRef sent, Add(frame_, "Switch", {counter_, {condition_, 0}}));
  count_ = Output(sent, 1);
  WEFT_ASSIGN_OR_RETURN(counted_, Add(parent(), "Exit", {sent}));
  return {};
}

// What is kept is reached by the way of the counter; a value that is dead in an iteration does not hold it up.
Status LoopGradient::EndCounter() {
  ValueRef done = count_;
  if (!pushes_.empty()) {
    pushes_.insert(pushes_.begin(), count_);
    WEFT_ASSIGN_OR_RETURN(done, Add(frame_, "Merge", pushes_));
  }
  WEFT_ASSIGN_OR_RETURN(const ValueRef next, Add(frame_, "AddV2", {done, one_}));
  return Close(frame_, counter_, next);
}

Result<ValueRef> LoopGradient::Local(ValueRef value) {
  const Node& of = node(value.node);
  if (of.variable >= 0 && rewrite_.updated_in_loops().contains(of.variable)) {
    return Unsupported("needs the variable '", of.id, "' as an iteration had it, but a loop updates it").WithPort("outputs");
  }
  if (!Makes(value)) return value;
  const auto key = std::pair(value.node, value.output);
  if (const auto known = local_.find(key); known != local_.end()) return known->second;
  ValueRef found;
  const bool* constant = Flows(of, Flow::kEnter) ? AttrOf<bool>(of, "is_constant") : nullptr;
  if (constant != nullptr && *constant) {
    WEFT_ASSIGN_OR_RETURN(const ValueRef outside, Outer(of.inputs[0]));
    WEFT_ASSIGN_OR_RETURN(found, Enter(gradient_frame_, outside, true));
  } else {
    const DType type = of.output_types[static_cast<size_t>(value.output)];
    const std::pair<std::string_view, AttrValue> attrs[] = {{"key", static_cast<int64_t>(pushes_.size())}, {"dtype", type}};
    WEFT_ASSIGN_OR_RETURN(const ValueRef pushed, Add(frame_, "LoopHistoryPush", {kept_in_, count_, value}, {attrs, 1}));
    pushes_.push_back(pushed);
    ValueRef at = iteration_;
    if (conditional_) {
      WEFT_ASSIGN_OR_RETURN(const ValueRef has, Add(gradient_frame_, "LoopHistoryHas", {kept_, iteration_}, {attrs, 1}));
      WEFT_ASSIGN_OR_RETURN(at, Add(gradient_frame_, "Switch", {iteration_, has}));
      at = Output(at, 1);
    }
    WEFT_ASSIGN_OR_RETURN(found, Add(gradient_frame_, "LoopHistoryPop", {kept_, at}, attrs));
  }
  local_[key] = found;
  return found;
}

// ---- the loop of its gradient ----------------------------------------------------------------------------------------------------------

// Counts the iterations down.
Status LoopGradient::AddGradientLoop() {
  WEFT_ASSIGN_OR_RETURN(const ValueRef iterations, Outer(counted_));
  WEFT_ASSIGN_OR_RETURN(const ValueRef history, Outer(history_));
  gradient_frame_ = rewrite_.adder().AddFrame(frame_, outer_frame());
  const int frame = gradient_frame_;
  WEFT_ASSIGN_OR_RETURN(const ValueRef left, Open(frame, iterations));
  WEFT_ASSIGN_OR_RETURN(const ValueRef more, Add(frame, "Greater", {left, zero_}));
  WEFT_ASSIGN_OR_RETURN(goes_on_, Add(frame, "LoopCond", {more}));
  WEFT_ASSIGN_OR_RETURN(const ValueRef sent, Add(frame, "Switch", {left, goes_on_}));
  WEFT_ASSIGN_OR_RETURN(iteration_, Add(frame, "Subtract", {Output(sent, 1), one_}));
  WEFT_RETURN_IF_ERROR(Close(frame, left, iteration_));
  WEFT_ASSIGN_OR_RETURN(kept_, Enter(frame, history, true));
  return {};
}

// Like what the variable leaves the loop with.
Result<ValueRef> LoopGradient::ZerosOf(Variable& variable) {
  if (!variable.leaves.valid()) {
    WEFT_ASSIGN_OR_RETURN(variable.leaves, Add(frame_, "Switch", {{variable.merge, 0}, {condition_, 0}}));
  }
  WEFT_ASSIGN_OR_RETURN(const ValueRef left, Add(parent(), "Exit", {variable.leaves}));
  WEFT_ASSIGN_OR_RETURN(const ValueRef like, Outer(left));
  return Add(outer_frame(), "ZerosLike", {like});
}

// Zeros for a variable that leaves the loop for nothing, or for nothing that an if around the loop has not left out.
Status LoopGradient::EnterGradients(const Values& gradients) {
  for (size_t v = 0; v < variables_.size(); ++v) {
    Variable& variable = variables_[v];
    ValueRef entering = gradients[v];
    if (!entering.valid() || rewrite_.conditional()) {
      WEFT_ASSIGN_OR_RETURN(const ValueRef zeros, ZerosOf(variable));
      if (entering.valid()) {
        WEFT_ASSIGN_OR_RETURN(entering, Add(outer_frame(), "Merge", {entering, zeros}));
      } else {
        entering = zeros;
      }
    }
    WEFT_ASSIGN_OR_RETURN(variable.round, Open(gradient_frame_, entering));
    WEFT_ASSIGN_OR_RETURN(const ValueRef sent, Add(gradient_frame_, "Switch", {variable.round, goes_on_}));
    WEFT_ASSIGN_OR_RETURN(variable.out, Add(outer_frame(), "Exit", {sent}));
    variable.goes_on = Output(sent, 1);
  }
  return {};
}

// The Switch of a loop variable, or of another value that only an iteration that goes on needs.
Status LoopGradient::SendThrough(int gate) {
  WEFT_ASSIGN_OR_RETURN(const ValueRef ends, rewrite_.GradientOf({gate, 0}));
  if (ends.valid()) return Refuse(gate, "is read where it ends by other blocks than an Exit");
  WEFT_ASSIGN_OR_RETURN(const ValueRef gradient, rewrite_.GradientOf({gate, 1}));
  const ValueRef data = node(gate).inputs[0];
  if (gradient.valid() && rewrite_.Wanted(data)) rewrite_.Contribute(data, gradient);
  return {};
}

Status LoopGradient::AddBody() {
  for (const Variable& variable : variables_) {
    const ValueRef left = node(variable.next).inputs[0];
    if (rewrite_.Wanted(left)) rewrite_.Contribute(left, variable.goes_on);
  }
  std::vector<int> body;
  for (int i : nodes_) {
    const bool own = home(i) == frame_ && (Flows(node(i), Flow::kEnter) || Flows(node(i), Flow::kExit) || Flows(node(i), Flow::kNextIteration));
    if (!own && !variable_of_.contains(i)) body.push_back(i);
  }
  for (const std::vector<int>& unit : rewrite_.LastFirst(frame_, body)) {
    CallLimit::Check();
    const int i = unit[0];
    if (home(i) != frame_) WEFT_RETURN_IF_ERROR(LoopGradient(rewrite_, FrameWithin(rewrite_.graph(), i, frame_), unit).Run());
    else if (!rewrite_.OnPath(i)) continue;
    else if (IsGate(i)) WEFT_RETURN_IF_ERROR(SendThrough(i));
    else WEFT_RETURN_IF_ERROR(rewrite_.Differentiate(i));
  }
  return {};
}

// What an iteration leaves of each gradient for the one before it.
Status LoopGradient::GoRound() {
  for (const Variable& variable : variables_) {
    WEFT_ASSIGN_OR_RETURN(ValueRef gradient, rewrite_.GradientOf({variable.merge, 0}));
    if (!gradient.valid() || conditional_) {
      WEFT_ASSIGN_OR_RETURN(const ValueRef zeros, Add(gradient_frame_, "ZerosLike", {variable.goes_on}));
      WEFT_ASSIGN_OR_RETURN(gradient, gradient.valid() ? Add(gradient_frame_, "Merge", {gradient, zeros}) : Result<ValueRef>(zeros));
    }
    WEFT_RETURN_IF_ERROR(Close(gradient_frame_, variable.round, gradient));
  }
  return {};
}

// The sum over all iterations of a gradient in each of them.
Result<ValueRef> LoopGradient::AddUp(ValueRef outside, const Values& gradients) {
  WEFT_ASSIGN_OR_RETURN(const ValueRef gradient, rewrite_.Sum(gradients));
  WEFT_ASSIGN_OR_RETURN(const ValueRef like, Outer(outside));
  WEFT_ASSIGN_OR_RETURN(const ValueRef zeros, Add(outer_frame(), "ZerosLike", {like}));
  WEFT_ASSIGN_OR_RETURN(const ValueRef sum, Open(gradient_frame_, zeros));
  WEFT_ASSIGN_OR_RETURN(const ValueRef sent, Add(gradient_frame_, "Switch", {sum, goes_on_}));
  WEFT_ASSIGN_OR_RETURN(ValueRef added, Add(gradient_frame_, "AddV2", {Output(sent, 1), gradient}));
  if (conditional_) {  // an iteration that left the reader out adds nothing
    WEFT_ASSIGN_OR_RETURN(added, Add(gradient_frame_, "Merge", {added, Output(sent, 1)}));
  }
  WEFT_RETURN_IF_ERROR(Close(gradient_frame_, sum, added));
  return Add(outer_frame(), "Exit", {sent});
}

Status LoopGradient::AddUpOutside() {
  for (int i : nodes_) {
    if (!Flows(node(i), Flow::kEnter) || home(i) != frame_ || !rewrite_.OnPath(i)) continue;
    WEFT_ASSIGN_OR_RETURN(const ValueRef gradient, rewrite_.GradientOf({i, 0}));
    if (!gradient.valid()) continue;
    const bool* constant = AttrOf<bool>(node(i), "is_constant");
    if (constant == nullptr || !*constant) return Refuse(i, "is read by other blocks than a Merge, though it is not constant");
    AddOutside(node(i).inputs[0], gradient);
  }
  for (const auto& [value, gradients] : outside_) {
    const ValueRef outside{value.first, value.second};
    WEFT_ASSIGN_OR_RETURN(const ValueRef sum, AddUp(outside, gradients));
    sums_.emplace_back(outside, sum);
  }
  return {};
}

Status LoopGradient::Run() {
  WEFT_RETURN_IF_ERROR(ReadLoop());
  Values gradients;
  WEFT_RETURN_IF_ERROR(TakeGradients(gradients));
  if (std::ranges::none_of(gradients, &ValueRef::valid)) return {};
  if (condition_ < 0) return Refuse(variables_[0].merge, "belongs to a loop without a LoopCond");
  WEFT_RETURN_IF_ERROR(AddCounter());
  WEFT_RETURN_IF_ERROR(AddGradientLoop());
  WEFT_RETURN_IF_ERROR(EnterGradients(gradients));
  rewrite_.set_loop(this);
  Status status = AddBody();
  if (status.ok()) status = GoRound();
  if (status.ok()) status = AddUpOutside();
  rewrite_.set_loop(outer_);
  WEFT_RETURN_IF_ERROR(std::move(status));
  for (const Variable& variable : variables_) {
    const ValueRef entered = node(variable.enter).inputs[0];
    if (rewrite_.Wanted(entered)) rewrite_.Contribute(entered, variable.out);
  }
  for (const auto& [value, sum] : sums_) {
    if (rewrite_.Wanted(value)) rewrite_.Contribute(value, sum);
  }
  return EndCounter();
}

}  // namespace weft
