// ShardedRun::Parts: a sharded run, made of the classes that its steps go through.
#pragma once

#include "runtime/host/ranks/shard_feeds.h"
#include "runtime/host/ranks/shard_snapshot.h"

namespace weft {

class ShardedRun::Parts {
 public:
  Parts(std::shared_ptr<Scope> scope, SessionSpec spec, ShardingOptions options, std::shared_ptr<Collectives> collectives);

  ~Parts();

  Status Open();
  void Close();
  Status Step(bool results);
  Result<ShardedProgress> Progress();
  Status Load(const std::string& path, Diagnostics& problems, const RestoreOptions& how);
  Result<std::string> RestoreNewest(const SnapshotFolder& folder, const std::function<void(std::string_view)>& say);

  ShardFeeds& feeds() { return feeds_; }
  ShardSessions& sessions() { return sessions_; }
  ShardSnapshots& snapshots() { return snapshots_; }
  const ShardJoin& join() const { return join_; }
  const std::vector<std::pair<std::string, Tensor>>& results() const { return results_; }
  uint64_t steps() const { return states_->steps; }
  bool all_failed() const { return all_failed_; }

  const std::shared_ptr<Scope> scope;
  const ShardingOptions options;
  const std::shared_ptr<Collectives> collectives;
  const ShardBlock own;  // shards of this rank

 private:
  Status Agree(const Status& own, std::string_view what);
  Status Divide();
  Status DivideAnew(const std::vector<SessionSpec::Feed>& read);
  Status DivideByFeeds();
  Status TakeBatch();
  Result<std::vector<SessionSpec::Feed>> RunBefore();
  Status LookAtShapes();
  Status RunShards(bool results);
  Status RunShard(int shard, bool results);
  Status RunAfter();
  Status TakeResults();

  SessionSpec spec_;  // its feeds change
  ShardParts divided_;
  std::vector<ValueRef> scalars_;  // sources that have no rows
  std::shared_ptr<ShardStates> states_;
  bool holds_states_ = false;  // until Close
  ShardFeeds feeds_;
  ShardSessions sessions_;
  ShardRows rows_;
  ShardJoin join_;
  ShardSnapshots snapshots_;
  std::vector<Shape> checked_;  // of the sources that the shapes were checked with
  std::vector<std::pair<std::string, Tensor>> results_;
  bool has_divided_ = false, all_failed_ = false;

  // Since the last Progress.
  uint64_t timed_ = 0;
  std::chrono::nanoseconds computed_{}, stepped_{};
};

}  // namespace weft
