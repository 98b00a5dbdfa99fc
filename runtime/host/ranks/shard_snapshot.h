// ShardSnapshots: snapshots that all ranks agree on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/host/ranks/shard_join.h"
#include "runtime/host/ranks/shard_sessions.h"
#include "runtime/host/ranks/shard_states.h"
#include "weft/host/snapshot_folder.h"

namespace weft {

/// The snapshots of one run, in files of rank 0. All ranks call each function after the same step. For one thread.
class ShardSnapshots {
 public:
  /// All but the scope outlive it.
  ShardSnapshots(std::shared_ptr<Scope> scope, Collectives& collectives, ShardSessions& sessions, const ShardJoin& join, int shards)
      : scope_(std::move(scope)), collectives_(collectives), sessions_(sessions), join_(join), shards_(shards) {}

  /// The streams of shards and the steps behind the page, which go with its state. Before all others.
  void Use(std::shared_ptr<ShardStates> states) { states_ = std::move(states); }

  /// As ShardedRun::SaveSnapshot and LoadSnapshot. data_loss, with the rank, where the variables of one are not those of rank 0.
  Status Save(const std::string& path);
  Status Load(const std::string& path, Diagnostics& problems);
  /// As ShardedRun::SaveNewest and RestoreNewest.
  Status SaveNewest(const SnapshotFolder& folder);
  Result<std::string> RestoreNewest(const SnapshotFolder& folder, const std::function<void(std::string_view)>& say);

 private:
  Status OpenFolder(const SnapshotFolder& folder);

  const std::shared_ptr<Scope> scope_;
  Collectives& collectives_;
  ShardSessions& sessions_;
  const ShardJoin& join_;
  const int shards_;
  std::shared_ptr<ShardStates> states_;
  std::optional<SnapshotFolder> folder_;  // on rank 0, open: that of the last snapshot
  bool own_ = false;                      // the folder's snapshots are of this run, or it has gone on from one
};

}  // namespace weft
