// Concat, Stack, ParallelConcat: tensors joined to one; and the way back of Concat.
#include "blocks/gradients.h"
#include "blocks/joined_columns.h"
#include "blocks/limits.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr InList<0> values{"values", "T", "N", "tensors of one rank, of the same sizes but along the axis"};
constexpr InList<0> alike{"values", "T", "N", "tensors of one shape"};
constexpr InList<0> rows{"values", "T", "N", "tensors of one shape [1, ...]"};
constexpr In<1> axis{"axis", "Tidx", "a scalar: the axis along which they are joined; a negative one counts from the end"};
constexpr Out<0> output{"output", "T", "the tensors one after another along the axis"};
constexpr Out<0> stacked{"output", "T", "the shape of the values with an axis of size N put in"};
constexpr Attr<int64_t> many{"N", kRequired, "how many tensors there are", nullptr, 2};
constexpr Attr<int64_t> length{"N", kRequired, "how many tensors there are", nullptr, 1};
constexpr Attr<int64_t> stack_axis{"axis", "0", "where the new axis goes; a negative one counts from the end"};
constexpr Attr<PartialShape> shape{"shape", kRequired, "the shape of the output, [N, ...]"};

constexpr In<0> grad{"grad", "T", "the gradient of a Concat"};
constexpr InList<2> likes{"likes", "T", "N", "the tensors that were joined: give their shapes"};
constexpr OutList<0> parts{"output", "T", "N", "the piece of the gradient that belongs to each"};

// What is joined: tensors at a list port whose sizes agree but along the axis, and their shape once joined.
template <int I>
Result<JoinedColumns> JoinAlong(const PlanContext& ctx, const InList<I>& list, int at, std::vector<int64_t>& dims) {
  const Shape& first = ctx.shape(list, 0);
  dims.assign(first.dims().begin(), first.dims().end());
  JoinedColumns columns;
  columns.rows = first.count(0, at);
  columns.moves = &MovesOf(ctx.dtype(list));
  const int64_t inner = first.count(at + 1, first.rank());
  for (int k = 0; k < ctx.count(list); ++k) {
    Shape other = ctx.shape(list, k);
    const int64_t size = other.rank() == first.rank() ? other[at] : 0;
    if (other.rank() == first.rank()) other.set_dim(at, first[at]);
    if (!(other == first)) {
      return ctx.Error(list, "needs tensors of the same sizes but along axis ", at, ", found ", first, " first and ", ctx.shape(list, k),
                       " at index ", k);
    }
    if (k > 0 && __builtin_add_overflow(dims[at], size, &dims[at])) return ctx.Error(list, "needs fewer elements than 2^63");
    auto width = CheckedMultiply(size, inner);
    if (!width || *width > INT64_MAX - columns.width()) return ctx.Error(list, "needs fewer elements than 2^63");
    columns.AddPart(*width);
  }
  return columns;
}

constexpr auto Run = [](const JoinedColumns& columns, RunContext& ctx) {
  const auto part = [&](size_t k) { return ctx.in<std::byte>(values, static_cast<int>(k)).data(); };
  JoinColumns(columns, part, ctx.out<std::byte>(output).data(), ctx.workers());
};

// ---- Concat ----------------------------------------------------------------------------------------------------------------

Result<JoinedColumns> PlanConcat(PlanContext& ctx) {
  if (ctx.count(values) < 2) return ctx.Error(values, "needs two tensors or more, found ", ctx.count(values));
  const Shape& first = ctx.shape(values, 0);
  if (first.scalar()) return ctx.Error(values, "needs tensors of rank 1 or more, found a scalar");
  WEFT_ASSIGN_OR_RETURN(const int at, ScalarAxis(ctx, axis, first));
  std::vector<int64_t> dims;
  WEFT_ASSIGN_OR_RETURN(JoinedColumns columns, JoinAlong(ctx, values, at, dims));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, dims, values));
  return columns;
}

void ConcatGradient(GradientBuilder& g) {
  std::vector<GradientValue> joined;
  for (int k = 0; k < g.count(values); ++k) joined.push_back(g.in(values, k));
  const GradientValue first = g.Add("ConcatGrad", {{"grad", {g.grad(output)}}, {"axis", {g.in(axis)}}, {"likes", joined}});
  for (int k = 0; k < g.count(values); ++k) g.Set(values, g.Output(first, k), k);
}

Result<JoinedColumns> PlanConcatGrad(PlanContext& ctx) {
  if (ctx.count(likes) < 1) return ctx.Error(likes, "needs one tensor or more, found none");
  const Shape& first = ctx.shape(likes, 0);
  WEFT_ASSIGN_OR_RETURN(const int at, ScalarAxis(ctx, axis, first));
  std::vector<int64_t> dims;
  WEFT_ASSIGN_OR_RETURN(JoinedColumns columns, JoinAlong(ctx, likes, at, dims));
  WEFT_RETURN_IF_ERROR(CheckShape(ctx, grad, Shape(std::span<const int64_t>(dims)), "the joined tensors"));
  for (int k = 0; k < ctx.count(likes); ++k) ctx.set(parts, ctx.shape(likes, k), k);
  return columns;
}

constexpr auto RunSplit = [](const JoinedColumns& columns, RunContext& ctx) {
  const auto part = [&](size_t k) { return ctx.out<std::byte>(parts, static_cast<int>(k)).data(); };
  SplitColumns(columns, ctx.in<std::byte>(grad).data(), part, ctx.workers());
};

void ConcatGradGradient(GradientBuilder& g) {
  g.Set(grad, g.Add("Concat", {{"values", GradientsOrZeros(g, parts)}, {"axis", {g.in(axis)}}}));
}

// ---- Stack, ParallelConcat -------------------------------------------------------------------------------------------------

// The tensors have one shape; each becomes one row of size 1 along a new axis at `at`.
Result<JoinedColumns> StackAt(const PlanContext& ctx, int at) {
  const Shape& first = ctx.shape(alike, 0);
  JoinedColumns columns;
  columns.rows = first.count(0, at);
  columns.moves = &MovesOf(ctx.dtype(alike));
  const int64_t inner = first.count(at, first.rank());
  for (int k = 0; k < ctx.count(alike); ++k) {
    if (ctx.shape(alike, k) != first) {
      return ctx.Error(alike, "needs tensors of one shape, found ", first, " first and ", ctx.shape(alike, k), " at index ", k);
    }
    if (inner > INT64_MAX - columns.width()) return ctx.Error(alike, "needs fewer elements than 2^63");
    columns.AddPart(inner);
  }
  return columns;
}

Result<JoinedColumns> PlanStack(PlanContext& ctx) {
  if (ctx.count(alike) < 1) return ctx.Error(alike, "needs one tensor or more, found none");
  const Shape& first = ctx.shape(alike, 0);
  WEFT_ASSIGN_OR_RETURN(const int at, NewAxisOf(ctx, stack_axis, ctx.attr(stack_axis), first));
  std::vector<int64_t> dims(first.dims().begin(), first.dims().end());
  dims.insert(dims.begin() + at, ctx.count(alike));
  WEFT_ASSIGN_OR_RETURN(JoinedColumns columns, StackAt(ctx, at));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(stacked, dims, alike));
  return columns;
}

void StackGradient(GradientBuilder& g) {
  const int64_t count = g.count(alike);
  const GradientValue first = g.Add("Unstack", {{"value", {g.grad(stacked)}}}, {{"num", AttrValue(count)}, {"axis", g.AttrOf("axis")}});
  for (int k = 0; k < count; ++k) g.Set(alike, g.Output(first, k), k);
}

Result<JoinedColumns> PlanParallelConcat(PlanContext& ctx) {
  if (ctx.count(rows) < 1) return ctx.Error(rows, "needs one tensor or more, found none");
  const auto wanted = ctx.attr(shape).shape();
  if (!wanted || wanted->scalar()) return ctx.Error(shape, "needs a shape of rank 1 or more with all sizes, found ", ctx.attr(shape));
  if ((*wanted)[0] != ctx.count(rows)) return ctx.Error(shape, "needs a row for each of the ", ctx.count(rows), " values, found ", *wanted);
  Shape row = *wanted;
  row.set_dim(0, 1);
  if (ctx.shape(rows, 0) != row) return ctx.Error(rows, "needs tensors of shape ", row, ", found ", ctx.shape(rows, 0));
  ctx.set(output, *wanted);
  return StackAt(ctx, 0);
}

}  // namespace

BlockDef Concat() {
  return Block("Concat", "Joins tensors along an axis.")
      .Alias("ConcatV2").Ports(values, axis, output).Attrs(many).Inferred(many).Types("T", kAllTypes)
      .Types("Tidx", kIndices).ShapedBy(axis)
      .Gradient(ConcatGradient).Kernel(PlanConcat, Run);
}

BlockDef ConcatGrad() {
  return Block("ConcatGrad", "Shares the gradient of a Concat out among the tensors that were joined.")
      .Ports(grad, axis, likes, parts).Attrs(length).Inferred(length).Types("T", kAllTypes).Types("Tidx", kIndices)
      .ShapedBy(axis)
      .Internal().Gradient(ConcatGradGradient).Kernel(PlanConcatGrad, RunSplit);
}

BlockDef Stack() {
  return Block("Stack", "Joins tensors of one shape along a new axis.")
      .Alias("Pack").Ports(alike, stacked).Attrs(length).Inferred(length).Types("T", kAllTypes).Attrs(stack_axis)
      .Gradient(StackGradient).Kernel(PlanStack, Run);
}

BlockDef ParallelConcat() {
  return Block("ParallelConcat", "Joins tensors of one row each along the first axis.")
      .Ports(rows, output).Attrs(length).Inferred(length).Types("T", kAllTypes).Attrs(shape)
      .Kernel(PlanParallelConcat, Run);
}

}  // namespace weft::blocks
