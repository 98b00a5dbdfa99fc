// Sums by channel of one tensor alone, as of a bias's gradient. There is so little to compute that memory is the limit, and that is read
// fastest from one end to the other: what jumps to and fro between the lines of a page takes twice as long past the cache.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "blocks/kernels/channel/map_reduce_parts.h"
#include "blocks/kernels/channel/partition.h"
#include "blocks/kernels/channel/positions.h"
#include "blocks/kernels/simd/vec.h"

namespace weft::kernels {

// ---- how work is cut ----

/// Rows of so many registers stay in registers, with some left over for what is loaded.
inline constexpr int64_t kRowInRegisters = kVecBytes == 64 ? 24 : 12;

/// Of planes, channels whose sums stay in the first-level cache, a register each: 16 KB.
inline constexpr int64_t kPlanesAtOnce = 256;

/// Where elements are widened, that is what takes the time: the less there is beside it, the better.
template <class T>
inline constexpr bool kByPlanes = !ShortFloat<T>;

/// The tasks of SumByChannel.
template <class T>
ChannelPartition PartitionForSums(ChannelBox box, int64_t task_elements) {
  constexpr int lanes = kLanes<VecElement<T>>;
  ChannelPartition cut = PartitionChannels(box, lanes, task_elements);
  if (cut.runs || cut.blocks == 0) return cut;
  if (kByPlanes<T> && cut.long_planes(lanes)) {
    // A task is one stretch of memory; its sums are folded once for several rows, of so few that no chain of additions is long.
    constexpr int64_t kLeastRows = 4, kMostRows = 32, kLeastTasks = 8;
    const int64_t parts = DivideUp(box.channels, kPlanesAtOnce), line = ChannelsOfWholeLines(box.inner);
    const int64_t tile = std::min(box.channels, DivideUp(DivideUp(box.channels, parts), line) * line), tiles = DivideUp(box.channels, tile);
    const int64_t rows = std::clamp<int64_t>(task_elements / (tile * box.inner), kLeastRows, kMostRows);
    if (tile * box.inner <= kTileRegisters * lanes || DivideUp(box.outer, rows) * tiles < kLeastTasks) return cut;
    cut.tile = tile;
    cut.tiles = tiles;
    cut.block_rows = rows;
  } else if (cut.tiles == 1) {
    // Neighbouring rows are taken as one as long as that makes whole fours of registers, of which the task has many.
    constexpr int64_t kMany = 32;
    const int64_t row = box.channels * box.inner;
    const auto fours = [&] { return cut.group * row % (4 * lanes) == 0; };
    while (!fours() && 2 * cut.group * row <= kRowInRegisters * lanes && 2 * kMany * cut.group <= cut.block_rows) cut.group *= 2;
    cut.block_rows = DivideUp(cut.block_rows, cut.group) * cut.group;
  }
  cut.blocks = DivideUp(box.outer, cut.block_rows);
  return cut;
}

// ---- two registers of neighbouring elements ----

/// bfloat16 widens without moving: a register of the elements at even places, and one of those at odd ones.
template <class T>
inline constexpr bool kInterleaved = std::is_same_v<T, bfloat16>;

template <class T>
void LoadTwo(const T* p, Vec<VecElement<T>>& a, Vec<VecElement<T>>& b) {
  if constexpr (kInterleaved<T>) {
    Vec<uint32_t> bits;
    std::memcpy(&bits, p, sizeof bits);
    const Vec<uint32_t> even = bits << 16, odd = bits & 0xffff0000;
    std::memcpy(&a, &even, sizeof a);
    std::memcpy(&b, &odd, sizeof b);
  } else {
    a = LoadVec(p);
    b = LoadVec(p + kLanes<VecElement<T>>);
  }
}

// ---- the sums ----

/// `sums` is [cut.blocks, channels]. kPair 2: a channel's elements at even and at odd places have sums of their own, side by side (complex
/// numbers). The sum of an element's block depends on sizes alone.
template <class T, int kPair = 1>
class SumByChannel {
 public:
  using A = VecElement<T>;

  const T* in;
  A* sums;

  /// Does one of cut.tasks().
  void Run(const ChannelPartition& cut, int64_t task) const {
    const ChannelPartition::Part part = cut.part(task);
    if (cut.runs) return Runs(cut, part);
    const bool few = part.end_row - part.first_row <= kFewRows && cut.group == 1 && cut.box.inner >= kN;
    few || OverTile(cut) ? Planes(cut, part) : Rows(cut, part);
  }

 private:
  using V = Vec<A>;
  static constexpr int kN = kLanes<A>;
  using ChannelSum = ChannelAccumulators<A, 1>;
  static constexpr int64_t kChain = ChannelSum::kChain;

  /// Whether the tasks are long planes, row by row.
  static bool OverTile(const ChannelPartition& cut) { return cut.tile * cut.box.inner > kTile; }
  static constexpr int64_t kFewRows = kByPlanes<T> ? 8 : 4;  // of planes, that a tile to be folded is too much for

  A* to(const ChannelPartition& cut, const ChannelPartition::Part& part) const {
    return sums + (part.block * cut.box.channels + part.first) * kPair;
  }

  // ---- rows: neighbouring positions in a register ----

  /// Positions of a row; a pair of registers at a time, which kInterleaved leaves as the even and the odd ones.
  static constexpr int64_t kTile = int64_t{kTileRegisters} * kN;
  static constexpr int64_t kTwo = 2 * kN;

  static void AddTwo(const T* x, V& first, V& second) {
    V a, b;
    LoadTwo(x, a, b);
    first += a;
    second += b;
  }

  /// Positions [first, length) of kRows rows, joined before they are added to the tile or, where `put`, put there.
  template <int kRows>
  [[gnu::always_inline]] static void JoinRows(const T* x, int64_t stride, int64_t first, int64_t length, bool put, A* tile) {
    int64_t c = first;
    for (; kInterleaved<T> && c + kTwo <= length; c += kTwo) {
      V sum[2];
      LoadTwo(x + c, sum[0], sum[1]);
#pragma GCC unroll 8
      for (int row = 1; row < kRows; ++row) AddTwo(x + row * stride + c, sum[0], sum[1]);
      StoreVec(tile + c, put ? sum[0] : LoadVec(tile + c) + sum[0]);
      StoreVec(tile + c + kN, put ? sum[1] : LoadVec(tile + c + kN) + sum[1]);
    }
    for (; c + kN <= length; c += kN) {
      V sum = LoadVec(x + c);
#pragma GCC unroll 8
      for (int row = 1; row < kRows; ++row) sum += LoadVec(x + row * stride + c);
      StoreVec(tile + c, put ? sum : LoadVec(tile + c) + sum);
    }
    if (c < length) AddOdd(x, kRows, stride, c, length, put, tile);
  }
  template <int kRows>
  [[gnu::noinline]] static void AddRows(const T* x, int64_t stride, int64_t length, bool put, A* tile) {
    JoinRows<kRows>(x, stride, 0, length, put, tile);
  }
  /// The same for positions that fill no register.
  [[gnu::noinline]] static void AddOdd(const T* x, int64_t rows, int64_t stride, int64_t first, int64_t length, bool put, A* tile) {
    for (int64_t c = first; c < length; ++c) {
      A sum = ToVecElement(x[c]);
      for (int64_t row = 1; row < rows; ++row) sum = static_cast<A>(sum + ToVecElement(x[row * stride + c]));
      tile[c] = put ? sum : static_cast<A>(tile[c] + sum);
    }
  }

  /// Rows of kRegisters, and of less than four more, memory in its order: a load and an addition each. Sums go to the tile before their
  /// chains are long.
  template <int kRegisters>
  static void NarrowRows(const T* x, int64_t rows, int64_t length, A* tile) {
    constexpr int64_t kInRegisters = kRegisters * kN;
    alignas(64) A more[4 * kN];
    std::fill_n(tile, length, A{});
    for (int64_t row = 0; row < rows;) {
      V sum[kRegisters] = {};
      bool put = true;
      for (const int64_t stop = std::min(rows, row + kChain); row < stop; ++row, x += length, put = false) {
#pragma GCC unroll 12
        for (int k = 0; k < kRegisters; k += 2) AddTwo(x + k * kN, sum[k], sum[k + 1]);
        JoinRows<1>(x + kInRegisters, length, 0, length - kInRegisters, put, more);
      }
#pragma GCC unroll 24
      for (int k = 0; k < kRegisters; ++k) StoreVec(tile + k * kN, LoadVec(tile + k * kN) + sum[k]);
      for (int64_t c = kInRegisters; c < length; ++c) tile[c] = static_cast<A>(tile[c] + more[c - kInRegisters]);
    }
  }

  /// Rows side by side are as many streams, each in its order: 8, or 6 in the cache where they lie whole pages apart, since 8 lines and
  /// that of the tile would push one another out of 8 ways. Past the cache rows of which several lie on a page are read one by one, up to
  /// 1.7 times as fast, though the tile is then loaded and stored for each; not where it has twice their bytes.
  static int64_t SideBySide(const ChannelPartition& cut, int64_t stride) {
    constexpr int64_t kPastCache = 16 << 20, kSize = sizeof(T);
    if (cut.box.count() * kSize < kPastCache) return stride * kSize % kPage == 0 ? 6 : 8;
    return sizeof(A) == sizeof(T) && 2 * stride * kSize <= kPage ? 1 : 8;
  }

  static void WideRows(const T* x, int64_t rows, int64_t stride, int64_t length, int64_t side_by_side, A* tile) {
    const int64_t groups = DivideUp(rows, side_by_side);
    for (int64_t group = 0, row = 0; group < groups; ++group) {
      const int64_t end = rows * (group + 1) / groups;
      const T* const from = x + row * stride;
      const bool put = group == 0;
      switch (end - row) {
        case 1: AddRows<1>(from, stride, length, put, tile); break;
        case 2: AddRows<2>(from, stride, length, put, tile); break;
        case 3: AddRows<3>(from, stride, length, put, tile); break;
        case 4: AddRows<4>(from, stride, length, put, tile); break;
        case 5: AddRows<5>(from, stride, length, put, tile); break;
        case 6: AddRows<6>(from, stride, length, put, tile); break;
        case 7: AddRows<7>(from, stride, length, put, tile); break;
        default: AddRows<8>(from, stride, length, put, tile);
      }
      row = end;
    }
  }

  /// rows > 0.
  static void SumRows(const ChannelPartition& cut, const T* x, int64_t rows, int64_t stride, int64_t length, A* tile) {
    const int64_t fours = length == stride ? length / (4 * kN) : 0;
    if (fours == 1) return NarrowRows<4>(x, rows, length, tile);
    if (fours == 2) return NarrowRows<8>(x, rows, length, tile);
    if (fours == 3) return NarrowRows<12>(x, rows, length, tile);
    if constexpr (kRowInRegisters >= 24) {
      if (fours == 4) return NarrowRows<16>(x, rows, length, tile);
      if (fours == 5) return NarrowRows<20>(x, rows, length, tile);
      if (fours == 6) return NarrowRows<24>(x, rows, length, tile);
    }
    const int64_t side_by_side = SideBySide(cut, stride);
    if (side_by_side > 1) return WideRows(x, rows, stride, length, side_by_side, tile);
    A* const near = tile + kPage / kSize;  // sums of kChain rows
    for (int64_t row = 0; row < rows; row += kChain) {
      WideRows(x + row * stride, std::min(rows - row, kChain), stride, length, 1, row == 0 ? tile : near);
#pragma omp simd
      for (int64_t c = 0; c < (row == 0 ? 0 : length); ++c) tile[c] += near[c];
    }
  }

  /// A load waits for a store on its way whose address is a multiple of 4 KB from it: the tile lies at the same place of a page as what is
  /// read, so that rows as far apart meet no store of lines just before theirs. Elements to add to `room`.
  static constexpr int64_t kPage = 4096, kSize = sizeof(A);
  static int64_t AtSamePlace(const A* room, const T* x) {
    const uintptr_t distance = reinterpret_cast<uintptr_t>(x) - reinterpret_cast<uintptr_t>(room);
    return static_cast<int64_t>(distance % kPage) / 64 * 64 / kSize;
  }

  void Rows(const ChannelPartition& cut, const ChannelPartition::Part& part) const {
    const int64_t channels = part.end - part.first, positions = channels * cut.box.inner, width = cut.box.channels * cut.box.inner;
    const int64_t rows = part.end_row - part.first_row, whole = rows / cut.group, length = positions * cut.group;
    const T* const x = in + part.first_row * width + part.first * cut.box.inner;
    alignas(64) A room[kTile + 2 * kPage / kSize];
    A* const tile = room + AtSamePlace(room, x);
    if (whole == 0) std::fill_n(tile, length, A{});
    else SumRows(cut, x, whole, width * cut.group, length, tile);
    if constexpr (kInterleaved<T>) Deinterleave(tile, length);
    const int64_t grouped = whole * cut.group;  // of narrow rows, some may be left over
    if (grouped < rows) AddOdd(x + grouped * width, 1, 0, 0, (rows - grouped) * width, false, tile);
    for (int64_t g = cut.group, half = g / 2; g > 1; g -= half, half = g / 2) {
      const A* const upper = tile + (g - half) * positions;
#pragma omp simd
      for (int64_t c = 0; c < half * positions; ++c) tile[c] += upper[c];
    }
    FoldPositions<kPair>(tile, channels, cut.box.inner, to(cut, part));
  }

  template <int... kLane>
  static void DeinterleaveTwo(A* at, std::integer_sequence<int, kLane...>) {
    const V even = LoadVec(at), odd = LoadVec(at + kN);
    StoreVec(at, __builtin_shufflevector(even, odd, (kLane / 2 + kLane % 2 * kN)...));
    StoreVec(at + kN, __builtin_shufflevector(even, odd, (kLane / 2 + kLane % 2 * kN + kN / 2)...));
  }
  static void Deinterleave(A* tile, int64_t length) {
    for (int64_t c = 0; c + kTwo <= length; c += kTwo) DeinterleaveTwo(tile + c, std::make_integer_sequence<int, kN>());
  }

  // ---- planes: one channel in a register, or two where it lies across the end of one ----

  /// kRows rows of neighbouring planes, of a register and more each. A register on the border of two planes is parted.
  template <int kRows>
  static void AddPlanes(const T* x, int64_t stride, int64_t channels, int64_t inner, bool first, A* totals, A* folded) {
    const auto add = [stride](const T* at, V& sum) {
      V joined = LoadVec(at);
      for (int row = 1; row < kRows; ++row) joined += LoadVec(at + row * stride);
      sum += joined;
    };
    V parted{};  // of the register before, what belongs to this plane
    const T *at = x, *end = x;
    for (int64_t c = 0; c < channels; ++c) {
      end += inner;
      V sum[4] = {parted};
      if constexpr (kRows == 1) {
        for (; at + 2 * kTwo <= end; at += 2 * kTwo) {
          AddTwo(at, sum[0], sum[1]);
          AddTwo(at + kTwo, sum[2], sum[3]);
        }
      }
      for (; at + kN <= end; at += kN) add(at, sum[0]);
      parted = V{};
      if (const int split = static_cast<int>(end - at); split > 0 && c + 1 < channels) {
        add(at, parted);
        sum[0] += BlendLanes<A>(parted, V{}, split);
        parted = BlendLanes<A>(V{}, parted, split);
        at += kN;
      } else if (split > 0) {
        V last{};
        add(end - kN, last);
        sum[0] += MaskLanes<A>(last, kN - split, kN);
      }
      if constexpr (kRows == 1) sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
      if (!first) sum[0] += LoadVec(totals + c * kN);
      StoreVec(totals + c * kN, sum[0]);
      if (folded != nullptr && (c % kN == kN - 1 || c + 1 == channels)) {
        const int64_t from = c / kN * kN;
        FoldPositions<kPair>(totals + from * kN, c + 1 - from, kN, folded + from * kPair);
      }
    }
  }

  void Planes(const ChannelPartition& cut, const ChannelPartition::Part& part) const {
    constexpr int kSide = 4;  // of short planes: so many rows joined, there is less to part
    const int64_t channels = part.end - part.first, inner = cut.box.inner, stride = cut.box.channels * inner;
    alignas(64) A totals[kPlanesAtOnce * kN];
    const int64_t all = part.end_row - part.first_row, groups = OverTile(cut) ? all : DivideUp(all, kSide);
    for (int64_t group = 0; group < groups; ++group) {
      const int64_t row = part.first_row + all * group / groups, end = part.first_row + all * (group + 1) / groups;
      const T* const x = in + row * stride + part.first * inner;
      const bool first = group == 0;
      A* const folded = end == part.end_row ? to(cut, part) : nullptr;
      switch (end - row) {
        case 1: AddPlanes<1>(x, stride, channels, inner, first, totals, folded); break;
        case 2: AddPlanes<2>(x, stride, channels, inner, first, totals, folded); break;
        case 3: AddPlanes<3>(x, stride, channels, inner, first, totals, folded); break;
        default: AddPlanes<kSide>(x, stride, channels, inner, first, totals, folded);
      }
    }
  }

  // ---- runs: one channel in a register ----

  /// At least a register of elements. The odd ones at the end are taken by a register that overlaps the one before.
  static void OneRun(const T* x, int64_t length, ChannelSum& total) {
    constexpr int64_t kSide = 4 * kN;
    const int odd = static_cast<int>(length % kN);
    const int64_t end = length - odd;
    V sum[4] = {};
    int64_t at = 0;
    while (at + kSide <= end) {
      const int64_t stop = std::min(end, at + kSide * kChain);
      for (; at + kSide <= stop; at += kSide) {
        AddTwo(x + at, sum[0], sum[1]);
        AddTwo(x + at + kTwo, sum[2], sum[3]);
      }
      if (at + kSide > end) break;
      std::array<V, 1> all{Join(sum)};
      total.Add(all);
      std::fill_n(sum, 4, V{});
    }
    for (int k = 0; k < 3; ++k, at += kN) {
      if (at < end) sum[k] += LoadVec(x + at);
    }
    if (odd > 0) sum[3] += MaskLanes<A>(LoadVec(x + length - kN), kN - odd, kN);
    total.near[0] += Join(sum);
  }
  static V Join(const V (&sum)[4]) { return (sum[0] + sum[1]) + (sum[2] + sum[3]); }

  void Runs(const ChannelPartition& cut, const ChannelPartition::Part& part) const {
    A* const results = to(cut, part);
    for (int64_t c = part.first; c < part.end; ++c) {
      ChannelSum total;
      for (int64_t row = part.first_row; row < part.end_row; ++row) {
        OneRun(in + (row * cut.box.channels + c) * cut.box.inner + part.begin, part.length, total);
        if ((row - part.first_row) % kChain == kChain - 1) total.Add(total.near);
      }
      total.Add(total.near);
      total.template Fold<kPair>(0, results + (c - part.first) * kPair);
    }
  }
};

}  // namespace weft::kernels
