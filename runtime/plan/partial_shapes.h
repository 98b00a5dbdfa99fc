// Shapes that are known in part before a run: checks of what reads them.
#pragma once

#include <span>
#include <vector>

#include "weft/plan/partial_shapes.h"

namespace weft {

/// What is known of the shape of an input, and its value where the block is shaped by it. A rank that is not known makes all unknown.
struct PartialInput {
  InputInfo info;  // its shape is not looked at
  PartialShape shape;
};

/// What a block makes of inputs whose sizes are known in part, found by its own Plan: sizes are put in the place of the unknown ones, and
/// what comes out the same for all that the block takes is known. `outputs` gets the shapes, by output value; empty where nothing is known.
/// Fails where one size is unknown and the block takes none up to 4,096, nor one that its inputs or attributes name, with what it says; the
/// unknown size stands in that as "?".
Status PlanInPart(const Node& node, std::span<const PartialInput> inputs, std::vector<PartialShape>& outputs);

/// Sizes that the inputs and the settings name; nothing where there are too many to try.
std::vector<int64_t> NamedSizes(const Node& node, std::span<const PartialInput> inputs);

}  // namespace weft
