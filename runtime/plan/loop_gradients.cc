#include "runtime/plan/loop_gradients.h"

#include <algorithm>

#include "runtime/base/call_limit.h"
#include "runtime/plan/frames.h"
#include "runtime/plan/step_order.h"

namespace weft {

LoopGradient::LoopGradient(Rewrite& rewrite, int frame, std::vector<int> nodes)
    : rewrite_(rewrite),
      outer_(rewrite.loop()),
      blocks_(rewrite),
      loop_(rewrite, frame, std::move(nodes)),
      values_(rewrite, loop_, outer_ == nullptr ? nullptr : &outer_->values_) {}

// By variable: the gradient of what it leaves the loop with.
Status LoopGradient::TakeGradients(Values& gradients) {
  for (const LoopVariable& variable : loop_.variables()) {
    Values of_exits;
    for (int exit : variable.exits) {
      WEFT_ASSIGN_OR_RETURN(const ValueRef gradient, rewrite_.GradientOf({exit, 0}));
      if (gradient.valid()) of_exits.push_back(gradient);
    }
    gradients.emplace_back();
    if (of_exits.empty()) continue;
    WEFT_ASSIGN_OR_RETURN(gradients.back(), rewrite_.Sum(of_exits, rewrite_.conditional()));
  }
  return {};
}

// Like what the variable leaves the loop with.
Result<ValueRef> LoopGradient::ZerosOf(LoopVariable& variable) {
  if (!variable.leaves.valid()) {
    WEFT_ASSIGN_OR_RETURN(variable.leaves, blocks_.Add(loop_.frame(), "Switch", {{variable.merge, 0}, {loop_.condition(), 0}}));
  }
  WEFT_ASSIGN_OR_RETURN(const ValueRef left, blocks_.Add(loop_.parent(), "Exit", {variable.leaves}));
  WEFT_ASSIGN_OR_RETURN(const ValueRef like, values_.Outer(left));
  return blocks_.Add(values_.outer_frame(), "ZerosLike", {like});
}

// Zeros for a variable that leaves the loop for nothing, or for nothing that an if around the loop has not left out.
Status LoopGradient::EnterGradients(const Values& gradients) {
  for (size_t v = 0; v < gradients.size(); ++v) {
    ValueRef entering = gradients[v];
    if (!entering.valid() || rewrite_.conditional()) {
      WEFT_ASSIGN_OR_RETURN(const ValueRef zeros, ZerosOf(loop_.variables()[v]));
      if (entering.valid()) {
        WEFT_ASSIGN_OR_RETURN(entering, blocks_.Add(values_.outer_frame(), "Merge", {entering, zeros}));
      } else {
        entering = zeros;
      }
    }
    WEFT_ASSIGN_OR_RETURN(const ValueRef round, blocks_.Open(values_.frame(), entering));
    WEFT_ASSIGN_OR_RETURN(const ValueRef sent, blocks_.Add(values_.frame(), "Switch", {round, values_.goes_on()}));
    WEFT_ASSIGN_OR_RETURN(const ValueRef out, blocks_.Add(values_.outer_frame(), "Exit", {sent}));
    turns_.push_back({round, Output(sent, 1), out});
  }
  return {};
}

// The Switch of a loop variable, or of another value that only an iteration that goes on needs.
Status LoopGradient::SendThrough(int gate) {
  WEFT_ASSIGN_OR_RETURN(const ValueRef ends, rewrite_.GradientOf({gate, 0}));
  if (ends.valid()) return loop_.Refuse(gate, "is read where it ends by other blocks than an Exit");
  WEFT_ASSIGN_OR_RETURN(const ValueRef gradient, rewrite_.GradientOf({gate, 1}));
  const ValueRef data = node(gate).inputs[0];
  if (gradient.valid() && rewrite_.path().Wants(data)) rewrite_.Contribute(data, gradient);
  return {};
}

Status LoopGradient::AddBody() {
  for (size_t v = 0; v < turns_.size(); ++v) {
    const ValueRef left = node(loop_.variables()[v].next).inputs[0];
    if (rewrite_.path().Wants(left)) rewrite_.Contribute(left, turns_[v].goes_on);
  }
  for (const std::vector<int>& unit : rewrite_.path().LastFirst(loop_.frame(), loop_.Body())) {
    CallLimit::Check();
    const int i = unit[0];
    if (!loop_.Has(i)) WEFT_RETURN_IF_ERROR(LoopGradient(rewrite_, FrameWithin(rewrite_.graph(), i, loop_.frame()), unit).Run());
    else if (!rewrite_.path().Has(i)) continue;
    else if (loop_.IsGate(i)) WEFT_RETURN_IF_ERROR(SendThrough(i));
    else WEFT_RETURN_IF_ERROR(rewrite_.Differentiate(i));
  }
  return {};
}

// What an iteration leaves of each gradient for the one before it.
Status LoopGradient::GoRound() {
  for (size_t v = 0; v < turns_.size(); ++v) {
    WEFT_ASSIGN_OR_RETURN(ValueRef gradient, rewrite_.GradientOf({loop_.variables()[v].merge, 0}));
    if (!gradient.valid() || conditional()) {
      WEFT_ASSIGN_OR_RETURN(const ValueRef zeros, blocks_.Add(values_.frame(), "ZerosLike", {turns_[v].goes_on}));
      WEFT_ASSIGN_OR_RETURN(gradient, gradient.valid() ? blocks_.Add(values_.frame(), "Merge", {gradient, zeros}) : Result<ValueRef>(zeros));
    }
    WEFT_RETURN_IF_ERROR(blocks_.Close(values_.frame(), turns_[v].round, gradient));
  }
  return {};
}

// The sum over all iterations of a gradient in each of them.
Result<ValueRef> LoopGradient::AddUp(ValueRef outside, const Values& gradients) {
  WEFT_ASSIGN_OR_RETURN(const ValueRef gradient, rewrite_.Sum(gradients, rewrite_.conditional()));
  WEFT_ASSIGN_OR_RETURN(const ValueRef like, values_.Outer(outside));
  WEFT_ASSIGN_OR_RETURN(const ValueRef zeros, blocks_.Add(values_.outer_frame(), "ZerosLike", {like}));
  WEFT_ASSIGN_OR_RETURN(const ValueRef sum, blocks_.Open(values_.frame(), zeros));
  WEFT_ASSIGN_OR_RETURN(const ValueRef sent, blocks_.Add(values_.frame(), "Switch", {sum, values_.goes_on()}));
  WEFT_ASSIGN_OR_RETURN(ValueRef added, blocks_.Add(values_.frame(), "AddV2", {Output(sent, 1), gradient}));
  if (conditional()) {  // an iteration that left the reader out adds nothing
    WEFT_ASSIGN_OR_RETURN(added, blocks_.Add(values_.frame(), "Merge", {added, Output(sent, 1)}));
  }
  WEFT_RETURN_IF_ERROR(blocks_.Close(values_.frame(), sum, added));
  return blocks_.Add(values_.outer_frame(), "Exit", {sent});
}

Status LoopGradient::AddUpOutside() {
  for (int i : loop_.nodes()) {
    if (!Flows(node(i), Flow::kEnter) || !loop_.Has(i) || !rewrite_.path().Has(i)) continue;
    WEFT_ASSIGN_OR_RETURN(const ValueRef gradient, rewrite_.GradientOf({i, 0}));
    if (!gradient.valid()) continue;
    const bool* constant = AttrOf<bool>(node(i), "is_constant");
    if (constant == nullptr || !*constant) return loop_.Refuse(i, "is read by other blocks than a Merge, though it is not constant");
    AddOutside(node(i).inputs[0], gradient);
  }
  for (const auto& [value, gradients] : outside_) {
    const ValueRef outside{value.first, value.second};
    WEFT_ASSIGN_OR_RETURN(const ValueRef sum, AddUp(outside, gradients));
    sums_.emplace_back(outside, sum);
  }
  return {};
}

// The gradients of what entered, and of what the loop read from outside.
void LoopGradient::HandOn() {
  for (size_t v = 0; v < turns_.size(); ++v) {
    const ValueRef entered = node(loop_.variables()[v].enter).inputs[0];
    if (rewrite_.path().Wants(entered)) rewrite_.Contribute(entered, turns_[v].out);
  }
  for (const auto& [value, sum] : sums_) {
    if (rewrite_.path().Wants(value)) rewrite_.Contribute(value, sum);
  }
}

Status LoopGradient::Run() {
  WEFT_RETURN_IF_ERROR(loop_.Read());
  Values gradients;
  WEFT_RETURN_IF_ERROR(TakeGradients(gradients));
  if (std::ranges::none_of(gradients, &ValueRef::valid)) return {};
  if (loop_.condition() < 0) return loop_.Refuse(loop_.variables()[0].merge, "belongs to a loop without a LoopCond");
  WEFT_RETURN_IF_ERROR(values_.Begin());
  WEFT_RETURN_IF_ERROR(EnterGradients(gradients));
  rewrite_.set_loop(this);
  Status status = AddBody();
  if (status.ok()) status = GoRound();
  if (status.ok()) status = AddUpOutside();
  rewrite_.set_loop(outer_);
  WEFT_RETURN_IF_ERROR(std::move(status));
  HandOn();
  return values_.End();
}

}  // namespace weft
