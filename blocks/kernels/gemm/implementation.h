// What the implementations of products have in common; choose.h chooses one.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>

#include "blocks/kernels/simd/vec.h"
#include "weft/base/divide.h"

namespace weft::kernels {

/// A way to compute products. One is made of a product for each call of gemm.h: it is sizes and pointers alone. Parts may be filled in
/// any order and at the same time, and so may tiles be computed, each with a workspace of its own; where shared memory is brought, all parts
/// come before the tiles.
template <class K>
concept GemmImplementation = requires(const K& kind, int64_t i, void* workspace) {
  { kind.SharedBytes() } -> std::same_as<int64_t>;  // by sizes and strides alone; 0: tiles share nothing
  { kind.SharedParts() } -> std::same_as<int64_t>;
  kind.FillShared(i);
  { kind.tiles() } -> std::same_as<int64_t>;  // there may be others, or fewer, where the shared memory is brought
  { kind.WorkspaceBytes() } -> std::same_as<int64_t>;  // of one tile
  kind.Compute(i, workspace);
};

/// The base of implementations whose tiles keep little, on the stack.
class NoWorkspace {
 public:
  int64_t WorkspaceBytes() const { return 0; }
};

/// The base of implementations whose tiles share nothing.
class NothingShared : public NoWorkspace {
 public:
  int64_t SharedBytes() const { return 0; }
  int64_t SharedParts() const { return 0; }
  void FillShared(int64_t) const {}
};

/// The base of implementations that split the inner dimension into slices, for sums in A. Slices set the bits of the result: their sums are
/// joined in order, whoever made them. Where they are shared, threads take slices instead of tiles: FillShared puts the sums of one at
/// SliceSums, and the only tile joins them.
template <class A>
class SplitK : public NoWorkspace {
 public:
  int64_t SharedBytes() const { return slices_ * slice_sums_ * static_cast<int64_t>(sizeof(A)); }
  int64_t SharedParts() const { return slices_; }

 protected:
  /// As many for each of two threads, `count` at most; 1 where that is none.
  static int64_t Even(int64_t count) { return count < 2 ? 1 : count / 2 * 2; }
  /// Where a part begins of `parts` equal ones that begin with whole grains.
  static int64_t PartStart(int64_t part, int64_t parts, int64_t size, int64_t grain) {
    return std::min(DivideUp(size, grain) * part / parts * grain, size);
  }

  void SplitInner(int64_t inner, int64_t grain, int64_t slices) { inner_ = inner, grain_ = grain, slices_ = slices; }
  /// Several slices, of `sums` each, are shared; `memory`: what the product brings, or null.
  void ShareSums(int64_t sums, void* memory) {
    if (slices_ == 1) return;
    slice_sums_ = sums;
    shared_ = static_cast<A*>(memory);
  }

  int64_t slices() const { return slices_; }
  int64_t SliceStart(int64_t slice) const { return PartStart(slice, slices_, inner_, grain_); }
  /// Whether the only tile joins what is shared.
  bool joins() const { return shared_ != nullptr; }
  A* SliceSums(int64_t slice) const { return shared_ + slice * slice_sums_; }
  /// A register of the shared sums from `at`, those of all slices joined.
  Vec<A> Joined(int64_t at) const {
    Vec<A> sum = LoadVec(shared_ + at);
    for (int64_t slice = 1; slice < slices_; ++slice) sum += LoadVec(SliceSums(slice) + at);
    return sum;
  }

 private:
  int64_t inner_ = 0, grain_ = 1, slices_ = 1;
  int64_t slice_sums_ = 0;  // 0: not shared
  A* shared_ = nullptr;
};

}  // namespace weft::kernels
