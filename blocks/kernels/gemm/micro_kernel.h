// The micro-kernel of matrix products and convolutions: a tile of the result held in registers, a few rows of the left operand times a
// vector or two of the right one, summed over a list of segments.
#pragma once

#include <complex>
#include <cstdint>

#include "blocks/kernels/simd/vec.h"
#include "weft/base/float16.h"

namespace weft::kernels::gemm {

// As many rows of two vectors as there are registers for, with three left for the operands.
#if defined(__AVX512F__)
inline constexpr int kRows = 14;
#else
inline constexpr int kRows = 6;
#endif

/// What elements of T are computed as: a real type, complex numbers being pairs of it, and integers unsigned words.
template <class T>
struct ComputedAs {
  using Type = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;
};
template <>
struct ComputedAs<float> {
  using Type = float;
};
template <>
struct ComputedAs<double> {
  using Type = double;
};
template <>
struct ComputedAs<half> : ComputedAs<float> {};
template <>
struct ComputedAs<bfloat16> : ComputedAs<float> {};
template <class A>
struct ComputedAs<std::complex<A>> : ComputedAs<A> {};
template <class T>
using Computed = typename ComputedAs<T>::Type;

/// Where the operands of some steps start.
template <class A>
struct Segment {
  const A* left;
  const A* right;
};

/// out(r, c) = or += the sum over `count` segments and the `depth` steps of each of left(r, step) * right(step, c).
template <class A>
struct MicroTile {
  const Segment<A>* segments;
  int64_t count, depth;
  int64_t left_row, left_step;  // strides of the left operand: one of them is 1
  int64_t right_step;           // columns of the right operand lie side by side
  A* out;
  int64_t out_row;
  bool add;  // to what is there
};

/// Rows [0, rows) by one or two registers of columns, in tiles of about the same height. A is float, double, uint32_t or uint64_t.
template <class A>
void RunMicroKernel(const MicroTile<A>& t, int64_t rows, int vectors);

}  // namespace weft::kernels::gemm
