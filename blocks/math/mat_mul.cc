// MatMul and SparseMatMul: products of two matrices.
#include "blocks/math/mat_mul.h"

#include "blocks/gradients.h"
#include "blocks/kernels/simd/widen.h"

namespace weft::blocks {

Result<ProductSizes> SizesOfProduct(const Shape& a, bool ta, const Shape& b, bool tb, const char* b_port) {
  const int64_t a_dims[] = {a[a.rank() - 2], a[a.rank() - 1]}, b_dims[] = {b[b.rank() - 2], b[b.rank() - 1]};
  ProductSizes sizes{.rows = a_dims[ta], .columns = b_dims[!tb], .inner = a_dims[!ta], .a_row = a_dims[1], .a_column = 1, .b_row = b_dims[1], .b_column = 1};
  if (ta) std::swap(sizes.a_row, sizes.a_column);
  if (tb) std::swap(sizes.b_row, sizes.b_column);
  if (b_dims[tb] == sizes.inner) return sizes;
  return InvalidArgument("needs the inner size ", sizes.inner, " in dimension ", b.rank() - (tb ? 1 : 2), "; the left operand is ", a,
                         ta ? " transposed" : "", ", this one is ", b, tb ? " transposed" : "")
      .WithPort(b_port);
}

void ProductSizes::Choose(DType dtype, int64_t count) {
  Dispatch(dtype, kMultiplied, [&]<class T>() {
    const auto product = Of<T>(nullptr, nullptr, nullptr);
    gemm = kernels::ChooseGemm(product);
    scratch = kernels::ScratchOf(product, count).bytes();
  });
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
  WEFT_ASSIGN_OR_RETURN(ProductSizes sizes, Plan(ctx));
  sizes.Choose(ctx.dtype(a));
  ctx.set_scratch(sizes.scratch);
  return sizes;
}

constexpr auto Run = []<class T>(const ProductSizes& s, RunContext& ctx) {
  kernels::MatMul(s.Of(ctx.in<T>(a).data(), ctx.in<T>(b).data(), ctx.out<T>(product).data(), ctx.scratch<std::byte>().data()), ctx.workers());
};

/// The gradients by x and y of a product of matrices that are transposed where tx, ty. multiply(left, whether that is transposed, right,
/// whether that is, whether the left one is the gradient of the product) makes a block.
void SetGradients(GradientBuilder& g, const auto& x, bool tx, const auto& y, bool ty, GradientValue dz, auto&& multiply) {
  if (g.wanted(x)) {
    const GradientValue other = Conjugate(g, g.in(y));
    g.Set(x, tx ? multiply(other, ty, dz, true, false, x) : multiply(dz, false, other, !ty, true, x));
  }
  if (g.wanted(y)) {
    const GradientValue other = Conjugate(g, g.in(x));
    g.Set(y, ty ? multiply(dz, true, other, tx, true, y) : multiply(other, !tx, dz, false, false, y));
  }
}

void Gradient(GradientBuilder& g) {
  SetGradients(g, a, g.attr(transpose_a), b, g.attr(transpose_b), g.grad(product),
               [&](GradientValue x, bool tx, GradientValue y, bool ty, bool gradient_left, const auto&) {
                 return g.Add("MatMul", {{"a", {x}}, {"b", {y}}},
                              {{"transpose_a", tx}, {"transpose_b", ty}, {gradient_left ? "grad_a" : "grad_b", true}});
               });
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
  std::string implementation() const { return sizes.implementation(); }
};

Result<SparseProduct> PlanSparse(PlanContext& ctx) {
  const auto widened = [&](const auto& port) { return ctx.dtype(port) == DType::kBFloat16 ? ctx.shape(port).count() : 0; };
  SparseProduct p;
  WEFT_ASSIGN_OR_RETURN(p.sizes, Plan(ctx));
  p.sizes.Choose(DType::kFloat);
  p.widened_a = widened(sparse_a);
  p.widened_b = widened(sparse_b);
  ctx.set_scratch(p.sizes.scratch + (p.widened_a + p.widened_b) * static_cast<int64_t>(sizeof(float)));
  return p;
}

constexpr auto RunSparse = [](const SparseProduct& p, RunContext& ctx) {
  std::byte* const scratch = ctx.scratch<std::byte>().data();
  float* const floats = reinterpret_cast<float*>(scratch + p.sizes.scratch);
  const auto operand = [&](const auto& port, int64_t widened, float* to) {
    if (widened == 0) return ctx.in<float>(port).data();
    const bfloat16* from = ctx.in<bfloat16>(port).data();
    ctx.workers().For(widened, 65536, [=](int64_t begin, int64_t end) { kernels::Widen(from + begin, to + begin, end - begin); });
    return static_cast<const float*>(to);
  };
  const float *left = operand(sparse_a, p.widened_a, floats), *right = operand(sparse_b, p.widened_b, floats + p.widened_a);
  kernels::MatMul(p.sizes.Of(left, right, ctx.out<float>(float_product).data(), scratch), ctx.workers());
};

/// As MatMul's, each gradient in the type of its operand.
void SparseGradient(GradientBuilder& g) {
  const AttrValue a_sparse = g.attr(a_is_sparse), b_sparse = g.attr(b_is_sparse);
  SetGradients(g, sparse_a, g.attr(transpose_a), sparse_b, g.attr(transpose_b), g.grad(float_product),
               [&](GradientValue x, bool tx, GradientValue y, bool ty, bool gradient_left, const auto& like) {
                 // The factor that is no gradient is as sparse as the operand that it is.
                 const AttrValue& sparse = like.name == sparse_a.name ? b_sparse : a_sparse;
                 const GradientValue result = g.Add("SparseMatMul", {{"a", {x}}, {"b", {y}}},
                     {{"transpose_a", tx}, {"transpose_b", ty}, {gradient_left ? "b_is_sparse" : "a_is_sparse", sparse}});
                 return g.dtype(g.in(like)) == DType::kFloat ? result : g.Add("Cast", {{"x", {result}}}, {{"DstT", g.dtype(g.in(like))}});
               });
}

}  // namespace

BlockDef MatMul() {
  return Block("MatMul", "Multiplies two matrices.")
      .Details("Integers wrap. An inner size of 0 gives zeros. half and bfloat16 are summed in float.")
      .Ports(a, b, product).Attrs(transpose_a, transpose_b).Types("T", kMultiplied).Attrs(grad_a, grad_b)
      .Gradient(Gradient).Kernel(PlanScratch, Run);
}

BlockDef SparseMatMul() {
  return Block("SparseMatMul", "Multiplies two matrices of float or bfloat16, which may have many zeros, to one of float.")
      .Details("A zero times an infinity is NaN, sparse or not. An inner size of 0 gives zeros.")
      .Ports(sparse_a, sparse_b, float_product).Attrs(transpose_a, transpose_b, a_is_sparse, b_is_sparse)
      .Types("Ta", kSparseFactors).Types("Tb", kSparseFactors)
      .Gradient(SparseGradient).Kernel(PlanSparse, RunSparse);
}

}  // namespace weft::blocks
