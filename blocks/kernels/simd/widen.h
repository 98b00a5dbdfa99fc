// Rows of elements in the type they are computed in: half and bfloat16 as float, small integers as unsigned words that wrap.
#pragma once

#include <cstdint>
#include <cstring>
#ifdef __F16C__
#include <immintrin.h>
#endif

#include "weft/base/float16.h"

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
    if constexpr (std::is_same_v<T, bfloat16>) {
      const uint16_t* bits = &from->value;
#pragma omp simd
      for (int64_t j = 0; j < count; ++j) to[j] = __builtin_bit_cast(float, static_cast<uint32_t>(bits[j]) << 16);
      i = count;
    }
#ifdef __F16C__
    if constexpr (std::is_same_v<T, half>) {
      for (; i + 8 <= count; i += 8) _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
    }
#endif
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
    if constexpr (std::is_same_v<T, bfloat16>) {
      // To the nearest, ties to even; a NaN stays one.
      uint16_t* bits = &to->value;
#pragma omp simd
      for (int64_t j = 0; j < count; ++j) {
        const uint32_t u = __builtin_bit_cast(uint32_t, from[j]);
        const uint32_t rounded = (u + 0x7FFFu + ((u >> 16) & 1u)) >> 16;
        bits[j] = static_cast<uint16_t>((u & 0x7FFFFFFFu) > 0x7F800000u ? ((u >> 16) & 0x8000u) | 0x7FC0u : rounded);
      }
      i = count;
    }
#ifdef __F16C__
    if constexpr (std::is_same_v<T, half>) {
      for (; i + 8 <= count; i += 8) {
        const __m128i short_floats = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), short_floats);
      }
    }
#endif
    for (; i < count; ++i) to[i] = static_cast<T>(from[i]);
  }
}

}  // namespace weft::kernels
