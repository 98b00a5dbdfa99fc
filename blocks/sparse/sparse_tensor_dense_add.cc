// SparseTensorDenseAdd: a dense tensor with the values of a sparse one added at its places.
#include <algorithm>

#include "blocks/kernels/stop_check.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {
namespace {

constexpr In<0> a_indices{"a_indices", "Tindices", "[places, rank], in any order; what is named twice is added twice"};
constexpr In<1> a_values{"a_values", "T", "[places]"};
constexpr In<2> a_shape{"a_shape", "Tindices", "[rank]: the shape of both tensors, of 1 to 5 axes"};
constexpr In<3> b{"b", "T", "of shape a_shape"};
constexpr Out<0> output{"output", "T", "of shape a_shape"};

Result<Places> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Places p, PlanSparse(ctx, a_indices, a_values, a_shape));
  const Shape& shape = ctx.shape(b);
  if (p.size.empty() || p.size.size() > 5) return ctx.Error(a_shape, "needs 1 to 5 sizes, found ", p.size.size());
  if (!std::ranges::equal(shape.dims(), p.size)) {
    return ctx.Error(b, "needs the shape that a_shape says, ", p.SizeText(), ", found ", shape);
  }
  p.SetDenseSteps();
  ctx.set(output, shape);
  ctx.set_scratch(p.offset_bytes);
  return p;
}

constexpr auto Run = []<class T>(const Places& p, RunContext& ctx) -> Status {
  const T *values = ctx.in<T>(a_values).data(), *from = ctx.in<T>(b).data();
  const auto to = ctx.out<T>(output);
  int64_t* offsets = ctx.scratch<int64_t>().data();
  WEFT_RETURN_IF_ERROR(p.Check(BytesOf(ctx, a_indices), offsets, ctx.workers()));
  ctx.workers().For(static_cast<int64_t>(to.size()), (int64_t{1} << 18) / static_cast<int64_t>(sizeof(T)),
                    [&](int64_t begin, int64_t end) { std::copy(from + begin, from + end, to.data() + begin); });
  kernels::StopCheck stop(ctx.workers());
  for (int64_t i = 0; i < p.count && !stop(4); ++i) to[offsets[i]] = WrapAdd(to[offsets[i]], values[i]);
  return {};
};

void Gradient(GradientBuilder& g) {
  const GradientValue dz = g.grad(output);
  if (g.wanted(a_values)) g.Set(a_values, g.Add("GatherNd", {{"params", {dz}}, {"indices", {g.in(a_indices)}}}));
  g.Set(b, dz);
}

}  // namespace

BlockDef SparseTensorDenseAdd() {
  return Block("SparseTensorDenseAdd", "Adds a sparse tensor to a dense one of the same shape.")
      .Ports(a_indices, a_values, a_shape, b, output)
      .Types("T", kNumbers)
      .Types("Tindices", kIndices)
      .ShapedBy(a_shape)
      .Gradient(Gradient)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
