// Rows of a table, by index: gathered, or updated. A row is a run of elements that are used together.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::kernels {

/// Integers of 2, 4 or 8 bytes.
struct IndexView {
  const void* data = nullptr;
  int bytes = 4;
  int64_t operator[](int64_t i) const {
    if (bytes == 4) return static_cast<const int32_t*>(data)[i];
    if (bytes == 8) return static_cast<const int64_t*>(data)[i];
    return static_cast<const int16_t*>(data)[i];
  }
};

/// How tuples of `depth` indices name the rows of a table: row = sum of index[k] * strides[k], where 0 <= index[k] < limits[k].
struct RowNames {
  int depth = 1;
  const int64_t *limits = nullptr, *strides = nullptr;

  /// The row that tuple i names; -1 where an index is out of range.
  int64_t Find(IndexView indices, int64_t i) const {
    if (depth == 1) {
      const int64_t index = indices[i];
      return static_cast<uint64_t>(index) < static_cast<uint64_t>(limits[0]) ? index * strides[0] : -1;
    }
    int64_t row = 0;
    for (int k = 0; k < depth; ++k) {
      const int64_t index = indices[i * depth + k];
      if (static_cast<uint64_t>(index) >= static_cast<uint64_t>(limits[k])) return -1;
      row += index * strides[k];
    }
    return row;
  }
};

/// Tables of `rows` rows of `width` elements, one after another. `outer` consecutive tables share the names of `count` rows each.
struct RowTables {
  int64_t batches = 1, outer = 1, rows = 1, count = 1, width = 1;
  int64_t sections() const { return batches * outer; }
};

/// Copies the rows named by tuples [begin, end) of sections() * count, T{} for one without a row: the first such tuple's number, or -1.
template <class T>
int64_t GatherRows(const RowTables& t, const RowNames& names, IndexView indices, const T* from, T* to, int64_t begin, int64_t end) {
  int64_t missing = -1;
  for (int64_t n = begin; n < end;) {
    const int64_t section = n / t.count, first = n - section * t.count, stop = std::min(t.count, first + end - n);
    const int64_t tuple = section / t.outer * t.count;
    const T* table = from + section * t.rows * t.width;
    for (int64_t i = first; i < stop; ++i, ++n) {
      const int64_t row = names.Find(indices, tuple + i);
      T* target = to + n * t.width;
      if (row < 0) {
        if (missing < 0) missing = tuple + i;
        std::fill_n(target, t.width, T{});
      } else if (t.width == 1) {
        *target = table[row];
      } else {
        std::copy_n(table + row * t.width, t.width, target);
      }
    }
  }
  return missing;
}

enum class RowUpdate : uint8_t { kAdd, kSubtract, kMultiply, kDivide };

/// Update i of one table is for row rows[i], none where that is -1. `step`: from update to update, the width, or 0 for one scalar.
struct RowUpdates {
  const int64_t* rows;
  int64_t count, width, step;
};

/// table[rows[i]] = updates[i] for each i in order, columns first to last - 1.
template <class T>
void ReplaceRows(T* table, const T* updates, const RowUpdates& u, int64_t first, int64_t last) {
  for (int64_t i = 0; i < u.count; ++i) {
    if (u.rows[i] < 0) continue;
    T* row = table + u.rows[i] * u.width;
    if (u.step == 0) std::fill(row + first, row + last, *updates);
    else std::copy(updates + i * u.step + first, updates + i * u.step + last, row + first);
  }
}

/// The same with table[rows[i]] op= updates[i]. A is what T is computed in. Integer division is by no zero. Instances: every number type,
/// with its Accumulator, and bool, whose sum is or and whose difference is xor; a bool has no quotient.
template <class A, class T>
void UpdateRows(RowUpdate op, A* table, const T* updates, const RowUpdates& u, int64_t first, int64_t last);

}  // namespace weft::kernels
