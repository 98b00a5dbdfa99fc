// One pass over tensors seen as [outer, channels, inner], with a value or several for each channel: sums over all but the channel, results
// of every element, or both at once. What is computed is a Term, the same code for a register of elements and for one:
//
//   [](const auto& x, const auto& p, auto& sum) { sum[0] += x[0] * (x[1] - p[0]); return x[0] * p[1]; }
//
// x: the inputs' elements; p: the channel's parameters; sum: added to; the value, if any, is the output's element.
#pragma once

#include <array>
#include <type_traits>

#include "blocks/kernels/channel_cut.h"
#include "blocks/kernels/lanes.h"
#include "blocks/kernels/stream.h"

namespace weft::kernels {

/// T: elements; P: parameters. Parameters are [cut.width] each, sums [cut.blocks, cut.width] each. `out` may be in[0] exactly.
template <class T, class P, int kIn, int kPar, int kSums, class Term, int kPair = 1>
class Sweep {
 public:
  using A = LaneElement<T>;
  using V = Lanes<A>;
  static constexpr int kN = kLanes<A>;
  static_assert(std::is_same_v<LaneElement<P>, A>);

  std::array<const T*, kIn> in{};
  std::array<const P*, kPar> parameters{};
  std::array<A*, kSums> sums{};
  T* out = nullptr;
  bool stream = false;  // the output is too large for the cache
  Term term{};

  /// Does one of cut.tasks().
  void Run(const ChannelCut& cut, int64_t task) const {
    const ChannelCut::Part part = cut.part(task);
    if constexpr (kWrites) {
      if (stream && Streamable(cut)) {
        if (cut.runs) Runs<true>(cut, part);
        else Rows<true>(cut, part);
        return StreamFence();
      }
    }
    if (cut.runs) Runs<false>(cut, part);
    else Rows<false>(cut, part);
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

  /// Runs of a dozen lines find their way to aligned addresses themselves; but sums must not depend on addresses.
  bool Streamable(const ChannelCut& cut) const {
    if (cut.runs && kSums == 0) return cut.piece >= 12 * kLine && static_cast<const void*>(out) != in[0];
    const int64_t stride = cut.runs ? cut.box.inner : cut.width * cut.group;
    return (reinterpret_cast<uintptr_t>(out) | static_cast<uintptr_t>(stride * sizeof(T))) % 64 == 0;
  }

  /// The inputs and the output in a function's own variables, which stores of elements cannot change: they stay in registers.
  struct Memory {
    Values<const T*> in;
    T* out;
    Term term;

    template <bool kStream = false>
    void Vector(int64_t at, const Params<V>& p, Sums<V>& sum) const {
      Values<V> x;
      for (int i = 0; i < kIn; ++i) x[i] = LoadLanes(in[i] + at);
      if constexpr (kWrites) StoreLanes<kStream>(out + at, term(x, p, sum));
      else term(x, p, sum);
    }
    void Scalar(int64_t at, const Params<A>& p, Sums<A>& sum) const {
      Values<A> x;
      for (int i = 0; i < kIn; ++i) x[i] = ToLaneElement(in[i][at]);
      if constexpr (kWrites) out[at] = FromLaneElement<T>(term(x, p, sum));
      else term(x, p, sum);
    }
  };

  // ---- rows: neighbouring channels in a register ----

  /// Sums of a tile, in the first-level cache: 4 KB a sum. Each group of four rows is one load and one store of it.
  struct Tile {
    alignas(64) std::array<A, static_cast<size_t>(kTileRegisters) * kN> sum[kSums > 0 ? kSums : 1];
  };

  template <bool kStream, int kRows>
  void RowGroup(int64_t at, int64_t stride, int64_t length, const Params<const P*> par, Tile& tile) const {
    const Memory memory{in, out, term};
    int64_t c = 0;
    if constexpr (kStream && kSums == 0 && kN < kLine) {  // lines of short numbers are written whole, too
      for (; c + 2 * kN <= length; c += 2 * kN) {
        Params<V> p[2];
        Sums<V> no_sums;
        for (int i = 0; i < kPar; ++i) p[0][i] = LoadLanes(par[i] + c), p[1][i] = LoadLanes(par[i] + c + kN);
        for (int row = 0; row < kRows; ++row) {
          for (int k = 0; k < 2; ++k) memory.template Vector<true>(at + row * stride + c + k * kN, p[k], no_sums);
        }
      }
    }
    for (; c + kN <= length; c += kN) {
      Params<V> p;
      for (int i = 0; i < kPar; ++i) p[i] = LoadLanes(par[i] + c);
      Sums<V> sum{};
      for (int row = 0; row < kRows; ++row) memory.template Vector<kStream>(at + row * stride + c, p, sum);
      for (int s = 0; s < kSums; ++s) StoreLanes(&tile.sum[s][c], LoadLanes(&tile.sum[s][c]) + sum[s]);
    }
    for (; c < length; ++c) {
      Params<A> p;
      for (int i = 0; i < kPar; ++i) p[i] = ToLaneElement(par[i][c]);
      Sums<A> sum{};
      for (int row = 0; row < kRows; ++row) memory.Scalar(at + row * stride + c, p, sum);
      for (int s = 0; s < kSums; ++s) tile.sum[s][c] += sum[s];
    }
  }

  /// `rows` rows, `stride` apart, of `length` elements from `at`.
  template <bool kStream>
  void TileRows(int64_t at, int64_t rows, int64_t stride, int64_t length, const Params<const P*>& par, Tile& tile) const {
    for (int s = 0; s < kSums; ++s) std::fill_n(tile.sum[s].begin(), length, A{});
    int64_t row = 0;
    for (; row + 4 <= rows; row += 4) RowGroup<kStream, 4>(at + row * stride, stride, length, par, tile);
    for (; row < rows; ++row) RowGroup<kStream, 1>(at + row * stride, stride, length, par, tile);
  }

  template <bool kStream>
  void Rows(const ChannelCut& cut, const ChannelCut::Part& part) const {
    Tile tile;
    if (cut.group > 1) return NarrowRows<kStream>(cut, part, tile);
    Params<const P*> par;
    for (int i = 0; i < kPar; ++i) par[i] = parameters[i] + part.first;
    TileRows<kStream>(part.first_row * cut.width + part.first, part.end_row - part.first_row, cut.width, part.end - part.first, par, tile);
    for (int s = 0; s < kSums; ++s) std::copy_n(tile.sum[s].begin(), part.end - part.first, sums[s] + part.block * cut.width + part.first);
  }

  /// Rows of few channels: `group` of them are one row, over which the parameters repeat; the sums are folded afterwards.
  template <bool kStream>
  void NarrowRows(const ChannelCut& cut, const ChannelCut::Part& part, Tile& tile) const {
    const int64_t width = cut.width, length = width * cut.group;
    alignas(64) P repeated[kPar > 0 ? kPar : 1][static_cast<size_t>(kTileRegisters) * kN];
    Params<const P*> par;
    for (int i = 0; i < kPar; ++i) {
      for (int64_t g = 0; g < cut.group; ++g) std::copy_n(parameters[i], width, repeated[i] + g * width);
      par[i] = repeated[i];
    }
    const int64_t rows = part.end_row - part.first_row, whole = rows / cut.group;
    TileRows<kStream>(part.first_row * width, whole, length, length, par, tile);
    for (int64_t g = 1; g < cut.group; ++g) {
      for (int s = 0; s < kSums; ++s) {
        for (int64_t c = 0; c < width; ++c) tile.sum[s][c] += tile.sum[s][g * width + c];
      }
    }
    const int64_t begin = (part.first_row + whole * cut.group) * width, rest = part.end_row * width - begin;
    for (int64_t e = 0, c = 0; e < rest; ++e, c = c + 1 == width ? 0 : c + 1) {
      Params<A> p;
      for (int i = 0; i < kPar; ++i) p[i] = ToLaneElement(par[i][c]);
      Sums<A> sum{};
      Memory{in, out, term}.Scalar(begin + e, p, sum);
      for (int s = 0; s < kSums; ++s) tile.sum[s][c] += sum[s];
    }
    for (int s = 0; s < kSums; ++s) std::copy_n(tile.sum[s].begin(), width, sums[s] + part.block * width);
  }

  // ---- runs: one channel in a register ----

  /// At least a register of elements from `at`. The odd ones at the end are taken by a register that overlaps the one before; it is
  /// loaded first, since `out` may be the input.
  template <bool kStream>
  void OneRun(int64_t at, int64_t length, const Params<V> p, Sums<V>& total) const {
    const Memory memory{in, out, term};
    const int odd = static_cast<int>(length % kN);
    const int64_t end = at + length - odd, last = at + length - kN;
    Values<V> tail;
    for (int i = 0; i < kIn; ++i) tail[i] = LoadLanes(memory.in[i] + last);
    Sums<V> sum[4] = {};
    for (; at + 4 * kN <= end; at += 4 * kN) {
      for (int k = 0; k < 4; ++k) memory.template Vector<kStream>(at + k * kN, p, sum[k]);
    }
    for (int k = 0; k < 3; ++k) {
      if (at < end) memory.template Vector<kStream>(at, p, sum[k]);
      at += kN;
    }
    if (odd > 0) {
      Sums<V> once{};
      if constexpr (kWrites) StoreLanes(memory.out + last, term(tail, p, once));
      else term(tail, p, once);
      for (int s = 0; s < kSums; ++s) sum[3][s] += KeepLanes<A>(once[s], kN - odd, kN);
    }
    for (int s = 0; s < kSums; ++s) total[s] += (sum[0][s] + sum[1][s]) + (sum[2][s] + sum[3][s]);
  }

  /// The same without sums, where `out` is no input: whole cache lines go past the cache, and what is left at both ends does not, which
  /// would push out lines that are being written.
  void StreamedRun(int64_t at, int64_t length, const Params<A>& one, const Params<V> p) const {
    const Memory memory{in, out, term};
    const int64_t end = at + length;
    const auto past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out + at) / sizeof(T)) % kLine;
    const int64_t first = std::min(end, past == 0 ? at : at + kLine - past), last = first + (end - first) / kLine * kLine;
    Sums<A> no_sum;
    Sums<V> no_sums;
    for (; at < first; ++at) memory.Scalar(at, one, no_sum);
    for (; at < last; at += kN) memory.template Vector<true>(at, p, no_sums);
    for (; at < end; ++at) memory.Scalar(at, one, no_sum);
  }

  template <bool kStream>
  void Runs(const ChannelCut& cut, const ChannelCut::Part& part) const {
    for (int64_t c = part.first; c < part.end; ++c) {
      Params<A> one;
      Params<V> p;
      for (int i = 0; i < kPar; ++i) p[i] = Broadcast<A>(one[i] = ToLaneElement(parameters[i][c]));
      Sums<V> total{};
      for (int64_t run = part.first_row; run < part.end_row; ++run) {
        const int64_t at = (run * cut.box.channels + c) * cut.box.inner + part.begin;
        if constexpr (kStream && kSums == 0) StreamedRun(at, part.length, one, p);
        else OneRun<kStream>(at, part.length, p, total);
      }
      for (int s = 0; s < kSums; ++s) FoldLanes<kPair, A>(total[s], sums[s] + (part.block * cut.width + c) * kPair);
    }
  }
};

/// Adds the partial sums of the blocks, in their order, for the channels [first, end): total[0] is that of channel first. R is double where
/// A is float. kPair 2: elements at even and at odd places have sums of their own, side by side (complex numbers).
template <int kPair = 1, class A, class R>
void AddBlocks(const ChannelCut& cut, const A* partial, int64_t first, int64_t end, R* total) {
  const int64_t channels = end - first;
  std::fill(total, total + channels * kPair, R{});
  const bool direct = cut.runs || cut.fold == 1;
  const int64_t stride = cut.runs ? cut.width * kPair : cut.width;
  partial += first * (direct ? kPair : cut.fold);
  for (int64_t block = 0; block < cut.blocks; ++block, partial += stride) {
    if (direct) {
      for (int64_t c = 0; c < channels * kPair; ++c) total[c] += partial[c];
      continue;
    }
    for (int64_t c = 0; c < channels; ++c) {
      std::array<R, kPair> sum{};
      for (int64_t f = 0; f < cut.fold; ++f) sum[f % kPair] += partial[c * cut.fold + f];
      for (int k = 0; k < kPair; ++k) total[c * kPair + k] += sum[k];
    }
  }
}

}  // namespace weft::kernels
