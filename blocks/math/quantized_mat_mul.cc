// QuantizedMatMul: products of matrices of 8-bit integers in 32 bits.
#include "blocks/kernels/gemm/gemm.h"
#include "blocks/quantized.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> a{"a", "T1", "[rows, inner]; [inner, rows] where transpose_a"};
constexpr In<1> b{"b", "T2", "[inner, columns]; [columns, inner] where transpose_b"};
constexpr In<2> min_a{"min_a", "DT_FLOAT", kMinDoc};
constexpr In<3> max_a{"max_a", "DT_FLOAT", kMaxDoc};
constexpr In<4> min_b{"min_b", "DT_FLOAT", kMinDoc};
constexpr In<5> max_b{"max_b", "DT_FLOAT", kMaxDoc};
constexpr Out<0> out{"out", "Toutput", "[rows, columns]"};
constexpr Out<1> min_out{"min_out", "DT_FLOAT", kMinDoc};
constexpr Out<2> max_out{"max_out", "DT_FLOAT", kMaxDoc};
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
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, min_a, max_a, min_b, max_b));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(sa, a.name));
  WEFT_RETURN_IF_ERROR(CheckNotAbsurd(sb, b.name));
  const bool ta = ctx.attr(transpose_a), tb = ctx.attr(transpose_b);
  if (sa[!ta] != sb[tb]) return ctx.Error(b, "needs the inner size of a, ", sa[!ta], ", found ", sb[tb], "; a is ", sa, ", b is ", sb);
  Matrices m{OperandOf(ctx, a), OperandOf(ctx, b), {}, 0};
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
  const QuantizedRange a_range = RangeOf(ctx, min_a, max_a), b_range = RangeOf(ctx, min_b, max_b);
  WEFT_RETURN_IF_ERROR(CheckNotEmpty(ctx, a_range, min_a, max_a));
  WEFT_RETURN_IF_ERROR(CheckNotEmpty(ctx, b_range, min_b, max_b));
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
  SetRange(ctx, min_out, max_out, ProductRange(m.a, a_range, m.b, b_range));
  return {};
};
}  // namespace

BlockDef QuantizedMatMul() {
  return Block("QuantizedMatMul", "Multiplies two matrices of quantized integers.")
      .Details(kProductRanges)
      .Ports(a, b, min_a, max_a, min_b, max_b, out, min_out, max_out)
      .Types("T1", kQuantizedBytes)
      .Types("T2", kQuantizedBytes)
      .Attrs(out_type)
      .Types("Toutput", kQuantizedSums)
      .Attrs(transpose_a, transpose_b, activation_type)
      .Types("Tactivation", kQuantized)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
