// The state of a random block: where its stream of numbers stands.
#pragma once

#include <mutex>

#include "blocks/kernels/random/philox.h"
#include "blocks/limits.h"
#include "weft/block/block.h"
#include "weft/block/shard_stream.h"
#include "weft/block/stored_state.h"

namespace weft::blocks {

/// Lives in the page's scope and goes on from run to run. Thread-safe.
class RandomStream : public Resource, public StoredState, public ShardStream {
 public:
  static constexpr std::string_view kKind = "random stream";

  explicit RandomStream(kernels::Philox start) : start_(start), next_(start) {}
  std::string_view kind() const override { return kKind; }

  /// A stretch for `count` numbers. As in TensorFlow 256 groups are set aside for each, enough for any distribution.
  kernels::Philox Reserve(int64_t count) { return ReserveGroups(static_cast<uint64_t>(count) * 256); }
  kernels::Philox ReserveGroups(uint64_t groups) {
    std::lock_guard lock(mutex_);
    kernels::Philox stretch = next_;
    next_.Skip(groups);
    return stretch;
  }

  Status Save(StateWriter& out) const override;
  Result<std::function<void()>> Load(StateReader& in) override;
  void Reset() override { Set(start_); }
  /// Shards are so far from one another that none comes to where the next began.
  void ResetFor(uint64_t shard) override {
    kernels::Philox start = start_;
    start.Skip(shard << 48);
    Set(start);
  }

 private:
  void Set(kernels::Philox next) {
    std::lock_guard lock(mutex_);
    next_ = next;
  }

  const kernels::Philox start_;
  mutable std::mutex mutex_;
  kernels::Philox next_;
};

struct Seeds {
  int64_t seed = 0, seed2 = 0;
};

inline constexpr Attr<int64_t> kSeed{"seed", "0", "the seed; where both are 0 the numbers differ from session to session"};
inline constexpr Attr<int64_t> kSeed2{"seed2", "0", "a second seed"};
inline constexpr const char* kStreamDetails =
    "With seeds, the numbers that TensorFlow draws, going on from run to run; without (both 0), other numbers every time.";
inline Seeds SeedsOf(const PlanContext& ctx) { return {ctx.attr(kSeed), ctx.attr(kSeed2)}; }

/// Where the stream of the seeds begins; by chance where both are 0.
kernels::Philox StartOf(const Seeds& seeds);
/// The stream of a block, started by its seeds; by chance where both are 0.
Result<ResourceHandle> BindStream(const Seeds& seeds, BindContext& ctx);
/// For blocks whose parameters hold `Seeds seeds`.
inline constexpr auto kBindStream = [](const auto& parameters, BindContext& ctx) { return BindStream(parameters.seeds, ctx); };

/// A block of numbers that TensorFlow draws for the same seeds; its own attributes follow the seeds.
auto RandomBlock(const char* name, const char* summary, const auto&... ports) {
  return Block(name, summary).Details(kStreamDetails).Ports(ports...).Attrs(kSeed, kSeed2);
}

/// The sizes that a vector gives.
Result<Shape> ShapeGiven(const PlanContext& ctx, const InputPort auto& shape) {
  if (ctx.shape(shape).rank() != 1) return ctx.Error(shape, "needs a vector of sizes, found ", ctx.shape(shape));
  return AtPort(shape, Shape::Make(ctx.ints(shape)));
}

}  // namespace weft::blocks
