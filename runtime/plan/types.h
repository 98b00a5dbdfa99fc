// Type inference of one block by what its inputs are, apart from a graph.
#pragma once

#include <span>
#include <vector>

#include "weft/plan/graph.h"

namespace weft {

/// All that type inference looks at of a value.
struct InputType {
  DType type = DType::kInvalid;
  const PortSpec* reference = nullptr;  // the port that a reference comes from; null: a value
};
InputType InputTypeOf(const Graph& graph, ValueRef value);

/// Checks the types of a node's inputs, of which Node::in_first says whose they are, and infers those of its outputs, as far as they do not
/// depend on attributes that could not be read (`unread`, by attribute). Else the node has no outputs. Gives the first fault; `more` gets the
/// others, which do not depend on it.
Status InferTypesInPart(Node& node, std::span<const InputType> inputs, const std::vector<char>& unread, std::vector<Status>& more);

}  // namespace weft
