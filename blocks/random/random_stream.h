// The state of a random block: where its stream of numbers stands.
#pragma once

#include <mutex>

#include "blocks/kernels/philox.h"
#include "weft/block/context.h"

namespace weft::blocks {

/// Lives in the page's scope and goes on from run to run. Thread-safe.
class RandomStream : public Resource {
 public:
  static constexpr std::string_view kKind = "random stream";

  explicit RandomStream(kernels::Philox start) : next_(start) {}
  std::string_view kind() const override { return kKind; }

  /// A stretch for `count` numbers. As in TensorFlow 256 groups are set aside for each, enough for any distribution.
  kernels::Philox Reserve(int64_t count) {
    std::lock_guard lock(mutex_);
    kernels::Philox stretch = next_;
    next_.Skip(static_cast<uint64_t>(count) * 256);
    return stretch;
  }

 private:
  std::mutex mutex_;
  kernels::Philox next_;
};

struct Seeds {
  int64_t seed = 0, seed2 = 0;
};

/// The stream of a block, started by its seeds; by chance where both are 0.
Result<ResourceHandle> BindStream(const Seeds& seeds, BindContext& ctx);

}  // namespace weft::blocks
