// What the gradient of a block added to a graph, so that it can be added again for a block like it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weft/plan/graph.h"

namespace weft {

/// Depends on the block's settings and types, and on which gradients of its outputs there are and which of its inputs' are wanted.
struct GradientRecord {
  /// A value that the block has itself (its inputs, its outputs and their gradients, in this order), or an output of a node that was added.
  struct Value {
    int added = -1;  // index into `added`, or -1
    int index = 0;   // among the block's own, or the output
  };
  struct Added {
    std::string block;  // by the name that it was added by; empty for a constant
    Node node;          // but for its id, inputs and places
    std::vector<Value> inputs;
  };
  AttrList attrs;
  PortTable in_first, out_first;
  ShortList<uint16_t, 12> values;  // by own value: its type and kind, and whether it is there and wanted
  std::vector<Added> added;
  std::vector<std::pair<int, Value>> set;  // input value, and its gradient
};

}  // namespace weft
