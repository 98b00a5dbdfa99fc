// From names on a page to values of its graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weft/plan/graph.h"

namespace weft {

/// Appends to `values` what a wire from the block `node` brings: one value of a single port; of a list port the element that the wire names,
/// or else up to `most` of all. A broken node gives one value. An error says what the block has no output or element of.
Status ResolveWire(const Graph& graph, const Wire& wire, int node, size_t most, std::vector<ValueRef>& values);

/// "did you mean 'x'?", or all that is known: "its inputs are 'x', 'y'".
std::string NamesHint(std::string_view name, const std::vector<std::string_view>& known, std::string_view what);

}  // namespace weft
