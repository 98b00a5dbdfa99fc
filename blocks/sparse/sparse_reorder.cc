// SparseReorder: a sparse tensor with its places in row-major order; and its gradient, which goes back to where the values came from.
#include <numeric>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "blocks/sparse/place_order.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {
namespace {

constexpr In<0> input_indices{"input_indices", "DT_INT64", "[places, rank], in any order"};
constexpr In<1> input_values{"input_values", "T", "[places]"};
constexpr In<2> input_shape{"input_shape", "DT_INT64", "[rank]: the shape of the sparse tensor"};
constexpr Out<0> output_indices{"output_indices", "DT_INT64", "[places, rank], in row-major order"};
constexpr Out<1> output_values{"output_values", "T", "[places]: each where its indices went"};

struct Rows {
  int64_t count = 0;
  std::vector<int64_t> axes;  // all of them
  int64_t rank() const { return static_cast<int64_t>(axes.size()); }
};

Result<Rows> PlanRows(PlanContext& ctx, const auto& values) {
  const Shape &places = ctx.shape(input_indices), &sizes = ctx.shape(input_shape), &found = ctx.shape(values);
  if (places.rank() != 2) return ctx.Error(input_indices, "needs a matrix with a row for each place, found shape ", places);
  if (sizes.rank() != 1 || sizes[0] != places[1]) {
    return ctx.Error(input_shape, "needs [", places[1], "], a size for each column of input_indices, found ", sizes);
  }
  if (found.rank() != 1 || found[0] != places[0]) {
    return ctx.Error(values, "needs [", places[0], "], a value for each place in input_indices, found ", found);
  }
  Rows p{places[0], std::vector<int64_t>(static_cast<size_t>(sizes[0]))};
  std::iota(p.axes.begin(), p.axes.end(), int64_t{0});
  WEFT_ASSIGN_OR_RETURN(const int64_t bytes, AtPort(input_indices, OrderScratchBytes(p.count, p.rank())));
  ctx.set_scratch(bytes);
  return p;
}

Result<PlaceOrder> OrderOf(const Rows& p, RunContext& ctx) {
  return OrderPlaces(ctx.in<int64_t>(input_indices).data(), p.count, p.rank(), p.axes, ctx.scratch().data(), ctx.workers());
}

Result<Rows> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Rows p, PlanRows(ctx, input_values));
  ctx.set(output_indices, ctx.shape(input_indices));
  ctx.set(output_values, ctx.shape(input_values));
  return p;
}

constexpr auto Run = []<class T>(const Rows& p, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const PlaceOrder order, OrderOf(p, ctx));
  TakeIndices(order, ctx.in<int64_t>(input_indices).data(), ctx.out<int64_t>(output_indices).data(), p.count, p.rank(), ctx.workers());
  TakeInOrder(order, ctx.in<T>(input_values).data(), ctx.out<T>(output_values).data(), p.count, 1, ctx.workers());
  return {};
};

// ---- gradient ----------------------------------------------------------------------------------------------------------------

constexpr In<1> grad{"grad", "T", "[places]: the gradient of output_values"};
constexpr Out<0> values_grad{"output", "T", "[places]: the gradient of input_values"};

Result<Rows> PlanGrad(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Rows p, PlanRows(ctx, grad));
  ctx.set(values_grad, ctx.shape(grad));
  return p;
}

constexpr auto RunGrad = []<class T>(const Rows& p, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const PlaceOrder order, OrderOf(p, ctx));
  const T* from = ctx.in<T>(grad).data();
  T* to = ctx.out<T>(values_grad).data();
  kernels::ForEach(ctx.workers(), p.count, 65536, [&](int64_t i) { to[order.at(i)] = from[i]; });
  return {};
};

GradientInputs With(GradientBuilder& g, const char* port, GradientValue values) {
  return {{"input_indices", {g.in(input_indices)}}, {port, {values}}, {"input_shape", {g.in(input_shape)}}};
}

void Gradient(GradientBuilder& g) { g.Set(input_values, g.Add("SparseReorderGrad", With(g, "grad", g.grad(output_values)))); }

void GradGradient(GradientBuilder& g) {
  g.Set(grad, GradientBuilder::Output(g.Add("SparseReorder", With(g, "input_values", g.grad(values_grad))), 1));
}

}  // namespace

BlockDef SparseReorder() {
  return Block("SparseReorder", "Sorts the places of a sparse tensor into row-major order.")
      .Details("Places that repeat stay in their order. Indices are compared, whether or not they are inside of the shape.")
      .Ports(input_indices, input_values, input_shape, output_indices, output_values)
      .Types("T", kSparseTypes)
      .Gradient(Gradient)
      .Kernel(Plan, Run, kBySize);
}

BlockDef SparseReorderGrad() {
  return Block("SparseReorderGrad", "The gradient of SparseReorder with respect to its values.")
      .Ports(input_indices, grad, input_shape, values_grad)
      .Types("T", kFloats + kComplexes)
      .Internal()
      .Gradient(GradGradient)
      .Kernel(PlanGrad, RunGrad, kBySize);
}

}  // namespace weft::blocks
