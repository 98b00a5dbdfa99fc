// Copies of boxes between arrays of any rank, each axis with a step of its own on either side: transpositions, slices, reversals. Axes that
// stay together are merged, the rest is cut into tiles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::kernels {

/// An axis of a box: its size, and what one step along it means in the input and in the output, in elements. Steps may be negative; that
/// of the input is 0 where its elements are repeated.
struct Axis {
  int64_t size, in_step, out_step;
};

/// How a box is copied: for each index of the outer axes a matrix, out[i * row.out_step + j * column.out_step] =
/// in[i * row.in_step + j * column.in_step], cut into tiles.
struct BoxCopy {
  enum class Kind : uint8_t {
    kRows,        // column.in_step and column.out_step are 1
    kTransposed,  // row.in_step and column.out_step are 1
    kStrided,
  };
  std::vector<Axis> outer;  // outermost first; at most 62, since each has a size of two or more
  Axis row{1, 0, 0}, column{1, 1, 1};
  Kind kind = Kind::kRows;
  int64_t row_tile = 1, column_tile = 1;
  int64_t tiles = 0;  // 0 where the box is empty
  int64_t in_start = 0, out_start = 0;  // the box's first element, counted in each array
  /// Tiles in a piece of work that is worth a task of its own.
  int64_t grain() const { return 1 + 32768 / (row_tile * column_tile); }
};

/// The box of these axes, in any order; no element of the output may be met twice. `element` is the size of an element in bytes.
BoxCopy MakeBoxCopy(std::vector<Axis> axes, size_t element);

/// What one step along each axis means in a row-major array of these sizes; their product must fit, zeros counted as ones.
std::vector<int64_t> DenseSteps(std::span<const int64_t> dims);

/// Axis i of the output is axis perm[i] of the input; perm is a permutation of 0 ... dims.size() - 1.
BoxCopy MakeTransposition(std::span<const int64_t> dims, std::span<const int64_t> perm, size_t element);

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

/// A tile with any steps.
template <class T>
void CopyStrided(const T* in, Axis row, T* out, Axis column, int64_t rows, int64_t columns) {
  if (columns < 8 && rows > columns) {
    std::swap(row, column);
    std::swap(rows, columns);
  }
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

/// Writes tiles [begin, end) of the box, counted along the columns first, then the rows, then the outer axes. `in` and `out` are the
/// starts of the arrays.
template <class T>
void CopyBox(const BoxCopy& box, const T* in, T* out, int64_t begin, int64_t end) {
  const int64_t column_tiles = (box.column.size + box.column_tile - 1) / box.column_tile;
  const int64_t row_tiles = (box.row.size + box.row_tile - 1) / box.row_tile;
  int64_t column = begin % column_tiles, row = begin / column_tiles % row_tiles, rest = begin / column_tiles / row_tiles;
  int64_t at[64];  // the index on each outer axis
  const int axes = static_cast<int>(box.outer.size());
  in += box.in_start;
  out += box.out_start;
  for (int axis = axes - 1; axis >= 0; --axis) {
    at[axis] = rest % box.outer[axis].size;
    rest /= box.outer[axis].size;
    in += at[axis] * box.outer[axis].in_step;
    out += at[axis] * box.outer[axis].out_step;
  }
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t i = row * box.row_tile, j = column * box.column_tile;
    const int64_t rows = std::min(box.row_tile, box.row.size - i), columns = std::min(box.column_tile, box.column.size - j);
    const T* from = in + i * box.row.in_step + j * box.column.in_step;
    T* to = out + i * box.row.out_step + j * box.column.out_step;
    switch (box.kind) {
      case BoxCopy::Kind::kRows: internal::CopyRows(from, box.row.in_step, to, box.row.out_step, rows, columns); break;
      case BoxCopy::Kind::kTransposed: internal::TransposeTile(from, box.column.in_step, to, box.row.out_step, rows, columns); break;
      case BoxCopy::Kind::kStrided: internal::CopyStrided(from, box.row, to, box.column, rows, columns); break;
    }
    if (++column < column_tiles) continue;
    column = 0;
    if (++row < row_tiles) continue;
    row = 0;
    for (int axis = axes - 1; axis >= 0; --axis) {
      in += box.outer[axis].in_step;
      out += box.outer[axis].out_step;
      if (++at[axis] < box.outer[axis].size) break;
      in -= at[axis] * box.outer[axis].in_step;
      out -= at[axis] * box.outer[axis].out_step;
      at[axis] = 0;
    }
  }
}

}  // namespace weft::kernels
