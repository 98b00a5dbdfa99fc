// QuantizedMatMul and QuantizedMul: products of 8-bit integers in 32 bits, of matrices and element by element.
#include "blocks/elementwise.h"
#include "blocks/kernels/gemm/gemm.h"
#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> a{"a", "T1", "[rows, inner]; [inner, rows] where transpose_a"};
constexpr In<1> b{"b", "T2", "[inner, columns]; [columns, inner] where transpose_b"};
constexpr RangeIn<2> a_ends{"min_a", "max_a"};
constexpr RangeIn<4> b_ends{"min_b", "max_b"};
constexpr Out<0> out{"out", "Toutput", "[rows, columns]"};
constexpr RangeOut out_ends{"min_out", "max_out"};
constexpr Attr<DType> out_type{"Toutput", "DT_QINT32", "the type of out"};
constexpr Attr<DType> activation_type{"Tactivation", "DT_QUINT8", "the type that an activation function would give; changes nothing"};
constexpr Attr<bool> transpose_a{"transpose_a", "false", "take a transposed"};
constexpr Attr<bool> transpose_b{"transpose_b", "false", "take b transposed"};

struct Matrices {
  QuantizedOperand a, b;
  kernels::Product<int32_t> product;  // but for the addresses
  int64_t scratch = 0;                // bytes of the product's
};

Result<Matrices> Plan(PlanContext& ctx) {
  const Shape &sa = ctx.shape(a), &sb = ctx.shape(b);
  if (sa.rank() != 2) return ctx.Error(a, "needs a matrix, found shape ", sa);
  if (sb.rank() != 2) return ctx.Error(b, "needs a matrix, found shape ", sb);
  WEFT_RETURN_IF_ERROR(CheckRanges(ctx, a_ends, b_ends));
  Matrices m;
  WEFT_ASSIGN_OR_RETURN(m.a, OperandOf(ctx, a));
  WEFT_ASSIGN_OR_RETURN(m.b, OperandOf(ctx, b));
  const bool ta = ctx.attr(transpose_a), tb = ctx.attr(transpose_b);
  if (sa[!ta] != sb[tb]) return ctx.Error(b, "needs the inner size of a, ", sa[!ta], ", found ", sb[tb], "; a is ", sa, ", b is ", sb);
  m.product.rows = sa[ta];
  m.product.columns = m.product.out_stride = sb[!tb];
  m.product.inner = sa[!ta];
  m.product.left = {nullptr, sa[1], 1};
  m.product.right = {nullptr, sb[1], 1};
  if (ta) m.product.left = m.product.left.Transposed();
  if (tb) m.product.right = m.product.right.Transposed();
  const int64_t dims[] = {m.product.rows, m.product.columns};
  WEFT_RETURN_IF_ERROR(ctx.set_checked(out, dims, out));
  m.scratch = kernels::ScratchOf(m.product).bytes();
  ctx.set_scratch(m.scratch + (m.a.count + m.b.count) * static_cast<int64_t>(sizeof(int32_t)));
  return m;
}

constexpr auto Run = [](const Matrices& m, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const QuantizedRange a_range, WideRangeOf(ctx, a_ends));
  WEFT_ASSIGN_OR_RETURN(const QuantizedRange b_range, WideRangeOf(ctx, b_ends));
  kernels::Product<int32_t> product = m.product;
  const auto scratch = ctx.scratch<std::byte>();
  int32_t* wide = scratch.empty() ? nullptr : reinterpret_cast<int32_t*>(scratch.data() + m.scratch);
  if (m.scratch > 0) product.scratch = scratch.data();
  m.a.Widen(ctx, a, a_range, wide);
  m.b.Widen(ctx, b, b_range, wide + m.a.count);
  product.left.data = wide;
  product.right.data = wide + m.a.count;
  product.out = ctx.out<int32_t>(out).data();
  kernels::MatMul(product, ctx.workers());
  SetRange(ctx, out_ends, ProductRange(m.a, a_range, m.b, b_range));
  return {};
};

constexpr In<0> x{"x", "T1", "any shape"};
constexpr In<1> y{"y", "T2", "a shape that fits x: sizes equal or 1, from the last axis on"};
constexpr RangeIn<2> x_ends{"min_x", "max_x"};
constexpr RangeIn<4> y_ends{"min_y", "max_y"};
constexpr Out<0> z{"z", "Toutput", "the common shape of x and y"};
constexpr RangeOut z_ends{"min_z", "max_z"};
constexpr Attr<DType> product_type{"Toutput", "DT_QINT32", "the type of z"};

struct Factors {
  QuantizedOperand x, y;
  kernels::BroadcastLoops loops;
};
struct TimesOp {
  int32_t operator()(int32_t a, int32_t b) const { return WrapMultiply(a, b); }
};

Result<Factors> PlanFactors(PlanContext& ctx) {
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

constexpr auto RunFactors = [](const Factors& f, RunContext& ctx) -> Status {
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

BlockDef QuantizedMatMul() {
  return Block("QuantizedMatMul", "Multiplies two matrices of quantized integers.")
      .Details(kProductRanges)
      .Ports(a, b, a_ends.min, a_ends.max, b_ends.min, b_ends.max, out, out_ends.min, out_ends.max)
      .Types("T1", kQuantizedBytes).Types("T2", kQuantizedBytes).Attrs(out_type).Types("Toutput", kQuantizedSums)
      .Attrs(transpose_a, transpose_b, activation_type).Types("Tactivation", kQuantized)
      .Kernel(Plan, Run);
}

BlockDef QuantizedMul() {
  return Block("QuantizedMul", "Multiplies quantized integers, element by element.")
      .Details(kProductRanges)
      .Ports(x, y, x_ends.min, x_ends.max, y_ends.min, y_ends.max, z, z_ends.min, z_ends.max)
      .Types("T1", kQuantizedBytes).Types("T2", kQuantizedBytes).Attrs(product_type).Types("Toutput", kQuantizedSums)
      .Kernel(PlanFactors, RunFactors);
}

}  // namespace weft::blocks
