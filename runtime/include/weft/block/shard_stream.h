// ShardStream: a Resource of which each shard of a batch has a stream of its own.
#pragma once

#include <cstdint>

namespace weft {

/// What a random stream is besides: where a batch is cut into shards, each draws other numbers, and the same on whatever process it runs.
class ShardStream {
 public:
  virtual ~ShardStream() = default;
  /// Returns to the state of a new resource, but to where the stream of a shard begins. Shard 0 draws what a page without shards draws.
  virtual void ResetFor(uint64_t shard) = 0;
};

}  // namespace weft
