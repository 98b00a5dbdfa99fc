// Products of floats and doubles of which one side has some five to twelve rows or columns: too few to fill the registers of tiles
// (tile.h), too many for a few plain rows. Both sides are read along the inner dimension, in whole registers, whose lanes are
// summed at the end: no lane is idle, however few there are. The inner dimension may be in several slices (split-K), which sets the bits of
// the result. If there are not many rows, threads take slices instead: each lays out its own part of the few alone, and has that part of the
// many in its cache for the product by their transpose, which is that of a gradient.
#pragma once

#include <algorithm>

#include "blocks/kernels/gemm/skinny.h"
#include "blocks/kernels/simd/transpose.h"
#include "weft/base/divide.h"

namespace weft::kernels {

/// A vector register's value, which the compiler is kept from reading from memory again for each use.
template <class V>
inline V InRegister(V v) {
#if defined(__x86_64__)
  asm("" : "+v"(v));
#endif
  return v;
}

template <class T>
class SkinnyDot {
 public:
  static constexpr Gemm kName = Gemm::kSkinnyDot;
  /// Whether the product is computed so: where the many lie along the inner dimension.
  static bool Takes(const Product<T>& product) {
    if (product.order == SumOrder::kBySteps) return false;
    const SkinnyProduct<T> p = View(product);
    const bool enough = p.length >= 8 || product.order == SumOrder::kByColumns;
    // So few that a quarter of the lanes would be idle if they were laid along registers.
    return p.count >= kLeast && p.count <= kMost && 4 * p.count <= 3 * DivideUp(p.count, kN) * kN && p.many_depth_stride == 1 &&
           p.many_stride != 1 && p.inner >= 4 * kN && enough;
  }

  explicit SkinnyDot(const Product<T>& product) : p_(View(product)), workers_(product.workers), slices_(DivideUp(p_.inner, kDepth)) {
    // The few are laid out anew for each tile: that is worth it for some 50 rows or more.
    const int64_t wanted = std::clamp<int64_t>(kTileWork / (p_.count * p_.inner) + 1, 32, kMostRows);
    step_ = DivideUp(p_.length, DivideUp(p_.length, wanted));
    if (product.order != SumOrder::kBySizes || p_.length > kMostRowsOfSlices) return;
    slices_ = std::max(slices_, SlicesForThreads());
    shares_ = slices_ > 1 && slices_ <= kMostSlices;
    if (shares_) shared_ = static_cast<T*>(product.packed);
  }

  GemmParts parts() const {
    const int64_t tiles = DivideUp(p_.length, step_);
    if (!shares_) return {.tiles = tiles};
    return {.tiles = shared_ != nullptr ? 1 : tiles, .packed_bytes = slices_ * SliceSize() * static_cast<int64_t>(sizeof(T)), .packed_parts = slices_};
  }
  void FillShared(int64_t slice) const { AddSlice(slice, 0, p_.length, false, shared_ + slice * SliceSize()); }
  void Compute(int64_t tile, void*) const {
    if (shared_ != nullptr) return JoinSlices();
    const int64_t first = tile * step_, end = std::min(p_.length, first + step_);
    alignas(64) T sums[kMostRows * kRoom];
    for (int64_t slice = 0; slice < slices_; ++slice) {
      if (slice > 0 && workers_ != nullptr && workers_->Stopped()) return;
      AddSlice(slice, first, end, slice > 0, sums);
    }
    for (int64_t j = first; j < end; ++j) Put(sums + (j - first) * kRoom, p_.out + j * p_.out_stride);
  }

 private:
  using V = Vec<T>;
  static SkinnyProduct<T> View(const Product<T>& product) { return AsSkinny(product, product.order == SumOrder::kByColumns); }
  static constexpr int kN = kLanes<T>;
  static constexpr int64_t kLeast = 5, kMost = 12;
  static constexpr int64_t kRoom = 16;  // for the sums of a row, with all of the register that the last of them are stored with
  static constexpr int64_t kDepth = 4096 / sizeof(T);  // of the few that are laid out at a time: 48 KiB of twelve
  static constexpr int64_t kMostRows = 512 / sizeof(T), kTileWork = 384 * 1024;  // rows whose sums take 8 KiB
  /// Of products whose threads take slices; a slice has so many registers that its sums of lanes do not count for much.
  static constexpr int64_t kMostRowsOfSlices = 128, kLeastRegisters = 24, kMostSlices = 16;
  /// Few that are multiplied at a time: with two or more of the many, their sums fill the registers.
  static constexpr int kTogether = std::min(kVecBytes == 64 ? 12 : 4, kN);
  static constexpr int ManyWith(int few) {
    if (kVecBytes < 64) return 3;
    return few <= 4 ? 6 : few <= 6 ? 4 : few <= 8 ? 3 : 2;
  }

  /// One row's sums.
  void Put(const T* sums, T* out) const {
    if (p_.out_few_stride == 1 && !p_.add) {
      for (int64_t f = 0; f < p_.count; f += kN) StoreSome<T, T>(out + f, LoadVec(sums + f), p_.count - f);
      return;
    }
    for (int64_t f = 0; f < p_.count; ++f) {
      T& to = out[f * p_.out_few_stride];
      to = p_.add ? to + sums[f] : sums[f];
    }
  }

  int64_t SliceSize() const { return p_.length * kRoom; }  // sums
  int64_t SliceStart(int64_t slice) const { return std::min(DivideUp(p_.inner, int64_t{kN}) * slice / slices_ * kN, p_.inner); }
  /// An even number, so that two threads have as many; 1 where more are not worth it.
  int64_t SlicesForThreads() const {
    const int64_t worth = DivideUp(p_.inner, kTileWork / (p_.count * p_.length) + 1);
    const int64_t slices = std::min({worth + 1, DivideUp(p_.inner, int64_t{kN}) / kLeastRegisters, kMostSlices});
    return worth == 1 || slices < 2 ? 1 : slices / 2 * 2;
  }

  void JoinSlices() const {
    for (int64_t j = 0; j < p_.length; ++j) {
      alignas(64) T sums[kRoom];
      for (int64_t f = 0; f < p_.count; f += kN) {
        V sum = LoadVec(shared_ + j * kRoom + f);
        for (int64_t slice = 1; slice < slices_; ++slice) sum += LoadVec(shared_ + slice * SliceSize() + j * kRoom + f);
        StoreVec(sums + f, sum);
      }
      Put(sums, p_.out + j * p_.out_stride);
    }
  }

  /// The sums of rows [first, end) over a slice, or what is there and those.
  void AddSlice(int64_t slice, int64_t first, int64_t end, bool more, T* sums) const {
    alignas(64) T few[kMost * (kDepth + kN)];
    const int64_t start = SliceStart(slice), depth = SliceStart(slice + 1) - start;
    const int64_t groups = DivideUp(p_.count, kTogether);
    LayOut(start, depth, few);
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t f = g * p_.count / groups, count = (g + 1) * p_.count / groups - f;
      DotSome(count, few + f * kN, start, depth, first, end, more, sums + f);
    }
  }

  /// Lays the few out by registers of steps: those of few 0, 1, 2, ... for the first steps, then for the next. The last register of each
  /// ends with the last step; of its lanes those are 0 that were there before.
  void LayOut(int64_t start, int64_t depth, T* few) const {
    const T* from = p_.few + start * p_.few_depth_stride;
    const int64_t whole = depth / kN * kN;
    for (int64_t f = 0; f < p_.count; f += kN) {
      const int64_t count = std::min<int64_t>(kN, p_.count - f);
      int64_t i = 0;
      if (p_.few_depth_stride == 1) {
        for (; i < whole; i += kN) {
          for (int64_t g = f; g < f + count; ++g) StoreVec(few + i * p_.count + g * kN, LoadVec(from + g * p_.few_stride + i));
        }
      } else if (p_.few_stride == 1) {
        i = LayOutSquares(count, start, whole, f, few);
      }
      for (; i < whole; ++i) {
        for (int64_t g = f; g < f + count; ++g) {
          few[i / kN * kN * p_.count + g * kN + i % kN] = from[g * p_.few_stride + i * p_.few_depth_stride];
        }
      }
      if (whole == depth) continue;
      T* const last = few + whole * p_.count;
      for (int64_t g = f; g < f + count; ++g) {
        for (int64_t k = 0; k < kN; ++k) {
          const int64_t step = depth - kN + k;
          last[g * kN + k] = step < whole ? T(0) : from[g * p_.few_stride + step * p_.few_depth_stride];
        }
      }
    }
  }
  /// By squares as far as whole registers may be read; gives where that ends. Only as many lines of a square are made as there are few.
  template <int kCount = std::min<int>(kN, kMost)>
  int64_t LayOutSquares(int64_t count, int64_t start, int64_t whole, int64_t f, T* few) const {
    if constexpr (kCount > 1) {
      if (count < kCount) return LayOutSquares<kCount - 1>(count, start, whole, f, few);
    }
    const T* from = p_.few + start * p_.few_depth_stride + f;
    // Steps of which a register reaches no further than the last element of the operand.
    const int64_t safe = p_.inner - start - DivideUp(std::max<int64_t>(f + kN - p_.count, 0), p_.few_depth_stride);
    int64_t i = 0;
    for (; i + kN <= std::min(whole, safe); i += kN) {
      V square[kN];
#pragma GCC unroll 16
      for (int k = 0; k < kN; ++k) square[k] = LoadVec(from + (i + k) * p_.few_depth_stride);
      TransposeVecs(square);
#pragma GCC unroll 16
      for (int g = 0; g < kCount; ++g) StoreVec(few + i * p_.count + (f + g) * kN, square[g]);
    }
    return i;
  }

  /// sums[r][f] = or += the products of `depth` elements, which are a register or more. `step` leads to the next register of the few.
  template <int kFew, int kMany>
  static void DotTile(const T* few, int64_t step, const T* many, int64_t stride, int64_t depth, bool more, T* sums) {
    V sum[kMany][kFew] = {};
    int64_t p = 0;
    for (; p + kN <= depth; p += kN, few += step) {
      V x[kMany];
#pragma GCC unroll 8
      for (int r = 0; r < kMany; ++r) x[r] = LoadVec(many + r * stride + p);
#pragma GCC unroll 16
      for (int f = 0; f < kFew; ++f) {
        const V w = InRegister(LoadVec(few + f * kN));
#pragma GCC unroll 8
        for (int r = 0; r < kMany; ++r) sum[r][f] += x[r] * w;
      }
    }
    if (p < depth) {
      V x[kMany];
#pragma GCC unroll 8
      for (int r = 0; r < kMany; ++r) {  // without the lanes that are summed already
        x[r] = MaskLanes<T>(LoadVec(many + r * stride + depth - kN), static_cast<int>(kN - (depth - p)), kN);
      }
#pragma GCC unroll 16
      for (int f = 0; f < kFew; ++f) {
        const V w = LoadVec(few + f * kN);
#pragma GCC unroll 8
        for (int r = 0; r < kMany; ++r) sum[r][f] += x[r] * w;
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < kMany; ++r) {
      V each[kFew];
#pragma GCC unroll 16
      for (int f = 0; f < kFew; ++f) each[f] = sum[r][f];
      V total = SumEach<T, kFew>(each);
      if constexpr (kTogether < kMost) total = MaskLanes<T>(total, 0, kFew);  // the lanes after them are others' sums
      if (more) total += LoadVec(sums + r * kRoom);
      StoreVec(sums + r * kRoom, total);
    }
  }

  /// Rows [first, end) of the many by kFew of the few.
  template <int kFew>
  void DotRows(const T* few, int64_t start, int64_t depth, int64_t first, int64_t end, bool more, T* sums) const {
    constexpr int kMany = ManyWith(kFew);
    const T* many = p_.many + start;
    int64_t j = first;
    for (; j + kMany <= end; j += kMany) {
      DotTile<kFew, kMany>(few, p_.count * kN, many + j * p_.many_stride, p_.many_stride, depth, more, sums + (j - first) * kRoom);
    }
    for (; j < end; ++j)
      DotTile<kFew, 1>(few, p_.count * kN, many + j * p_.many_stride, p_.many_stride, depth, more, sums + (j - first) * kRoom);
  }
  template <int kFew = kTogether>
  void DotSome(int64_t count, const T* few, int64_t start, int64_t depth, int64_t first, int64_t end, bool more, T* sums) const {
    if (count == kFew) return DotRows<kFew>(few, start, depth, first, end, more, sums);
    if constexpr (kFew > 1) DotSome<kFew - 1>(count, few, start, depth, first, end, more, sums);
  }

  const SkinnyProduct<T> p_;
  const Workers* const workers_;
  int64_t step_ = 0, slices_ = 1;
  bool shares_ = false;  // its slices among threads
  T* shared_ = nullptr;  // sums of all slices, which the only tile joins
};

}  // namespace weft::kernels
