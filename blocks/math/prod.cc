// Prod over any axes, with FoldAxes and UnfoldAxes, by which its gradient brings the multiplied axes to the front.
#include "blocks/element_moves.h"
#include "blocks/gradients.h"
#include "blocks/reduction.h"

namespace weft::blocks {
namespace {

using namespace reduction;

constexpr auto Run = []<class T>(const kernels::ReduceLayout& layout, RunContext& ctx) {
  using U = kernels::UnsignedOf<T>;
  const U* from = reinterpret_cast<const U*>(ctx.in<T>(input).data());
  kernels::Reduce<kernels::ProductOf<U>>(layout, from, reinterpret_cast<U*>(ctx.out<T>(output).data()), ctx.scratch().data(),
                                         ctx.workers());
};

/// The product of the others, each from both sides, times the gradient: right also where elements are 0.
Status Gradient(GradientBuilder& g) {
  const GradientValue x = g.in(input), axes = g.in(axis);
  const GradientValue folded = g.Add("FoldAxes", {{"input", {x}}, {"axis", {axes}}});
  const GradientValue first = g.Constant(Tensor::Scalar<int32_t>(0));
  const auto products = [&](bool reverse) {
    return g.Add("Cumprod", {{"x", {folded}}, {"axis", {first}}}, {{"exclusive", true}, {"reverse", reverse}});
  };
  const GradientValue others = Conjugate(g, Times(g, products(false), products(true)));
  const GradientValue slopes = g.Add("UnfoldAxes", {{"matrix", {others}}, {"like", {x}}, {"axis", {axes}}});
  const GradientValue grad =
      g.Add("SpreadLike", {{"grad", {g.grad(output)}}, {"like", {x}}, {"axis", {axes}}}, {{"keep_dims", g.AttrOf("keep_dims")}});
  g.Set(input, Times(g, slopes, grad));
  return {};
}

// ---- FoldAxes, UnfoldAxes ----------------------------------------------------------------------------------------------------

constexpr Out<0> folded{"folded", "T", "[elements along the axes, the other elements]"};
constexpr In<0> matrix{"matrix", "T", "[elements along the axes, the other elements]"};
constexpr In<1> like{"like", "T", "gives its shape"};
constexpr In<2> unfolded_axis{"axis", "Tidx", "a scalar or a vector: the axes of like that the rows stand for"};
constexpr Out<0> unfolded{"output", "T", "the shape of like"};

/// The axes in the order of a folded tensor: first those that are reduced.
struct Fold {
  std::vector<int64_t> perm, dims;  // dims[i]: the size of axis perm[i]
  int64_t sizes[2] = {1, 1};        // of the matrix
};

Result<Fold> FoldOf(const Shape& shape, const Tensor& axes) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<bool> is_reduced, ReducedAxes(axes, axis.name, shape.rank()));
  Fold fold;
  for (const bool reduced : {true, false}) {
    std::vector<int64_t> part;
    for (int d = 0; d < shape.rank(); ++d) {
      if (is_reduced[d] != reduced) continue;
      fold.perm.push_back(d);
      part.push_back(shape[d]);
    }
    WEFT_ASSIGN_OR_RETURN(const Shape checked, Shape::Make(part));
    fold.sizes[reduced ? 0 : 1] = checked.count();
    fold.dims.insert(fold.dims.end(), part.begin(), part.end());
  }
  return fold;
}

Result<BoxMove> PlanFold(PlanContext& ctx) {
  const Shape& shape = ctx.shape(input);
  WEFT_ASSIGN_OR_RETURN(const Fold fold, FoldOf(shape, ctx.value(axis)));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(folded, fold.sizes, input));
  const DType dtype = ctx.dtype(input);
  return BoxMove{kernels::MakeTransposition(shape.dims(), fold.perm, ElementSize(dtype)), &MovesOf(dtype)};
}

Result<BoxMove> PlanUnfold(PlanContext& ctx) {
  const Shape& shape = ctx.shape(like);
  WEFT_ASSIGN_OR_RETURN(const Fold fold, FoldOf(shape, ctx.value(unfolded_axis)));
  const Shape needed{fold.sizes[0], fold.sizes[1]};
  if (!(ctx.shape(matrix) == needed)) {
    return ctx.Error(matrix, "needs ", needed, " for like of shape ", shape, ", found ", ctx.shape(matrix));
  }
  ctx.set(unfolded, shape);
  std::vector<int64_t> back(fold.perm.size());
  for (size_t i = 0; i < back.size(); ++i) back[fold.perm[i]] = static_cast<int64_t>(i);
  const DType dtype = ctx.dtype(matrix);
  return BoxMove{kernels::MakeTransposition(fold.dims, back, ElementSize(dtype)), &MovesOf(dtype)};
}

Status FoldGradient(GradientBuilder& g) {
  g.Set(input, g.Add("UnfoldAxes", {{"matrix", {g.grad(folded)}}, {"like", {g.in(input)}}, {"axis", {g.in(axis)}}}));
  return {};
}

Status UnfoldGradient(GradientBuilder& g) {
  g.Set(matrix, g.Add("FoldAxes", {{"input", {g.grad(unfolded)}}, {"axis", {g.in(unfolded_axis)}}}));
  return {};
}

}  // namespace

BlockDef Prod() {
  return Block("Prod", "Multiplies the elements along some axes.")
      .Details("Integers wrap. Floats are multiplied in double and rounded once. The product of no elements is 1.")
      .Ports(input, axis, output)
      .Attrs(keep_dims)
      .Types("T", kNumbers)
      .Types("Tidx", kIndices)
      .ShapedBy(axis)
      .Gradient(Gradient)
      .Kernel(reduction::Plan, Run);
}

BlockDef FoldAxes() {
  return Block("FoldAxes", "A tensor as a matrix whose rows go along some axes, as the gradient of Prod needs it.")
      .Ports(input, axis, folded)
      .Types("T", kNumbers)
      .Types("Tidx", kIndices)
      .ShapedBy(axis)
      .Internal()
      .Gradient(FoldGradient)
      .Kernel(PlanFold, RunBoxMove);
}

BlockDef UnfoldAxes() {
  return Block("UnfoldAxes", "Undoes FoldAxes.")
      .Ports(matrix, like, unfolded_axis, unfolded)
      .Types("T", kNumbers)
      .Types("Tidx", kIndices)
      .ShapedBy(unfolded_axis)
      .Internal()
      .Gradient(UnfoldGradient)
      .Kernel(PlanUnfold, RunBoxMove);
}

}  // namespace weft::blocks
