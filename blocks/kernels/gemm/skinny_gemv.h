// Products of which one side has one to four rows or columns, of any real type: a vector and a matrix, above all. Each element of the many
// is read once, and memory is what they wait for, so threads are given what lies together: each has the same part of the operand in its
// cache in every run.
#pragma once

#include <algorithm>

#include "blocks/kernels/gemm/blocking.h"
#include "blocks/kernels/gemm/skinny.h"
#include "blocks/kernels/simd/vec.h"
#include "blocks/kernels/stop_check.h"
#include "weft/base/divide.h"

namespace weft::kernels {

/// The inner dimension may be in several slices (split-K), which sets the bits of the result: their sums are joined in order, whoever made
/// them. Threads take slices instead of columns if there is memory for the sums of all: parts of short rows would not lie together.
template <class T>
class SkinnyGemv {
 public:
  static constexpr Gemm kName = Gemm::kSkinnyGemv;
  static bool Takes(const Product<T>& product) {
    if (Complex<T> || (product.rows > kMostFew && product.columns > kMostFew)) return false;
    if (DotsByColumns(product)) return true;
    const SkinnyProduct<T> p = AsSkinny(product);
    if (LieAlong(p)) return p.length >= 64;  // panels serve short ones better
    return product.order == SumOrder::kBySizes && p.inner >= kLeastDot;
  }

  explicit SkinnyGemv(const Product<T>& product)
      : p_(AsSkinny(product, DotsByColumns(product))), along_(LieAlong(p_)), ordered_(product.order != SumOrder::kBySizes),
        registers_(DivideUp(p_.length, int64_t{kN})), workers_(product.workers) {
    const int64_t elements = p_.inner * p_.length, wanted = std::clamp<int64_t>(elements / kTileWork, 1, kMostTiles);
    if (!along_) {
      if (ordered_ || p_.length >= 4 * wanted) tiles_ = std::min(wanted, p_.length);
      else slices_ = Even(std::min(wanted, p_.inner / (16 * kN)));
    } else if (p_.length >= kWideRow) {
      tiles_ = std::min(wanted, p_.length / kLeastOfWide);
    } else {
      tiles_ = std::min(wanted, DivideUp(registers_, int64_t{16}));
      slices_ = Even(std::min({elements / kSlice, p_.inner / (kLeastDepth * p_.count), kMostSlices}));
    }
    if (ordered_) slices_ = along_ ? DivideUp(p_.inner, gemm::TileSizes<A>::kDepth) : 1;  // along: sums as those of tiles
    else if (slices_ > 1) shared_ = static_cast<A*>(product.packed);
  }

  void FillShared(int64_t slice) const {
    const int64_t units = Units(), most = MostUnits();
    StopCheck stop(workers_);
    for (int64_t first = 0; first < units; first += most) {
      Sum(slice, first, std::min(units, first + most), shared_ + slice * SliceSize() + first * UnitLanes(), registers_ * kN, stop);
    }
  }

  GemmParts parts() const {
    if (slices_ == 1 || ordered_) return {.tiles = tiles_};
    return {.tiles = shared_ != nullptr ? 1 : tiles_, .packed_bytes = slices_ * SliceSize() * static_cast<int64_t>(sizeof(A)), .packed_parts = slices_};
  }
  void Compute(int64_t tile, void*) const {
    if (shared_ != nullptr) return JoinSlices();
    const int64_t last = (tile + 1) * Units() / tiles_, most = MostUnits();
    StopCheck stop(workers_);
    for (int64_t first = tile * Units() / tiles_; first < last; first += most) ComputeSome(first, std::min(last, first + most), stop);
  }

 private:
  using A = VecElement<T>;
  using V = Vec<A>;
  static constexpr int kN = kLanes<A>;
  static constexpr int64_t kMostFew = 4, kLeastDot = 128;  // steps of a dot
  static constexpr int64_t kTileWork = 64 * 1024, kMostTiles = 16;
  static constexpr int64_t kSums = 16384 / sizeof(A);  // that are kept near: 16 KiB
  static constexpr int64_t kDepth = 8192 / sizeof(T);  // steps of dots at a time: what is multiplied with all of the many stays near
  /// Rows of so many elements are cut into columns; shorter ones would leave parts of pages, beyond which the processor reads in vain.
  static constexpr int64_t kWideRow = 32768 / sizeof(T), kLeastOfWide = 8192 / sizeof(T);
  /// Elements of a slice, and its steps for each of the few: its sums are then little beside what it reads.
  static constexpr int64_t kSlice = 256 * 1024 / sizeof(T), kLeastDepth = 64, kMostSlices = 8;

  /// Whether the many lie along the result, whose rows are added up times factors; else along the inner dimension or nowhere: dots.
  static bool LieAlong(const SkinnyProduct<T>& p) { return p.many_stride == 1 && p.length > 1; }

  /// Few columns are dots of rows that lie along the inner dimension, whose number does not matter.
  static bool DotsByColumns(const Product<T>& p) {
    return p.order == SumOrder::kByColumns && p.columns <= kMostFew && p.inner >= kLeastDot;
  }

  /// As many slices for each of two threads, `count` at most; 1 where that is none.
  static int64_t Even(int64_t count) { return count < 2 ? 1 : count / 2 * 2; }
  /// Where a part begins of `parts` equal ones that begin with whole grains.
  static int64_t PartStart(int64_t part, int64_t parts, int64_t size, int64_t grain) {
    return std::min(DivideUp(size, grain) * part / parts * grain, size);
  }
  int64_t SliceStart(int64_t slice) const {
    if (ordered_) return slice * p_.inner / slices_;
    return PartStart(slice, slices_, p_.inner, along_ ? 8 : kN);
  }
  int64_t SliceSize() const { return p_.count * registers_ * kN; }  // sums

  /// What ranges count: registers of rows (the last one ends with the last element), or dots.
  int64_t Units() const { return along_ ? registers_ : p_.length; }
  int64_t UnitLanes() const { return along_ ? kN : 1; }
  int64_t MostUnits() const { return kSums / kN / p_.count * (along_ ? 1 : kN); }
  int64_t Begin(int64_t r) const { return std::min(r * kN, p_.length - kN); }

  void ComputeSome(int64_t first, int64_t end, StopCheck& stop) const {
    alignas(64) A total[kSums], part[kSums];
    const int64_t width = DivideUp((end - first) * UnitLanes(), int64_t{kN}) * kN;
    Sum(0, first, end, total, width, stop);
    for (int64_t slice = 1; slice < slices_; ++slice) {
      Sum(slice, first, end, part, width, stop);
      for (int64_t i = 0; i < p_.count * width; i += kN) StoreVec(total + i, LoadVec(total + i) + LoadVec(part + i));
    }
    for (int64_t f = 0; f < p_.count; ++f) {
      for (int64_t i = 0; i < width; i += kN) Put(LoadVec(total + f * width + i), f, first, end, i / kN);
    }
  }

  void JoinSlices() const {
    const int64_t width = registers_ * kN;
    for (int64_t f = 0; f < p_.count; ++f) {
      for (int64_t i = f * width; i < (f + 1) * width; i += kN) {
        V sum = LoadVec(shared_ + i);
        for (int64_t slice = 1; slice < slices_; ++slice) sum += LoadVec(shared_ + slice * SliceSize() + i);
        Put(sum, f, 0, Units(), i / kN - f * registers_);
      }
    }
  }

  /// Register r of the sums of units [first, end).
  void Put(V sum, int64_t f, int64_t first, int64_t end, int64_t r) const {
    const int64_t from = along_ ? (first + r) * kN : first + r * kN, to = std::min(along_ ? p_.length : end, from + kN);
    const int64_t lane0 = along_ ? Begin(first + r) : from;
    T* const out = p_.out + f * p_.out_few_stride;
    if (to - from == kN && p_.out_stride == 1 && !p_.add) return StoreVec(out + from, sum);
    alignas(64) T lanes[kN] = {};
    if (p_.add) {
      for (int64_t j = from; j < to; ++j) lanes[j - lane0] = out[j * p_.out_stride];
      sum += LoadVec(lanes);
    }
    StoreVec(lanes, sum);
    for (int64_t j = from; j < to; ++j) out[j * p_.out_stride] = lanes[j - lane0];
  }

  /// The sums of units [first, end) over a slice; `width` leads to those of the next of the few. Left when the run is to end.
  void Sum(int64_t slice, int64_t first, int64_t end, A* sums, int64_t width, StopCheck& stop) const {
    for (int64_t f = 0; f < p_.count; ++f) {
      std::fill_n(sums + f * width, DivideUp((end - first) * UnitLanes(), int64_t{kN}) * kN, A{0});
    }
    switch (p_.count) {
      case 1: return SumFew<1>(slice, first, end, sums, width, stop);
      case 2: return SumFew<2>(slice, first, end, sums, width, stop);
      case 3: return SumFew<3>(slice, first, end, sums, width, stop);
      default: return SumFew<4>(slice, first, end, sums, width, stop);
    }
  }
  template <int kFew>
  void SumFew(int64_t slice, int64_t first, int64_t end, A* sums, int64_t width, StopCheck& stop) const {
    const int64_t begin = SliceStart(slice), last = SliceStart(slice + 1);
    if (!along_) return AddDots<kFew>(begin, last, first, end, sums, width, stop);
    constexpr int kTogether = kFew == 1 ? 8 : 4;  // so many rows for each time that the sums are read and written
    const int64_t items = Items(kFew * kTogether, end - first, kN);
    int64_t p = begin;
    for (; p + kTogether <= last && !stop(items); p += kTogether) AddRows<kFew, kTogether>(p, first, end, sums, width);
    for (; p < last && !stop(items); ++p) AddRows<kFew, 1>(p, first, end, sums, width);
  }

  /// For a StopCheck: some multiplications are one item.
  static int64_t Items(int64_t rows, int64_t units, int64_t lanes) { return 1 + rows * units * lanes / 16; }

  // ---- rows ----

  template <int kFew, int kSteps>
  void AddRows(int64_t p, int64_t first, int64_t end, A* sums, int64_t width) const {
    const int64_t stride = p_.many_depth_stride;
    const T* const many = p_.many + p * stride;
    V factor[kFew][kSteps];
    for (int f = 0; f < kFew; ++f) {
      for (int s = 0; s < kSteps; ++s) factor[f][s] = Broadcast(ToVecElement(p_.few[f * p_.few_stride + (p + s) * p_.few_depth_stride]));
    }
    const auto add = [&](const T* from, A* to) __attribute__((always_inline)) {
      V sum[kFew];
#pragma GCC unroll 4
      for (int f = 0; f < kFew; ++f) sum[f] = LoadVec(to + f * width);
#pragma GCC unroll 8
      for (int s = 0; s < kSteps; ++s) {
        const V x = LoadVec(from + s * stride);
#pragma GCC unroll 4
        for (int f = 0; f < kFew; ++f) sum[f] += x * factor[f][s];
      }
#pragma GCC unroll 4
      for (int f = 0; f < kFew; ++f) StoreVec(to + f * width, sum[f]);
    };
    const int64_t whole = std::min(end, p_.length / kN);
    for (int64_t r = first; r < whole; ++r) add(many + r * kN, sums + (r - first) * kN);
    if (whole < end) add(many + Begin(whole), sums + (whole - first) * kN);
  }

  // ---- dots ----

  /// So many of the many at a time: with two sums for each, they fill the registers, and memory is read along several lines.
  template <int kFew>
  static constexpr int kMany = kVecBytes == 64 ? (kFew < 4 ? 4 : 3) : std::max(4 / kFew, 1);

  template <int kFew>
  [[gnu::noinline]] void AddDots(int64_t begin, int64_t last, int64_t first, int64_t end, A* sums, int64_t width, StopCheck& stop) const {
    const int64_t blocks = DivideUp(last - begin, kDepth), items = Items(kFew, end - first, kDepth);
    alignas(64) T few_copy[kFew * kDepth], many_copy[kMany<kFew> * kDepth];
    for (int64_t block = 0; block < blocks && !stop(items); ++block) {
      const int64_t from = begin + PartStart(block, blocks, last - begin, kN), depth = begin + PartStart(block + 1, blocks, last - begin, kN) - from;
      const T* const many = p_.many + from * p_.many_depth_stride;
      const Lines few = InLine(p_.few + from * p_.few_depth_stride, p_.few_stride, p_.few_depth_stride, kFew, depth, few_copy);
      const auto lines = [&](int64_t j, int64_t count) {
        return InLine(many + j * p_.many_stride, p_.many_stride, p_.many_depth_stride, count, depth, many_copy);
      };
      int64_t j = first;
      for (; j + kMany<kFew> <= end; j += kMany<kFew>) DotTile<kFew, kMany<kFew>>(few, lines(j, kMany<kFew>), depth, sums + j - first, width);
      for (; j < end; ++j) DotTile<kFew, 1>(few, lines(j, 1), depth, sums + j - first, width);
    }
  }

  /// Lines along the inner dimension.
  struct Lines {
    const T* data;
    int64_t stride;
  };
  static Lines InLine(const T* data, int64_t stride, int64_t depth_stride, int64_t count, int64_t depth, T* copy) {
    if (depth_stride == 1) return {data, stride};
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t p = 0; p < depth; ++p) copy[i * kDepth + p] = data[i * stride + p * depth_stride];
    }
    return {copy, kDepth};
  }

  template <int kFew, int kMost>
  static void DotTile(Lines few, Lines many, int64_t depth, A* sums, int64_t width) {
    V sum[2][kMost][kFew] = {};
    // The products of a register of steps.
    const auto add = [&](V(&to)[kMost][kFew], int64_t p, auto keep) __attribute__((always_inline)) {
      V x[kFew];
#pragma GCC unroll 4
      for (int f = 0; f < kFew; ++f) x[f] = keep(LoadVec(few.data + f * few.stride + p));
#pragma GCC unroll 4
      for (int r = 0; r < kMost; ++r) {
        const V y = keep(LoadVec(many.data + r * many.stride + p));
#pragma GCC unroll 4
        for (int f = 0; f < kFew; ++f) to[r][f] += x[f] * y;
      }
    };
    const auto all = [](V v) { return v; };
    int64_t p = 0;
    for (; p + 2 * kN <= depth; p += 2 * kN) add(sum[0], p, all), add(sum[1], p + kN, all);
    if (p + kN <= depth) add(sum[0], p, all), p += kN;
    if (p < depth) {  // the last register, without the lanes that are summed already
      const int skip = static_cast<int>(p + kN - depth);
      add(sum[1], depth - kN, [skip](V v) { return MaskLanes<A>(v, skip, kN); });
    }
#pragma GCC unroll 4
    for (int r = 0; r < kMost; ++r) {
#pragma GCC unroll 4
      for (int f = 0; f < kFew; ++f) {
        A total[1];
        SumLanes<1, A>(sum[0][r][f] + sum[1][r][f], total);
        sums[f * width + r] = static_cast<A>(sums[f * width + r] + total[0]);
      }
    }
  }

  const SkinnyProduct<T> p_;
  const bool along_, ordered_;
  const int64_t registers_;
  int64_t tiles_ = 1, slices_ = 1;
  const Workers* const workers_;
  A* shared_ = nullptr;  // sums of all slices, which the only tile joins
};

}  // namespace weft::kernels
