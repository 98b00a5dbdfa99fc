// Snapshots that all ranks agree on.
#pragma once

#include <string>

#include "runtime/host/ranks/shard_states.h"
#include "weft/base/diagnostic.h"
#include "weft/block/collectives.h"

namespace weft {

/// Saves the scope, and the random streams of all shards, to a file of rank 0; all ranks call it. data_loss, with the rank, where the variables
/// of one are not those of rank 0. `writing` is called on rank 0 before it writes.
Status SaveShardSnapshot(Scope& scope, ShardStates& states, Collectives& collectives, const std::string& path, const std::function<void()>& writing);

/// Takes the state of a file that rank 0 can read, on all ranks. invalid_argument for that of another number of shards.
Status LoadShardSnapshot(Scope& scope, ShardStates& states, Collectives& collectives, int shards, const std::string& path, Diagnostics& problems);

}  // namespace weft
