// ShardedRun::Parts: a sharded run, made of the classes that its steps go through.
#pragma once

#include "runtime/host/ranks/shard_join.h"
#include "runtime/host/ranks/shard_rows.h"
#include "runtime/host/ranks/shard_sessions.h"
#include "runtime/host/ranks/shard_states.h"

namespace weft {

class ShardedRun::Parts {
 public:
  Parts(std::shared_ptr<Scope> scope, SessionSpec spec, ShardingOptions options, std::shared_ptr<Collectives> collectives);

  Status Open();
  Status Step(bool results);
  Result<ShardedProgress> Progress();
  Status SaveSnapshot(const std::string& path);
  Status LoadSnapshot(const std::string& path, Diagnostics& problems);

  ShardSessions& sessions() { return sessions_; }
  const ShardJoin& join() const { return join_; }
  const std::vector<std::pair<std::string, Tensor>>& results() const { return results_; }
  uint64_t steps() const { return steps_; }
  bool all_failed() const { return all_failed_; }

 private:
  Status Agree(const Status& own, std::string_view what);
  Status Divide();
  Status TakeBatch();
  Status RunBefore();
  Status LookAtShapes();
  Status RunShards(bool results);
  Status RunShard(int shard, bool results);
  Status MakeJoin(int shard);
  Status RunAfter(bool results);

  const std::shared_ptr<Scope> scope_;
  const SessionSpec spec_;
  const ShardingOptions options_;
  const std::shared_ptr<Collectives> collectives_;
  const ShardTree tree_;
  const ShardBlock own_;  // shards of this rank

  ShardParts divided_;
  std::vector<ValueRef> scalars_;  // sources that have no rows
  std::shared_ptr<ShardStates> states_;
  ShardSessions sessions_;
  ShardRows rows_;
  ShardJoin join_;
  std::vector<Shape> checked_;  // of the sources that the shapes were checked with
  std::vector<std::pair<std::string, Tensor>> results_;
  uint64_t steps_ = 0;
  bool all_failed_ = false;

  // Since the last Progress.
  uint64_t timed_ = 0;
  std::chrono::nanoseconds computed_{}, stepped_{};
};

}  // namespace weft
