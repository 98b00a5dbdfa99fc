// Whether a page works on a shard of its batch: found by planning it with the rows of both.
#pragma once

#include <vector>

#include "runtime/host/ranks/shard_parts.h"
#include "weft/plan/plan.h"

namespace weft {

/// A shard, planned with its rows and with those of the whole batch: what differs tells how values are joined.
struct ShardPlans {
  Plan whole, part;
};

/// The shape that a plan knows of a value; null for none.
const Shape* KnownShape(const Plan& plan, ValueRef value);

/// For sources of these values. invalid_argument, with the block, for one that has the size of the whole batch as a constant or mixes the rows
/// of a shard with those of the batch; what the planner says of the page with its whole batch.
Result<ShardPlans> PlanShards(Scope& scope, const ShardParts& divided, const std::vector<Tensor>& sources, int shards);

/// The failure at its place, in other words.
Status Retold(const Status& fault, std::string message, std::string_view hint);

}  // namespace weft
