// FrameBlocks: adds blocks to the frames of a graph, and loop variables by their parts.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/plan/gradient_rewrite.h"

namespace weft {

class FrameBlocks {
 public:
  explicit FrameBlocks(Rewrite& rewrite) : rewrite_(rewrite) {}

  /// The first output of a block that is added to a frame. Several inputs of a block with one port are a list.
  Result<ValueRef> Add(int frame, std::string_view block, const std::vector<ValueRef>& inputs, Reuse::GivenAttrs attrs = {});
  Result<ValueRef> Enter(int frame, ValueRef value, bool constant);
  /// A Merge of what enters and, once Close was called, what the last iteration left.
  Result<ValueRef> Open(int frame, ValueRef entering);
  Status Close(int frame, ValueRef merge, ValueRef value);

 private:
  Rewrite& rewrite_;
};

/// Another output of a block whose first one it is.
inline ValueRef Output(ValueRef first, int output) { return {first.node, output}; }

}  // namespace weft
