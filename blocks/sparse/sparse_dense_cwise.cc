// SparseDenseCwiseAdd, Mul and Div: the values of a sparse tensor with those of a dense one at its places; and the blocks of their
// gradients, which gather from the dense tensor and add into it.
#include <atomic>

#include "blocks/gradients.h"
#include "blocks/kernels/elementwise/elementwise.h"
#include "blocks/kernels/stop_check.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {
namespace {

constexpr In<0> sp_indices{"sp_indices", "DT_INT64", "[places, rank], in any order"};
constexpr In<1> sp_values{"sp_values", "T", "[places]"};
constexpr In<2> sp_shape{"sp_shape", "DT_INT64", "[rank]: the shape of the sparse tensor"};
constexpr In<3> dense{"dense", "T", "a shape that can be stretched to sp_shape: sizes equal or 1, from the last axis on"};
constexpr Out<0> output{"output", "T", "[places]: the values of the result, at the same places"};

Status SetStretched(PlanContext& ctx, Places& p, const auto& from, const char* sizes) {
  if (auto shape = Shape::Make(p.size); !shape.ok()) return std::move(shape).status().WithPort(sizes);
  if (p.SetStretchedSteps(ctx.shape(from))) return {};
  return ctx.Error(from, "needs a shape that can be stretched to ", sizes, " (sizes equal or 1, from the last axis on), found ", ctx.shape(from));
}

Result<Places> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Places p, PlanSparse(ctx, sp_indices, sp_values, sp_shape));
  WEFT_RETURN_IF_ERROR(SetStretched(ctx, p, dense, sp_shape.name));
  ctx.set(output, ctx.shape(sp_values));
  ctx.set_scratch(p.offset_bytes);
  return p;
}

/// Calls body(begin, end, offsets) for ranges of the places.
Status OverPlaces(const Places& p, RunContext& ctx, auto&& body) {
  int64_t* offsets = ctx.scratch<int64_t>().data();
  WEFT_RETURN_IF_ERROR(p.Check(BytesOf(ctx, sp_indices), offsets, ctx.workers()));
  ctx.workers().For(p.count, 16384, [&](int64_t begin, int64_t end) { body(begin, end, offsets); });
  return {};
}

constexpr auto kSum = []<class T>(const T& a, const T& b) -> T { return WrapAdd(a, b); };
constexpr auto kProduct = []<class T>(const T& a, const T& b) -> T { return WrapMultiply(a, b); };

template <auto kOp>
constexpr auto RunCwise = []<class T>(const Places& p, RunContext& ctx) -> Status {
  const T *values = ctx.in<T>(sp_values).data(), *from = ctx.in<T>(dense).data();
  T* to = ctx.out<T>(output).data();
  return OverPlaces(p, ctx, [&](int64_t begin, int64_t end, const int64_t* offsets) {
    for (int64_t i = begin; i < end; ++i) to[i] = kOp(values[i], from[offsets[i]]);
  });
};

constexpr auto RunDivide = []<class T>(const Places& p, RunContext& ctx) -> Status {
  const T *values = ctx.in<T>(sp_values).data(), *from = ctx.in<T>(dense).data();
  T* to = ctx.out<T>(output).data();
  std::atomic<bool> zero{false};
  WEFT_RETURN_IF_ERROR(OverPlaces(p, ctx, [&](int64_t begin, int64_t end, const int64_t* offsets) {
    for (int64_t i = begin; i < end; ++i) {
      const T divisor = from[offsets[i]];
      if (divisor == T(0)) {
        zero.store(true, std::memory_order_relaxed);
        return;
      }
      to[i] = kernels::Quotient(values[i], divisor);
    }
  }));
  if (zero.load()) return ctx.Error(dense, "needs divisors that are not 0, found 0 at a place of sp_indices");
  return {};
};

// ---- gradients ---------------------------------------------------------------------------------------------------------------

constexpr In<1> sizes{"sp_shape", "DT_INT64", "[rank]: the shape of the sparse tensor"};
constexpr In<2> gathered{"dense", "T", "a shape that can be stretched to sp_shape"};
constexpr In<2> added{"sp_values", "T", "[places]"};
constexpr In<3> like{"like", "T", "a dense tensor, for its shape, which can be stretched to sp_shape"};
constexpr Out<0> sums{"output", "T", "in the shape of like: the sum of the values whose places it is stretched over"};

Result<Places> PlanGather(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Places p, PlanPlaces(ctx, sp_indices, sizes));
  WEFT_RETURN_IF_ERROR(SetStretched(ctx, p, gathered, sizes.name));
  ctx.set(output, Shape{p.count});
  ctx.set_scratch(p.offset_bytes);
  return p;
}

constexpr auto RunGather = []<class T>(const Places& p, RunContext& ctx) -> Status {
  const T* from = ctx.in<T>(gathered).data();
  T* to = ctx.out<T>(output).data();
  return OverPlaces(p, ctx, [&](int64_t begin, int64_t end, const int64_t* offsets) {
    for (int64_t i = begin; i < end; ++i) to[i] = from[offsets[i]];
  });
};

Result<Places> PlanScatter(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Places p, PlanPlaces(ctx, sp_indices, sizes));
  WEFT_RETURN_IF_ERROR(CheckValues(ctx, p, added));
  WEFT_RETURN_IF_ERROR(SetStretched(ctx, p, like, sizes.name));
  ctx.set(sums, ctx.shape(like));
  const auto bytes = CheckedMultiply(ctx.shape(like).count(), sizeof(double));
  if (!bytes || *bytes > INT64_MAX - p.offset_bytes) return ctx.Error(like, "needs fewer elements, found ", ctx.shape(like));
  ctx.set_scratch(p.offset_bytes + *bytes);
  return p;
}

constexpr auto RunScatter = []<class T>(const Places& p, RunContext& ctx) -> Status {
  const T* values = ctx.in<T>(added).data();
  const auto to = ctx.out<T>(sums);
  int64_t* offsets = ctx.scratch<int64_t>().data();
  double* totals = ctx.scratch<double>().data() + p.count;
  WEFT_RETURN_IF_ERROR(p.Check(BytesOf(ctx, sp_indices), offsets, ctx.workers()));
  const auto size = static_cast<int64_t>(to.size());
  kernels::FillLong(ctx.workers(), totals, size, 0.0);
  kernels::StopCheck stop(ctx.workers());
  for (int64_t i = 0; i < p.count && !stop(4); ++i) totals[offsets[i]] += static_cast<double>(values[i]);
  kernels::ForEach(ctx.workers(), size, int64_t{1} << 16, [&](int64_t i) { to[static_cast<size_t>(i)] = static_cast<T>(totals[i]); });
  return {};
};

GradientValue Gather(GradientBuilder& g, GradientValue indices, GradientValue shape, GradientValue from) {
  return g.Add("SparseDenseGather", {{"sp_indices", {indices}}, {"sp_shape", {shape}}, {"dense", {from}}});
}
GradientValue Scatter(GradientBuilder& g, GradientValue indices, GradientValue shape, GradientValue values, GradientValue as) {
  return g.Add("SparseDenseScatter", {{"sp_indices", {indices}}, {"sp_shape", {shape}}, {"sp_values", {values}}, {"like", {as}}});
}

Status GradientOf(GradientBuilder& g, bool divides) {
  const GradientValue dz = g.grad(output), indices = g.in(sp_indices), shape = g.in(sp_shape);
  const GradientValue other = Gather(g, indices, shape, g.in(dense));
  if (g.wanted(sp_values)) g.Set(sp_values, divides ? Divided(g, dz, other) : Times(g, dz, other));
  if (!g.wanted(dense)) return {};
  const GradientValue factor =
      divides ? Divided(g, Negated(g, g.in(sp_values)), Applied(g, "Square", other)) : g.in(sp_values);
  g.Set(dense, Scatter(g, indices, shape, Times(g, dz, factor), g.in(dense)));
  return {};
}

auto CwiseBlock(const char* name, const char* summary) {
  return Block(name, summary).Ports(sp_indices, sp_values, sp_shape, dense, output).Types("T", kReals).ShapedBy(sp_shape);
}

}  // namespace

BlockDef SparseDenseCwiseAdd() {
  return CwiseBlock("SparseDenseCwiseAdd", "Adds to the values of a sparse tensor those of a dense one at the same places.")
      .Kernel(Plan, RunCwise<kSum>);
}

BlockDef SparseDenseCwiseMul() {
  return CwiseBlock("SparseDenseCwiseMul", "Multiplies the values of a sparse tensor by those of a dense one at the same places.")
      .Gradient([](GradientBuilder& g) { return GradientOf(g, false); })
      .Kernel(Plan, RunCwise<kProduct>);
}

BlockDef SparseDenseCwiseDiv() {
  return CwiseBlock("SparseDenseCwiseDiv", "Divides the values of a sparse tensor by those of a dense one at the same places.")
      .Details("Integers are divided towards zero. A divisor of 0 is an error, of floats too; elsewhere in the dense tensor 0 may stand.")
      .Gradient([](GradientBuilder& g) { return GradientOf(g, true); })
      .Kernel(Plan, RunDivide);
}

BlockDef SparseDenseGather() {
  return Block("SparseDenseGather", "The values of a dense tensor, stretched over the shape of a sparse one, at its places.")
      .Ports(sp_indices, sizes, gathered, output)
      .Types("T", kFloats)
      .ShapedBy(sizes)
      .Internal()
      .Gradient([](GradientBuilder& g) { g.Set(gathered, Scatter(g, g.in(sp_indices), g.in(sizes), g.grad(output), g.in(gathered))); })
      .Kernel(PlanGather, RunGather, kBySize);
}

BlockDef SparseDenseScatter() {
  return Block("SparseDenseScatter", "Sums the values of a sparse tensor over the axes along which a dense one is stretched.")
      .Ports(sp_indices, sizes, added, like, sums)
      .Types("T", kFloats)
      .ShapedBy(sizes)
      .Internal()
      .Gradient([](GradientBuilder& g) { g.Set(added, Gather(g, g.in(sp_indices), g.in(sizes), g.grad(sums))); })
      .Kernel(PlanScatter, RunScatter);
}

}  // namespace weft::blocks
