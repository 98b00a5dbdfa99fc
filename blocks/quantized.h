// What the quantized blocks share: a tensor of integers comes with two scalars, the numbers that its lowest and highest integer stand for.
#pragma once

#include <limits>

#include "blocks/kernels/quantize/quantize.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "weft/base/divide.h"
#include "weft/block/context.h"

namespace weft::blocks {

using kernels::LimitsOf;
using kernels::QuantizedLimits;
using kernels::QuantizedRange;

/// The two ports of a range.
template <int I>
struct RangeIn {
  In<I> min;
  In<I + 1> max;
  constexpr RangeIn(const char* min_name, const char* max_name)
      : min{min_name, "DT_FLOAT", "a scalar: the number that the lowest integer stands for"},
        max{max_name, "DT_FLOAT", "a scalar: the number that the highest integer stands for"} {}
};
/// Of the result: outputs 1 and 2.
struct RangeOut {
  Out<1> min;
  Out<2> max;
  constexpr RangeOut(const char* min_name, const char* max_name, const char* min_doc = RangeIn<0>("", "").min.doc,
                     const char* max_doc = RangeIn<0>("", "").max.doc)
      : min{min_name, "DT_FLOAT", min_doc}, max{max_name, "DT_FLOAT", max_doc} {}
};

/// Elements of a parallel piece where each costs a few operations.
inline constexpr int64_t kQuantizedGrain = 32 * 1024;
/// Slices or channels whose quantizers one task makes.
inline constexpr int64_t kSlicesTogether = kQuantizedGrain / 4;

template <int... I>
Status CheckRanges(const PlanContext& ctx, const RangeIn<I>&... ranges) {
  Status status;
  ((status = status.ok() ? CheckScalars(ctx, ranges.min, ranges.max) : std::move(status)), ...);
  return status;
}

template <int I>
QuantizedRange RangeOf(const RunContext& ctx, const RangeIn<I>& range) {
  return {ctx.in<float>(range.min)[0], ctx.in<float>(range.max)[0]};
}
/// invalid_argument where it holds nothing but one number (or is upside down, or not a number).
template <int I>
Result<QuantizedRange> WideRangeOf(const RunContext& ctx, const RangeIn<I>& ports) {
  const QuantizedRange range = RangeOf(ctx, ports);
  if (range.max > range.min) return range;
  return ctx.Error(ports.max, "needs more than ", ports.min.name, ", which is ", range.min, ", found ", range.max);
}

inline void SetRange(const RunContext& ctx, const RangeOut& ports, QuantizedRange range) {
  ctx.out<float>(ports.min)[0] = range.min;
  ctx.out<float>(ports.max)[0] = range.max;
}

/// The types that products take.
inline constexpr TypeList<qint8, quint8> kQuantizedBytes;
/// And the type that they give: integers that wrap.
inline constexpr TypeList<qint32> kQuantizedSums;
inline constexpr char kProductRanges[] =
    "Integers are counted from the one that stands for zero; sums wrap. The ends of each range must differ.";

/// An operand of a product: 8-bit integers.
struct QuantizedOperand {
  DType dtype = DType::kQUInt8;
  int64_t count = 0;
  QuantizedLimits limits() const { return LimitsOf(dtype); }

  /// Its integers, counted from that of zero.
  void Widen(const RunContext& ctx, const InputPort auto& port, QuantizedRange range, int32_t* to) const {
    const int32_t zero = kernels::ZeroOf(range, limits());
    ctx.workers().For(count, kQuantizedGrain, [&](int64_t begin, int64_t end) {
      if (dtype == DType::kQInt8) kernels::LevelsAboveZero(ctx.in<int8_t>(port).data() + begin, zero, to + begin, end - begin);
      else kernels::LevelsAboveZero(ctx.in<uint8_t>(port).data() + begin, zero, to + begin, end - begin);
    });
  }
};
Result<QuantizedOperand> OperandOf(const PlanContext& ctx, const InputPort auto& port) {
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(ctx.shape(port), port.name));
  return QuantizedOperand{ctx.dtype(port), ctx.shape(port).count()};
}

/// The range of 32-bit sums of products.
inline QuantizedRange ProductRange(const QuantizedOperand& a, QuantizedRange a_range, const QuantizedOperand& b, QuantizedRange b_range) {
  return kernels::ProductRange(a_range, a.limits(), b_range, b.limits(), LimitsOf<int32_t>());
}

/// A tensor as [outer, slices, inner], with a range for each slice along an axis; an axis of -1 makes it one slice.
struct SlicedTensor {
  int64_t outer = 1, slices = 1, inner = 1;
  int64_t rows() const { return outer * slices; }
};

/// Checks the axis and that the ends of the ranges are [slices], or scalars where there is no axis.
template <InputPort P, InputPort Min, InputPort Max, class A>
Result<SlicedTensor> PlanSlices(const PlanContext& ctx, const P& port, const Min& min, const Max& max, const A& axis_attr) {
  const Shape& shape = ctx.shape(port);
  const int64_t axis = ctx.attr(axis_attr);
  if (axis < -1 || axis >= shape.rank()) return ctx.Error(axis_attr, "needs -1 or an axis of ", port.name, " ", shape, ", found ", axis);
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(shape, port.name));
  SlicedTensor sliced{1, 1, shape.count()};
  if (axis >= 0) {
    const int at = static_cast<int>(axis);
    sliced.slices = shape[at];
    if (shape.count() > 0) sliced.outer = shape.count(0, at), sliced.inner = shape.count(at + 1, shape.rank());
    else sliced.outer = 0;
  }
  const auto check = [&](const auto& end) -> Status {
    const Shape& found = ctx.shape(end);
    const bool fits = axis < 0 ? found.scalar() : found.rank() == 1 && found[0] == sliced.slices;
    if (fits) return {};
    if (axis < 0) return ctx.Error(end, "needs a scalar, found shape ", found);
    return ctx.Error(end, "needs a number for each of the ", sliced.slices, " slices along axis ", axis, ", found shape ", found);
  };
  WEFT_RETURN_IF_ERROR(check(min));
  WEFT_RETURN_IF_ERROR(check(max));
  return sliced;
}

/// The least and the largest of some numbers; NaN is passed over.
template <class T>
struct Ends {
  using Limits = std::numeric_limits<T>;
  T min = Limits::has_infinity ? Limits::infinity() : Limits::max();
  T max = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();

  void Include(const T* from, int64_t n) {
    T low = min, high = max;
#pragma omp simd reduction(min : low) reduction(max : high)
    for (int64_t i = 0; i < n; ++i) {
      low = from[i] < low ? from[i] : low;
      high = from[i] > high ? from[i] : high;
    }
    min = low;
    max = high;
  }
};
template <class T>
Ends<T> Together(const Ends<T>* pieces, int64_t count) {
  Ends<T> all;
  for (int64_t p = 0; p < count; ++p) all = {std::min(all.min, pieces[p].min), std::max(all.max, pieces[p].max)};
  return all;
}
/// Of all of `count` numbers, in pieces, for which `pieces` has memory: EndPieces(count).
inline int64_t EndPieces(int64_t count) { return DivideUp(count, kQuantizedGrain); }
template <class T>
Ends<T> EndsOfAll(const T* from, int64_t count, Ends<T>* pieces, Workers& workers) {
  workers.For(count, kQuantizedGrain, [&](int64_t begin, int64_t end) {
    Ends<T> ends;
    ends.Include(from + begin, end - begin);
    pieces[begin / kQuantizedGrain] = ends;
  });
  return Together(pieces, EndPieces(count));
}

/// Calls row(slice, first element, count) for pieces of a sliced tensor, in parallel.
void ForSlices(const RunContext& ctx, const SlicedTensor& t, auto&& row) {
  if (t.rows() == 1) {
    ctx.workers().For(t.inner, kQuantizedGrain, [&](int64_t begin, int64_t end) { row(int64_t{0}, begin, end - begin); });
    return;
  }
  const int64_t grain = std::max<int64_t>(1, kQuantizedGrain / std::max<int64_t>(t.inner, 4));
  kernels::ForEach(ctx.workers(), t.rows(), grain, [&](int64_t r) {
    ctx.workers().For(t.inner, 2 * kQuantizedGrain, [&](int64_t begin, int64_t end) { row(r % t.slices, r * t.inner + begin, end - begin); });
  });
}

}  // namespace weft::blocks
