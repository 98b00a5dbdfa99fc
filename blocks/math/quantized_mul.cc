// QuantizedMul: products of 8-bit integers in 32 bits, element by element.
#include "blocks/elementwise.h"
#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T1", "any shape"};
constexpr In<1> y{"y", "T2", "a shape that fits x: sizes equal or 1, from the last axis on"};
constexpr In<2> min_x{"min_x", "DT_FLOAT", kMinDoc};
constexpr In<3> max_x{"max_x", "DT_FLOAT", kMaxDoc};
constexpr In<4> min_y{"min_y", "DT_FLOAT", kMinDoc};
constexpr In<5> max_y{"max_y", "DT_FLOAT", kMaxDoc};
constexpr Out<0> z{"z", "Toutput", "the common shape of x and y"};
constexpr Out<1> min_z{"min_z", "DT_FLOAT", kMinDoc};
constexpr Out<2> max_z{"max_z", "DT_FLOAT", kMaxDoc};
constexpr Attr<DType> out_type{"Toutput", "DT_QINT32", "the type of z"};

struct Factors {
  QuantizedOperand x, y;
  kernels::BroadcastLoops loops;
};
struct TimesOp {
  int32_t operator()(int32_t a, int32_t b) const { return WrapMultiply(a, b); }
};

Result<Factors> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, min_x, max_x, min_y, max_y));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(ctx.shape(x), x.name));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(ctx.shape(y), y.name));
  Factors f{OperandOf(ctx, x), OperandOf(ctx, y), {}};
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
  const QuantizedRange x_range = RangeOf(ctx, min_x, max_x), y_range = RangeOf(ctx, min_y, max_y);
  WEFT_RETURN_IF_ERROR(CheckNotEmpty(ctx, x_range, min_x, max_x));
  WEFT_RETURN_IF_ERROR(CheckNotEmpty(ctx, y_range, min_y, max_y));
  int32_t *wide_x = ctx.scratch<int32_t>().data(), *wide_y = wide_x + f.x.count;
  f.x.Widen(ctx, x, x_range, wide_x);
  f.y.Widen(ctx, y, y_range, wide_y);
  int32_t* to = ctx.out<int32_t>(z).data();
  ctx.workers().For(f.loops.count, kQuantizedGrain, [&](int64_t begin, int64_t end) {
    kernels::RunBroadcast(f.loops, kernels::kRows<TimesOp, int32_t, int32_t>, {4, 4, 4}, wide_x, wide_y, to, begin, end);
  });
  SetRange(ctx, min_z, max_z, ProductRange(f.x, x_range, f.y, y_range));
  return {};
};
}  // namespace

BlockDef QuantizedMul() {
  return Block("QuantizedMul", "Multiplies quantized integers, element by element.")
      .Details(kProductRanges)
      .Ports(x, y, min_x, max_x, min_y, max_y, z, min_z, max_z)
      .Types("T1", kQuantizedBytes)
      .Types("T2", kQuantizedBytes)
      .Attrs(out_type)
      .Types("Toutput", kQuantizedSums)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
