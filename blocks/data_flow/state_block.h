// The beginning of blocks that work on what a page keeps: queues, readers, accumulators, files.
#pragma once

#include "weft/block/block.h"

namespace weft::blocks {

/// A block that has effects, and no gradient.
inline BlockBuilder<> StateBlock(const char* name, const char* summary) { return Block(name, summary).Stateful().NotDifferentiable(); }

}  // namespace weft::blocks
