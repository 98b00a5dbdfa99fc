// MatMul and SparseMatMul: products of two matrices.
#include "blocks/math/mat_mul.h"

#include "blocks/gradients.h"
#include "blocks/kernels/simd/widen.h"

namespace weft::blocks {

Result<ProductSizes> SizesOfProduct(const Shape& a, bool ta, const Shape& b, bool tb, const char* b_port) {
  const int64_t a_dims[] = {a[a.rank() - 2], a[a.rank() - 1]}, b_dims[] = {b[b.rank() - 2], b[b.rank() - 1]};
  ProductSizes sizes{a_dims[ta], b_dims[!tb], a_dims[!ta], a_dims[1], 1, b_dims[1], 1};
  if (ta) std::swap(sizes.a_row, sizes.a_column);
  if (tb) std::swap(sizes.b_row, sizes.b_column);
  if (b_dims[tb] == sizes.inner) return sizes;
  return InvalidArgument("needs the inner size ", sizes.inner, " in dimension ", b.rank() - (tb ? 1 : 2), "; the left operand is ", a,
                         ta ? " transposed" : "", ", this one is ", b, tb ? " transposed" : "")
      .WithPort(b_port);
}

int64_t ScratchBytes(const ProductSizes& sizes, DType dtype, int64_t count) {
  return Dispatch(dtype, kMultiplied, [&]<class T>() { return kernels::ScratchOf(sizes.Of<T>(nullptr, nullptr, nullptr), count).bytes(); });
}

namespace {

constexpr In<0> a{"a", "T", "[rows, inner]; [inner, rows] where transpose_a"};
constexpr In<1> b{"b", "T", "[inner, columns]; [columns, inner] where transpose_b"};
constexpr Out<0> product{"product", "T", "[rows, columns]"};
constexpr Attr<bool> transpose_a{"transpose_a", "false", "take a transposed (complex elements are not conjugated)"};
constexpr Attr<bool> transpose_b{"transpose_b", "false", "take b transposed (complex elements are not conjugated)"};
constexpr Attr<bool> grad_a{"grad_a", "false", "says that a is a gradient; changes nothing"};
constexpr Attr<bool> grad_b{"grad_b", "false", "says that b is a gradient; changes nothing"};

Result<ProductSizes> Plan(PlanContext& ctx) {
  const Shape &sa = ctx.shape(a), &sb = ctx.shape(b);
  if (sa.rank() != 2) return ctx.Error(a, "needs a matrix, found shape ", sa);
  if (sb.rank() != 2) return ctx.Error(b, "needs a matrix, found shape ", sb);
  WEFT_ASSIGN_OR_RETURN(const ProductSizes sizes, SizesOfProduct(sa, ctx.attr(transpose_a), sb, ctx.attr(transpose_b), b.name));
  const int64_t dims[] = {sizes.rows, sizes.columns};
  WEFT_RETURN_IF_ERROR(ctx.set_checked(product, dims, product));
  return sizes;
}

Result<ProductSizes> PlanScratch(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const ProductSizes sizes, Plan(ctx));
  ctx.set_scratch(ScratchBytes(sizes, ctx.dtype(a)));
  return sizes;
}

constexpr auto Run = []<class T>(const ProductSizes& s, RunContext& ctx) {
  kernels::Product<T> all = s.Of(ctx.in<T>(a).data(), ctx.in<T>(b).data(), ctx.out<T>(product).data());
  const auto scratch = ctx.scratch<std::byte>();
  if (!scratch.empty()) all.scratch = scratch.data();
  kernels::MatMul(all, ctx.workers());
};

Status Gradient(GradientBuilder& g) {
  const bool ta = g.attr(transpose_a), tb = g.attr(transpose_b);
  const GradientValue dy = g.grad(product);
  const auto multiply = [&](GradientValue x, bool tx, GradientValue y, bool ty, const char* gradient_side) {
    return g.Add("MatMul", {{"a", {x}}, {"b", {y}}}, {{"transpose_a", tx}, {"transpose_b", ty}, {gradient_side, true}});
  };
  if (g.wanted(a)) {
    const GradientValue other = Conjugate(g, g.in(b));
    g.Set(a, ta ? multiply(other, tb, dy, true, "grad_b") : multiply(dy, false, other, !tb, "grad_a"));
  }
  if (g.wanted(b)) {
    const GradientValue other = Conjugate(g, g.in(a));
    g.Set(b, tb ? multiply(dy, true, other, ta, "grad_a") : multiply(other, !ta, dy, false, "grad_b"));
  }
  return {};
}

// ---- SparseMatMul ------------------------------------------------------------------------------------------------------------

constexpr In<0> sparse_a{"a", "Ta", "[rows, inner]; [inner, rows] where transpose_a"};
constexpr In<1> sparse_b{"b", "Tb", "[inner, columns]; [columns, inner] where transpose_b"};
constexpr Out<0> float_product{"product", "DT_FLOAT", "[rows, columns]"};
constexpr Attr<bool> a_is_sparse{"a_is_sparse", "false", "says that a has many zeros; changes nothing"};
constexpr Attr<bool> b_is_sparse{"b_is_sparse", "false", "says that b has many zeros; changes nothing"};
constexpr TypeList<float, bfloat16> kSparseFactors;

struct SparseProduct {
  ProductSizes sizes;
  int64_t widened_a = 0, widened_b = 0;  // elements to turn from bfloat16 to float
  int64_t scratch = 0;                   // bytes of the product's, before those
};

Result<SparseProduct> PlanSparse(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const ProductSizes sizes, Plan(ctx));
  const auto widened = [&](const auto& port) { return ctx.dtype(port) == DType::kBFloat16 ? ctx.shape(port).count() : 0; };
  const SparseProduct p{sizes, widened(sparse_a), widened(sparse_b), ScratchBytes(sizes, DType::kFloat)};
  ctx.set_scratch(p.scratch + (p.widened_a + p.widened_b) * static_cast<int64_t>(sizeof(float)));
  return p;
}

constexpr auto RunSparse = [](const SparseProduct& p, RunContext& ctx) {
  const auto all = ctx.scratch<std::byte>();
  float* scratch = all.empty() ? nullptr : reinterpret_cast<float*>(all.data() + p.scratch);
  const auto operand = [&](const auto& port, int64_t widened, float* to) {
    if (widened == 0) return ctx.in<float>(port).data();
    const bfloat16* from = ctx.in<bfloat16>(port).data();
    ctx.workers().For(widened, 65536, [=](int64_t begin, int64_t end) { kernels::Widen(from + begin, to + begin, end - begin); });
    return static_cast<const float*>(to);
  };
  const float *left = operand(sparse_a, p.widened_a, scratch), *right = operand(sparse_b, p.widened_b, scratch + p.widened_a);
  kernels::Product<float> product = p.sizes.Of(left, right, ctx.out<float>(float_product).data());
  if (p.scratch > 0) product.scratch = all.data();
  kernels::MatMul(product, ctx.workers());
};

/// As MatMul's, each gradient in the type of its operand.
Status SparseGradient(GradientBuilder& g) {
  const bool ta = g.attr(transpose_a), tb = g.attr(transpose_b);
  const GradientValue dy = g.grad(float_product), va = g.in(sparse_a), vb = g.in(sparse_b);
  const AttrValue sparse_left = g.attr(a_is_sparse), sparse_right = g.attr(b_is_sparse);
  const auto multiply = [&](GradientValue x, bool tx, GradientValue y, bool ty, const char* side, const AttrValue& sparse,
                            GradientValue like) {
    const GradientValue result =
        g.Add("SparseMatMul", {{"a", {x}}, {"b", {y}}}, {{"transpose_a", tx}, {"transpose_b", ty}, {side, sparse}});
    return g.dtype(like) == DType::kFloat ? result : g.Add("Cast", {{"x", {result}}}, {{"DstT", g.dtype(like)}});
  };
  if (g.wanted(sparse_a)) {
    g.Set(sparse_a, ta ? multiply(vb, tb, dy, true, "a_is_sparse", sparse_right, va)
                       : multiply(dy, false, vb, !tb, "b_is_sparse", sparse_right, va));
  }
  if (g.wanted(sparse_b)) {
    g.Set(sparse_b, tb ? multiply(dy, true, va, ta, "b_is_sparse", sparse_left, vb)
                       : multiply(va, !ta, dy, false, "a_is_sparse", sparse_left, vb));
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
      .Kernel(PlanScratch, Run);
}

BlockDef SparseMatMul() {
  return Block("SparseMatMul", "Multiplies two matrices of float or bfloat16, which may have many zeros, to one of float.")
      .Details("A zero times an infinity is NaN, sparse or not. An inner size of 0 gives zeros.")
      .Ports(sparse_a, sparse_b, float_product)
      .Attrs(transpose_a, transpose_b, a_is_sparse, b_is_sparse)
      .Types("Ta", kSparseFactors)
      .Types("Tb", kSparseFactors)
      .Gradient(SparseGradient)
      .Kernel(PlanSparse, RunSparse);
}

}  // namespace weft::blocks
