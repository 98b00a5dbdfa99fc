// SparseFillEmptyRows: a sparse tensor with an entry of a default value in each row that had none; and its gradient.
#include <algorithm>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {
namespace {

constexpr In<0> indices{"indices", "DT_INT64", "[places, rank], in any order"};
constexpr In<1> values{"values", "T", "[places]"};
constexpr In<2> dense_shape{"dense_shape", "DT_INT64", "[rank]: the shape of the sparse tensor, of 1 axis or more; the first one counts rows"};
constexpr In<3> default_value{"default_value", "T", "a scalar: the value of the entries that are put in"};
constexpr Out<0> output_indices{"output_indices", "DT_INT64", "[n, rank], row by row; within a row in the order of indices"};
constexpr Out<1> output_values{"output_values", "T", "[n]"};
constexpr Out<2> empty_row_indicator{"empty_row_indicator", "DT_BOOL", "[rows]: whether the row had no place"};
constexpr Out<3> reverse_index_map{"reverse_index_map", "DT_INT64", "[places]: where each place went in the output"};

struct Fill {
  Places places;
  DType dtype = DType::kInvalid;
};

Result<Fill> Plan(PlanContext& ctx) {
  Fill p;
  WEFT_ASSIGN_OR_RETURN(p.places, PlanSparse(ctx, indices, values, dense_shape));
  if (p.places.rank() == 0) return ctx.Error(dense_shape, "needs 1 size or more, found none");
  if (!ctx.shape(default_value).scalar()) {
    return ctx.Error(default_value, "needs a scalar, found shape ", ctx.shape(default_value));
  }
  p.dtype = ctx.dtype(values);
  ctx.set_unknown(output_indices, 0, PartialShape::Make({-1, static_cast<int64_t>(p.places.rank())}).value());
  ctx.set_unknown(output_values, 0, PartialShape::Make({-1}).value());
  const int64_t rows[] = {p.places.size[0]};
  WEFT_RETURN_IF_ERROR(ctx.set_checked(empty_row_indicator, rows, dense_shape));
  ctx.set(reverse_index_map, Shape{p.places.count});
  return p;
}

/// Where the rows' places go in the output.
struct Layout {
  Tensor next;   // for each row the place of its first entry
  Tensor empty;  // whether it has none of its own
  int64_t total = 0;
};

Result<Layout> LayOut(const Fill& p, const int64_t* index, ProduceContext& ctx) {
  const int64_t rows = p.places.size[0], rank = static_cast<int64_t>(p.places.rank());
  Layout layout;
  WEFT_ASSIGN_OR_RETURN(layout.next, ctx.Allocate(DType::kInt64, Shape{rows}));
  WEFT_ASSIGN_OR_RETURN(layout.empty, ctx.Allocate(DType::kBool, Shape{rows}));
  int64_t* next = layout.next.values<int64_t>().data();
  bool* empty = layout.empty.values<bool>().data();
  kernels::FillLong(ctx.workers(), next, rows, int64_t{0});
  kernels::StopCheck stop(ctx.workers());
  for (int64_t i = 0; i < p.places.count && !stop(2); ++i) ++next[index[i * rank]];
  for (int64_t row = 0; row < rows && !stop(); ++row) {
    const int64_t count = next[row];
    empty[row] = count == 0;
    next[row] = layout.total;
    layout.total += std::max<int64_t>(count, 1);
  }
  if (ctx.cancelled()) return kernels::RunStopped();
  return layout;
}

/// Writes the indices, and where each place went.
void PlaceIndices(const Fill& p, const int64_t* from, const Layout& layout, int64_t* to, int64_t* map, const Workers& workers) {
  kernels::StopCheck stop(workers);
  const int64_t rank = static_cast<int64_t>(p.places.rank());
  Tensor starts = layout.next;
  int64_t* next = starts.values<int64_t>().data();
  const bool* empty = layout.empty.values<bool>().data();
  for (int64_t row = 0; row < p.places.size[0] && !stop(rank); ++row) {
    if (!empty[row]) continue;
    std::fill(to + next[row] * rank, to + (next[row] + 1) * rank, int64_t{0});
    to[next[row] * rank] = row;
  }
  for (int64_t i = 0; i < p.places.count && !stop(rank + 4); ++i, from += rank) {
    map[i] = next[from[0]]++;
    std::copy(from, from + rank, to + map[i] * rank);
  }
}

constexpr auto Run = [](const Fill& p, ProduceContext& ctx) -> Status {
  const int64_t* from = ctx.in<int64_t>(indices).data();
  WEFT_RETURN_IF_ERROR(p.places.Check(from, nullptr, ctx.workers()));
  WEFT_ASSIGN_OR_RETURN(Layout layout, LayOut(p, from, ctx));
  const int64_t sizes[] = {layout.total, static_cast<int64_t>(p.places.rank())};
  auto shape = Shape::Make(sizes);
  if (!shape.ok()) return std::move(shape).status().WithPort(dense_shape.name);
  WEFT_ASSIGN_OR_RETURN(Tensor placed, ctx.Allocate(DType::kInt64, *shape));
  WEFT_ASSIGN_OR_RETURN(Tensor filled, ctx.Allocate(p.dtype, Shape{layout.total}));
  WEFT_ASSIGN_OR_RETURN(Tensor map, ctx.Allocate(DType::kInt64, Shape{p.places.count}));
  int64_t* where = map.values<int64_t>().data();
  PlaceIndices(p, from, layout, placed.values<int64_t>().data(), where, ctx.workers());
  if (ctx.cancelled()) return kernels::RunStopped();  // not every place is known
  DispatchSize(p.dtype, [&]<class T>() {
    const T *own = ctx.in<T>(values).data(), &rest = ctx.in<T>(default_value)[0];
    T* to = static_cast<T*>(filled.data());
    kernels::FillLong(ctx.workers(), to, layout.total, rest);
    kernels::StopCheck stop(ctx.workers());
    for (int64_t i = 0; i < p.places.count && !stop(8); ++i) to[where[i]] = own[i];
  });
  return Emitted(ctx, output_indices, std::move(placed), output_values, std::move(filled), empty_row_indicator, std::move(layout.empty),
                      reverse_index_map, std::move(map));
};

void Gradient(GradientBuilder& g) {
  const GradientValue both = g.Add("SparseFillEmptyRowsGrad", {{"reverse_index_map", {g.out(reverse_index_map)}},
                                                               {"grad_values", {g.grad(output_values)}}});
  g.Set(values, both);
  g.Set(default_value, GradientBuilder::Output(both, 1));
}

// ---- SparseFillEmptyRowsGrad -----------------------------------------------------------------------------------------------------

constexpr In<0> map{"reverse_index_map", "DT_INT64", "[places]: where each place is in the gradient"};
constexpr In<1> grad{"grad_values", "T", "[n]: the gradient of output_values"};
constexpr Out<0> d_values{"d_values", "T", "[places]: the gradient at the places"};
constexpr Out<1> d_default_value{"d_default_value", "T", "a scalar: the sum of the gradient everywhere else"};

Status PlanGrad(PlanContext& ctx) {
  if (ctx.shape(map).rank() != 1) return ctx.Error(map, "needs a vector, found shape ", ctx.shape(map));
  if (ctx.shape(grad).rank() != 1) return ctx.Error(grad, "needs a vector, found shape ", ctx.shape(grad));
  ctx.set(d_values, ctx.shape(map));
  ctx.set(d_default_value, Shape{});
  ctx.set_scratch(ctx.shape(grad)[0]);  // for each element whether a place took it
  return {};
}

constexpr auto RunGrad = []<class T>(const NoParameters&, RunContext& ctx) -> Status {
  const auto where = ctx.in<int64_t>(map);
  const auto from = ctx.in<T>(grad);
  const auto to = ctx.out<T>(d_values);
  const auto taken = ctx.scratch<bool>();
  kernels::FillLong(ctx.workers(), taken.data(), static_cast<int64_t>(taken.size()), false);
  kernels::StopCheck stop(ctx.workers());
  const int64_t size = static_cast<int64_t>(from.size());
  for (size_t i = 0; i < to.size(); ++i) {
    if (stop(4)) return kernels::RunStopped();
    if (where[i] < 0 || where[i] >= size) {
      return ctx.Error(map, "needs indices in [0, ", size, "), found ", where[i], " at place ", i);
    }
    to[i] = from[where[i]];
    taken[where[i]] = true;
  }
  SumType<T> rest{};
  for (size_t i = 0; i < from.size() && !stop(); ++i) {
    if (!taken[i]) rest = WrapAdd(rest, static_cast<SumType<T>>(from[i]));
  }
  ctx.out<T>(d_default_value)[0] = static_cast<T>(rest);
  return {};
};

}  // namespace

BlockDef SparseFillEmptyRows() {
  return Block("SparseFillEmptyRows", "Puts an entry of a default value into each row of a sparse tensor that has none.")
      .Details("The entry is at the start of its row. The rows come out in order; the entries of a row stay in theirs.")
      .Ports(indices, values, dense_shape, default_value, output_indices, output_values, empty_row_indicator, reverse_index_map)
      .Types("T", kSparseTypes)
      .ShapedBy(dense_shape)
      .Gradient(Gradient)
      .Producer(Plan, Run);
}

BlockDef SparseFillEmptyRowsGrad() {
  return Block("SparseFillEmptyRowsGrad", "The gradient of SparseFillEmptyRows with respect to its values and its default value.")
      .Ports(map, grad, d_values, d_default_value)
      .Types("T", kNumbers)
      .Kernel(PlanGrad, RunGrad);
}

}  // namespace weft::blocks
