// Pieces: how a block that reduces a tensor to one element takes its input in parts, so that fused steps can hand it each part while that
// is still in the cache. The bits are those of its Run.
#pragma once

#include <cstdint>

namespace weft {

/// The input is cut into `count` parts of `step` elements, the last of what is left. Each has a total of its own; `finish` joins them.
/// `parameters` are those of the planned block.
struct Pieces {
  static constexpr int64_t kTotalBytes = 16;  // memory of a total, aligned to as many
  /// A part's elements may be added in several calls; all but the last bring a multiple of so many.
  static constexpr int64_t kUnit = 4096;
  int64_t count = 0, step = 0;
  void (*begin)(void* total) = nullptr;
  void (*add)(const void* parameters, const void* elements, int64_t n, void* total) = nullptr;
  void (*finish)(const void* parameters, const void* totals, void* output) = nullptr;
};

}  // namespace weft
