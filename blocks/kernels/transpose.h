// Transposition of arrays of any rank: axes that stay together are merged, the rest is cut into tiles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::kernels {

/// An axis that is walked one index at a time: its size, and what one step means in the input and in the output, in elements.
struct Axis {
  int64_t size, in_step, out_step;
};

/// How an array is transposed: for each index of the outer axes a matrix,
/// out[i * row.out_step + j] = in[i * row.in_step + j * column.in_step], cut into tiles. Either column.in_step is 1, and
/// rows are copied, or row.in_step is.
struct Transposition {
  std::vector<Axis> outer;  // outermost first
  Axis row{1, 0, 0}, column{1, 1, 1};
  int64_t row_tile = 1, column_tile = 1;
  int64_t tiles = 0;  // 0 where the array is empty
  /// Tiles in a piece of work that is worth a task of its own.
  int64_t grain() const { return 1 + 32768 / (row_tile * column_tile); }
};

/// Axis i of the output is axis perm[i] of the input; perm is a permutation of 0 ... dims.size() - 1. `element` is the size of an element.
Transposition MakeTransposition(std::span<const int64_t> dims, std::span<const int64_t> perm, size_t element);

namespace internal {

template <class V, size_t... I>
inline V InterleaveLow(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, static_cast<int>(I / 2 + I % 2 * sizeof...(I))...);
}
template <class V, size_t... I>
inline V InterleaveHigh(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, static_cast<int>(sizeof...(I) / 2 + I / 2 + I % 2 * sizeof...(I))...);
}

/// out[i * out_step + j] = in[j * in_step + i] for i, j < N: log2(N) rounds of interleaving each row with the one half the square below.
template <class T, int N>
inline void TransposeSquare(const T* in, int64_t in_step, T* out, int64_t out_step) {
  using V [[gnu::vector_size(N * sizeof(T))]] = T;
  constexpr auto kLanes = std::make_index_sequence<N>{};
  V a[N], b[N];
  for (int i = 0; i < N; ++i) std::memcpy(&a[i], in + i * in_step, sizeof(V));
#pragma GCC unroll 8
  for (int width = 1; width < N; width *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < N / 2; ++i) {
      b[2 * i] = InterleaveLow(a[i], a[i + N / 2], kLanes);
      b[2 * i + 1] = InterleaveHigh(a[i], a[i + N / 2], kLanes);
    }
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) a[i] = b[i];
  }
  for (int i = 0; i < N; ++i) std::memcpy(out + i * out_step, &a[i], sizeof(V));
}

/// The side of the square that registers hold, by the size of an element.
template <class T>
inline constexpr int kSquare = !std::is_integral_v<T> ? 1 : sizeof(T) == 1 ? 16 : sizeof(T) == 8 ? 4 : 8;

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

/// out[i * out_step + j] = in[j * in_step + i].
template <class T>
void TransposeTile(const T* in, int64_t in_step, T* out, int64_t out_step, int64_t rows, int64_t columns) {
  constexpr int N = kSquare<T>;
  if constexpr (N == 1) {
    TransposeSlow(in, in_step, out, out_step, rows, columns);
  } else {
    // Whole cache lines are read and written before the next ones, so that rows a power of two apart do not push each other out.
    constexpr int64_t kLine = std::max<int64_t>(64 / static_cast<int64_t>(sizeof(T)), N);
    const int64_t whole_rows = rows / N * N, whole_columns = columns / N * N;
    for (int64_t i0 = 0; i0 < whole_rows; i0 += kLine) {
      for (int64_t j0 = 0; j0 < whole_columns; j0 += kLine) {
        for (int64_t j = j0; j < std::min(j0 + kLine, whole_columns); j += N) {
          for (int64_t i = i0; i < std::min(i0 + kLine, whole_rows); i += N) {
            TransposeSquare<T, N>(in + j * in_step + i, in_step, out + i * out_step + j, out_step);
          }
        }
      }
    }
    if (whole_rows < rows) TransposeSlow(in + whole_rows, in_step, out + whole_rows * out_step, out_step, rows - whole_rows, columns);
    if (whole_columns < columns) {
      TransposeSlow(in + whole_columns * in_step, in_step, out + whole_columns, out_step, whole_rows, columns - whole_columns);
    }
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

}  // namespace internal

/// Writes tiles [begin, end) of the output, counted along the columns first, then the rows, then the outer axes.
template <class T>
void Transpose(const Transposition& t, const T* in, T* out, int64_t begin, int64_t end) {
  const int64_t column_tiles = (t.column.size + t.column_tile - 1) / t.column_tile;
  const int64_t row_tiles = (t.row.size + t.row_tile - 1) / t.row_tile;
  int64_t column = begin % column_tiles, row = begin / column_tiles % row_tiles, rest = begin / column_tiles / row_tiles;
  int64_t at[256];  // the index on each outer axis; the rank is below this
  const int axes = static_cast<int>(t.outer.size());
  for (int axis = axes - 1; axis >= 0; --axis) {
    at[axis] = rest % t.outer[axis].size;
    rest /= t.outer[axis].size;
    in += at[axis] * t.outer[axis].in_step;
    out += at[axis] * t.outer[axis].out_step;
  }
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t i = row * t.row_tile, j = column * t.column_tile;
    const int64_t rows = std::min(t.row_tile, t.row.size - i), columns = std::min(t.column_tile, t.column.size - j);
    const T* from = in + i * t.row.in_step + j * t.column.in_step;
    T* to = out + i * t.row.out_step + j;
    if (t.column.in_step == 1) internal::CopyRows(from, t.row.in_step, to, t.row.out_step, rows, columns);
    else internal::TransposeTile(from, t.column.in_step, to, t.row.out_step, rows, columns);
    if (++column < column_tiles) continue;
    column = 0;
    if (++row < row_tiles) continue;
    row = 0;
    for (int axis = axes - 1; axis >= 0; --axis) {
      in += t.outer[axis].in_step;
      out += t.outer[axis].out_step;
      if (++at[axis] < t.outer[axis].size) break;
      in -= at[axis] * t.outer[axis].in_step;
      out -= at[axis] * t.outer[axis].out_step;
      at[axis] = 0;
    }
  }
}

}  // namespace weft::kernels
