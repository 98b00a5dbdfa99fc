// One result for each element. An operation is a struct with `T operator()(T) const`; one that Eigen computes faster over arrays (log,
// tanh) has, besides, a static `Array(const A&)` that gives the Eigen expression, used for float and double. Half and bfloat16 go
// through float. The result of an element does not depend on its position or on the number of elements.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
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

/// Arrays of fixed lengths only, so that every element takes the same vectorised path.
template <class Op, class T>
void MapArray(const T* from, T* to, int64_t n) {
  constexpr int64_t kLength = 32, kPacket = std::max<int64_t>(EIGEN_MAX_STATIC_ALIGN_BYTES / sizeof(T), 4);
  using Block = Eigen::Array<T, kLength, 1>;
  using Packet = Eigen::Array<T, kPacket, 1>;
  int64_t i = 0;
  for (; i + kLength <= n; i += kLength) Eigen::Map<Block>(to + i) = Op::Array(Eigen::Map<const Block>(from + i));
  for (; i + kPacket <= n; i += kPacket) Eigen::Map<Packet>(to + i) = Op::Array(Eigen::Map<const Packet>(from + i));
  if (i == n) return;
  Packet rest = Packet::Constant(from[i]);
  if (n - i == 1) {
    rest = Op::Array(rest).eval();
    to[i] = rest[0];
    return;
  }
  for (int64_t j = 1; j < n - i; ++j) rest[j] = from[i + j];
  rest = Op::Array(rest).eval();
  for (int64_t j = 0; j < n - i; ++j) to[i + j] = rest[j];
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

/// Complex numbers by the formula, as vectorised code computes it: without the repairs for infinities that the language asks for.
template <class T>
inline T Product(const T& a, const T& b) {
  if constexpr (Complex<T>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return WrapMultiply(a, b);
  }
}

/// Complex numbers by the formula where nothing overflows or vanishes on the way, else as the language has it. Integers towards zero, the
/// lowest by -1 giving itself; up to 32 bits through floats that are wide enough to be exact, which vectorises. `b` is no integer 0.
template <class T>
inline T Quotient(const T& a, const T& b) {
  if constexpr (Complex<T>) {
    const double c = b.real(), d = b.imag(), norm = c * c + d * d;
    if (norm > 1e-280 && norm < 1e280) {
      using Part = typename T::value_type;
      const double re = (a.real() * c + a.imag() * d) / norm, im = (a.imag() * c - a.real() * d) / norm;
      if (std::isfinite(re) && std::isfinite(im)) return T(static_cast<Part>(re), static_cast<Part>(im));
    }
    return a / b;
  } else if constexpr (Integer<T>) {
    constexpr bool kSigned = std::is_signed_v<T>;
    const bool negates = kSigned && b == static_cast<T>(-1);
    const T divisor = negates ? T{1} : b;
    T quotient;
    if constexpr (sizeof(T) <= 2) quotient = static_cast<T>(static_cast<int32_t>(static_cast<float>(a) / static_cast<float>(divisor)));
    else if constexpr (sizeof(T) == 4) quotient = static_cast<T>(static_cast<double>(a) / static_cast<double>(divisor));
    else quotient = a / divisor;
    return negates ? WrapSubtract(T{0}, quotient) : quotient;
  } else {
    return a / b;
  }
}

}  // namespace weft::kernels
