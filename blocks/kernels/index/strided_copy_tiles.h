// How the tiles of a box are copied; see strided_copy.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "blocks/kernels/index/strided_copy.h"
#include "blocks/kernels/index/walk.h"
#include "blocks/kernels/simd/prefetch.h"
#include "blocks/kernels/simd/transpose.h"
#include "blocks/kernels/simd/vec.h"

namespace weft::kernels {

namespace internal {

/// columns[i] = the i-th elements of N rows, in_step apart.
template <class T, int N, class V>
inline void LoadTransposed(const T* in, int64_t in_step, V (&columns)[N]) {
  for (int i = 0; i < N; ++i) std::memcpy(&columns[i], in + i * in_step, sizeof(V));
  TransposeVecs(columns);
}

/// The side of the square that registers hold, by the size of an element; 1: none.
template <class T>
inline constexpr int kSquare = !std::is_integral_v<T> ? 1
                               : sizeof(T) == 1       ? 16
                               : sizeof(T) == 2       ? 8
                                                      : std::max(32, kVecBytes) / static_cast<int>(sizeof(T));

template <class T>
void TransposeSlow(const T* in, int64_t in_step, T* out, int64_t out_step, int64_t rows, int64_t columns) {
  if (rows < columns) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) out[i * out_step + j] = in[j * in_step + i];
    }
  } else {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < rows; ++i) out[i * out_step + j] = in[j * in_step + i];
    }
  }
}

/// By squares of N, or smaller ones. The last ones overlap those before.
template <class T, int N>
void TransposeSquares(const T* in, int64_t in_step, T* out, int64_t out_step, int64_t rows, int64_t columns) {
  if constexpr (N < 4) {
    TransposeSlow(in, in_step, out, out_step, rows, columns);
  } else if (rows < N || columns < N) {
    TransposeSquares<T, N / 2>(in, in_step, out, out_step, rows, columns);
  } else {
    for (int64_t row = 0; row < rows; row += N) {
      const int64_t i = std::min(row, rows - N);
      for (int64_t column = 0; column < columns; column += N) {
        const int64_t j = std::min(column, columns - N);
        using V [[gnu::vector_size(N * sizeof(T))]] = T;
        V square[N];
        LoadTransposed<T, N>(in + j * in_step + i, in_step, square);
        for (int k = 0; k < N; ++k) std::memcpy(out + (i + k) * out_step + j, &square[k], sizeof(V));
      }
    }
  }
}

/// N rows of one cache line each. kStream: past the cache; the lines are then aligned.
template <bool kStream, int N, class T>
inline void TransposeLines(const T* in, int64_t in_step, T* out, int64_t out_step) {
  constexpr int kSquares = 64 / sizeof(T) / N;
  using V [[gnu::vector_size(N * sizeof(T))]] = T;
  V squares[kSquares][N];
  for (int s = 0; s < kSquares; ++s) LoadTransposed<T, N>(in + s * N * in_step, in_step, squares[s]);
  for (int i = 0; i < N; ++i) {
    V line[kSquares];
    for (int s = 0; s < kSquares; ++s) line[s] = squares[s][i];
    Vec<T> registers[64 / kVecBytes];
    std::memcpy(registers, line, 64);
    for (int k = 0; k < 64 / kVecBytes; ++k) StoreVec<kStream>(out + i * out_step + k * kLanes<T>, registers[k]);
  }
}

/// What transpositions prefetch of one side: its rows lie too far apart for the processor to see them come. Not where they are whole pages
/// apart, as they would push each other out of the nearest cache.
template <class T>
bool PrefetchesRows(int64_t step) {
  return step * static_cast<int64_t>(sizeof(T)) % 4096 != 0;
}

/// out[i * out_step + j] = in[j * in_step + i]. Whole cache lines are read and written before the next ones, so that rows a power of two
/// apart do not push each other out. `far`: the arrays are larger than a core's own cache. `stream`: the output is too large for the cache; a
/// StreamFence is left to the caller, as each waits for all stores.
template <class T>
void TransposeTile(const T* in, int64_t in_step, T* out, int64_t out_step, int64_t rows, int64_t columns, bool far, bool stream) {
  constexpr int N = kSquare<T>;
  constexpr int64_t kLine = std::max<int64_t>(64 / static_cast<int64_t>(sizeof(T)), N);
  if constexpr (N > 1) {
    if (rows < N || columns < kLine) return TransposeSquares<T, N>(in, in_step, out, out_step, rows, columns);
    constexpr int64_t kBytes = sizeof(T);
    const bool reads = far && PrefetchesRows<T>(in_step);
    stream = stream && (reinterpret_cast<uintptr_t>(out) | static_cast<uintptr_t>(out_step) * sizeof(T)) % 64 == 0;
    // (With AVX-512 a square writes whole lines, which nothing gains from reading beforehand.)
    const bool writes = kVecBytes < 64 && far && !stream && PrefetchesRows<T>(out_step);
    const int64_t whole = columns / kLine * kLine;
    for (int64_t row = 0; row < rows; row += N) {
      const int64_t i = std::min(row, rows - N);  // the last squares overlap those before
      for (int64_t j = 0; j < whole; j += kLine) {
        const T* from = in + j * in_step + i;
        T* to = out + i * out_step + j;
        for (int64_t k = 0; reads && row % kLine == 0 && k < kLine; ++k) PrefetchAfter(from, k * in_step * kBytes + 64);  // the next line of each
        for (int64_t k = N; writes && k < 2 * N; ++k) PrefetchToWriteAfter(to, k * out_step * kBytes);
        if (stream) TransposeLines<true, N>(from, in_step, to, out_step);
        else TransposeLines<false, N>(from, in_step, to, out_step);
      }
    }
    const int64_t rest = std::min(whole, columns - N);
    if (whole < columns) TransposeSquares<T, N>(in + rest * in_step, in_step, out + rest, out_step, rows, columns - rest);
  } else {
    TransposeSlow(in, in_step, out, out_step, rows, columns);
  }
}

template <class T>
void CopyRows(const T* in, int64_t in_step, T* out, int64_t out_step, int64_t rows, int64_t columns) {
  constexpr int64_t kShort = 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < rows; ++i, in += in_step, out += out_step) {
    if (columns > kShort) {
      std::copy(in, in + columns, out);
    } else {
#pragma GCC unroll 1
      for (int64_t j = 0; j < columns; ++j) out[j] = in[j];
    }
  }
}

/// A tile with any steps.
template <class T>
void CopyStrided(const T* in, const Axis& row, T* out, const Axis& column, int64_t rows, int64_t columns) {
  const int64_t from = column.in_step, to = column.out_step;
  for (int64_t i = 0; i < rows; ++i, in += row.in_step, out += row.out_step) {
    if (to == 1 && from == 0) {
      std::fill(out, out + columns, *in);
    } else if (to == 1 && from == -1) {
      for (int64_t j = 0; j < columns; ++j) out[j] = in[-j];
    } else {
      for (int64_t j = 0; j < columns; ++j) out[j * to] = in[j * from];
    }
  }
}

}  // namespace internal

/// Writes tiles [begin, end) of the box: along columns, then rows, then outer axes. `in` and `out` are the arrays' starts.
template <class T>
void CopyBox(const BoxCopy& box, const T* in, T* out, int64_t begin, int64_t end) {
  const int64_t column_tiles = box.column_tiles(), row_tiles = box.row_tiles();
  int64_t column = begin % column_tiles, row = begin / column_tiles % row_tiles, rest = begin / column_tiles / row_tiles;
  Walk<Axis, 2> walk(box.outer, rest);
  in += box.in_start;
  out += box.out_start;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t i = row * box.row_tile, j = column * box.column_tile;
    const int64_t rows = row + 1 < row_tiles ? box.row_tile : box.row.size - i;
    const int64_t columns = column + 1 < column_tiles ? box.column_tile : box.column.size - j;
    const T* from = in + walk.offset(0) + i * box.row.in_step + j * box.column.in_step;
    T* to = out + walk.offset(1) + i * box.row.out_step + j * box.column.out_step;
    switch (box.kind) {
      case BoxCopy::Kind::kRows: internal::CopyRows(from, box.row.in_step, to, box.row.out_step, rows, columns); break;
      case BoxCopy::Kind::kTransposed:
        internal::TransposeTile(from, box.column.in_step, to, box.row.out_step, rows, columns, box.far, box.stream);
        break;
      case BoxCopy::Kind::kStrided: internal::CopyStrided(from, box.row, to, box.column, rows, columns); break;
    }
    if (++column < column_tiles) continue;
    column = 0;
    if (++row < row_tiles) continue;
    row = 0;
    walk.Next();
  }
  if (box.stream) StreamFence();
}

}  // namespace weft::kernels
