// Fused steps: element-wise steps that run together, a tile of elements at a time. What lies between them stays in the cache, and needs
// memory for a tile instead of for the whole. An element's result does not depend on its place in a tensor, so that a block's own kernel
// gives the same bits on a tile as on the whole.
#pragma once

#include <vector>

#include "weft/plan/graph.h"

namespace weft {

/// Steps `first` to `last` of a plan, each with one output of `count` elements, from inputs of as many or of one.
struct FusedSteps {
  /// A value as the steps see it.
  struct Operand {
    enum class Kind : uint8_t {
      kOne,     // a single element, the same in each tile
      kSliced,  // elements in memory that outlives the group: a tile is a part of it
      kTile,    // read in the group only
    };
    uint32_t slot = 0;
    Kind kind = Kind::kSliced;
    int64_t element_bytes = 0;
    int64_t offset = 0;  // kTile: where it begins in a thread's memory, in bytes for each element of a tile
    Shape shape;         // kOne
  };
  /// One step, planned for a tile and for what is left at the end.
  struct Member {
    PlannedBlock tile, rest;
    uint32_t first_input = 0, first_output = 0;  // into `table`
    PortTable in_first, out_first;
  };
  int first = 0, last = 0;
  int64_t count = 0;
  int64_t tile = 0;           // elements
  int64_t element_bytes = 0;  // of kTile operands that live at one time: a thread needs tile * element_bytes
  Shape tile_shape, rest_shape;
  std::vector<Operand> operands;
  std::vector<uint32_t> table;  // operands of each member's inputs and output
  std::vector<Member> members;
};

}  // namespace weft
