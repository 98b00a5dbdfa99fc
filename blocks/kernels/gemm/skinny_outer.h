// Products of floats and doubles of which one side has some five to twelve rows or columns, while those of the other side lie side by side,
// and of the result those of the few: the gradient of a layer of few outputs, say. Registers lie along the many, so that no lane is idle;
// their sums are transposed on the way out.
#pragma once

#include <algorithm>

#include "blocks/kernels/gemm/implementation.h"
#include "blocks/kernels/gemm/skinny.h"
#include "blocks/kernels/simd/prefetch.h"
#include "blocks/kernels/simd/transpose.h"
#include "weft/base/divide.h"

namespace weft::kernels {

template <class T>
class SkinnyOuter : public NothingShared {
 public:
  static bool Takes(const Product<T>& product) {
    const SkinnyProduct<T> p = AsSkinny(product);
    return IsSkinny(p) && p.many_stride == 1 && p.many_depth_stride != 1 && p.out_few_stride == 1 && p.length >= 4 * kN && p.inner >= 4;
  }

  explicit SkinnyOuter(const Product<T>& product) : p_(AsSkinny(product)), registers_(DivideUp(p_.length, kN)) {
    const int64_t worth = std::max<int64_t>(kTileWork / (p_.count * p_.inner * kN), 1);
    tiles_ = std::max(DivideUp(registers_, kMostRegisters), std::min(DivideUp(registers_, worth), kWantedTiles));
  }

  int64_t tiles() const { return tiles_; }
  void Compute(int64_t tile, void*) const {
    const int64_t first = tile * registers_ / tiles_, end = (tile + 1) * registers_ / tiles_, groups = DivideUp(p_.count, kTogether);
    alignas(64) T few[kMostSkinny * kDepth], sums[(kMostRegisters * kMostSkinny + kN) * kN];
    for (int64_t start = 0; start < p_.inner; start += kDepth) {
      const int64_t depth = std::min(kDepth, p_.inner - start);
      Few from{p_.few + start * p_.few_depth_stride, p_.few_depth_stride};
      if (p_.few_stride != 1) from = LayOut(from.data, depth, few);
      else Fetch(from, depth);
      for (int64_t g = 0; g < groups; ++g) {
        const int64_t f = g * p_.count / groups, count = (g + 1) * p_.count / groups - f;
        SumSome(count, {from.data + f, from.step}, start, depth, first, end, sums + f * kN);
      }
    }
    const int64_t last = std::min(p_.length, end * kN);
    const SkinnyOutput<T> out(p_, last);
    for (int64_t r = first; r < end; ++r) Put(sums + (r - first) * p_.count * kN, r, last, out);
  }

 private:
  using V = Vec<T>;
  static constexpr int kN = kLanes<T>;
  static constexpr int64_t kDepth = 256, kMostRegisters = 16, kTileWork = 96 * 1024, kWantedTiles = 16;
  /// Few that are multiplied at a time: their sums with two registers of the many fill the registers.
  static constexpr int kTogether = kVecBytes == 64 ? 12 : 6;
  static constexpr int64_t kStepsAhead = 16;

  /// Some of the few: those of a step lie side by side.
  struct Few {
    const T* data;
    int64_t step;
  };
  Few LayOut(const T* from, int64_t depth, T* few) const {
    for (int64_t f = 0; f < p_.count; ++f) {
      for (int64_t i = 0; i < depth; ++i) few[i * p_.count + f] = from[f * p_.few_stride + i * p_.few_depth_stride];
    }
    return {few, p_.count};
  }

  /// Another thread may have written the few: all of their lines are on their way at once.
  void Fetch(Few from, int64_t depth) const {
    constexpr int64_t kLine = 64 / sizeof(T);
    for (int64_t i = 0; i < depth * from.step && from.step <= kLine; i += kLine) PrefetchAfter(from.data, i * static_cast<int64_t>(sizeof(T)));
  }

  /// Where a register begins; the last one ends with the last of the many.
  int64_t Begin(int64_t r) const { return std::min(r * kN, p_.length - kN); }

  /// The sums of kFew by kMany registers of the many, or what is there and those; those of a register lie `step` from those of the next.
  template <int kFew, int kMany>
  static void SumTile(Few few, const T* const (&many)[kMany], int64_t stride, int64_t depth, bool more, T* sums, int64_t step) {
    V sum[kMany][kFew] = {};
    if (more) {
#pragma GCC unroll 2
      for (int r = 0; r < kMany; ++r) {
#pragma GCC unroll 12
        for (int f = 0; f < kFew; ++f) sum[r][f] = LoadVec(sums + r * step + f * kN);
      }
    }
    for (int64_t p = 0; p < depth; ++p, few.data += few.step) {
      V x[kMany];
#pragma GCC unroll 2
      for (int r = 0; r < kMany; ++r) {
        x[r] = LoadVec(many[r] + p * stride);
        PrefetchAfter(many[r], (p + kStepsAhead) * stride * static_cast<int64_t>(sizeof(T)));
      }
#pragma GCC unroll 12
      for (int f = 0; f < kFew; ++f) {
        const V w = InRegister(Broadcast(few.data[f]));
#pragma GCC unroll 2
        for (int r = 0; r < kMany; ++r) sum[r][f] += x[r] * w;
      }
    }
#pragma GCC unroll 2
    for (int r = 0; r < kMany; ++r) {
#pragma GCC unroll 12
      for (int f = 0; f < kFew; ++f) StoreVec(sums + r * step + f * kN, sum[r][f]);
    }
  }

  /// Registers [first, end) of the many by kFew of the few.
  template <int kFew>
  void SumRegisters(Few few, int64_t start, int64_t depth, int64_t first, int64_t end, T* sums) const {
    const int64_t stride = p_.many_depth_stride, step = p_.count * kN;
    const T* const many = p_.many + start * stride;
    int64_t r = first;
    for (; r + 2 <= end; r += 2, sums += 2 * step) {
      SumTile<kFew, 2>(few, {many + Begin(r), many + Begin(r + 1)}, stride, depth, start > 0, sums, step);
    }
    if (r < end) SumTile<kFew, 1>(few, {many + Begin(r)}, stride, depth, start > 0, sums, step);
  }
  template <int kFew = kTogether>
  void SumSome(int64_t count, Few few, int64_t start, int64_t depth, int64_t first, int64_t end, T* sums) const {
    if (count == kFew) return SumRegisters<kFew>(few, start, depth, first, end, sums);
    if constexpr (kFew > 3) SumSome<kFew - 1>(count, few, start, depth, first, end, sums);
  }

  /// The sums of register r, transposed. What the last register has in common with the one before is put once.
  void Put(const T* sums, int64_t r, int64_t end, const SkinnyOutput<T>& out) const {
    alignas(64) T rows[kN][kSkinnyRoom];
    for (int64_t f = 0; f < p_.count; f += kN) {
      V square[kN];  // those after the last of the few hold anything
#pragma GCC unroll 16
      for (int g = 0; g < kN; ++g) square[g] = LoadVec(sums + (f + g) * kN);
      TransposeVecs(square);
#pragma GCC unroll 16
      for (int k = 0; k < kN; ++k) StoreVec(rows[k] + f, square[k]);
    }
    const int64_t begin = Begin(r);
    for (int64_t j = r * kN; j < std::min(begin + kN, end); ++j) out.Put(rows[j - begin], j);
  }

  const SkinnyProduct<T> p_;
  const int64_t registers_;
  int64_t tiles_;
};

}  // namespace weft::kernels
