// LoopGradient: the gradient of a loop is a loop. README.md says how it works.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "runtime/plan/frame_blocks.h"
#include "runtime/plan/iteration_values.h"
#include "runtime/plan/loop_on_path.h"

namespace weft {

/// Adds the gradient of one loop that lies in the frame at hand. Valid during that.
class LoopGradient {
 public:
  /// `nodes`: those of the loop, and of loops in it, that lead to a y. The rewrite is in the frame that the loop lies in.
  LoopGradient(Rewrite& rewrite, int frame, std::vector<int> nodes);

  /// Does nothing where no result of the loop has a gradient. Unsupported for what has none, with the block; failed_precondition for a loop
  /// with a fault, which is reported elsewhere.
  Status Run();

  /// The frame of the gradient.
  int gradient_frame() const { return values_.frame(); }
  bool Makes(ValueRef value) const { return loop_.Makes(value); }
  bool conditional() const { return loop_.conditional(); }
  Result<ValueRef> Local(ValueRef value) { return values_.Local(value); }
  /// One more term of the gradient of a value from outside.
  void AddOutside(ValueRef value, ValueRef gradient) { outside_[{value.node, value.output}].push_back(gradient); }

 private:
  using Values = std::vector<ValueRef>;
  /// The gradient of a loop variable, as one of the gradient's loop: what goes round, where it goes on, and what it leaves with.
  struct Turn {
    ValueRef round, goes_on, out;
  };

  const Node& node(int i) const { return rewrite_.node(i); }
  Status TakeGradients(Values& gradients);
  Status EnterGradients(const Values& gradients);
  Result<ValueRef> ZerosOf(LoopVariable& variable);
  Status AddBody();
  Status SendThrough(int gate);
  Status GoRound();
  Status AddUpOutside();
  Result<ValueRef> AddUp(ValueRef outside, const Values& gradients);
  void HandOn();

  Rewrite& rewrite_;
  LoopGradient* const outer_;
  FrameBlocks blocks_;
  LoopOnPath loop_;
  IterationValues values_;
  std::vector<Turn> turns_;                          // by variable
  std::map<std::pair<int, int>, Values> outside_;
  std::vector<std::pair<ValueRef, ValueRef>> sums_;  // of those: the value, and its gradient when the loop has ended
};

}  // namespace weft
