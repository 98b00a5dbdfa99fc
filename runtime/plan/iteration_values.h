// IterationValues: what the gradient of a loop reads of the loop's iterations.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "runtime/plan/frame_blocks.h"
#include "runtime/plan/loop_on_path.h"

namespace weft {

/// Counts a loop's iterations, keeps the values that they make in a history, and brings them to the frame of the gradient.
class IterationValues {
 public:
  /// `outer`: of the loop that the loop lies in, or null.
  IterationValues(Rewrite& rewrite, LoopOnPath& loop, IterationValues* outer) : rewrite_(rewrite), blocks_(rewrite), loop_(loop), outer_(outer) {}

  /// Adds the counter, and the loop of the gradient: a frame that counts the iterations down.
  Status Begin();
  /// When all values are known that are to be kept.
  Status End();

  /// The frame of the gradient.
  int frame() const { return frame_; }
  /// Whether the gradient has more iterations to go.
  ValueRef goes_on() const { return goes_on_; }
  /// The frame that the gradient's loop lies in.
  int outer_frame() const { return outer_ == nullptr ? 0 : outer_->frame(); }
  /// A value from outside of the loop, in the frame that the gradient's loop lies in.
  Result<ValueRef> Outer(ValueRef value) { return outer_ == nullptr ? Result<ValueRef>(value) : outer_->Local(value); }
  /// A value that holds in every frame as it is; one that the loop makes as the iteration had it whose gradient is taken.
  Result<ValueRef> Local(ValueRef value);

 private:
  Status AddCounter();
  Status AddGradientLoop();
  Result<ValueRef> Keep(ValueRef value);

  Rewrite& rewrite_;
  FrameBlocks blocks_;
  LoopOnPath& loop_;
  IterationValues* const outer_;
  ValueRef zero_, one_;
  // In the loop.
  ValueRef history_, counter_, count_, counted_, kept_in_;
  std::vector<ValueRef> pushes_;
  // In the gradient's frame.
  int frame_ = -1;
  ValueRef goes_on_, iteration_, kept_;
  std::map<std::pair<int, int>, ValueRef> local_;
};

}  // namespace weft
