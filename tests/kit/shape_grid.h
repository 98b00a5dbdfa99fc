// Pages of one block each, with shapes, values and attributes of a grid: long axes before and after empty ones, ranks from 0 to the most
// there may be, sizes whose product overflows, integers at the ends of their types.
#pragma once

#include "weft/block/def.h"
#include "weft/page/page.h"

namespace weft::fuzz {

/// The same for the same block and index. A value on it has a megabyte of elements at most, so that what takes more is the block's own wish.
Page GridPage(const BlockDef& def, uint32_t index);

}  // namespace weft::fuzz
