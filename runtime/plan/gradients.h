// Symbolic gradients: reverse-mode differentiation as a rewrite of the graph.
#pragma once

#include <vector>

#include "runtime/plan/node_adder.h"

namespace weft {

/// Adds the blocks that compute the gradients of the sum of `ys` with respect to each of `xs`; a value that nothing depends on gives an
/// invalid ValueRef. All nodes before must be connected. An error names the port of AddSymbolicGradients that is at fault;
/// failed_precondition is one of a loop, which is reported there.
Result<std::vector<ValueRef>> AddGradients(NodeAdder& adder, const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs);

}  // namespace weft
