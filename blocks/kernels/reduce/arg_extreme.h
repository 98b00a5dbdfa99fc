// Positions of the greatest or least elements.
#pragma once

#include <algorithm>
#include <cstdint>
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

/// in is [outer, size, inner], T a float or an unsigned integer. Writes the outputs [begin, end) of [outer, inner]: where along `size` the
/// best element is, of equals the first. Only elements better than the worst finite one count, and NaN is none of them; where there is
/// none, the position is 0. Leaves when the run of `workers` is to end.
template <class T>
void ArgExtreme(const ExtremeOf<T> order, const T* in, int64_t size, int64_t inner, int64_t begin, int64_t end, const Positions& out,
                const Workers& workers) {
  using A = Accumulator<T>;
  constexpr int64_t kChunk = 256;
  // The worst value that T has, which for half is not that of float.
  const A worst = WidenOne<A>(std::numeric_limits<T>::lowest());
  while (begin < end) {
    const int64_t row = begin / inner, column = begin % inner;
    const int64_t width = std::min({kChunk, inner - column, end - begin});
    const T* from = in + row * size * inner + column;
    if (width == 1) {
      A best = worst;
      int64_t position = 0;
      ForTiles(workers, size, 2 * kItemsBetweenLooks, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const A x = order.Key(WidenOne<A>(from[i * inner]));
          if (x > best) best = x, position = i;
        }
      });
      out.Store(begin, &position, 1);
    } else {
      A best[kChunk];
      int64_t position[kChunk] = {};
      std::fill(best, best + width, worst);
      ForTiles(workers, size, 2 * kItemsBetweenLooks / width, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          for (int64_t j = 0; j < width; ++j) {
            const A x = order.Key(WidenOne<A>(from[i * inner + j]));
            const bool better = x > best[j];
            best[j] = better ? x : best[j];
            position[j] = better ? i : position[j];
          }
        }
      });
      out.Store(begin, position, width);
    }
    begin += width;
  }
}

}  // namespace weft::kernels
