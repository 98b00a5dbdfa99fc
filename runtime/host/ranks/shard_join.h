// ShardJoin: how the values that shards compute become one each: added, or put one below the other.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/host/ranks/shard_parts.h"
#include "runtime/host/ranks/shard_rows.h"
#include "runtime/host/ranks/shard_shapes.h"
#include "runtime/host/ranks/value_join.h"

namespace weft {

/// The values of a division, in its order: first it is found out how each is joined, then a step after the other gives those of this rank's
/// shards. For one thread.
class ShardJoin {
 public:
  /// All of these outlive it.
  ShardJoin(const ShardParts& divided, const ShardRows& rows, const ShardingOptions& options, Collectives& collectives, ShardTree tree,
            const std::atomic<bool>& cancelled)
      : divided_(divided), rows_(rows), options_(options), collectives_(collectives), tree_(tree), cancelled_(cancelled) {}

  // How values are joined, in this order, until it is made.
  /// The division is another: nothing is known, and nothing made.
  void Forget();
  void Learn(const ShardPlans& plans);
  /// Whether that said it of all values; else the shapes in a run with the rows of two shards do.
  bool KnowsAll() const;
  void LearnFromTwo(size_t value, const Shape& shape) { joined_[value].of_two = shape; }
  /// By the values of the first shard, which has run. What ValueJoin::Make says.
  Status Make(const Session& shard, const std::shared_ptr<MemoryBudget>& budget);
  bool made() const { return join_ != nullptr; }
  /// aborted, with the rank, where one would join other values.
  Status AgreeOnValues() const;

  // A step.
  void Begin();
  /// Whether it is added, so that it can be taken as soon as it is there.
  bool Adds(size_t value) const { return joined_[value].way == Way::kAdd; }
  /// Whether anybody reads what becomes of it.
  bool Needs(size_t value, bool results) const { return Adds(value) || divided_.values[value].read_after || results; }
  Status Take(size_t value, int shard, const Tensor& tensor);
  /// Waits for all values.
  Status Finish(bool results);
  const Tensor& value(size_t value) const { return joined_[value].value; }
  /// Whether the next step writes the tensor's memory: that of values that are added, and what blocks hand on of it.
  bool Writes(const Tensor& tensor) const { return made() && join_->Holds(tensor); }
  /// How many buckets of values were on their way before their shard was done, of how many.
  std::pair<uint64_t, uint64_t> early_buckets() const { return {join_ ? join_->early() : 0, buckets_}; }

 private:
  enum class Way : uint8_t { kUnknown, kAdd, kRows };
  struct Joined {
    Way way = Way::kUnknown;
    size_t index = 0;               // kAdd: in the ValueJoin
    int rank = 0;                   // in the step that Make saw
    std::vector<Tensor> of_shards;  // kRows: of this rank's
    Tensor value;                   // of all
    std::optional<Shape> of_two;    // for rows of two shards
  };

  Way WayOf(size_t value, const Tensor& of_shard) const;
  Result<Tensor> RowsOfAll(size_t value) const;

  const ShardParts& divided_;
  const ShardRows& rows_;
  const ShardingOptions& options_;
  Collectives& collectives_;
  const ShardTree tree_;
  const std::atomic<bool>& cancelled_;
  std::shared_ptr<MemoryBudget> budget_;
  std::unique_ptr<ValueJoin> join_;
  std::vector<Joined> joined_;  // by value
  uint64_t buckets_ = 0;
};

}  // namespace weft
