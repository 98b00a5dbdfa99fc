// ValueJoin: values that every shard computes, added in the order of the tree over the shards while they are computed.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/host/ranks/shard_tree.h"
#include "runtime/host/ranks/summing.h"
#include "weft/block/collectives.h"

namespace weft {

struct ValueToJoin {
  std::string name;
  DType dtype;
  Shape shape;
  JoinKind kind = JoinKind::kMean;
};

/// Values lie in buckets in the order in which they are given, which is that in which a shard computes them. As soon as the last shard of this
/// rank has given all values of a bucket, a thread of the join's own exchanges it with the other ranks, while the shard goes on; the bucket
/// that is filled last is exchanged by the thread that calls Finish. In an exchange each rank gets a part of every rank's sums, adds them in
/// the order of the tree, and gives its part of the result to the others. Messages only move bytes, so that the same bits come out whatever
/// the number of ranks is. For one thread.
class ValueJoin {
 public:
  /// What one bucket holds at most, where no single value is larger; there are a few of them where the values allow it, so that most are on
  /// their way before the last is computed.
  static constexpr int64_t kBucketBytes = int64_t{25} << 20, kLeastBucketBytes = int64_t{256} << 10;

  /// Finish ends where `cancelled` becomes true.
  ValueJoin(Collectives& collectives, ShardTree tree, const std::atomic<bool>& cancelled)
      : collectives_(collectives), tree_(tree), cancelled_(cancelled) {}
  ~ValueJoin();
  ValueJoin(const ValueJoin&) = delete;
  ValueJoin& operator=(const ValueJoin&) = delete;

  /// Memory for such values. unsupported for a type that cannot be added, invalid_argument for the mean of integers.
  Status Make(const std::vector<ValueToJoin>& values, const std::shared_ptr<MemoryBudget>& budget);

  /// A step begins; the results of the step before are no more.
  void Begin();
  /// What a shard of this rank has for a value; the shards in their order. The tensor is kept until the next shard's is given, that of this
  /// rank's last shard no longer than the call. invalid_argument where type or shape are not those given.
  Status Add(size_t value, int shard, const Tensor& tensor);
  /// Waits until all is joined.
  Status Finish();
  /// After Finish, until Begin: shares the join's memory.
  const Tensor& result(size_t value) const { return results_[value]; }
  /// Whether a tensor has memory of a result.
  bool Holds(const Tensor& tensor) const;
  size_t buckets() const { return buckets_.size(); }
  /// How long Finish has waited so far, and how many of all buckets were on their way before their shard had given its last value.
  std::chrono::nanoseconds waited() const { return waited_; }
  uint64_t early() const { return early_; }

 private:
  struct Part {
    int64_t first = 0;  // of the bucket's elements
    int64_t count = 0;
    SumForm form{};
    size_t bucket = 0;
  };
  struct Bucket {
    SumType type;
    JoinKind kind;
    size_t first = 0, end = 0;  // values
    int64_t count = 0;
    std::vector<std::shared_ptr<Buffer>> sums;  // of the blocks of shards that are there; the first gets the result
    std::shared_ptr<Buffer> others;             // what comes from the other ranks
    size_t missing = 0;                         // values that the last shard has yet to give
    std::string name;
  };
  /// What becomes of the values of one shard of this rank.
  struct Place {
    size_t slot = 0;
    bool adds = false;  // to the shard before
    int joins = 0;      // of a slot to the one before, from that slot on
    bool waits = false;  // for the shard that is added to it
  };

  void PlanBuckets();
  void PlanPlaces();
  Status Allocate(const std::shared_ptr<MemoryBudget>& budget);
  void AddToSums(size_t value, const Place& place, const Tensor& left, const Tensor& right);
  void Post(Bucket& bucket);
  void Work();
  void JoinNext(std::unique_lock<std::mutex>& lock);
  Status Join(Bucket& bucket);
  Status Exchange(Bucket& bucket);
  void AddBlocks(Bucket& bucket, int64_t begin, int64_t end);
  int64_t Chunk(const Bucket& bucket, int rank) const;
  char* At(const std::shared_ptr<Buffer>& buffer, const Bucket& bucket, int64_t element) const;

  Collectives& collectives_;
  const ShardTree tree_;
  const std::atomic<bool>& cancelled_;
  std::vector<ValueToJoin> values_;
  std::vector<Part> parts_;
  std::vector<Bucket> buckets_;
  std::vector<Place> places_;  // by shard of this rank
  std::vector<Tensor> waiting_;  // by value: of a shard that the next one is added to
  std::vector<Tensor> results_;
  std::chrono::nanoseconds waited_{};
  uint64_t early_ = 0;
  size_t given_ = 0;  // values of the last shard

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Bucket*> ready_;
  size_t joined_ = 0;
  bool joining_ = false;  // a thread exchanges one
  Status status_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace weft
