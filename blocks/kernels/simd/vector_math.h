// Mathematical functions of whole registers of floats or doubles, one source for every level of processors: right to 4 units in the last
// place at most (README.md says which to how many), special values as in <cmath>. No lane depends on the others. Each is a struct: `Of` of a
// register, `One` of any number.
#pragma once

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

}  // namespace weft::kernels
