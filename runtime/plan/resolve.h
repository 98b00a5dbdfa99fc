// From names on a page to values of its graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/plan/graph.h"

namespace weft {

/// Whether the types of a node's outputs are known; also of a broken one, whose fault leaves them.
inline bool HasTypes(const Node& node) { return !node.out_first.table().empty(); }
/// Whether the inputs of a node are the values of its ports, and not just what stands before a broken block.
inline bool HasInputs(const Node& node) { return !node.in_first.table().empty(); }

/// Appends to `values` what a wire from the block `node` brings: one value of a single port; of a list port the element that the wire names,
/// or else up to `most` of all. A broken node whose types are not known gives one value. An error says what the block has no output or element of.
Status ResolveWire(const Graph& graph, const Wire& wire, int node, size_t most, std::vector<ValueRef>& values);

/// "did you mean 'x'?", or all that is known: "its inputs are 'x', 'y'".
std::string NamesHint(std::string_view name, const std::vector<std::string_view>& known, std::string_view what);

}  // namespace weft
