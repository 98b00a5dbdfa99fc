// LoopGradient: the gradient of a loop is a loop. README.md says how it works.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/plan/gradient_rewrite.h"

namespace weft {

/// Adds the gradient of one loop that lies in the frame at hand. Valid during that.
class LoopGradient {
 public:
  /// `nodes`: those of the loop, and of loops in it, that lead to a y. The rewrite is in the frame that the loop lies in.
  LoopGradient(Rewrite& rewrite, int frame, std::vector<int> nodes)
      : rewrite_(rewrite), outer_(rewrite.loop()), frame_(frame), nodes_(std::move(nodes)) {}

  /// Does nothing where no result of the loop has a gradient. Unsupported for what has none, with the block; failed_precondition for a loop
  /// with a fault, which is reported elsewhere.
  Status Run();

  /// The frame of the gradient.
  int gradient_frame() const { return gradient_frame_; }
  /// Whether the value is made in each iteration, not one from outside.
  bool Makes(ValueRef value) const;
  /// Whether an iteration may leave blocks out.
  bool conditional() const { return conditional_; }
  /// A value that holds in every frame as it is; one that the loop makes as the iteration had it whose gradient is taken.
  Result<ValueRef> Local(ValueRef value);
  /// One more term of the gradient of a value from outside.
  void AddOutside(ValueRef value, ValueRef gradient) { outside_[{value.node, value.output}].push_back(gradient); }

 private:
  /// A Merge that takes what enters and what the last iteration left; a value goes by its Switch to the next iteration, or out.
  struct Variable {
    int merge, enter, next;
    ValueRef leaves;           // where the Switch sends it at the end; invalid: there is no Switch
    std::vector<int> exits;
    // In the gradient's frame: what goes round, where it goes on, and the gradient of what entered.
    ValueRef round, goes_on, out;
  };
  using Values = std::vector<ValueRef>;

  Status Refuse(int node, std::string_view why) const;
  const Node& node(int i) const { return rewrite_.node(i); }
  int home(int i) const { return rewrite_.graph().HomeFrame(i); }
  int parent() const { return rewrite_.graph().frames()[static_cast<size_t>(frame_)].parent; }
  int outer_frame() const { return outer_ == nullptr ? 0 : outer_->gradient_frame(); }
  Result<ValueRef> Outer(ValueRef value) { return outer_ == nullptr ? Result<ValueRef>(value) : outer_->Local(value); }
  /// Adds a block to a frame. Several inputs of a block with one port are a list.
  Result<ValueRef> Add(int frame, std::string_view block, const Values& inputs, Reuse::GivenAttrs attrs = {});
  Result<ValueRef> Enter(int frame, ValueRef value, bool constant);
  /// A Merge of what enters and, once Close was called, what the last iteration left.
  Result<ValueRef> Open(int frame, ValueRef entering);
  Status Close(int frame, ValueRef merge, ValueRef value);

  Status ReadLoop();
  Status ReadVariable(int merge);
  bool IsConnected(int next, int merge) const;
  Status ReadExit(int exit);
  bool IsGate(int i) const;
  Status TakeGradients(Values& gradients);
  Status AddCounter();
  Status AddGradientLoop();
  Status EnterGradients(const Values& gradients);
  Status AddBody();
  Status SendThrough(int gate);
  Status GoRound();
  Status AddUpOutside();
  Result<ValueRef> AddUp(ValueRef outside, const Values& gradients);
  Result<ValueRef> ZerosOf(Variable& variable);
  Status EndCounter();

  Rewrite& rewrite_;
  LoopGradient* const outer_;
  const int frame_;
  const std::vector<int> nodes_;
  int condition_ = -1;        // the loop's LoopCond
  bool conditional_ = false;
  std::unordered_map<int, int> gates_;           // by what it takes: the first Switch of the LoopCond
  std::vector<Variable> variables_;
  std::unordered_map<int, size_t> variable_of_;  // by Merge
  std::map<std::pair<int, int>, Values> outside_;
  std::vector<std::pair<ValueRef, ValueRef>> sums_;  // of those: the value, and its gradient when the loop has ended
  // In the loop: counts the iterations, and keeps values of them.
  ValueRef zero_, one_, history_, counter_, count_, counted_, kept_in_;
  Values pushes_;
  // In the gradient's frame.
  int gradient_frame_ = -1;
  ValueRef goes_on_, iteration_, kept_;
  std::map<std::pair<int, int>, ValueRef> local_;
};

}  // namespace weft
