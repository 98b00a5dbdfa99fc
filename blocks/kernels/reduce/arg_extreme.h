// Positions of the greatest or least elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "blocks/kernels/reduce/reduce.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {

/// Positions in memory: integers of 2, 4 or 8 bytes, which wrap.
struct Positions {
  void* data;
  size_t bytes;

  void Store(int64_t at, const int64_t* from, int64_t count) const {
    if (bytes == 8) StoreAs<uint64_t>(at, from, count);
    else if (bytes == 4) StoreAs<uint32_t>(at, from, count);
    else StoreAs<uint16_t>(at, from, count);
  }

 private:
  template <class I>
  void StoreAs(int64_t at, const int64_t* from, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) static_cast<I*>(data)[at + i] = static_cast<I>(from[i]);
  }
};

/// Narrow rows are searched as one of at most so many elements: four registers of floats, and as many of their rows.
inline constexpr int64_t kArgLanes = kVecBytes;

/// The best elements so far of up to kMost columns, and their rows. They begin with the worst finite element, in row 0.
template <class T>
struct ArgBest {
  static constexpr int64_t kMost = 1024;
  Accumulator<T> value[kMost];
  int64_t position[kMost];

  explicit ArgBest(int64_t columns) {
    // (Of half the worst is not that of float.)
    std::fill_n(value, columns, WidenOne<Accumulator<T>>(std::numeric_limits<T>::lowest()));
    std::fill_n(position, columns, 0);
  }

  /// Of equal elements the first counts.
  void Take(int64_t column, Accumulator<T> x, int64_t row) {
    const bool better = x > value[column] || (x == value[column] && row < position[column]);
    value[column] = better ? x : value[column];
    position[column] = better ? row : position[column];
  }
};

/// Whether elements are compared as floats or words, as wide as their rows: whole registers of both are chosen by one mask. (What the compiler
/// makes of a loop stores the better ones behind branches, which are taken at random in the first rows.)
template <class T>
inline constexpr bool kChoosesVecs = sizeof(Accumulator<T>) == sizeof(int32_t);
using ArgRows = typename VecOf<int32_t, kVecBytes>::Type;

/// Of kCount registers of row i the better elements, and that row for them.
template <int kCount, class T>
[[gnu::always_inline]] inline void TakeBetter(const ExtremeOf<T>& order, const T* from, int32_t i, Vec<Accumulator<T>>* values, ArgRows* found) {
  constexpr int kN = kLanes<Accumulator<T>>;
  const auto key = Broadcast(order.key);
#pragma GCC unroll 4
  for (int k = 0; k < kCount; ++k) {
    auto x = LoadVec(from + k * kN);
    if constexpr (Integer<T>) x ^= key;
    else x *= key;
    const ArgRows better = x > values[k];
    found[k] = better ? i - ArgRows{} : found[k];
    values[k] = better ? x : values[k];
  }
}

/// Rows [0, rows) of `columns` elements, from[row * stride + column * apart]: the better ones, and in `found` their rows.
template <class T>
[[gnu::always_inline]] inline void SearchTile(const ExtremeOf<T> order, const T* __restrict from, int64_t stride, int64_t apart, int32_t rows,
                                              int64_t columns, Accumulator<T>* __restrict value, int32_t* __restrict found) {
  for (int32_t i = 0; i < rows; ++i, from += stride) {
    int64_t j = 0;
    if constexpr (kChoosesVecs<T>) {
      constexpr int kN = kLanes<Accumulator<T>>;
      for (; apart == 1 && j + kN <= columns; j += kN) {
        Vec<Accumulator<T>> values;
        ArgRows rows_found;
        std::memcpy(&values, value + j, sizeof values);
        std::memcpy(&rows_found, found + j, sizeof rows_found);
        TakeBetter<1>(order, from + j, i, &values, &rows_found);
        std::memcpy(value + j, &values, sizeof values);
        std::memcpy(found + j, &rows_found, sizeof rows_found);
      }
    }
    for (; j < columns; ++j) {
      const auto x = order.Key(WidenOne<Accumulator<T>>(from[j * apart]));
      found[j] ^= (found[j] ^ i) & -static_cast<int32_t>(x > value[j]);
      value[j] = x > value[j] ? x : value[j];
    }
  }
}
/// The same of kColumns, in registers.
template <int kColumns, class T>
void SearchTileOf(const ExtremeOf<T> order, const T* from, int64_t stride, int64_t apart, int32_t rows, Accumulator<T>* value, int32_t* found) {
  if constexpr (kChoosesVecs<T> && kColumns > 1) {
    if (apart == 1) {
      constexpr int kCount = kColumns / kLanes<Accumulator<T>>;
      Vec<Accumulator<T>> values[kCount];
      ArgRows rows_found[kCount];
      std::memcpy(values, value, sizeof values);
      std::memcpy(rows_found, found, sizeof rows_found);
      for (int32_t i = 0; i < rows; ++i, from += stride) TakeBetter<kCount>(order, from, i, values, rows_found);
      std::memcpy(value, values, sizeof values);
      std::memcpy(found, rows_found, sizeof rows_found);
      return;
    }
  }
  Accumulator<T> values[kColumns];
  int32_t rows_found[kColumns];
  std::copy_n(value, kColumns, values);
  std::copy_n(found, kColumns, rows_found);
  SearchTile(order, from, stride, apart, rows, kColumns, values, rows_found);
  std::copy_n(values, kColumns, value);
  std::copy_n(rows_found, kColumns, found);
}

/// Rows [begin, end) of `columns` elements, from[row * stride] on. False where the run of `workers` is to end.
template <class T>
bool SearchRows(const ExtremeOf<T> order, const T* from, int64_t stride, int64_t begin, int64_t end, int64_t columns, ArgBest<T>& best,
                const Workers& workers) {
  int32_t found[ArgBest<T>::kMost];
  return ForTiles(workers, end - begin, std::max<int64_t>(2 * kItemsBetweenLooks / columns, 1), [&](int64_t first, int64_t last) {
    const T* rows = from + (begin + first) * stride;
    const auto count = static_cast<int32_t>(last - first);
    std::fill_n(found, columns, -1);
    if (columns == 1) SearchTileOf<1>(order, rows, stride, 1, count, best.value, found);
    else if (columns == kArgLanes) SearchTileOf<kArgLanes>(order, rows, stride, 1, count, best.value, found);
    else SearchTile(order, rows, stride, 1, count, columns, best.value, found);
    for (int64_t j = 0; j < columns; ++j) best.position[j] = found[j] < 0 ? best.position[j] : begin + first + found[j];
  });
}

/// The same of rows of `inner` elements that lie one after another, of the columns from `column` on. Several narrow rows are searched as one,
/// each for itself, so that registers are full.
template <class T>
bool SearchBox(const ExtremeOf<T> order, const T* in, int64_t inner, int64_t begin, int64_t end, int64_t column, int64_t columns, ArgBest<T>& best,
               const Workers& workers) {
  const int64_t together = columns == inner ? kArgLanes / inner : 0, lines = together < 2 ? 0 : (end - begin) / together;
  if (lines > 1) {
    const int64_t lanes = together * inner;
    ArgBest<T> lane(lanes);
    const T* from = in + begin * inner;
    if (!SearchRows(order, from, lanes, 0, lines, lanes, lane, workers)) return false;
    const int64_t left = (end - begin - lines * together) * inner;
    if (left > 0 && !SearchRows(order, from, lanes, lines, lines + 1, left, lane, workers)) return false;
    if (inner == 1) {
      Accumulator<T> most = lane.value[0];
#pragma omp simd reduction(max : most)
      for (int64_t l = 1; l < lanes; ++l) most = std::max(most, lane.value[l]);
      int64_t first = std::numeric_limits<int64_t>::max();
#pragma omp simd reduction(min : first)
      for (int64_t l = 0; l < lanes; ++l) first = std::min(first, lane.value[l] == most ? lane.position[l] * together + l : first);
      best.Take(0, most, begin + first);
      return true;
    }
    for (int64_t l = 0, t = 0, j = 0; l < lanes; ++l) {
      lane.position[l] = begin + lane.position[l] * together + t;
      if (++j == inner) ++t, j = 0;
    }
    for (int64_t most = together; most > 1;) {
      const int64_t kept = DivideUp(most, 2);
      for (int64_t l = 0; l < (most - kept) * inner; ++l) lane.Take(l, lane.value[l + kept * inner], lane.position[l + kept * inner]);
      most = kept;
    }
    for (int64_t j = 0; j < inner; ++j) best.Take(j, lane.value[j], lane.position[j]);
    return true;
  }
  return SearchRows(order, in + column, inner, begin, end, columns, best, workers);
}

/// How outputs and rows of [outer, size, inner] are cut, by size alone.
struct ArgTasks {
  int64_t columns;  // outputs of a task
  int64_t parts;    // of the rows, where outputs alone make few tasks; then a task has all columns of a part
  int64_t size, inner;

  ArgTasks(int64_t outer, int64_t size, int64_t inner, int64_t element_bytes) : columns(1), parts(1), size(size), inner(inner) {
    // Processors do not fetch short runs of a row ahead.
    constexpr int64_t kTaskElements = 32768, kRunBytes = 1024, kMostParts = 16, kLeastRows = 64;
    if (outer == 0) return;
    columns = std::max(kTaskElements / size, std::min(inner, kRunBytes / element_bytes));
    if (DivideUp(outer * inner, columns) >= kMostParts) return;
    // (Of few rows the results of the parts would be as many as the elements.)
    parts = std::max<int64_t>(std::min({size * inner / kTaskElements, size / kLeastRows, kMostParts}), 1);
  }
  /// For a position and an accumulator of at most eight bytes each.
  int64_t ScratchBytes() const { return parts == 1 ? 0 : parts * inner * 16; }
};

/// kArgLanes outputs of an axis of `size` elements, the last one: they lie side by side in registers.
template <class T>
void SearchShortRows(const ExtremeOf<T> order, const T* in, int64_t size, ArgBest<T>& best) {
  int32_t found[kArgLanes] = {};
  SearchTileOf<kArgLanes>(order, in, 1, size, static_cast<int32_t>(size), best.value, found);
  std::copy_n(found, kArgLanes, best.position);
}

/// in is [outer, size, inner], T a float or an unsigned integer. Writes the outputs [begin, end) of [outer, inner]: where along `size` the
/// best element is, of equals the first. Only elements better than the worst finite one count, and NaN is none of them; where there is
/// none, the position is 0. Leaves when the run of `workers` is to end.
template <class T>
void ArgExtreme(const ExtremeOf<T> order, const T* in, const ArgTasks& cut, int64_t begin, int64_t end, const Positions& out, const Workers& workers) {
  constexpr int64_t kShort = 4 * kArgLanes;
  if (cut.inner == 1 && cut.size <= kShort) {
    for (; end - begin >= kArgLanes; begin += kArgLanes) {
      ArgBest<T> best(kArgLanes);
      SearchShortRows(order, in + begin * cut.size, cut.size, best);
      out.Store(begin, best.position, kArgLanes);
    }
  }
  int64_t row = begin / cut.inner, column = begin % cut.inner;
  while (begin < end) {
    const int64_t columns = std::min({ArgBest<T>::kMost, cut.inner - column, end - begin});
    ArgBest<T> best(columns);
    if (!SearchBox(order, in + row * cut.size * cut.inner, cut.inner, 0, cut.size, column, columns, best, workers)) return;
    out.Store(begin, best.position, columns);
    begin += columns;
    column += columns;
    if (column == cut.inner) ++row, column = 0;
  }
}

/// The same of all outputs, a row of `outer` after another, each in cut.parts parts. `scratch` has cut.ScratchBytes().
template <class T>
void ArgExtremeInParts(const ExtremeOf<T> order, const T* in, int64_t outer, const ArgTasks& cut, std::byte* scratch, const Positions& out,
                       Workers& workers) {
  const int64_t rows = DivideUp(cut.size, cut.parts), parts = DivideUp(cut.size, rows), inner = cut.inner;
  auto* const positions = reinterpret_cast<int64_t*>(scratch);
  auto* const values = reinterpret_cast<Accumulator<T>*>(positions + cut.parts * inner);
  const auto each = [&](const auto& body) {
    for (int64_t column = 0; column < inner; column += ArgBest<T>::kMost) body(column, std::min(ArgBest<T>::kMost, inner - column));
  };
  for (int64_t row = 0; row < outer && !workers.Stopped(); ++row) {
    workers.For(cut.size, rows, [&](int64_t begin, int64_t end) {
      each([&](int64_t column, int64_t columns) {
        ArgBest<T> best(columns);
        if (!SearchBox(order, in + row * cut.size * inner, inner, begin, end, column, columns, best, workers)) return;
        const int64_t at = begin / rows * inner + column;
        std::copy_n(best.value, columns, values + at);
        std::copy_n(best.position, columns, positions + at);
      });
    });
    if (workers.Stopped()) return;
    each([&](int64_t column, int64_t columns) {
      ArgBest<T> best(columns);
      for (int64_t at = column; at < parts * inner; at += inner) {
        for (int64_t j = 0; j < columns; ++j) best.Take(j, values[at + j], positions[at + j]);
      }
      out.Store(row * inner + column, best.position, columns);
    });
  }
}

}  // namespace weft::kernels
