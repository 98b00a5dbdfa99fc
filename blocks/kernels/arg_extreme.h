// Positions of the greatest or least elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "blocks/kernels/widen.h"

namespace weft::kernels {

/// Whether x displaces `best`. A NaN never does, and nothing displaces itself, so that the first of equals stays.
struct Greater {
  template <class T>
  static bool Better(T x, T best) { return x > best; }
  template <class T>
  static T Worst() { return std::numeric_limits<T>::lowest(); }
};
struct Less {
  template <class T>
  static bool Better(T x, T best) { return x < best; }
  template <class T>
  static T Worst() { return std::numeric_limits<T>::max(); }
};

/// in is [outer, size, inner]. Writes the outputs [begin, end) of [outer, inner]: where along `size` the best element is, as an I (that
/// wraps). Only elements better than the worst finite one count; where there is none, the position is 0.
template <class Order, class I, class T>
void ArgExtreme(const T* in, int64_t size, int64_t inner, int64_t begin, int64_t end, I* out) {
  using A = std::conditional_t<ShortFloat<T>, float, T>;
  constexpr int64_t kChunk = 256;
  while (begin < end) {
    const int64_t row = begin / inner, column = begin % inner;
    const int64_t width = std::min({kChunk, inner - column, end - begin});
    const T* from = in + row * size * inner + column;
    if (width == 1) {
      // The worst value that T has, which for half is not that of float.
      A best = WidenOne<A>(Order::template Worst<T>());
      int64_t position = 0;
      for (int64_t i = 0; i < size; ++i) {
        const A x = WidenOne<A>(from[i * inner]);
        if (Order::Better(x, best)) best = x, position = i;
      }
      out[begin] = static_cast<I>(position);
    } else {
      A best[kChunk];
      int64_t position[kChunk] = {};
      std::fill(best, best + width, WidenOne<A>(Order::template Worst<T>()));
      for (int64_t i = 0; i < size; ++i) {
        for (int64_t j = 0; j < width; ++j) {
          const A x = WidenOne<A>(from[i * inner + j]);
          const bool better = Order::Better(x, best[j]);
          best[j] = better ? x : best[j];
          position[j] = better ? i : position[j];
        }
      }
      for (int64_t j = 0; j < width; ++j) out[begin + j] = static_cast<I>(position[j]);
    }
    begin += width;
  }
}

}  // namespace weft::kernels
