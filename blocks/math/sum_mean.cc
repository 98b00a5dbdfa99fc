// Sum and Mean over any axes, and SpreadLike, which takes their gradients back to the input's shape.
#include <algorithm>

#include "blocks/kernels/reduce/broadcast_gradient.h"
#include "blocks/kernels/reduce/sum.h"
#include "blocks/partial_reduction.h"
#include "blocks/reduction.h"

namespace weft::blocks {
namespace {

using namespace reduction;

constexpr auto RunSum = []<class T>(const kernels::ReduceLayout& layout, RunContext& ctx) {
  kernels::ReduceSum(layout, ctx.in<T>(input).data(), ctx.out<T>(output).data(), ctx.scratch().data(), ctx.workers());
};

constexpr auto RunMean = []<class T>(const kernels::ReduceLayout& layout, RunContext& ctx) {
  const T* from = ctx.in<T>(input).data();
  T* to = ctx.out<T>(output).data();
  if constexpr (Integer<T>) kernels::Reduce<kernels::IntegerMeanOf<T>>(layout, from, to, ctx.scratch().data(), ctx.workers());
  else kernels::ReduceSum(layout, from, to, ctx.scratch().data(), ctx.workers(), kernels::MeanDivisor<T>(layout.count));
};

constexpr auto SumFor = []<class T>(const kernels::ReduceLayout&) { return kernels::SumOf<T>{}; };
constexpr auto MeanFor = []<class T>(const kernels::ReduceLayout& layout) {
  return kernels::SumOf<T>{kernels::MeanDivisor<T>(layout.count)};
};

template <bool kMean>
void SpreadGradient(GradientBuilder& g) { g.Set(input, Spread(g, g.grad(output), kMean)); }

namespace spread {

constexpr In<0> grad{"grad", "T", "the shape that a sum of `like` over the axes has"};
constexpr In<1> like{"like", "T", "of any shape; only the shape counts"};
constexpr In<2> axis{"axis", "Tidx", "a scalar or a vector: the axes that were reduced"};
constexpr Out<0> output{"output", "T", "the shape of like"};
constexpr Attr<bool> mean{"mean", "false", "divide by the number of elements that were averaged"};

struct Parameters {
  kernels::ReduceLayout layout;
  int64_t values;  // elements of grad
  DType dtype;
  bool mean;
};

Result<Parameters> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(like);
  WEFT_ASSIGN_OR_RETURN(const std::vector<bool> is_reduced, ReducedAxes(ctx.value(axis), axis.name, shape.rank()));
  WEFT_ASSIGN_OR_RETURN(const Shape needed, Shape::Make(ReducedDims(shape, is_reduced, ctx.attr(keep_dims))));
  WEFT_RETURN_IF_ERROR(CheckShape(ctx, grad, needed, "the reduced value"));
  ctx.set(output, shape);
  Parameters p{kernels::ReduceLayout::Make(shape.dims(), is_reduced), needed.count(), ctx.dtype(grad), ctx.attr(mean)};
  // Every reduced value is divided once, before it is repeated.
  if (p.mean && shape.count() > 0) ctx.set_scratch(p.values * static_cast<int64_t>(ElementSize(p.dtype)));
  return p;
}

/// What one of `count` elements has of the gradient x of their mean.
template <class T>
T Share(T x, int64_t count) {
  if constexpr (std::is_same_v<T, uint64_t>) return x / static_cast<uint64_t>(count);
  else if constexpr (Integer<T>) return static_cast<T>(static_cast<int64_t>(x) / count);
  else return kernels::SumOf<T>{kernels::MeanDivisor<T>(count)}.Finish(static_cast<typename kernels::SumOf<T>::Acc>(x), count);
}

/// The shares of all of grad, in scratch memory.
[[gnu::cold]] const void* ShareAll(const Parameters& p, RunContext& ctx) {
  std::byte* scratch = ctx.scratch().data();
  Dispatch(p.dtype, kNumbers, [&]<class T>() {
    const auto from = ctx.in<T>(grad);
    T* const to = reinterpret_cast<T*>(scratch);
    ctx.workers().For(std::ssize(from), 32768, [&](int64_t begin, int64_t end) {
      std::transform(from.begin() + begin, from.begin() + end, to + begin, [&](T x) { return Share(x, p.layout.count); });
    });
  });
  return scratch;
}

constexpr auto Run = []<class T>(const Parameters& p, RunContext& ctx) {
  const auto to = ctx.out<T>(output);
  if constexpr (!std::is_same_v<T, String> && !std::is_same_v<T, ResourceHandle>) {
    if (to.empty()) return;
    const T* from = p.mean ? static_cast<const T*>(ShareAll(p, ctx)) : ctx.in<T>(grad).data();
    kernels::BroadcastReduced(p.layout, from, to.data(), ctx.workers());
  }
};

void Gradient(GradientBuilder& g) {
  const char* way_back = g.attr(mean) ? "Mean" : "Sum";
  g.Set(grad, g.Add(way_back, {{"input", {g.grad(output)}}, {"axis", {g.in(axis)}}}, {{"keep_dims", g.AttrOf("keep_dims")}}));
}

}  // namespace spread

}  // namespace

BlockDef Sum() {
  constexpr const char* kDetails = "Integers wrap. Floats are summed in double and rounded once. The sum of no elements is 0.";
  return WithPartialReduction(Declare("Sum", "Adds the elements along some axes.", kDetails, kNumbers, SpreadGradient<false>, RunSum), SumFor);
}

BlockDef Mean() {
  constexpr const char* kDetails =
      "Sums do not wrap or overflow on the way. Means of integers are cut towards zero; that of none is 0, of no floats NaN.";
  BlockDef def = Declare("Mean", "Averages the elements along some axes.", kDetails, kNumbers, SpreadGradient<true>, RunMean);
  return WithPartialReduction(std::move(def), MeanFor);
}

BlockDef SpreadLike() {
  return Block("SpreadLike", "Repeats a reduced value along the axes that were reduced, as the gradients of Sum and Mean need it.")
      .Ports(spread::grad, spread::like, spread::axis, spread::output).Attrs(keep_dims, spread::mean)
      .Types("T", kNumbers).Types("Tidx", kIndices).ShapedBy(spread::axis)
      .Internal().Gradient(spread::Gradient).Kernel(spread::Plan, spread::Run, kBySize);
}

}  // namespace weft::blocks
