// The order of the places of a sparse tensor: a stable sort of the rows of a matrix of indices, in row-major order of some of its columns.
#pragma once

#include <algorithm>
#include <span>

#include "weft/base/status.h"
#include "weft/base/workers.h"

namespace weft::blocks {

struct SortedPlace {
  uint64_t key;
  int64_t place;  // the row of the indices
};

/// Where a column is in a key: index = low + (key >> shift & mask).
struct KeyPart {
  uint64_t low, mask;
  int shift;
};

struct PlaceOrder {
  const SortedPlace* sorted = nullptr;  // null: the places are in order as they are
  const KeyPart* parts = nullptr;       // of each column, where the keys hold all that were sorted by; null elsewhere
  int64_t at(int64_t i) const { return sorted == nullptr ? i : sorted[i].place; }
};

/// What OrderPlaces needs for so many places of so many indices.
Result<int64_t> OrderScratchBytes(int64_t count, int64_t rank);

/// The order of `count` rows of `rank` indices, any numbers, by the columns `axes`, the first of them first; rows that are equal there stay
/// in theirs. A radix sort of the columns packed into keys: each pass over the places reads and writes 16 bytes of each. `scratch`, aligned
/// for int64_t, has OrderScratchBytes and holds the order. cancelled where the run is to end.
Result<PlaceOrder> OrderPlaces(const int64_t* indices, int64_t count, int64_t rank, std::span<const int64_t> axes, std::byte* scratch,
                               Workers& workers);
/// to[i] = from[order.at(i)] for rows of `width` elements.
template <class T>
void TakeInOrder(const PlaceOrder& order, const T* from, T* to, int64_t count, int64_t width, Workers& workers) {
  workers.For(count, 1 + 65536 / (1 + width), [&](int64_t begin, int64_t end) {
    if (order.sorted == nullptr) {
      std::copy(from + begin * width, from + end * width, to + begin * width);
      return;
    }
    for (int64_t i = begin; i < end; ++i) {
      const T* row = from + order.sorted[i].place * width;
      for (int64_t c = 0; c < width; ++c) to[i * width + c] = row[c];
    }
  });
}

/// The same for the indices, where the order is that of all columns.
void TakeIndices(const PlaceOrder& order, const int64_t* from, int64_t* to, int64_t count, int64_t rank, Workers& workers);

}  // namespace weft::blocks
