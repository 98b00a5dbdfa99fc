// ShardParts: a session divided into what a step computes once before the shards, what each shard computes, and what comes after them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/host/ranks/summing.h"
#include "weft/host/sharded_run.h"
#include "weft/plan/graph.h"

namespace weft {

/// A value whose rows are shared out to the shards.
struct ShardSource {
  ValueRef value;
  std::string name;
  bool named = false;  // by the host: then it must have rows
  bool whole = false;  // the same for every shard: it has no rows, or the host wants it so
  bool scalar = false;  // found without rows, and whole for that
  int fed = -1;        // index among the session's feeds; -1: `before` computes it
};

/// A value that shards compute and that is joined: for what comes after them, or because it is fetched.
struct ShardValue {
  ValueRef value;
  std::string name;
  bool gradient = false;
  bool read_after = false;  // by what comes after
};

struct ShardParts {
  SessionSpec before, shard, after;
  std::vector<ShardSource> sources;
  std::vector<ShardValue> values;  // in the order of shard.fetches
  struct Fetch {
    std::string name;
    ValueRef value;
    int joined = -1;  // index into values; -1: `after` computes it
  };
  std::vector<Fetch> fetches;  // of the session, in its order
  std::set<std::string> streams;  // keys of the state of blocks that each shard has of its own
  std::vector<int> unseeded;      // random blocks without seeds, whose numbers all processes would need alike

  bool HasBefore() const { return !before.fetches.empty() || !before.run.empty(); }
  bool HasAfter() const { return !after.fetches.empty() || !after.run.empty(); }
};

/// Before the shards: readers, what comes out of queues and what is put into them, what the host names, and all that they read. In a shard: the
/// gradients that AddSymbolicGradients offers and other values that depend on a source or draw random numbers, as far as they are fetched or
/// something after reads them. After: what updates variables, and what depends on that or on gradients, also where it is put into a queue.
/// Errors name the block: unsupported for one that updates a variable which a shard needs in the same run, that updates or draws before the
/// shards and would do so again, or that keeps a state which shards cannot have each; failed_precondition where nothing is cut.
/// `scalars`: sources that turned out to have no rows; fed ones are looked at.
Result<ShardParts> DivideSession(const Graph& graph, const SessionSpec& spec, const ShardingOptions& options, const std::vector<ValueRef>& scalars);

}  // namespace weft
