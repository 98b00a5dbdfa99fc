// ShardedRun::Parts: what a sharded run owns. Its functions are in sharded_run.cc, shard_rows.cc and shard_snapshot.cc.
#pragma once

#include <mutex>
#include <optional>

#include "runtime/host/ranks/shard_parts.h"
#include "runtime/host/ranks/shard_states.h"
#include "runtime/host/ranks/shard_tree.h"
#include "runtime/host/ranks/value_join.h"
#include "weft/exec/value_taps.h"
#include "weft/host/sharded_run.h"

namespace weft {

/// Sees the runs of a rank: for where(), and to take values of the last shard as soon as they are there.
class ShardWatch final : public Observer, public ValueTaps {
 public:
  using Take = std::function<Status(size_t fetch, const Tensor& value)>;
  /// What the next run is: "shard 5"; `take` may be empty.
  void Announce(uint64_t step, std::string doing, Take take);
  std::string where() const;

  const std::atomic<uint32_t>* wants_steps() const override { return &no_steps_; }
  Status OnRunStart(uint64_t run, RunView& view) override;
  void OnRunBegin(uint64_t run, size_t steps) override;
  void OnRunEnd(uint64_t run, const Status& status) override;
  Status OnValue(size_t fetch, const Tensor& value) override { return take_ ? take_(fetch, value) : Status(); }

 private:
  const std::atomic<uint32_t> no_steps_{0};
  RunView* starting_ = nullptr;
  Take take_;
  mutable std::mutex mutex_;  // of what follows
  RunView* view_ = nullptr;
  uint64_t step_ = 0;
  std::string doing_ = "its start";
};

/// invalid_argument where a value cannot take the place of one that was fed before: one that is cut has the same rank, others the same shape.
Status CheckFeed(std::string_view name, const Shape& before, bool cut, const Shape& now);

/// The failure at its place, in other words.
Status Retold(const Status& fault, std::string message, std::string_view hint);

class ShardedRun::Parts {
 public:
  Parts(std::shared_ptr<Scope> scope, SessionSpec spec, ShardingOptions options, std::shared_ptr<Collectives> collectives);

  Status Open();
  Status Feed(std::string_view name, Tensor value);
  Status Step(bool results);
  Result<ShardedProgress> Progress();
  void Cancel();
  Status SaveSnapshot(const std::string& path);
  Status LoadSnapshot(const std::string& path, Diagnostics& problems);
  Status SaveNewest(const SnapshotFolder& folder);
  Result<std::string> RestoreNewest(const SnapshotFolder& folder, const std::function<void(std::string_view)>& say);

  const std::vector<std::pair<std::string, Tensor>>& results() const { return results_; }
  uint64_t steps() const { return steps_; }
  std::pair<int, int> shards() const { return {own_.begin, own_.end}; }
  bool all_failed() const { return all_failed_; }
  std::string where() const { return watch_.where(); }
  std::pair<uint64_t, uint64_t> early_buckets() const { return {join_ ? join_->early() : 0, joined_buckets_}; }

 private:
  /// How the values of shards become one.
  enum class Way : uint8_t { kUnknown, kAdd, kRows };
  /// A value that was fed before the first step.
  struct Fed {
    ValueRef value;
    Shape shape;
    bool cut = true;
  };
  struct Joined {
    Way way = Way::kUnknown;
    size_t index = 0;                // kAdd: in the ValueJoin
    std::vector<Tensor> of_shards;   // kRows: of this rank's
    Tensor value;                    // of all
    std::optional<Shape> of_two;     // for rows of two shards
  };

  // sharded_run.cc
  Status CheckRanks() const;
  void TakeFirstFeeds();
  Status TakeFeeds();
  Status Divide();
  Status TakeBatch();
  Status Agree(const Status& own, std::string_view what);
  Status CheckSeeds() const;
  Status StartVariables();
  Status SetFirstValue(size_t variable, const Tensor& like, const std::string& bytes);
  Status MakeSessions(const std::vector<ValueRef>& scalars);
  Status RunBefore();
  Status RunShards(bool results);
  Status RunShard(int shard, bool results);
  Status TakeValue(size_t value, int shard, const Tensor& tensor);
  Status MakeJoin(int shard);
  Status RunAfter();
  bool Needed(size_t value, bool results) const { return divided_.values[value].read_after || results; }
  Status RunSession(Session& session, std::string doing, ShardWatch::Take take);
  Status CollectResults();

  // shard_rows.cc
  Status CutSources();
  Status CheckSource(const ShardSource& source, const Tensor& tensor) const;
  /// `count` shards' rows, from those of `shard` on.
  Result<Tensor> RowsOf(const Tensor& whole, int shard, int count = 1) const;
  Status CheckShapes();
  Status LookAtShapes();
  Status CheckBaked(const Plan& whole, const Plan& part) const;
  Status CheckStretched(const Plan& whole, const Plan& part) const;
  void FindWays(const Plan& whole, const Plan& part);
  Way WayOf(size_t value, const Tensor& of_shard) const;
  Status JoinRows(bool results);
  Result<Tensor> RowsOfAll(size_t value);
  Status DivideRows(Tensor& rows) const;
  Status AgreeOnValues() const;

  const std::shared_ptr<Scope> scope_;
  SessionSpec spec_;  // its feeds change
  const ShardingOptions options_;
  const std::shared_ptr<Collectives> collectives_;
  const ShardTree tree_;
  const ShardBlock own_;  // shards of this rank
  const std::shared_ptr<const Graph> graph_;

  ShardParts divided_;
  std::vector<ValueRef> scalars_;  // sources that have no rows
  std::shared_ptr<ShardStates> states_;
  bool has_divided_ = false;
  std::vector<char> fed_anew_;  // by feed: since the last step
  std::mutex feed_mutex_;       // of what follows
  std::vector<SessionSpec::Feed> given_;    // for the next step
  std::optional<std::vector<Fed>> fed_;     // since the session was divided
  std::unique_ptr<Session> before_, shard_, after_;
  std::vector<std::unique_ptr<Session>> replaced_;  // which Cancel may have seen
  std::atomic<Session*> running_{nullptr};
  std::unique_ptr<ValueJoin> join_;
  std::vector<size_t> added_;      // values that are added, in the order of the ValueJoin
  std::vector<Joined> joined_;     // by value
  std::vector<Tensor> whole_;      // by source
  std::vector<std::vector<Tensor>> rows_;  // by source: of each shard of this rank; empty where it is whole
  std::vector<Shape> checked_;     // of the sources that the shapes were checked with
  std::vector<std::pair<std::string, Tensor>> results_;
  uint64_t steps_ = 0, joined_buckets_ = 0;
  ShardWatch watch_;
  std::atomic<bool> cancelled_{false};
  bool all_failed_ = false;
  bool own_snapshots_ = false;  // the folder's are of this run, or it has gone on from one

  // Since the last Progress.
  uint64_t timed_ = 0;
  std::chrono::nanoseconds computed_{}, stepped_{};
};

}  // namespace weft
