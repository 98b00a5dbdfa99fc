// How the variables of all ranks start alike.
#pragma once

#include "runtime/host/ranks/shard_parts.h"
#include "weft/block/collectives.h"

namespace weft {

/// Gives the variables of all ranks, which have started, the values of rank 0: also what is drawn without a seed is alike then. `own` gets what
/// failed on this rank alone; the Status is that of the messages.
Status TakeFirstValues(Scope& scope, Collectives& collectives, Status& own);

}  // namespace weft
