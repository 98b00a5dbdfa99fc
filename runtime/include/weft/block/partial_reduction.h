// PartialReduction: how a block that reduces a tensor to one element computes partial results of consecutive parts of its input. Fused steps
// hand it a part while that is still in the cache. The bits are those of the block's Run.
#pragma once

#include <cstdint>

namespace weft {

/// The input is divided into `parts` parts of `part_elements` elements each; the last part has what remains. Each part has a partial result
/// in memory of the caller's. The functions do not allocate and cannot fail; different partial results may be computed on different threads.
struct PartialReduction {
  static constexpr int64_t kPartialBytes = 16;  // size and alignment of a partial result
  /// A part may be accumulated in several calls, in order: each but the last brings a multiple of this many elements.
  static constexpr int64_t kChunk = 4096;
  int64_t parts = 0;
  int64_t part_elements = 0;
  /// Sets a partial result to the identity.
  void (*initialize)(void* partial) = nullptr;
  /// Adds n elements. `parameters` are those of the planned block, here and below.
  void (*accumulate)(const void* parameters, const void* elements, int64_t n, void* partial) = nullptr;
  /// Combines the partial results, which lie one after another in the order of their parts, and writes the one element of the output.
  void (*finalize)(const void* parameters, const void* partials, void* output) = nullptr;
};

}  // namespace weft
