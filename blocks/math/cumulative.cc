// Cumsum and Cumprod, and ProductScan, of which the gradient of Cumprod is made.
#include "blocks/gradients.h"
#include "blocks/kernels/reduce/scan.h"
#include "blocks/reduction.h"

namespace weft::blocks {
namespace {

constexpr In<0> x{"x", "T", "of rank 1 or more"};
constexpr In<1> axis{"axis", "Tidx", "a scalar in [-rank, rank): the axis to go along"};
constexpr Out<0> out{"out", "T", "the shape of x"};
constexpr Attr<bool> exclusive{"exclusive", "false", "leave an element out of its own result: the first is then 0 (of a product 1)"};
constexpr Attr<bool> reverse{"reverse", "false", "go from the last element to the first"};

Result<kernels::ScanBox> BoxOf(PlanContext& ctx, const InputPort auto& port) {
  const Shape& shape = ctx.shape(x);
  WEFT_ASSIGN_OR_RETURN(const int at, ScalarAxis(ctx, port, shape));
  ctx.set(out, shape);
  kernels::ScanBox box;
  box.reverse = ctx.attr(reverse);
  if (shape.count() == 0) box.size = 0;
  else box.outer = shape.count(0, at), box.size = shape[at], box.inner = shape.count(at + 1, shape.rank());
  return box;
}

Result<kernels::ScanBox> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(kernels::ScanBox box, BoxOf(ctx, axis));
  box.exclusive = ctx.attr(exclusive);
  return box;
}

template <template <class> class Op>
constexpr auto Run = []<class T>(const kernels::ScanBox& box, RunContext& ctx) {
  using U = kernels::UnsignedOf<T>;
  const U* from = reinterpret_cast<const U*>(ctx.in<T>(x).data());
  kernels::Scan<Op<U>>(box, from, reinterpret_cast<U*>(ctx.out<T>(out).data()), ctx.workers());
};

void SumGradient(GradientBuilder& g) {
  g.Set(x, g.Add("Cumsum", {{"x", {g.grad(out)}}, {"axis", {g.in(axis)}}},
                 {{"exclusive", g.AttrOf("exclusive")}, {"reverse", !g.attr(reverse)}}));
}

/// The scan of ProductScan the other way round, over the conjugate of x.
Term ScanBack(GradientBuilder& g, GradientValue y, const InputPort auto& along) {
  return {&g, g.Add("ProductScan", {{"x", {Conjugate(g, g.in(x))}}, {"y", {y}}, {"axis", {g.in(along)}}}, {{"reverse", !g.attr(reverse)}})};
}

/// What comes before an element times what later results pass back to it; nothing is divided, so that elements may be 0.
void ProductGradient(GradientBuilder& g) {
  const Term grad{&g, g.grad(out)}, cx = Conj({&g, g.in(x)});
  const Term before{&g, g.Add("Cumprod", {{"x", {cx}}, {"axis", {g.in(axis)}}}, {{"exclusive", true}, {"reverse", g.AttrOf("reverse")}})};
  g.Set(x, before * (g.attr(exclusive) ? ScanBack(g, grad, axis) : grad + ScanBack(g, cx * grad, axis)));
}

BlockDef Declare(const char* name, const char* summary, const char* details, void (*gradient)(GradientBuilder&), auto run) {
  return Block(name, summary)
      .Details(details)
      .Ports(x, axis, out).Attrs(exclusive, reverse).Types("T", kNumbers).Types("Tidx", kIndices).ShapedBy(axis)
      .Gradient(gradient).Kernel(Plan, run);
}

// ---- ProductScan -------------------------------------------------------------------------------------------------------------

constexpr In<1> y{"y", "T", "the shape of x"};
constexpr In<2> scan_axis{"axis", "Tidx", "a scalar in [-rank, rank): the axis to go along"};

Result<kernels::ScanBox> PlanScan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckSameShape(ctx, y, x));
  return BoxOf(ctx, scan_axis);
}

constexpr auto RunScan = []<class T>(const kernels::ScanBox& box, RunContext& ctx) {
  kernels::ScanProducts(box, ctx.in<T>(x).data(), ctx.in<T>(y).data(), ctx.out<T>(out).data(), ctx.workers());
};

void ScanGradient(GradientBuilder& g) {
  const Term back = ScanBack(g, g.grad(out), scan_axis);
  if (g.wanted(y)) g.Set(y, back);
  if (g.wanted(x)) g.Set(x, back * Conj({&g, g.out(out)}));
}

}  // namespace

BlockDef Cumsum() {
  return Declare("Cumsum", "Adds up the elements along an axis, with every sum on the way.",
                 "Integers wrap. Floats are summed in double and rounded once.", SumGradient, Run<kernels::SumOf>);
}

BlockDef Cumprod() {
  return Declare("Cumprod", "Multiplies up the elements along an axis, with every product on the way.",
                 "Integers wrap. Floats are multiplied in double and rounded once.", ProductGradient, Run<kernels::ProductOf>);
}

BlockDef ProductScan() {
  return Block("ProductScan", "out[i] = y[i - 1] + x[i - 1] * out[i - 1] along an axis, out[0] = 0; the other way round where reverse.")
      .Ports(x, y, scan_axis, out).Attrs(reverse).Types("T", kFloats + kComplexes).Types("Tidx", kIndices)
      .ShapedBy(scan_axis)
      .Internal().Gradient(ScanGradient).Kernel(PlanScan, RunScan);
}

}  // namespace weft::blocks
