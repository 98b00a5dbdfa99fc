// The code of the micro-kernel (micro_kernel.h); for the files of its instances alone.
#pragma once

#include <array>
#include <utility>

#include "blocks/kernels/gemm/micro_kernel.h"
#include "blocks/kernels/simd/prefetch.h"

namespace weft::kernels::gemm {

/// Steps of the right operand that are fetched in advance: its rows may lie far apart, where nothing else would.
inline constexpr int64_t kStepsAhead = 16;

/// The left operand is read from `first` on, sums go to `out`. kRowsContiguous: its rows lie side by side (left_row is 1), else its steps.
template <bool kRowsContiguous, int kHeight, int kVectors, class A>
void MicroKernel(const MicroTile<A>& t, int64_t first, A* out) {
  constexpr int kN = kLanes<A>, kReach = 5, kBases = kRowsContiguous ? 1 : (kHeight + kReach - 1) / kReach;
  constexpr int kVectorsALine = kVecBytes < 64 ? 64 / kVecBytes : 1;
  typedef A Vector __attribute__((vector_size(kVecBytes)));
  const int64_t left_row = kRowsContiguous ? 1 : t.left_row, left_step = kRowsContiguous ? t.left_step : 1, right_step = t.right_step;
  const int64_t ahead = kStepsAhead * right_step;
  Vector sum[kHeight][kVectors] = {};
#pragma GCC unroll 1
  for (int r = 0; r < kHeight; ++r) {  // the lines are there when the sums are
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; v += kVectorsALine) __builtin_prefetch(out + r * t.out_row + v * kN, 1);
  }
  for (int64_t s = 0; s < t.count; ++s) {
    const A* right = t.segments[s].right;
    // A base for each five rows: the stride and three times the stride then reach them all.
    const A* base[kBases];
    base[0] = t.segments[s].left + first;
#pragma GCC unroll 8
    for (int i = 1; i < kBases; ++i) {
      base[i] = base[i - 1] + kReach * left_row;
      asm("" : "+r"(base[i]));
    }
    // (Half as many rounds: of few the end is predicted, and less is counted beside the products.)
#pragma GCC unroll 2
    for (int64_t p = 0; p < t.depth; ++p, right += right_step) {
      Vector row[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        __builtin_memcpy(&row[v], right + v * kN, sizeof(Vector));
        if (v % kVectorsALine == 0) PrefetchAfter(right, (ahead + v * kN) * static_cast<int64_t>(sizeof(A)));
      }
#pragma GCC unroll 14
      for (int r = 0; r < kHeight; ++r) {
        const A x = kRowsContiguous ? base[0][r] : base[r / kReach % kBases][r % kReach * left_row];
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) sum[r][v] += x * row[v];
      }
#pragma GCC unroll 8
      for (int i = 0; i < kBases; ++i) base[i] += left_step;
    }
  }
  // What is there is read before anything is written: of rows whole pages apart the processor takes a load for one of the store before it.
  if (t.add) {
#pragma GCC unroll 14
    for (int r = 0; r < kHeight; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        Vector before;
        __builtin_memcpy(&before, out + r * t.out_row + v * kN, sizeof(Vector));
        sum[r][v] += before;
      }
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < kHeight; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) __builtin_memcpy(out + r * t.out_row + v * kN, &sum[r][v], sizeof(Vector));
  }
}

template <class A>
using MicroKernelFunction = void (*)(const MicroTile<A>&, int64_t first, A* out);

template <bool kRowsContiguous, int kVectors, class A>
inline constexpr auto kMicroKernels = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<MicroKernelFunction<A>, sizeof...(kIndex)>{&MicroKernel<kRowsContiguous, static_cast<int>(kIndex) + 1, kVectors, A>...};
}
(std::make_index_sequence<kRows>());

template <bool kRowsContiguous, int kVectors, class A>
void RunTiles(const MicroTile<A>& t, int64_t rows) {
  const int64_t tiles = (rows + kRows - 1) / kRows, left_row = kRowsContiguous ? 1 : t.left_row;
  for (int64_t i = 0, begin = 0; i < tiles; ++i) {
    const int64_t end = (i + 1) * rows / tiles;
    kMicroKernels<kRowsContiguous, kVectors, A>[static_cast<size_t>(end - begin - 1)](t, begin * left_row, t.out + begin * t.out_row);
    begin = end;
  }
}

template <class A>
void RunMicroKernel(const MicroTile<A>& t, int64_t rows, int vectors) {
  if (t.left_row == 1) vectors == 2 ? RunTiles<true, 2>(t, rows) : RunTiles<true, 1>(t, rows);
  else vectors == 2 ? RunTiles<false, 2>(t, rows) : RunTiles<false, 1>(t, rows);
}

}  // namespace weft::kernels::gemm
