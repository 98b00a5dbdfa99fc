// One pass over tensors seen as [outer, channels, inner], with a value or several for each channel: sums over all but the channel, results
// of every element, or both at once. What is computed is a Term, the same code for a register of elements and for one:
//
//   [](const auto& x, const auto& p, auto& sum) { sum[0] += x[0] * (x[1] - p[0]); return x[0] * p[1]; }
//
// x: the inputs' elements; p: the channel's parameters; sum: added to; the value, if any, is the output's element.
#pragma once

#include <array>
#include <type_traits>

#include "blocks/kernels/channel/map_reduce_parts.h"
#include "blocks/kernels/channel/map_reduce_rows.h"
#include "blocks/kernels/channel/partition.h"
#include "blocks/kernels/channel/positions.h"
#include "blocks/kernels/simd/non_temporal.h"
#include "blocks/kernels/simd/vec.h"

namespace weft::kernels {

/// T: elements; P: parameters, [channels] each; sums: [cut.blocks, channels]. No `stream` without kMayStream. `out` may be in[0] exactly.
template <class T, class P, int kIn, int kPar, int kSums, class Term, bool kMayStream = true>
class ChannelMapReduce {
 public:
  using A = VecElement<T>;
  using V = Vec<A>;
  static constexpr int kN = kLanes<A>;
  static_assert(std::is_same_v<VecElement<P>, A>);

  std::array<const T*, kIn> in{};
  std::array<const P*, kPar> parameters{};
  std::array<A*, kSums> sums{};
  T* out = nullptr;
  bool stream = false;  // the output is too large for the cache
  Term term{};

  /// Does one of cut.tasks().
  void Run(const ChannelPartition& cut, int64_t task) const {
    Run(cut, cut.part(task));
    if (stream) StreamFence();
  }
  /// Does a part; StreamFence must follow where `stream`, after the last of several parts: it waits for all stores.
  void Run(const ChannelPartition& cut, const ChannelPartition::Part& part) const {
    if constexpr (kWrites && kMayStream) {
      if (stream && Streamable(cut)) return cut.runs ? Runs<true>(cut, part) : Rows<true>(cut, part);
    }
    return cut.runs ? Runs<false>(cut, part) : Rows<false>(cut, part);
  }

  /// The same for a part of runs.
  template <bool kStream>
  void Runs(const ChannelPartition& cut, const ChannelPartition::Part& part) const {
    for (int64_t c = part.first; c < part.end; ++c) {
      Params<V> p;
      for (int i = 0; i < kPar; ++i) p[i] = Broadcast<A>(ToVecElement(parameters[i][c]));
      RunSums total;
      for (int64_t run = part.first_row; run < part.end_row; ++run) {
        const int64_t at = (run * cut.box.channels + c) * cut.box.inner + part.begin;
        OneRun<kStream>(at, part.length, p, total);
        if ((run - part.first_row) % RunSums::kChain == RunSums::kChain - 1) total.Add(total.near);
      }
      total.Add(total.near);
      for (int s = 0; s < kSums; ++s) total.Fold(s, sums[s] + part.block * cut.box.channels + c);
    }
  }

 private:
  template <class E>
  using Values = std::array<E, kIn>;
  template <class E>
  using Params = std::array<E, kPar>;
  template <class E>
  using Sums = std::array<E, kSums>;
  static constexpr bool kWrites =
      !std::is_void_v<std::invoke_result_t<const Term&, const Values<A>&, const Params<A>&, Sums<A>&>>;

  static constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));  // elements

  /// Whole lines at aligned addresses.
  bool Streamable(const ChannelPartition& cut) const {
    const int64_t row = cut.runs ? cut.box.inner : cut.box.channels * cut.box.inner * cut.group;
    const int64_t tile = cut.tiles == 1 ? row : cut.tile * cut.box.inner;
    return (reinterpret_cast<uintptr_t>(out) | static_cast<uintptr_t>((row | tile) * static_cast<int64_t>(sizeof(T)))) % 64 == 0;
  }

  using Memory = MapReduceMemory<T, kIn, Term, kWrites>;
  using RunSums = ChannelAccumulators<A, kSums>;

  // ---- rows: neighbouring positions in a register ----

  using TileRows = MapReduceRows<T, P, kIn, kPar, kSums, Term, kWrites>;
  static constexpr int64_t kTile = TileRows::kTile;

  /// The planes of neighbouring channels, of a register and more each, from `at`: a register holds elements of two channels at most, and
  /// parameters need not be written out.
  template <bool kStream>
  void MapPlanes(int64_t at, int64_t channels, int64_t inner, const Params<const P*> par) const {
    constexpr int kSide = 3;  // planes of 7 x 7 seldom have more in registers of 16
    const Memory memory{in, out, term};
    Params<A> one{};
    Params<V> p{};
    Sums<V> no_sums;
    int64_t begin = at;  // of the plane
    for (int64_t c = 0; c < channels; ++c, begin += inner) {
      Params<V> first = p;
      for (int i = 0; i < kPar; ++i) {
        p[i] = Broadcast<A>(one[i] = ToVecElement(par[i][c]));
        first[i] = at < begin ? BlendLanes<A>(first[i], p[i], static_cast<int>(begin - at)) : p[i];
      }
      const int64_t end = begin + inner;
      for (; at + kSide * kN <= end; at += kSide * kN) {
        memory.template Map<kStream, kSide, Sums<V>>(at, [&](int k) -> const Params<V>& { return k == 0 ? first : p; });
        first = p;
        }
      for (; at + kN <= end; at += kN) {
        memory.template Vector<kStream>(at, first, no_sums);
        first = p;
      }
    }
    Sums<A> no_sum;
    for (; at < begin; ++at) memory.Scalar(at, one, no_sum);
  }

  template <bool kStream>
  void Rows(const ChannelPartition& cut, const ChannelPartition::Part& part) const {
    const int64_t channels = part.end - part.first, positions = channels * cut.box.inner, stride = cut.box.channels * cut.box.inner;
    const int64_t rows = part.end_row - part.first_row, start = part.first_row * stride + part.first * cut.box.inner;
    Params<const P*> par;
    for (int i = 0; i < kPar; ++i) par[i] = parameters[i] + part.first;
    if constexpr (kSums == 0) {
      if (cut.box.inner >= kN && cut.group == 1) {
        for (int64_t row = 0; row < rows; ++row) MapPlanes<kStream>(start + row * stride, channels, cut.box.inner, par);
        return;
      }
    }
    typename TileRows::SumTile tile;
    typename TileRows::template Tile<P, kPar> spread;
    if (cut.box.inner > 1 || cut.group > 1) {
      for (int i = 0; i < kPar; ++i) {
        BroadcastParameter(par[i], channels, cut.box.inner, spread.of[i].data());
        for (int64_t g = 1; g < cut.group; ++g) std::copy_n(spread.of[i].data(), positions, spread.of[i].data() + g * positions);
        par[i] = spread.of[i].data();
      }
    }
    const int64_t whole = rows / cut.group;
    const TileRows tile_rows({in, out, term}, cut.box.count());
    tile_rows.template Run<kStream>(start, whole, stride * cut.group, positions * cut.group, par, tile);
    if (cut.group > 1) FoldGroup(cut, part, positions, rows - whole * cut.group, par, tile);
    for (int s = 0; s < kSums; ++s) {
      FoldPositions(tile.of[s].data(), channels, cut.box.inner, sums[s] + part.block * cut.box.channels + part.first);
    }
  }

  /// The sums of narrow rows that were taken as one, and the rows that are left over.
  void FoldGroup(const ChannelPartition& cut, const ChannelPartition::Part& part, int64_t width, int64_t rest, const Params<const P*>& par,
                 typename TileRows::SumTile& tile) const {
    for (int64_t g = 1; g < cut.group; ++g) {
      for (int s = 0; s < kSums; ++s) {
#pragma omp simd
        for (int64_t c = 0; c < width; ++c) tile.of[s][c] += tile.of[s][g * width + c];
      }
    }
    const int64_t begin = (part.end_row - rest) * width, end = part.end_row * width;
    for (int64_t e = begin, c = 0; e < end; ++e, c = c + 1 == width ? 0 : c + 1) {
      Params<A> p;
      for (int i = 0; i < kPar; ++i) p[i] = ToVecElement(par[i][c]);
      Sums<A> sum{};
      Memory{in, out, term}.Scalar(e, p, sum);
      for (int s = 0; s < kSums; ++s) tile.of[s][c] += sum[s];
    }
  }

  // ---- runs: one channel in a register ----

  /// At least a register. The odd end is a register that overlaps the one before, and loaded first, since `out` may be the input.
  template <bool kStream>
  void OneRun(int64_t at, int64_t length, const Params<V> p, RunSums& total) const {
    const Memory memory{in, out, term};
    const int odd = static_cast<int>(length % kN);
    const int64_t end = at + length - odd, last = at + length - kN;
    Values<V> tail;
    for (int i = 0; i < kIn; ++i) tail[i] = LoadVec(memory.in[i] + last);
    Sums<V> sum[4] = {};
    while (at + 4 * kN <= end) {
      const int64_t stop = kSums > 0 ? std::min(end, at + 4 * kN * RunSums::kChain) : end;
      for (; at + 4 * kN <= stop; at += 4 * kN) {
        if constexpr (!kWrites) {
          memory.SumTwo(at, p, sum[0], sum[1]);
          memory.SumTwo(at + 2 * kN, p, sum[2], sum[3]);
        } else if constexpr (kSums == 0) {
          memory.template Map<kStream, 4, Sums<V>>(at, [&](int) -> const Params<V>& { return p; });
        } else {
          for (int k = 0; k < 4; ++k) memory.template Vector<kStream>(at + k * kN, p, sum[k]);
        }
      }
      if (at + 4 * kN <= end) total.AddAll(sum);
    }
    for (int k = 0; k < 3; ++k) {
      if (at < end) memory.template Vector<kStream>(at, p, sum[k]);
      at += kN;
    }
    if (odd > 0) {
      Sums<V> once{};
      if constexpr (kWrites) StoreVec(memory.out + last, term(tail, p, once));
      else term(tail, p, once);
      for (int s = 0; s < kSums; ++s) sum[3][s] += MaskLanes<A>(once[s], kN - odd, kN);
    }
    for (int s = 0; s < kSums; ++s) total.near[s] += (sum[0][s] + sum[1][s]) + (sum[2][s] + sum[3][s]);
  }

};

/// Neighbouring tasks that a thread does in one go; several where results go past the cache, so that it seldom waits for them.
inline int64_t TasksInOneGo(const ChannelPartition& cut, int threads, bool stream) {
  constexpr int64_t kGoes = 4, kMost = 8;
  if (!stream) return 1;
  return std::clamp<int64_t>(cut.tasks() / (threads * kGoes), 1, kMost);
}

/// total[0] and on: the blocks' partial sums for the channels [first, end), added in their order. R is double where A is float.
template <class A, class R>
void AddBlocks(const ChannelPartition& cut, const A* partial, int64_t first, int64_t end, R* total) {
  const int64_t count = end - first, stride = cut.box.channels;
  std::fill(total, total + count, R{});
  partial += first;
  for (int64_t block = 0; block < cut.blocks; ++block, partial += stride) {
#pragma omp simd
    for (int64_t c = 0; c < count; ++c) total[c] += partial[c];
  }
}

}  // namespace weft::kernels
