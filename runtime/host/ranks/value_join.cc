#include "runtime/host/ranks/value_join.h"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

// In elements: a value begins where kernels like their inputs to begin.
constexpr int64_t kAlignment = 16;
// Elements that go through the whole tree before the next do: they stay in the nearest cache.
constexpr int64_t kTile = 4096;

int64_t Aligned(int64_t count) { return DivideUp(count, kAlignment) * kAlignment; }

}  // namespace

ValueJoin::~ValueJoin() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

// ---- memory ----------------------------------------------------------------------------------------------------------------------------

Status ValueJoin::Make(const std::vector<ValueToJoin>& values, const std::shared_ptr<MemoryBudget>& budget) {
  values_ = values;
  parts_.clear();
  for (const ValueToJoin& value : values_) {
    const std::optional<SumForm> form = SumFormOf(value.dtype);
    if (!form) return Unsupported("'", value.name, "' is ", value.dtype, ", and values of that type of the shards cannot be joined");
    if (form->type == SumType::kInteger && value.kind == JoinKind::kMean) {
      return InvalidArgument("'", value.name, "' is ", value.dtype, ", which has no mean over the shards").WithHint("join by sum, or cast it to DT_FLOAT");
    }
    parts_.push_back({0, value.shape.count() * form->parts, *form, 0});
  }
  PlanBuckets();
  PlanPlaces();
  WEFT_RETURN_IF_ERROR(Allocate(budget));
  if (collectives_.size() > 1 && !thread_.joinable()) thread_ = std::thread([this] { Work(); });
  return {};
}

void ValueJoin::PlanBuckets() {
  constexpr int64_t kBuckets = 4;
  buckets_.clear();
  int64_t all = 0;
  for (const Part& part : parts_) all += Aligned(part.count) * static_cast<int64_t>(SizeOf(part.form.type));
  const int64_t most = std::clamp(all / kBuckets, kLeastBucketBytes, kBucketBytes);
  for (size_t v = 0; v < values_.size(); ++v) {
    Part& part = parts_[v];
    const auto size = static_cast<int64_t>(SizeOf(part.form.type));
    Bucket* last = buckets_.empty() ? nullptr : &buckets_.back();
    const bool fits = last != nullptr && last->type == part.form.type && last->kind == values_[v].kind &&
                      (last->count + Aligned(part.count)) * size <= most;
    if (!fits) {
      last = &buckets_.emplace_back();
      last->type = part.form.type;
      last->kind = values_[v].kind;
      last->first = v;
    }
    part.bucket = buckets_.size() - 1;
    part.first = last->count;
    last->count += Aligned(part.count);
    last->end = v + 1;
  }
  for (size_t b = 0; b < buckets_.size(); ++b) {
    Bucket& bucket = buckets_[b];
    bucket.name = Cat("for bucket ", b + 1, " of ", buckets_.size(), ": '", values_[bucket.first].name, "'");
    if (bucket.end - bucket.first > 1) bucket.name += Cat(" to '", values_[bucket.end - 1].name, "'");
  }
}

// What is on the way when a shard comes is a row of blocks, each in a slot: the shard is added to the last of them, or is a new one.
void ValueJoin::PlanPlaces() {
  places_.clear();
  std::vector<ShardBlock> blocks;
  const ShardBlock own = tree_.Of(collectives_.rank());
  for (int shard = own.begin; shard < own.end; ++shard) {
    const size_t before = blocks.size();
    const int joins = ShardTree::Push(blocks, shard);
    if (joins > 0) places_.back().waits = true;
    places_.push_back(joins > 0 ? Place{before - 1, true, joins - 1} : Place{before, false, 0});
  }
  waiting_.assign(values_.size(), {});
}

Status ValueJoin::Allocate(const std::shared_ptr<MemoryBudget>& budget) {
  size_t slots = 1;
  for (const Place& place : places_) slots = std::max(slots, place.slot + 1);
  size_t blocks = 0;
  for (int r = 0; r < tree_.ranks(); ++r) blocks += r == collectives_.rank() ? 0 : tree_.BlocksOf(r).size();
  for (Bucket& bucket : buckets_) {
    const DType dtype = bucket.type == SumType::kFloat ? DType::kFloat : DType::kDouble;  // integers of 64 bits have the size
    for (size_t s = 0; s < slots; ++s) {
      WEFT_ASSIGN_OR_RETURN(bucket.sums.emplace_back(), Buffer::Allocate(dtype, bucket.count, budget));
      // (What lies between values travels, too.)
      std::fill_n(static_cast<char*>(bucket.sums.back()->data()), bucket.count * static_cast<int64_t>(SizeOf(bucket.type)), 0);
    }
    const int64_t chunk = Chunk(bucket, collectives_.rank() + 1) - Chunk(bucket, collectives_.rank());
    if (blocks == 0) continue;
    WEFT_ASSIGN_OR_RETURN(bucket.others, Buffer::Allocate(dtype, chunk * static_cast<int64_t>(blocks), budget));
  }
  results_.clear();
  for (size_t v = 0; v < values_.size(); ++v) {
    const Part& part = parts_[v];
    const Bucket& bucket = buckets_[part.bucket];
    if (part.form.same) {
      results_.push_back(Tensor::View(values_[v].dtype, values_[v].shape, At(bucket.sums[0], bucket, part.first), bucket.sums[0]));
    } else {
      WEFT_ASSIGN_OR_RETURN(results_.emplace_back(), Tensor::Allocate(values_[v].dtype, values_[v].shape, budget));
    }
  }
  return {};
}

char* ValueJoin::At(const std::shared_ptr<Buffer>& buffer, const Bucket& bucket, int64_t element) const {
  return static_cast<char*>(buffer->data()) + element * static_cast<int64_t>(SizeOf(bucket.type));
}

/// Where the part of the bucket begins that a rank adds.
int64_t ValueJoin::Chunk(const Bucket& bucket, int rank) const {
  return bucket.count / kAlignment * rank / tree_.ranks() * kAlignment;
}

// ---- a step ----------------------------------------------------------------------------------------------------------------------------

void ValueJoin::Begin() {
  std::lock_guard lock(mutex_);
  joined_ = 0;
  given_ = 0;
  for (Bucket& bucket : buckets_) bucket.missing = bucket.end - bucket.first;
}

Status ValueJoin::Add(size_t value, int shard, const Tensor& tensor) {
  const ValueToJoin& needed = values_[value];
  if (tensor.dtype() != needed.dtype || !(tensor.shape() == needed.shape)) {
    return InvalidArgument("'", needed.name, "' of shard ", shard, " is ", tensor.dtype(), " ", tensor.shape(), ", that of others ", needed.dtype, " ",
                           needed.shape)
        .WithHint("all shards must give values of one shape");
  }
  const Part& part = parts_[value];
  Bucket& bucket = buckets_[part.bucket];
  const ShardBlock own = tree_.Of(collectives_.rank());
  const Place& place = places_[static_cast<size_t>(shard - own.begin)];
  if (place.waits) waiting_[value] = tensor;
  else if (place.adds) AddToSums(value, place, std::exchange(waiting_[value], Tensor()), tensor);
  else StoreElements(tensor, At(bucket.sums[place.slot], bucket, part.first));
  if (shard + 1 < own.end) return {};
  ++given_;
  if (--bucket.missing > 0) return {};
  if (given_ < values_.size()) ++early_;
  if (collectives_.size() == 1) return Join(bucket);
  Post(bucket);
  return {};
}

// Both shards' sum and the sums of blocks that it completes in one pass: a tile stays in the nearest cache until its sum is the last block's.
void ValueJoin::AddToSums(size_t value, const Place& place, const Tensor& left, const Tensor& right) {
  const Part& part = parts_[value];
  const Bucket& bucket = buckets_[part.bucket];
  alignas(64) std::byte sums[kTile * sizeof(double)];
  for (int64_t at = 0; at < part.count; at += kTile) {
    const int64_t count = std::min(kTile, part.count - at);
    const auto sum = [&](int join) { return At(bucket.sums[place.slot - static_cast<size_t>(join)], bucket, part.first + at); };
    if (place.joins == 0) {
      SumElements(left, right, at, count, sum(0));
      continue;
    }
    SumElements(left, right, at, count, sums);
    for (int join = 1; join < place.joins; ++join) AddSums(part.form.type, sum(join), sums, count);
    AddSums(part.form.type, sums, sum(place.joins), count);
  }
}

bool ValueJoin::Holds(const Tensor& tensor) const {
  const auto begin = [](const Tensor& of) { return reinterpret_cast<uintptr_t>(of.data()); };
  const auto end = [&](const Tensor& of) { return begin(of) + static_cast<uintptr_t>(of.bytes()); };
  return std::ranges::any_of(results_, [&](const Tensor& result) { return begin(tensor) < end(result) && begin(result) < end(tensor); });
}

void ValueJoin::Post(Bucket& bucket) {
  std::lock_guard lock(mutex_);
  ready_.push_back(&bucket);
  if (given_ < values_.size()) changed_.notify_all();  // the last one is for Finish
}

Status ValueJoin::Finish() {
  if (collectives_.size() == 1) return {};
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (joined_ < buckets_.size() && status_.ok()) {
    if (!joining_ && !ready_.empty()) JoinNext(lock);
    else changed_.wait_for(lock, std::chrono::milliseconds(50));
    if (cancelled_ && joined_ < buckets_.size()) return Cancelled("the run was cancelled");
  }
  waited_ += std::chrono::steady_clock::now() - start;
  return status_;
}

// The thread that exchanges buckets while a shard computes.
void ValueJoin::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closing_ || (!ready_.empty() && !joining_); });
    if (closing_) return;
    JoinNext(lock);
  }
}

// In the order in which all ranks fill them, one after another.
void ValueJoin::JoinNext(std::unique_lock<std::mutex>& lock) {
  Bucket& bucket = *ready_.front();
  ready_.pop_front();
  joining_ = true;
  lock.unlock();
  Status status = Join(bucket);
  lock.lock();
  joining_ = false;
  ++joined_;
  if (!status.ok() && status_.ok()) status_ = std::move(status);
  changed_.notify_all();
}

// ---- a bucket --------------------------------------------------------------------------------------------------------------------------

Status ValueJoin::Join(Bucket& bucket) {
  WEFT_RETURN_IF_ERROR(Exchange(bucket));
  for (size_t v = bucket.first; v < bucket.end; ++v) {
    if (!parts_[v].form.same) RoundElements(At(bucket.sums[0], bucket, parts_[v].first), results_[v]);
  }
  return {};
}

Status ValueJoin::Exchange(Bucket& bucket) {
  const int rank = collectives_.rank(), ranks = tree_.ranks();
  const auto size = static_cast<int64_t>(SizeOf(bucket.type));
  const auto bytes = [&](int r) { return static_cast<size_t>((Chunk(bucket, r + 1) - Chunk(bucket, r)) * size); };
  std::vector<Message> messages;
  char* other = bucket.others == nullptr ? nullptr : static_cast<char*>(bucket.others->data());
  for (int r = 0; r < ranks; ++r) {
    if (r == rank) continue;
    const size_t own_blocks = tree_.BlocksOf(rank).size();
    for (size_t b = 0; b < own_blocks; ++b) messages.push_back({r, false, At(bucket.sums[b], bucket, Chunk(bucket, r)), bytes(r)});
    for (size_t b = 0; b < tree_.BlocksOf(r).size(); ++b, other += bytes(rank)) messages.push_back({r, true, other, bytes(rank)});
  }
  WEFT_RETURN_IF_ERROR(collectives_.Move(CollectiveUser::kGradients, messages, bucket.name));
  for (int64_t at = Chunk(bucket, rank), end = Chunk(bucket, rank + 1); at < end; at += kTile) AddBlocks(bucket, at, std::min(end, at + kTile));
  messages.clear();
  for (int r = 0; r < ranks; ++r) {
    if (r == rank) continue;
    messages.push_back({r, false, At(bucket.sums[0], bucket, Chunk(bucket, rank)), bytes(rank)});
    messages.push_back({r, true, At(bucket.sums[0], bucket, Chunk(bucket, r)), bytes(r)});
  }
  return collectives_.Move(CollectiveUser::kGradients, messages, bucket.name);
}

// The sums of all blocks of shards, of some elements, in the order of the tree.
void ValueJoin::AddBlocks(Bucket& bucket, int64_t begin, int64_t end) {
  const int rank = collectives_.rank();
  const auto size = static_cast<int64_t>(SizeOf(bucket.type));
  const int64_t chunk = Chunk(bucket, rank);
  const int64_t chunk_count = Chunk(bucket, rank + 1) - chunk;
  struct Sum {
    ShardBlock block;
    char* data;
  };
  std::vector<Sum> sums;  // from the left
  int64_t other = 0;
  for (int r = 0; r < tree_.ranks(); ++r) {
    size_t slot = 0;
    for (const ShardBlock& block : tree_.BlocksOf(r)) {
      char* const from_other = r == rank ? nullptr : static_cast<char*>(bucket.others->data()) + (other++ * chunk_count + begin - chunk) * size;
      sums.push_back({block, r == rank ? At(bucket.sums[slot++], bucket, begin) : from_other});
    }
  }
  // (A node's sum takes the place of its leftmost block's.)
  const auto add = [&](const auto& self, ShardBlock node) -> char* {
    const auto there = std::ranges::find(sums, node, &Sum::block);
    if (there != sums.end()) return there->data;
    const int middle = ShardTree::Middle(node);
    char* const left = self(self, {node.begin, middle});
    AddSums(bucket.type, self(self, {middle, node.end}), left, end - begin);
    return left;
  };
  char* const sum = add(add, {0, tree_.shards()});
  if (bucket.kind == JoinKind::kMean) DivideSums(bucket.type, sum, end - begin, tree_.shards());
  char* const result = At(bucket.sums[0], bucket, begin);
  if (sum != result) std::copy_n(sum, (end - begin) * size, result);
}

}  // namespace weft
