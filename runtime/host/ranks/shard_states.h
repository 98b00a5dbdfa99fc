// ShardStates: the random streams of each shard, and how far a job of shards has come.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "weft/block/services.h"
#include "weft/block/stored_state.h"
#include "weft/state/scope.h"

namespace weft {

/// A resource of the scope, so that snapshots have it. A block has one stream at a time: that of the shard that runs. For one thread.
class ShardStates final : public Resource, public StoredState {
 public:
  static constexpr std::string_view kKind = "state of shards";

  /// That of a scope, made where there is none; also what a restored snapshot has.
  static Result<std::shared_ptr<ShardStates>> Of(Scope& scope);

  std::string_view kind() const override { return kKind; }

  /// Which resources of the scope shards have each; others stay as they are.
  void SetKeys(std::set<std::string> keys) { keys_ = std::move(keys); }
  /// The streams that blocks have now are those of this shard, from where it left them, until Leave.
  Status Enter(Scope& scope, int shard);
  Status Leave(Scope& scope);

  /// The streams of the shards that this process ran, as bytes; and those of others, as they gave them.
  std::string Own() const;
  Status TakeAll(const std::vector<std::string>& of_ranks);

  int shards = 0;       // 0: not known yet
  uint64_t steps = 0;   // that were run

  // StoredState
  Status Save(StateWriter& out) const override;
  Result<std::function<void()>> Load(StateReader& in) override;
  void Reset() override;

 private:
  using Streams = std::map<std::string, std::string>;  // what each Save wrote, by key in the scope

  static void Write(const std::map<int, Streams>& all, StateWriter& out);
  static Result<std::map<int, Streams>> Read(StateReader& in);
  Status Put(const Scope& scope, int shard, const std::string& key, Resource& resource) const;

  std::set<std::string> keys_;
  std::map<int, Streams> streams_;  // by shard
  std::set<int> ran_;               // shards that this process ran
  int entered_ = -1;
};

}  // namespace weft
