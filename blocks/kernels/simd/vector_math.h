// Mathematical functions of whole registers of floats or doubles, one source for every level of processors: right to 4 units in the last
// place at most (README.md says which to how many), special values as in <cmath>. No lane depends on the others. Each is a struct: `Of` of a
// register, `One` of any number.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>

#include "blocks/kernels/index/broadcast.h"
#include "blocks/kernels/simd/arc.h"
#include "blocks/kernels/simd/erf.h"
#include "blocks/kernels/simd/exp.h"
#include "blocks/kernels/simd/log.h"
#include "blocks/kernels/simd/pow.h"
#include "blocks/kernels/simd/tanh.h"
#include "blocks/kernels/simd/trigonometric.h"
#include "blocks/kernels/simd/vec.h"

namespace weft::kernels {

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
  Vec<T> xs = Opaque(Broadcast(x[0])), ys = Opaque(Broadcast(y[0]));  // lanes without an element repeat what is there
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
