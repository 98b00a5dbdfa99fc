// SelectV2 and Where3: elements of one tensor where a condition holds, of another elsewhere.
#include "blocks/kernels/index/select.h"

#include "blocks/broadcast.h"
#include "blocks/gradients.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr In<0> condition{"condition", "DT_BOOL", "any shape that fits t and e: sizes equal or 1, from the last axis on"};
constexpr In<1> t{"t", "T", "taken where the condition holds; any shape that fits"};
constexpr In<2> e{"e", "T", "taken elsewhere; any shape that fits"};
constexpr Out<0> output{"output", "T", "the common shape of the inputs"};

constexpr In<0> row_condition{"condition", "DT_BOOL", "the shape of x, or a scalar, or [N]: one for each of the N rows of x"};
constexpr In<1> x{"x", "T", "[N, ...]: taken where the condition holds"};
constexpr In<2> y{"y", "T", "taken elsewhere; the shape of x"};
constexpr Out<0> row_output{"output", "T", "the shape of x"};

Result<kernels::SelectLoops> PlanSelect(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Shape values, BroadcastShape(ctx, e, ctx.shape(t), t.name));
  WEFT_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(ctx, condition, values, "t and e,"));
  ctx.set(output, std::move(shape));
  return kernels::SelectLoops({ctx.shape(condition).dims(), ctx.shape(t).dims(), ctx.shape(e).dims()});
}

Result<kernels::SelectLoops> PlanWhere(PlanContext& ctx) {
  const Shape &found = ctx.shape(row_condition), &values = ctx.shape(x);
  WEFT_RETURN_IF_ERROR(CheckSameShape(ctx, y, x));
  const bool rows = found.rank() == 1 && values.rank() > 0 && found[0] == values[0];
  if (!rows && found.rank() != 0 && found != values) {
    return ctx.Error(row_condition, "needs the shape of x, ", values, ", a scalar, or one element for each row of x, found ", found);
  }
  std::vector<int64_t> sizes(found.dims().begin(), found.dims().end());
  if (rows) sizes.resize(values.rank(), 1);
  ctx.set(row_output, values);
  return kernels::SelectLoops({sizes, values.dims(), values.dims()});
}

constexpr auto Run = []<class T>(const kernels::SelectLoops& loops, RunContext& ctx) {
  const bool* where = ctx.in<bool>(condition).data();
  const T* yes = ctx.in<T>(t).data();
  const T* no = ctx.in<T>(e).data();
  T* to = ctx.out<T>(output).data();
  if (loops.count == 1) {
    to[0] = where[0] ? yes[0] : no[0];
    return;
  }
  ctx.workers().For(loops.count, 32768, [&](int64_t begin, int64_t end) {
    kernels::RunSelect(loops, kernels::SelectRow<T>, sizeof(T), where, yes, no, to, begin, end);
  });
};

void SelectGradient(GradientBuilder& g) {
  const GradientValue grad = g.grad(output), zero = g.Scalar(grad, 0);
  if (g.wanted(t)) g.Set(t, SumLike(g, Chosen(g, g.in(condition), grad, zero), g.in(t)));
  if (g.wanted(e)) g.Set(e, SumLike(g, Chosen(g, g.in(condition), zero, grad), g.in(e)));
}

void WhereGradient(GradientBuilder& g) {
  const GradientValue grad = g.grad(row_output), zeros = Applied(g, "ZerosLike", grad), where = g.in(row_condition);
  if (g.wanted(x)) g.Set(x, g.Add("Where3", {{"condition", {where}}, {"x", {grad}}, {"y", {zeros}}}));
  if (g.wanted(y)) g.Set(y, g.Add("Where3", {{"condition", {where}}, {"x", {zeros}}, {"y", {grad}}}));
}

}  // namespace

BlockDef SelectV2() {
  return Block("SelectV2", "Elements of t where the condition is true, of e elsewhere; all three are stretched to their common shape.")
      .Ports(condition, t, e, output).Types("T", kAllTypes).Elementwise().Gradient(SelectGradient).Kernel(PlanSelect, Run, kBySize);
}

BlockDef Where3() {
  return Block("Where3", "Elements of x where the condition is true, of y elsewhere; a vector of conditions chooses whole rows.")
      .Alias("Select").Ports(row_condition, x, y, row_output).Types("T", kAllTypes).Elementwise().Gradient(WhereGradient)
      .Kernel(PlanWhere, Run, kBySize);
}

}  // namespace weft::blocks
