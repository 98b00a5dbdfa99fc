// Two operands of different shapes, element by element, after numpy's rules. The loops are found once, when the shapes are known: sizes
// of 1 vanish and neighbouring axes of one kind become one, so that few patterns are left, whatever the rank:
//   both operands whole, one of them a single element, or an inner row (element by element, or one operand standing still) inside outer
//   axes. A binary operation is a struct with `R operator()(T, T) const` and is compiled into three functions over such a row; the walk
// over the outer axes is compiled once for all operations and types.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "blocks/kernels/elementwise/elementwise.h"
#include "blocks/kernels/index/walk.h"

namespace weft::kernels {

/// z[i] = op(x[i], y[i]) for n elements; in the one-sided forms x, or y, is a single element. z may be x or y.
using RowFunction = void (*)(const void* x, const void* y, void* z, int64_t n);
struct RowFunctions {
  RowFunction both, left_stands, right_stands;
};

struct BroadcastLoops {
  enum class Inner : uint8_t { kBoth, kLeftStands, kRightStands };
  using Axis = StretchedAxis<2>;
  int64_t count = 0;  // of the result
  int64_t inner = 0;  // length of a row
  Inner kind = Inner::kBoth;
  bool x_whole = false, y_whole = false;  // the operand has every element of the result, in its order
  std::vector<Axis> outer;                // outermost first; at most 62, since each has two elements or more
};

/// The loops for operands of these sizes, which must fit together.
BroadcastLoops MakeBroadcastLoops(std::span<const int64_t> x, std::span<const int64_t> y);

/// Bytes of an element.
struct ElementSizes {
  int x, y, z;
};

/// Computes the elements [begin, end) of the result; x, y and z point at the whole operands and result.
void RunBroadcast(const BroadcastLoops& loops, const RowFunctions& rows, ElementSizes sizes, const void* x, const void* y, void* z,
                  int64_t begin, int64_t end);

// ---- the row functions of an operation ------------------------------------------------------------------------------------

/// A row of half or bfloat16 in float, a block at a time: rows(xs, ys, zs, length). Results of the same type are narrowed.
template <int XStep, int YStep, class T, class R, class Rows>
void InFloats(const T* x, const T* y, R* z, int64_t n, const Rows& rows) {
  float xs[kFloatBlock], ys[kFloatBlock];
  if constexpr (XStep == 0) Widen(x, xs, 1);
  if constexpr (YStep == 0) Widen(y, ys, 1);
  for (int64_t i = 0; i < n; i += kFloatBlock) {
    const int64_t length = std::min(kFloatBlock, n - i);
    if constexpr (XStep == 1) Widen(x + i, xs, length);
    if constexpr (YStep == 1) Widen(y + i, ys, length);
    if constexpr (std::is_same_v<R, T>) {
      float zs[kFloatBlock];
      rows(xs, ys, zs, length);
      Narrow(zs, z + i, length);
    } else {
      rows(xs, ys, z + i, length);
    }
  }
}

template <class Op, class T, class R, int XStep, int YStep>
void RowElements(const T* x, const T* y, R* z, int64_t n) {
  if constexpr (ShortFloat<T>) {
    using Z = std::conditional_t<std::is_same_v<R, T>, float, R>;
    InFloats<XStep, YStep>(x, y, z, n, RowElements<Op, float, Z, XStep, YStep>);
  } else if constexpr (XStep == 0) {
    const T left = x[0];
    if constexpr (std::is_class_v<T>) {
      for (int64_t i = 0; i < n; ++i) z[i] = Op{}(left, y[i]);
    } else {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) z[i] = Op{}(left, y[i]);
    }
  } else if constexpr (YStep == 0) {
    const T right = y[0];
    if constexpr (std::is_class_v<T>) {
      for (int64_t i = 0; i < n; ++i) z[i] = Op{}(x[i], right);
    } else {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) z[i] = Op{}(x[i], right);
    }
  } else if constexpr (std::is_class_v<T>) {
    for (int64_t i = 0; i < n; ++i) z[i] = Op{}(x[i], y[i]);
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) z[i] = Op{}(x[i], y[i]);
  }
}

template <class Op, class T, class R, int XStep, int YStep>
void Row(const void* x, const void* y, void* z, int64_t n) {
  RowElements<Op, T, R, XStep, YStep>(static_cast<const T*>(x), static_cast<const T*>(y), static_cast<R*>(z), n);
}

template <class Op, class T, class R>
inline constexpr RowFunctions kRows{Row<Op, T, R, 1, 1>, Row<Op, T, R, 0, 1>, Row<Op, T, R, 1, 0>};

}  // namespace weft::kernels
