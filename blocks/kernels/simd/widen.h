// Rows of elements in the type they are computed in: half and bfloat16 as float, small integers as unsigned words that wrap.
#pragma once

#include <cstdint>
#include <cstring>

#include "blocks/kernels/simd/vec.h"

namespace weft::kernels {

/// One element; integers keep their value modulo the width of A.
template <class A, class T>
A WidenOne(T value) {
  if constexpr (std::is_same_v<T, bfloat16>) {
    return __builtin_bit_cast(float, static_cast<uint32_t>(__builtin_bit_cast(uint16_t, value)) << 16);
  } else {
    return static_cast<A>(value);
  }
}

/// to[i] = from[i] for i in [0, count).
template <class A, class T>
void Widen(const T* from, A* to, int64_t count) {
  if constexpr (std::is_same_v<T, A>) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  } else {
    int64_t i = 0;
    if constexpr (std::is_same_v<A, VecElement<T>>) {
      for (; i + kLanes<A> <= count; i += kLanes<A>) StoreVec(to + i, LoadVec(from + i));
    }
    for (; i < count; ++i) to[i] = WidenOne<A>(from[i]);
  }
}

/// The way back, rounding once.
template <class T, class A>
void Narrow(const A* from, T* to, int64_t count) {
  if constexpr (std::is_same_v<T, A>) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  } else {
    int64_t i = 0;
    if constexpr (std::is_same_v<A, VecElement<T>>) {
      for (; i + kLanes<A> <= count; i += kLanes<A>) StoreVec(to + i, LoadVec(from + i));
    }
    for (; i < count; ++i) to[i] = static_cast<T>(from[i]);
  }
}

}  // namespace weft::kernels
