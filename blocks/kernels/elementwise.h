// One result for each element. An operation is a struct with `T operator()(T) const`; one that Eigen computes faster over arrays (log,
// tanh) has, besides, a static `Array(const A&)` that gives the Eigen expression, used for float and double. Half and bfloat16 go
// through float. The result of an element does not depend on its position or on the number of elements.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "blocks/kernels/widen.h"
#include "weft/base/dtype.h"

namespace weft::kernels {

/// Elements that are converted to float and back at a time; small enough for the nearest cache.
inline constexpr int64_t kFloatBlock = 512;

/// Maps n elements; `to` may be `from` where the element sizes agree.
using MapFunction = void (*)(const void* from, void* to, int64_t n);

template <class Op, class T>
concept ArrayOp = (std::is_same_v<T, float> || std::is_same_v<T, double>) && requires(const Eigen::Array<T, 32, 1>& a) { Op::Array(a); };

/// Arrays of a fixed length only, so that every element takes the same vectorised path.
template <class Op, class T>
void MapArray(const T* from, T* to, int64_t n) {
  constexpr int64_t kLength = 32;
  using Block = Eigen::Array<T, kLength, 1>;
  int64_t i = 0;
  for (; i + kLength <= n; i += kLength) Eigen::Map<Block>(to + i) = Op::Array(Eigen::Map<const Block>(from + i));
  if (i == n) return;
  Block rest = Block::Ones();
  std::copy(from + i, from + n, rest.data());
  rest = Op::Array(rest).eval();
  std::copy(rest.data(), rest.data() + (n - i), to + i);
}

template <class Op, class T, class R>
void MapElements(const T* from, R* to, int64_t n) {
  if constexpr (ArrayOp<Op, T>) {
    MapArray<Op>(from, to, n);
  } else if constexpr (ShortFloat<T>) {
    float block[kFloatBlock];
    for (int64_t i = 0; i < n; i += kFloatBlock) {
      const int64_t length = std::min(kFloatBlock, n - i);
      Widen(from + i, block, length);
      if constexpr (std::is_same_v<R, T>) {
        MapElements<Op, float, float>(block, block, length);
        Narrow(block, to + i, length);
      } else {
        MapElements<Op, float, R>(block, to + i, length);
      }
    }
  } else if constexpr (Real<T> || std::is_same_v<T, bool>) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) to[i] = Op{}(from[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = Op{}(from[i]);
  }
}

template <class Op, class T, class R = T>
void Map(const void* from, void* to, int64_t n) {
  MapElements<Op>(static_cast<const T*>(from), static_cast<R*>(to), n);
}

// Complex arithmetic by its formulas, as vectorised code computes it: without the repairs for infinities that the language asks for.
template <class T>
inline T Product(const T& a, const T& b) {
  if constexpr (Complex<T>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return WrapMultiply(a, b);
  }
}

}  // namespace weft::kernels
