// What a failure at an input port is about: the types and shapes that it takes, and those that it was given.
#pragma once

#include <functional>

#include "weft/plan/graph.h"

namespace weft {

/// Adds them to what a block's Plan or Run said of one of its input ports. `shape(v)` is that of input value v, or null.
Status WithPortFacts(const Graph& graph, const Node& node, Status status, FunctionRef<const Shape*(uint32_t v)> shape);

}  // namespace weft
