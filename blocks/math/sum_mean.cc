// Sum and Mean over any axes, and SpreadLike, which takes their gradients back to the input's shape.
#include "blocks/kernels/spread.h"
#include "blocks/reduction.h"

namespace weft::blocks {
namespace {

using namespace reduction;

template <bool kMean>
Status SpreadGradient(GradientBuilder& g) {
  g.Set(input, g.Add("SpreadLike", {{"grad", {g.grad(output)}}, {"like", {g.in(input)}}, {"axis", {g.in(axis)}}},
                     {{"keep_dims", g.AttrOf("keep_dims")}, {"mean", kMean}}));
  return {};
}

namespace spread {

constexpr In<0> grad{"grad", "T", "the shape that a sum of `like` over the axes has"};
constexpr In<1> like{"like", "T", "of any shape; only the shape counts"};
constexpr In<2> axis{"axis", "Tidx", "a scalar or a vector: the axes that were reduced"};
constexpr Out<0> output{"output", "T", "the shape of like"};
constexpr Attr<bool> mean{"mean", "false", "divide by the number of elements that were averaged"};

struct Parameters {
  kernels::ReduceLayout layout;
  bool mean;
};

Result<Parameters> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(like);
  WEFT_ASSIGN_OR_RETURN(const std::vector<bool> is_reduced, ReducedAxes(ctx.value(axis), axis.name, shape.rank()));
  WEFT_ASSIGN_OR_RETURN(const Shape needed, Shape::Make(ReducedDims(shape, is_reduced, ctx.attr(keep_dims))));
  if (!(ctx.shape(grad) == needed)) return ctx.Error(grad, "needs the shape of the reduced value, ", needed, ", found ", ctx.shape(grad));
  ctx.set(output, shape);
  return Parameters{kernels::ReduceLayout::Make(shape.dims(), is_reduced), ctx.attr(mean)};
}

constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) {
  const T* from = ctx.in<T>(grad).data();
  T* to = ctx.out<T>(output).data();
  if (p.mean) kernels::Spread(p.layout, from, to, [n = p.layout.count](T x) { return kernels::MeanOf<T>::Share(x, n); }, ctx.workers());
  else kernels::Spread(p.layout, from, to, [](T x) { return x; }, ctx.workers());
};

Status Gradient(GradientBuilder& g) {
  const char* way_back = g.attr(mean) ? "Mean" : "Sum";
  g.Set(grad, g.Add(way_back, {{"input", {g.grad(output)}}, {"axis", {g.in(axis)}}}, {{"keep_dims", g.AttrOf("keep_dims")}}));
  return {};
}

}  // namespace spread

}  // namespace

BlockDef Sum() {
  return Block("Sum", "Adds the elements along some axes.")
      .Details("Integers wrap. Floats are summed in double and rounded once. The sum of no elements is 0.")
      .Ports(input, axis, output)
      .Attrs(keep_dims)
      .Types("T", kNumbers)
      .Types("Tidx", kIndices)
      .ShapedBy(axis)
      .Gradient(SpreadGradient<false>)
      .Kernel(reduction::Plan, reduction::Run<kernels::SumOf>);
}

BlockDef Mean() {
  return Block("Mean", "Averages the elements along some axes.")
      .Details("Sums do not wrap or overflow on the way. Means of integers are cut towards zero; that of none is 0, of no floats NaN.")
      .Ports(input, axis, output)
      .Attrs(keep_dims)
      .Types("T", kNumbers)
      .Types("Tidx", kIndices)
      .ShapedBy(axis)
      .Gradient(SpreadGradient<true>)
      .Kernel(reduction::Plan, reduction::Run<kernels::MeanOf>);
}

BlockDef SpreadLike() {
  return Block("SpreadLike", "Repeats a reduced value along the axes that were reduced, as the gradients of Sum and Mean need it.")
      .Ports(spread::grad, spread::like, spread::axis, spread::output)
      .Attrs(keep_dims, spread::mean)
      .Types("T", kNumbers)
      .Types("Tidx", kIndices)
      .ShapedBy(spread::axis)
      .Internal()
      .Gradient(spread::Gradient)
      .Kernel(spread::Plan, spread::Run);
}

}  // namespace weft::blocks
