// Pieces: how a block that reduces a tensor to one element takes its input in parts, so that fused steps can hand it each part while that
// is still in the cache. The bits are those of its Run.
#pragma once

#include "weft/block/def.h"

namespace weft {

/// The input is cut into `count` parts of `step` elements, the last of what is left. Each has a total of its own; `finish` joins them.
struct Pieces {
  static constexpr int64_t kTotalBytes = 16;  // memory of a total, aligned to as many
  /// A part's elements may be added in several calls; all but the last bring a multiple of so many.
  static constexpr int64_t kUnit = 4096;
  int64_t count = 0, step = 0;
  void (*begin)(void* total) = nullptr;
  void (*add)(const void* parameters, const void* elements, int64_t n, void* total) = nullptr;
  void (*finish)(const void* parameters, const void* totals, void* output) = nullptr;
};

namespace internal {
/// Holds pieces beside the parameters of a planned block, so that blocks without pieces need not know of them.
struct PiecesHolder {
  std::shared_ptr<const void> parameters;
  Pieces pieces;
  void operator()(const void*) const {}
};
}  // namespace internal

/// The block, made to say that its input may come in pieces.
inline PlannedBlock WithPieces(PlannedBlock block, const Pieces& pieces) {
  const void* parameters = block.parameters.get();
  block.parameters = std::shared_ptr<const void>(parameters, internal::PiecesHolder{block.parameters, pieces});
  return block;
}

/// What WithPieces said, or null.
inline const Pieces* PiecesOf(const PlannedBlock& block) {
  const auto* holder = std::get_deleter<internal::PiecesHolder>(block.parameters);
  return holder == nullptr ? nullptr : &holder->pieces;
}

}  // namespace weft
