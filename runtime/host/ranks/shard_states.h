// ShardStates: the random streams of each shard, and how far a job of shards has come.
#pragma once

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "weft/block/services.h"
#include "weft/block/stored_state.h"
#include "weft/state/scope.h"

namespace weft {

/// A resource of the scope, so that snapshots have it, and that all runs of the scope share, one after another. A block has one stream at a time:
/// that of the shard that runs. For one thread, but for Open.
class ShardStates final : public Resource, public StoredState {
 public:
  static constexpr std::string_view kKind = "state of shards";

  /// That of a scope, made where there is none; also what a restored snapshot has.
  static Result<std::shared_ptr<ShardStates>> Of(Scope& scope);

  std::string_view kind() const override { return kKind; }

  /// A run of so many shards begins, until Close: where the last one had another number, at step 0 and where all streams begin.
  /// failed_precondition while another run is open.
  Status Open(int shards);
  void Close() { open_ = false; }

  /// Resources of the scope that each shard has of its own; all others stay as they are.
  using Keys = std::set<std::string>;
  /// While one lives, the streams that blocks have are those of a shard, from where it left them.
  class Turn {
   public:
    Turn(ShardStates& states, Scope& scope, int shard, const Keys& keys) : states_(states), scope_(scope), shard_(shard), keys_(keys) {}
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Status Begin();
    /// Keeps how far the shard has come.
    Status Keep();

   private:
    ShardStates& states_;
    Scope& scope_;
    const int shard_;
    const Keys& keys_;
  };

  /// The streams of the shards that this process ran, as bytes; and those of others, as they gave them.
  std::string Own() const;
  Status TakeAll(const std::vector<std::string>& of_ranks);

  int shards = 0;       // of the last run; 0: there was none
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

  std::atomic<bool> open_{false};
  std::map<int, Streams> streams_;  // by shard
  std::set<int> ran_;               // shards that this process ran since they were read
};

}  // namespace weft
