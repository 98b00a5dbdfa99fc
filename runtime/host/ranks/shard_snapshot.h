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
#include "weft/state/snapshot.h"

namespace weft {

class ScopeState;

/// The snapshots of one run, in files of rank 0. All ranks call each function after the same step. For one thread.
class ShardSnapshots {
 public:
  /// All but the scope outlive it.
  ShardSnapshots(std::shared_ptr<Scope> scope, Collectives& collectives, ShardSessions& sessions, const ShardJoin& join)
      : scope_(std::move(scope)), collectives_(collectives), sessions_(sessions), join_(join) {}

  /// The streams of shards and the steps behind the page, which go with its state. Before all others.
  void Use(std::shared_ptr<ShardStates> states) { states_ = std::move(states); }

  /// The folder of the last snapshot is for others.
  void Close() { folder_.reset(); }

  /// As ShardedRun::SaveSnapshot and LoadSnapshot. data_loss, with the rank, where the variables of one are not those of rank 0.
  Status Save(const std::string& path);
  Status Load(const std::string& path, Diagnostics& problems, const RestoreOptions& options = {});
  /// As ShardedRun::SaveNewest and RestoreNewest.
  Status SaveNewest(const SnapshotFolder& folder);
  Result<std::string> RestoreNewest(const SnapshotFolder& folder, const std::function<void(std::string_view)>& say);
  /// Whether the last Load or RestoreNewest failed on this rank, or may have, where others went on.
  bool failed_alone() const { return failed_alone_; }

 private:
  Status Agree(const Status& own, std::string_view what) { return AgreeOnStatus(collectives_, CollectiveUser::kControl, own, what); }
  bool IsOwn(const SnapshotFolder& folder) const;
  Result<SnapshotFolder> OpenToSave(const SnapshotFolder& folder) const;
  Result<std::optional<SnapshotFolder>> OpenToRestore(const SnapshotFolder& folder) const;
  Result<std::string> TakeFile(const std::string& path);
  Status ReadAndCheck(const std::string& path, const std::string& bytes, const RestoreOptions& options, ScopeState& state,
                      Diagnostics& problems) const;

  const std::shared_ptr<Scope> scope_;
  Collectives& collectives_;
  ShardSessions& sessions_;
  const ShardJoin& join_;
  std::shared_ptr<ShardStates> states_;
  // On rank 0, open: the folder that this run last saved to or went on from.
  std::optional<SnapshotFolder> folder_;
  bool failed_alone_ = false;
};

}  // namespace weft
