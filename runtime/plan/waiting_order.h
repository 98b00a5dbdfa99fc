// The place in a run of blocks that wait for others: a dequeue for what an enqueue puts in.
#pragma once

#include <vector>

#include "weft/plan/graph.h"

namespace weft {

/// Reorders nodes, given with producers before consumers, so that those that may wait (BlockDef::waits) come after all that do not depend
/// on them; the rest keep their order. Of several that may wait, one whose resource no later node fills goes first.
std::vector<int> WaitingLast(const Graph& graph, std::vector<int> order);

}  // namespace weft
