// All that a block refuses of its inputs' shapes: its Plan tells the first fault and ends.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/plan/partial_shapes.h"

namespace weft {

struct ShapeRefusal {
  Status fault;
  std::string shape;  // of which rank the input may be, where that is at fault: "[?,?]", "[]|[?]", "[?,...]" (1 or more); else empty
};

/// `refused` is what the block's Plan said of the inputs. Gives it and, after it, what Plan says of other inputs whatever shapes the refused
/// ones have, found by its own Plan: shapes that it takes are put in the place of those. What is told of two inputs together depends on both,
/// and is not among them.
std::vector<ShapeRefusal> AllRefusals(const Node& node, std::span<const InputInfo> inputs, Status refused);
/// The ranks alone, of an input that is refused whatever its unknown sizes are.
std::string RanksNeeded(const Node& node, std::span<const PartialInput> inputs, const Status& refused);

}  // namespace weft
