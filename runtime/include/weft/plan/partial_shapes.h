// Shapes that are known in part before a run: a Placeholder's [?,3], and what follows from it.
#pragma once

#include <cstdint>
#include <map>

#include "weft/plan/plan.h"

namespace weft {

/// By slot of a plan: what is known of a shape that only the run can tell in full.
using PartialShapes = std::map<uint32_t, PartialShape>;

/// MakePlan, and what it finds of such shapes.
Plan MakePlan(const Graph& graph, const PlanRequest& request, Diagnostics& diagnostics, PartialShapes& partial);
/// Its phases up to the shapes of all values, for who asks for those and for faults alone: what it gives cannot be run.
Plan PlanShapes(const Graph& graph, const PlanRequest& request, Diagnostics& diagnostics, PartialShapes& partial);

}  // namespace weft
