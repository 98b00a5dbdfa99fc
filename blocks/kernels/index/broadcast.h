// Two operands of different shapes, element by element, after numpy's rules: rows of elements, or of elements and one that stands still,
// inside outer axes. A binary operation is a struct with `R operator()(T, T) const`, or with a static `V Of(V, V)` alone for registers of
// floats, and is compiled into three functions over such a row; the walk over the outer axes is compiled once for all operations and types.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "blocks/kernels/elementwise/elementwise.h"
#include "blocks/kernels/index/walk.h"

namespace weft::kernels {

/// z[i] = op(x[i], y[i]) for n elements; in the one-sided forms x, or y, is a single element. z may be x or y.
using RowFunction = void (*)(const void* x, const void* y, void* z, int64_t n);
struct RowFunctions {
  RowFunction both, left_stands, right_stands;
};

struct BroadcastLoops : StretchedLoops<2> {
  bool x_whole = false, y_whole = false;  // the operand has every element of the result, in its order

  /// How RunBroadcast goes over numbers; empty where it is one row.
  std::string implementation() const { return outer.empty() ? "" : inner.size < kShortRow ? "short rows in blocks" : "rows"; }
  /// Shorter rows are gathered into blocks, so that a row function has enough to do.
  static constexpr int64_t kShortRow = 16;
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

/// Whether an operation takes registers of T alone: it has `V Of(V, V)` and no operator().
template <class Op, class T>
inline constexpr bool kByRegisters = ChainElement<T> && !std::is_invocable_v<Op, T, T>;

/// Every element goes through a whole register.
template <class Op, class T, int XStep, int YStep>
void RowRegisters(const T* x, const T* y, T* z, int64_t n) {
  if (n <= 0) return;
  Vec<T> xs = Opaque(Broadcast(x[0])), ys = Opaque(Broadcast(y[0]));  // lanes without an element repeat what is there
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) {
    if constexpr (XStep == 1) xs = LoadVec(x + i);
    if constexpr (YStep == 1) ys = LoadVec(y + i);
    StoreVec(z + i, Op::Of(xs, ys));
  }
  if (i == n) return;
  const size_t bytes = static_cast<size_t>(n - i) * sizeof(T);
  if constexpr (XStep == 1) std::memcpy(&xs, x + i, bytes);
  if constexpr (YStep == 1) std::memcpy(&ys, y + i, bytes);
  const Vec<T> zs = Opaque(Op::Of(Opaque(xs), Opaque(ys)));
  std::memcpy(z + i, &zs, bytes);
}

template <class Op, class T, class R, int XStep, int YStep>
void RowElements(const T* x, const T* y, R* z, int64_t n) {
  if constexpr (ShortFloat<T>) {
    using Z = std::conditional_t<std::is_same_v<R, T>, float, R>;
    InFloats<XStep, YStep>(x, y, z, n, RowElements<Op, float, Z, XStep, YStep>);
  } else if constexpr (kByRegisters<Op, T>) {
    RowRegisters<Op, T, XStep, YStep>(x, y, z, n);
  } else {
    // What stands still is a copy, which no store to z changes.
    const T left = XStep == 0 ? x[0] : T(), right = YStep == 0 ? y[0] : T();
    const auto element = [&](int64_t i) { z[i] = Op{}(XStep == 0 ? left : x[i], YStep == 0 ? right : y[i]); };
    if constexpr (std::is_class_v<T>) {
      for (int64_t i = 0; i < n; ++i) element(i);
    } else {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) element(i);
    }
  }
}

template <class Op, class T, class R, int XStep, int YStep>
void Row(const void* x, const void* y, void* z, int64_t n) {
  RowElements<Op, T, R, XStep, YStep>(static_cast<const T*>(x), static_cast<const T*>(y), static_cast<R*>(z), n);
}

template <class Op, class T, class R>
inline constexpr RowFunctions kRows{Row<Op, T, R, 1, 1>, Row<Op, T, R, 0, 1>, Row<Op, T, R, 1, 0>};

}  // namespace weft::kernels
