// Which element-wise steps of a plan run together.
#pragma once

#include "weft/plan/plan.h"

namespace weft {

/// Joins neighbouring element-wise steps over as many elements into Plan::fused, where tensors are large. Values that only they read
/// become tiles (Slot::Storage::kTile). Last uses must be known; memory is planned afterwards.
void FuseSteps(const Graph& graph, Plan& plan);

}  // namespace weft
