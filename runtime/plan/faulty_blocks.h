// What can be told of the inputs of blocks that cannot run, since some of their attributes have faults.
#pragma once

#include <vector>

#include "runtime/plan/step_planner.h"

namespace weft {

/// Reports of each block, whose inputs are planned by now, what its checks refuse whatever the attributes are that could not be read: one of
/// their values is tried after the other. Where an attribute may have too many values, or where an input has a fault, nothing is said.
void CheckFaultyBlocks(const std::vector<int>& blocks, const StepPlanner::Context& context);

}  // namespace weft
