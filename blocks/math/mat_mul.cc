#include "blocks/kernels/matmul.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> a{"a", "T", "[rows, inner]; [inner, rows] where transpose_a"};
constexpr In<1> b{"b", "T", "[inner, columns]; [columns, inner] where transpose_b"};
constexpr Out<0> product{"product", "T", "[rows, columns]"};
// TensorFlow has no int8 product.
constexpr auto kMultiplied = kFloats + TypeList<int16_t, int32_t, int64_t>{} + kUnsigned + kComplexes;
constexpr Attr<bool> transpose_a{"transpose_a", "false", "take a transposed (complex elements are not conjugated)"};
constexpr Attr<bool> transpose_b{"transpose_b", "false", "take b transposed (complex elements are not conjugated)"};
constexpr Attr<bool> grad_a{"grad_a", "false", "says that a is a gradient; changes nothing"};
constexpr Attr<bool> grad_b{"grad_b", "false", "says that b is a gradient; changes nothing"};

/// Sizes of the product, and how each operand lies in memory.
struct Sizes {
  int64_t rows, columns, inner;
  int64_t a_row, a_column, b_row, b_column;  // strides of the operands as they are multiplied
};

Result<Sizes> Plan(PlanContext& ctx) {
  const Shape &sa = ctx.shape(a), &sb = ctx.shape(b);
  if (sa.rank() != 2) return ctx.Error(a, "needs a matrix, found shape ", sa);
  if (sb.rank() != 2) return ctx.Error(b, "needs a matrix, found shape ", sb);
  const bool ta = ctx.attr(transpose_a), tb = ctx.attr(transpose_b);
  Sizes sizes{sa[ta], sb[!tb], sa[!ta], sa[1], 1, sb[1], 1};
  if (ta) std::swap(sizes.a_row, sizes.a_column);
  if (tb) std::swap(sizes.b_row, sizes.b_column);
  if (sb[tb] != sizes.inner) {
    return ctx.Error(b, "needs the inner size of a, ", sizes.inner, ", in dimension ", tb ? 1 : 0, "; a is ", sa, ta ? " transposed" : "",
                     ", b is ", sb, tb ? " transposed" : "");
  }
  const int64_t dims[] = {sizes.rows, sizes.columns};
  WEFT_RETURN_IF_ERROR(ctx.set_checked(product, dims, product));
  return sizes;
}

constexpr auto Run = []<class T>(const Sizes& s, RunContext& ctx) {
  const kernels::Product<T> p{s.rows,
                              s.columns,
                              s.inner,
                              {ctx.in<T>(a).data(), s.a_row, s.a_column},
                              {ctx.in<T>(b).data(), s.b_row, s.b_column},
                              ctx.out<T>(product).data(),
                              s.columns};
  kernels::MatMul(p, ctx.workers());
};

Status Gradient(GradientBuilder& g) {
  const bool ta = g.attr(transpose_a), tb = g.attr(transpose_b);
  const GradientValue dy = g.grad(product);
  const auto conjugate = [&](GradientValue v) { return IsComplex(g.dtype(v)) ? g.Add("Conj", {{"input", {v}}}) : v; };
  const auto multiply = [&](GradientValue x, bool tx, GradientValue y, bool ty, const char* gradient_side) {
    return g.Add("MatMul", {{"a", {x}}, {"b", {y}}}, {{"transpose_a", tx}, {"transpose_b", ty}, {gradient_side, true}});
  };
  if (g.wanted(a)) {
    const GradientValue other = conjugate(g.in(b));
    g.Set(a, ta ? multiply(other, tb, dy, true, "grad_b") : multiply(dy, false, other, !tb, "grad_a"));
  }
  if (g.wanted(b)) {
    const GradientValue other = conjugate(g.in(a));
    g.Set(b, tb ? multiply(dy, true, other, ta, "grad_a") : multiply(other, !ta, dy, false, "grad_b"));
  }
  return {};
}

}  // namespace

BlockDef MatMul() {
  return Block("MatMul", "Multiplies two matrices.")
      .Details("Integers wrap. An inner size of 0 gives zeros. half and bfloat16 are summed in float.")
      .Ports(a, b, product)
      .Attrs(transpose_a, transpose_b)
      .Types("T", kMultiplied)
      .Attrs(grad_a, grad_b)
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
