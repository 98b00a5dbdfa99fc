// Prod over any axes, with FoldAxes and UnfoldAxes, by which its gradient brings the multiplied axes to the front.
#include "blocks/element_moves.h"
#include "blocks/gradient_block.h"
#include "blocks/reduction.h"

namespace weft::blocks {
namespace {

using namespace reduction;

constexpr auto Run = []<class T>(const kernels::ReduceLayout& layout, RunContext& ctx) {
  Reduce<T>(layout, ctx, kernels::ProductOf<kernels::UnsignedOf<T>>{});
};

/// The product of the others, each from both sides, times the gradient: right also where elements are 0.
void Gradient(GradientBuilder& g) {
  const GradientValue x = g.in(input), axes = g.in(axis);
  const GradientValue folded = g.Add("FoldAxes", {{"input", {x}}, {"axis", {axes}}});
  const GradientValue first = g.Constant(Tensor::Scalar<int32_t>(0));
  const auto products = [&](bool reverse) {
    return g.Add("Cumprod", {{"x", {folded}}, {"axis", {first}}}, {{"exclusive", true}, {"reverse", reverse}});
  };
  const GradientValue others = Conjugate(g, Times(g, products(false), products(true)));
  const GradientValue slopes = g.Add("UnfoldAxes", {{"matrix", {others}}, {"like", {x}}, {"axis", {axes}}});
  g.Set(input, Times(g, slopes, Spread(g, g.grad(output))));
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
  return TranspositionOf(shape.dims(), fold.perm, ctx.dtype(input));
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
  return TranspositionOf(fold.dims, back, ctx.dtype(matrix));
}

auto DeclareFold(const char* name, const char* summary, const auto& axes, const auto&... ports) {
  return Block(name, summary).Ports(ports...).Types("T", kNumbers).Types("Tidx", kIndices).ShapedBy(axes).Internal();
}

}  // namespace

BlockDef Prod() {
  constexpr const char* kDetails = "Integers wrap. Floats are multiplied in double and rounded once. The product of no elements is 1.";
  return Declare("Prod", "Multiplies the elements along some axes.", kDetails, kNumbers, Gradient, Run);
}

BlockDef FoldAxes() {
  constexpr const char* kSummary = "A tensor as a matrix whose rows go along some axes, as the gradient of Prod needs it.";
  return DeclareFold("FoldAxes", kSummary, axis, input, axis, folded)
      .Gradient(GradientBlock(input, "UnfoldAxes", {{"matrix", Grad(folded)}, {"like", input}, {"axis", axis}}))
      .Kernel(PlanFold, RunBoxMove);
}

BlockDef UnfoldAxes() {
  return DeclareFold("UnfoldAxes", "Undoes FoldAxes.", unfolded_axis, matrix, like, unfolded_axis, unfolded)
      .Gradient(GradientBlock(matrix, "FoldAxes", {{"input", Grad(unfolded)}, {"axis", unfolded_axis}})).Kernel(PlanUnfold, RunBoxMove);
}

}  // namespace weft::blocks
