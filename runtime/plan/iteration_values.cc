#include "runtime/plan/iteration_values.h"

#include "runtime/plan/frames.h"

namespace weft {

Status IterationValues::Begin() {
  zero_ = rewrite_.AddConstant(Tensor::Scalar<int32_t>(0));
  one_ = rewrite_.AddConstant(Tensor::Scalar<int32_t>(1));
  WEFT_RETURN_IF_ERROR(AddCounter());
  return AddGradientLoop();
}

Status IterationValues::AddCounter() {
  WEFT_ASSIGN_OR_RETURN(history_, blocks_.Add(loop_.parent(), "LoopHistory", {}));
  WEFT_ASSIGN_OR_RETURN(kept_in_, blocks_.Enter(loop_.frame(), history_, true));
  WEFT_ASSIGN_OR_RETURN(counter_, blocks_.Open(loop_.frame(), zero_));
  WEFT_ASSIGN_OR_RETURN(const ValueRef sent, blocks_.Add(loop_.frame(), "Switch", {counter_, {loop_.condition(), 0}}));
  count_ = Output(sent, 1);
  WEFT_ASSIGN_OR_RETURN(counted_, blocks_.Add(loop_.parent(), "Exit", {sent}));
  return {};
}

Status IterationValues::AddGradientLoop() {
  WEFT_ASSIGN_OR_RETURN(const ValueRef iterations, Outer(counted_));
  WEFT_ASSIGN_OR_RETURN(const ValueRef history, Outer(history_));
  frame_ = rewrite_.adder().AddFrame(loop_.frame(), outer_frame());
  WEFT_ASSIGN_OR_RETURN(const ValueRef left, blocks_.Open(frame_, iterations));
  WEFT_ASSIGN_OR_RETURN(const ValueRef more, blocks_.Add(frame_, "Greater", {left, zero_}));
  WEFT_ASSIGN_OR_RETURN(goes_on_, blocks_.Add(frame_, "LoopCond", {more}));
  WEFT_ASSIGN_OR_RETURN(const ValueRef sent, blocks_.Add(frame_, "Switch", {left, goes_on_}));
  WEFT_ASSIGN_OR_RETURN(iteration_, blocks_.Add(frame_, "Subtract", {Output(sent, 1), one_}));
  WEFT_RETURN_IF_ERROR(blocks_.Close(frame_, left, iteration_));
  WEFT_ASSIGN_OR_RETURN(kept_, blocks_.Enter(frame_, history, true));
  return {};
}

// What is kept is reached by the way of the counter; a value that is dead in an iteration does not hold it up.
Status IterationValues::End() {
  ValueRef done = count_;
  if (!pushes_.empty()) {
    pushes_.insert(pushes_.begin(), count_);
    WEFT_ASSIGN_OR_RETURN(done, blocks_.Add(loop_.frame(), "Merge", pushes_));
  }
  WEFT_ASSIGN_OR_RETURN(const ValueRef next, blocks_.Add(loop_.frame(), "AddV2", {done, one_}));
  return blocks_.Close(loop_.frame(), counter_, next);
}

Result<ValueRef> IterationValues::Local(ValueRef value) {
  const Node& of = rewrite_.node(value.node);
  if (of.variable >= 0 && rewrite_.updated_in_loops().contains(of.variable)) {
    return Unsupported("needs the variable '", of.id, "' as an iteration had it, but a loop updates it").WithPort("outputs");
  }
  if (!loop_.Makes(value)) return value;
  const auto key = std::pair(value.node, value.output);
  if (const auto known = local_.find(key); known != local_.end()) return known->second;
  ValueRef found;
  const bool* constant = Flows(of, Flow::kEnter) ? AttrOf<bool>(of, "is_constant") : nullptr;
  if (constant != nullptr && *constant) {
    WEFT_ASSIGN_OR_RETURN(const ValueRef outside, Outer(of.inputs[0]));
    WEFT_ASSIGN_OR_RETURN(found, blocks_.Enter(frame_, outside, true));
  } else {
    WEFT_ASSIGN_OR_RETURN(found, Keep(value));
  }
  local_[key] = found;
  return found;
}

// Puts it into the history in each iteration, and takes it out in the gradient's.
Result<ValueRef> IterationValues::Keep(ValueRef value) {
  const DType type = rewrite_.graph().TypeOf(value);
  const std::pair<std::string_view, AttrValue> attrs[] = {{"key", static_cast<int64_t>(pushes_.size())}, {"dtype", type}};
  WEFT_ASSIGN_OR_RETURN(const ValueRef pushed, blocks_.Add(loop_.frame(), "LoopHistoryPush", {kept_in_, count_, value}, {attrs, 1}));
  pushes_.push_back(pushed);
  ValueRef at = iteration_;
  if (loop_.conditional()) {
    WEFT_ASSIGN_OR_RETURN(const ValueRef has, blocks_.Add(frame_, "LoopHistoryHas", {kept_, iteration_}, {attrs, 1}));
    WEFT_ASSIGN_OR_RETURN(at, blocks_.Add(frame_, "Switch", {iteration_, has}));
    at = Output(at, 1);
  }
  return blocks_.Add(frame_, "LoopHistoryPop", {kept_, at}, attrs);
}

}  // namespace weft
