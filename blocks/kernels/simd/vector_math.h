// Mathematical functions of whole vectors, from the C library's vector mathematics (libmvec): some ten times faster than element by
// element, right to 4 units in the last place, special values as in <cmath>. No lane depends on the others. Where there is no such
// library, the same vectors go through <cmath>.
//
// WEFT_VECTOR_FUNCTION(Sin, sin) makes a struct Sin: `Of` of a vector of floats or doubles, `One` of any number.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "blocks/kernels/index/broadcast.h"
#include "blocks/kernels/simd/vec.h"

#if defined(__x86_64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#define WEFT_HAS_VECTOR_LIBRARY
#endif
#endif

// How the library marks functions of vectors of doubles and of floats, as wide as those of vec.h.
#if defined(__AVX512F__)
#define WEFT_DOUBLES_MARK eN8
#define WEFT_FLOATS_MARK eN16
#elif defined(__AVX2__)
#define WEFT_DOUBLES_MARK dN4
#define WEFT_FLOATS_MARK dN8
#elif defined(__AVX__)
#define WEFT_DOUBLES_MARK cN4
#define WEFT_FLOATS_MARK cN8
#else
#define WEFT_DOUBLES_MARK bN2
#define WEFT_FLOATS_MARK bN4
#endif

namespace weft::kernels {

using Doubles = Vec<double>;
using Floats = Vec<float>;

#define WEFT_JOIN_EXPANDED(mark, operands, function) _ZGV##mark##operands##_##function
#define WEFT_JOIN(mark, operands, function) WEFT_JOIN_EXPANDED(mark, operands, function)

#ifdef WEFT_HAS_VECTOR_LIBRARY
#define WEFT_VECTOR_FUNCTION(Name, function)                                                                \
  extern "C" Doubles WEFT_JOIN(WEFT_DOUBLES_MARK, v, function)(Doubles) noexcept;                           \
  extern "C" Floats WEFT_JOIN(WEFT_FLOATS_MARK, v, function##f)(Floats) noexcept;                           \
  struct Name {                                                                                             \
    static Doubles Of(Doubles a) { return WEFT_JOIN(WEFT_DOUBLES_MARK, v, function)(a); }                   \
    static Floats Of(Floats a) { return WEFT_JOIN(WEFT_FLOATS_MARK, v, function##f)(a); }                   \
    template <class T>                                                                                      \
    static T One(const T& a) { return std::function(a); }                                                   \
  }
#define WEFT_VECTOR_FUNCTION_OF_TWO(Name, function)                                                         \
  extern "C" Doubles WEFT_JOIN(WEFT_DOUBLES_MARK, vv, function)(Doubles, Doubles) noexcept;                 \
  extern "C" Floats WEFT_JOIN(WEFT_FLOATS_MARK, vv, function##f)(Floats, Floats) noexcept;                  \
  struct Name {                                                                                             \
    static Doubles Of(Doubles a, Doubles b) { return WEFT_JOIN(WEFT_DOUBLES_MARK, vv, function)(a, b); }    \
    static Floats Of(Floats a, Floats b) { return WEFT_JOIN(WEFT_FLOATS_MARK, vv, function##f)(a, b); }     \
    template <class T>                                                                                      \
    static T One(const T& a, const T& b) { return std::function(a, b); }                                    \
  }
#else
#define WEFT_VECTOR_FUNCTION(Name, function)                                                                \
  struct Name {                                                                                             \
    template <class V>                                                                                      \
    static V Of(V a) {                                                                                      \
      for (size_t i = 0; i < sizeof(V) / sizeof(a[0]); ++i) a[i] = std::function(a[i]);                     \
      return a;                                                                                             \
    }                                                                                                       \
    template <class T>                                                                                      \
    static T One(const T& a) { return std::function(a); }                                                   \
  }
#define WEFT_VECTOR_FUNCTION_OF_TWO(Name, function)                                                         \
  struct Name {                                                                                             \
    template <class V>                                                                                      \
    static V Of(V a, V b) {                                                                                 \
      for (size_t i = 0; i < sizeof(V) / sizeof(a[0]); ++i) a[i] = std::function(a[i], b[i]);               \
      return a;                                                                                             \
    }                                                                                                       \
    template <class T>                                                                                      \
    static T One(const T& a, const T& b) { return std::function(a, b); }                                    \
  }
#endif

namespace vectors {
WEFT_VECTOR_FUNCTION(Exp, exp);
WEFT_VECTOR_FUNCTION(Expm1, expm1);
WEFT_VECTOR_FUNCTION(Log, log);
WEFT_VECTOR_FUNCTION(Log1p, log1p);
WEFT_VECTOR_FUNCTION(Sin, sin);
WEFT_VECTOR_FUNCTION(Cos, cos);
WEFT_VECTOR_FUNCTION(Tan, tan);
WEFT_VECTOR_FUNCTION(Asin, asin);
WEFT_VECTOR_FUNCTION(Acos, acos);
WEFT_VECTOR_FUNCTION(Atan, atan);
WEFT_VECTOR_FUNCTION(Sinh, sinh);
WEFT_VECTOR_FUNCTION(Cosh, cosh);
WEFT_VECTOR_FUNCTION(Tanh, tanh);
WEFT_VECTOR_FUNCTION_OF_TWO(Pow, pow);
WEFT_VECTOR_FUNCTION_OF_TWO(Atan2, atan2);

/// By the processor's own instruction, which std::sqrt in a loop does not become (it reports errors).
struct Sqrt {
#if defined(__AVX512F__)
  static Doubles Of(Doubles a) { return _mm512_maskz_sqrt_pd(0xFF, a); }
  static Floats Of(Floats a) { return _mm512_maskz_sqrt_ps(0xFFFF, a); }
#elif defined(__AVX__)
  static Doubles Of(Doubles a) { return _mm256_sqrt_pd(a); }
  static Floats Of(Floats a) { return _mm256_sqrt_ps(a); }
#else
  template <class V>
  static V Of(V a) {
    for (size_t i = 0; i < sizeof(V) / sizeof(a[0]); ++i) a[i] = std::sqrt(a[i]);
    return a;
  }
#endif
  template <class T>
  static T One(const T& a) { return std::sqrt(a); }
};
}  // namespace vectors

/// An operation for RunMap: F of floats and doubles by vectors, and of other numbers one by one.
template <class F>
struct VectorOp {
  static constexpr int kCost = 4;
  template <class V>
  static V Of(V a) { return F::Of(a); }
  template <class T>
  T operator()(const T& a) const { return F::One(a); }
};

/// z[i] = F(x[i], y[i]) for n elements; a step of 0 means a single element. Every element goes through a whole vector.
template <class F, class T, int XStep, int YStep>
void VectorElements(const T* x, const T* y, T* z, int64_t n) {
  if (n <= 0) return;
  Vec<T> xs = Broadcast(x[0]), ys = Broadcast(y[0]);  // lanes without an element repeat what is there
  for (int64_t i = 0; i < n; i += kLanes<T>) {
    const size_t bytes = static_cast<size_t>(std::min<int64_t>(n - i, kLanes<T>)) * sizeof(T);
    if constexpr (XStep == 1) std::memcpy(&xs, x + i, bytes);
    if constexpr (YStep == 1) std::memcpy(&ys, y + i, bytes);
    const Vec<T> zs = F::Of(xs, ys);
    std::memcpy(z + i, &zs, bytes);
  }
}

template <class F, class T, int XStep, int YStep>
void VectorRow(const void* x_row, const void* y_row, void* z_row, int64_t n) {
  const T *x = static_cast<const T*>(x_row), *y = static_cast<const T*>(y_row);
  T* z = static_cast<T*>(z_row);
  if constexpr (ShortFloat<T>) {
    InFloats<XStep, YStep>(x, y, z, n, VectorElements<F, float, XStep, YStep>);
  } else {
    VectorElements<F, T, XStep, YStep>(x, y, z, n);
  }
}

/// For RunBroadcast: F of two floating-point operands.
template <class F, class T>
inline constexpr RowFunctions kVectorRows{VectorRow<F, T, 1, 1>, VectorRow<F, T, 0, 1>, VectorRow<F, T, 1, 0>};

}  // namespace weft::kernels
