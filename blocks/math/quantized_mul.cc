// QuantizedMul: products of 8-bit integers in 32 bits, element by element.
#include "blocks/elementwise.h"
#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T1", "any shape"};
constexpr In<1> y{"y", "T2", "a shape that fits x: sizes equal or 1, from the last axis on"};
constexpr RangeIn<2> x_ends{"min_x", "max_x"};
constexpr RangeIn<4> y_ends{"min_y", "max_y"};
constexpr Out<0> z{"z", "Toutput", "the common shape of x and y"};
constexpr RangeOut z_ends{"min_z", "max_z"};
constexpr Attr<DType> out_type{"Toutput", "DT_QINT32", "the type of z"};

struct Factors {
  QuantizedOperand x, y;
  kernels::BroadcastLoops loops;
};
struct TimesOp {
  int32_t operator()(int32_t a, int32_t b) const { return WrapMultiply(a, b); }
};

Result<Factors> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckRanges(ctx, x_ends, y_ends));
  Factors f;
  WEFT_ASSIGN_OR_RETURN(f.x, OperandOf(ctx, x));
  WEFT_ASSIGN_OR_RETURN(f.y, OperandOf(ctx, y));
  WEFT_ASSIGN_OR_RETURN(f.loops, PlanBroadcastPorts(ctx, x, y));
  // As TensorFlow has it: nothing cannot be stretched over a vector.
  const bool stretched = ctx.shape(x) != ctx.shape(y) && f.x.count != 1 && f.y.count != 1;
  if (stretched && f.loops.count == 0) {
    return ctx.Error(y, "needs at least one element to stretch, found shapes ", ctx.shape(x), " and ", ctx.shape(y));
  }
  ctx.set_scratch((f.x.count + f.y.count) * static_cast<int64_t>(sizeof(int32_t)));
  return f;
}

constexpr auto Run = [](const Factors& f, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const QuantizedRange x_range, WideRangeOf(ctx, x_ends));
  WEFT_ASSIGN_OR_RETURN(const QuantizedRange y_range, WideRangeOf(ctx, y_ends));
  int32_t *wide_x = ctx.scratch<int32_t>().data(), *wide_y = wide_x + f.x.count;
  f.x.Widen(ctx, x, x_range, wide_x);
  f.y.Widen(ctx, y, y_range, wide_y);
  int32_t* to = ctx.out<int32_t>(z).data();
  ctx.workers().For(f.loops.count, kQuantizedGrain, [&](int64_t begin, int64_t end) {
    kernels::RunBroadcast(f.loops, kernels::kRows<TimesOp, int32_t, int32_t>, {4, 4, 4}, wide_x, wide_y, to, begin, end);
  });
  SetRange(ctx, z_ends, ProductRange(f.x, x_range, f.y, y_range));
  return {};
};
}  // namespace

BlockDef QuantizedMul() {
  return Block("QuantizedMul", "Multiplies quantized integers, element by element.")
      .Details(kProductRanges)
      .Ports(x, y, x_ends.min, x_ends.max, y_ends.min, y_ends.max, z, z_ends.min, z_ends.max)
      .Types("T1", kQuantizedBytes)
      .Types("T2", kQuantizedBytes)
      .Attrs(out_type)
      .Types("Toutput", kQuantizedSums)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
