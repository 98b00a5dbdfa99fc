// SparseReduceSum and SparseReduceMax: a sparse tensor reduced over some axes, to a dense tensor or to a sparse one; and the gradient of
// the sum, which each place takes from where it was added.
#include <algorithm>
#include <atomic>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "blocks/sparse/place_order.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {
namespace {

constexpr In<0> input_indices{"input_indices", "DT_INT64", "[places, rank], in any order; what is named twice counts twice"};
constexpr In<1> input_values{"input_values", "T", "[places]"};
constexpr In<2> input_shape{"input_shape", "DT_INT64", "[rank]: the shape of the sparse tensor"};
constexpr In<3> reduction_axes{"reduction_axes", "DT_INT32",
                               "a scalar or a vector: the axes to reduce, each in [-rank, rank); none: nothing is reduced"};
constexpr Out<0> output{"output", "T", "the shape without the reduced axes, or with size 1 for them where keep_dims; 0 where no place is"};
constexpr Attr<bool> keep_dims{"keep_dims", "false", "keep the reduced axes, with size 1"};

constexpr Out<0> output_indices{"output_indices", "DT_INT64", "[n, rank of the output]: where places are, in row-major order"};
constexpr Out<1> output_values{"output_values", "T", "[n]"};
constexpr Out<2> output_shape{"output_shape", "DT_INT64",
                              "[rank of the output]: the shape without the reduced axes, or with size 1 for them"};

struct Reduction {
  Places places;               // step: of the output, 0 along reduced axes
  std::vector<int64_t> kept;   // the axes that are not reduced
  std::vector<int64_t> sizes;  // of the output
  DType dtype = DType::kInvalid;
  bool keeps_dims = false;

  /// Where a place goes in the dense output; -1 where that is outside. (Along reduced axes indices do not count.)
  int64_t OffsetOf(const int64_t* index) const {
    int64_t offset = 0;
    for (int64_t axis : kept) {
      const int64_t at = index[axis];
      if (at < 0 || at >= places.size[static_cast<size_t>(axis)]) return -1;
      offset += at * places.step[static_cast<size_t>(axis)];
    }
    return offset;
  }
  Status Outside(const int64_t* index, int64_t place) const {
    const int64_t axis =
        *std::ranges::find_if(kept, [&](int64_t a) { return index[a] < 0 || index[a] >= places.size[static_cast<size_t>(a)]; });
    return InvalidArgument("needs indices inside ", places.SizeText(), ", found ", index[axis], " along axis ", axis, " at place ", place)
        .WithPort(places.port);
  }
};

Result<Reduction> PlanReduction(PlanContext& ctx) {
  Reduction p;
  WEFT_ASSIGN_OR_RETURN(p.places, PlanPlaces(ctx, input_indices, input_shape));
  WEFT_RETURN_IF_ERROR(CheckCounted(ctx, p.places, input_shape));
  if (ctx.shape(reduction_axes).rank() > 1) {
    return ctx.Error(reduction_axes, "needs a scalar or a vector, found shape ", ctx.shape(reduction_axes));
  }
  const int64_t rank = static_cast<int64_t>(p.places.rank());
  std::vector<bool> reduced(p.places.rank(), false);
  for (int64_t given : ctx.ints(reduction_axes)) {
    WEFT_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(ctx, given, rank, reduction_axes));
    reduced[static_cast<size_t>(axis)] = true;
  }
  p.keeps_dims = ctx.attr(keep_dims);
  for (size_t axis = 0; axis < reduced.size(); ++axis) {
    if (!reduced[axis]) p.kept.push_back(static_cast<int64_t>(axis));
    if (!reduced[axis] || p.keeps_dims) p.sizes.push_back(reduced[axis] ? 1 : p.places.size[axis]);
  }
  int64_t step = 1;
  for (auto axis = p.kept.rbegin(); axis != p.kept.rend(); ++axis) {
    p.places.step[static_cast<size_t>(*axis)] = step;
    step = WrapMultiply(step, p.places.size[static_cast<size_t>(*axis)]);  // of no use where a size is 0: no place is inside then
  }
  return p;
}

// ---- operations --------------------------------------------------------------------------------------------------------------

struct SumOf {
  template <class T>
  using Total = SumType<T>;
  static constexpr bool kNeedsOne = false;  // none is 0
  template <class A>
  static A Add(A total, A value) {
    return WrapAdd(total, value);
  }
};

/// NaN where there is one.
struct MaxOf {
  template <class T>
  using Total = T;
  static constexpr bool kNeedsOne = true;
  template <class A>
  static A Add(A total, A value) {
    return value > total || value != value ? value : total;
  }
};

// ---- to a dense tensor -------------------------------------------------------------------------------------------------------

/// Scratch: the totals, where they are not of the output's type; for a maximum, whether an element has a value.
template <class Op, class T>
constexpr int64_t kScratchOfElement = (std::is_same_v<typename Op::template Total<T>, T> ? 0 : sizeof(typename Op::template Total<T>)) +
                                      (Op::kNeedsOne ? sizeof(bool) : 0);

template <class Op, class Types>
Result<Reduction> PlanDense(PlanContext& ctx, Types types) {
  WEFT_ASSIGN_OR_RETURN(Reduction p, PlanReduction(ctx));
  WEFT_RETURN_IF_ERROR(CheckValues(ctx, p.places, input_values));
  WEFT_ASSIGN_OR_RETURN(Shape shape, AtPort(input_shape, Shape::Make(p.sizes)));
  const int64_t each = Dispatch(ctx.dtype(input_values), types, []<class T>() { return kScratchOfElement<Op, T>; });
  const auto bytes = CheckedMultiply(shape.count(), each);
  if (!bytes) return ResourceExhausted("needs an output that fits in memory, found ", shape).WithPort(input_shape.name);
  ctx.set_scratch(*bytes);
  ctx.set(output, std::move(shape));
  return p;
}

template <class Op>
constexpr auto RunDense = []<class T>(const Reduction& p, RunContext& ctx) -> Status {
  using A = typename Op::template Total<T>;
  constexpr bool kInPlace = std::is_same_v<A, T>;
  const auto to = ctx.out<T>(output);
  const int64_t size = static_cast<int64_t>(to.size()), rank = static_cast<int64_t>(p.places.rank());
  A* totals = nullptr;
  if constexpr (kInPlace) totals = to.data();
  else totals = ctx.scratch<A>().data();
  kernels::FillLong(ctx.workers(), totals, size, A{});
  [[maybe_unused]] bool* has_one = ctx.scratch<bool>().data();
  if constexpr (Op::kNeedsOne) kernels::FillLong(ctx.workers(), has_one, size, false);
  if (ctx.cancelled()) return kernels::RunStopped();  // not all totals are 0
  const int64_t* index = ctx.in<int64_t>(input_indices).data();
  const T* values = ctx.in<T>(input_values).data();
  kernels::StopCheck stop(ctx.workers());
  for (int64_t place = 0; place < p.places.count && !stop(4 + rank); ++place, index += rank) {
    const int64_t at = p.OffsetOf(index);
    if (at < 0) return p.Outside(index, place);
    const A value = static_cast<A>(values[place]);
    if constexpr (Op::kNeedsOne) {
      totals[at] = has_one[at] ? Op::Add(totals[at], value) : value;
      has_one[at] = true;
    } else {
      totals[at] = Op::Add(totals[at], value);
    }
  }
  if constexpr (!kInPlace) {
    kernels::ForEach(ctx.workers(), size, int64_t{1} << 16, [&](int64_t i) { to[static_cast<size_t>(i)] = static_cast<T>(totals[i]); });
  }
  return {};
};

// ---- to a sparse tensor ------------------------------------------------------------------------------------------------------

Result<Reduction> PlanSparseOutput(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Reduction p, PlanReduction(ctx));
  WEFT_RETURN_IF_ERROR(CheckValues(ctx, p.places, input_values));
  p.dtype = ctx.dtype(input_values);
  const int64_t rank = static_cast<int64_t>(p.sizes.size());
  ctx.set_unknown(output_indices, 0, PartialShape::Make({-1, rank}).value());
  ctx.set_unknown(output_values, 0, PartialShape::Make({-1}).value());
  ctx.set(output_shape, Shape{rank});
  return p;
}

/// The places in the order of the kept axes. Those of group k, which are one place of the output, are [starts[k], starts[k + 1]).
struct Groups {
  Tensor memory, starts;
  PlaceOrder order;
  int64_t count = 0;
};

Result<Groups> GroupPlaces(const Reduction& p, const int64_t* index, ProduceContext& ctx) {
  Groups groups;
  const int64_t rank = static_cast<int64_t>(p.places.rank());
  WEFT_ASSIGN_OR_RETURN(const int64_t bytes, AtPort(input_indices, OrderScratchBytes(p.places.count, rank)));
  WEFT_ASSIGN_OR_RETURN(groups.memory, ctx.Allocate(DType::kUInt8, Shape{bytes}));
  WEFT_ASSIGN_OR_RETURN(groups.starts, ctx.Allocate(DType::kInt64, Shape{p.places.count + 1}));
  WEFT_ASSIGN_OR_RETURN(groups.order,
                        OrderPlaces(index, p.places.count, rank, p.kept, static_cast<std::byte*>(groups.memory.data()), ctx.workers()));
  int64_t* starts = groups.starts.values<int64_t>().data();
  kernels::StopCheck stop(ctx.workers());
  const int64_t* last = nullptr;
  for (int64_t i = 0; i < p.places.count; ++i) {
    if (stop(4 + rank)) return kernels::RunStopped();
    const int64_t* own = index + groups.order.at(i) * rank;
    const bool starts_one = last == nullptr || std::ranges::any_of(p.kept, [&](int64_t axis) { return own[axis] != last[axis]; });
    if (starts_one) starts[groups.count++] = i;
    last = own;
  }
  starts[groups.count] = p.places.count;
  return groups;
}

/// The indices of groups [begin, end) in the output.
void WriteIndices(const Reduction& p, const Groups& groups, const int64_t* index, int64_t* to, int64_t begin, int64_t end) {
  const int64_t rank = static_cast<int64_t>(p.places.rank()), width = static_cast<int64_t>(p.sizes.size());
  const int64_t* starts = groups.starts.values<int64_t>().data();
  for (int64_t k = begin; k < end; ++k) {
    const int64_t* own = index + groups.order.at(starts[k]) * rank;
    int64_t* row = to + k * width;
    if (p.keeps_dims) std::fill(row, row + width, int64_t{0});
    for (size_t i = 0; i < p.kept.size(); ++i) row[p.keeps_dims ? p.kept[i] : static_cast<int64_t>(i)] = own[p.kept[i]];
  }
}

template <class Op, class T>
void ReduceGroups(const Groups& groups, const T* values, T* to, Workers& workers) {
  using A = typename Op::template Total<T>;
  const int64_t *starts = groups.starts.values<int64_t>().data(), places = starts[groups.count];
  kernels::ForEach(workers, groups.count, 1 + 32768 * groups.count / std::max<int64_t>(places, 1), [&](int64_t k, auto& stop) {
    A total = static_cast<A>(values[groups.order.at(starts[k])]);
    for (int64_t i = starts[k] + 1; i < starts[k + 1]; ++i) {
      if (stop()) return;
      total = Op::Add(total, static_cast<A>(values[groups.order.at(i)]));
    }
    to[k] = static_cast<T>(total);
  });
}

template <class Op, auto kTypes>
constexpr auto RunSparseOutput = [](const Reduction& p, ProduceContext& ctx) -> Status {
  const int64_t* index = ctx.in<int64_t>(input_indices).data();
  WEFT_ASSIGN_OR_RETURN(const Groups groups, GroupPlaces(p, index, ctx));
  WEFT_ASSIGN_OR_RETURN(SparseValue reduced, AllocateSparse(p.dtype, groups.count, p.sizes, ctx.services().budget));
  int64_t* to = reduced.indices.values<int64_t>().data();
  ctx.workers().For(groups.count, 16384, [&](int64_t begin, int64_t end) { WriteIndices(p, groups, index, to, begin, end); });
  Dispatch(p.dtype, kTypes, [&]<class T>() {
    ReduceGroups<Op>(groups, ctx.in<T>(input_values).data(), reduced.values.values<T>().data(), ctx.workers());
  });
  EmitSparse(ctx, output_indices, output_values, output_shape, std::move(reduced));
  return {};
};

// ---- the gradient of the sum -------------------------------------------------------------------------------------------------

constexpr In<1> grad{"grad", "T", "the gradient of the sum, in its shape"};
constexpr Out<0> values_grad{"values_grad", "T", "[places]: at each place the gradient of the element that it was added to"};

Result<Reduction> PlanGrad(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Reduction p, PlanReduction(ctx));
  if (!std::ranges::equal(ctx.shape(grad).dims(), p.sizes)) {
    return ctx.Error(grad, "needs the shape of the sum, ", PlaceText(p.sizes), ", found ", ctx.shape(grad));
  }
  ctx.set(values_grad, Shape{p.places.count});
  return p;
}

constexpr auto RunGrad = []<class T>(const Reduction& p, RunContext& ctx) -> Status {
  const int64_t *indices = ctx.in<int64_t>(input_indices).data(), rank = static_cast<int64_t>(p.places.rank());
  const T* from = ctx.in<T>(grad).data();
  T* to = ctx.out<T>(values_grad).data();
  std::atomic<bool> outside{false};
  kernels::ForEach(ctx.workers(), p.places.count, 16384, [&](int64_t i) {
    const int64_t at = p.OffsetOf(indices + i * rank);
    if (at < 0) outside.store(true, std::memory_order_relaxed);
    else to[i] = from[at];
  });
  if (!outside.load()) return {};
  int64_t bad = 0;
  while (p.OffsetOf(indices + bad * rank) >= 0) ++bad;
  return p.Outside(indices + bad * rank, bad);
};

GradientInputs With(GradientBuilder& g, const char* port, GradientValue value) {
  return {{"input_indices", {g.in(input_indices)}},
          {port, {value}},
          {"input_shape", {g.in(input_shape)}},
          {"reduction_axes", {g.in(reduction_axes)}}};
}

void Gradient(GradientBuilder& g) {
  g.Set(input_values, g.Add("SparseReduceSumGrad", With(g, "grad", g.grad(output)), {{"keep_dims", g.AttrOf("keep_dims")}}));
}

void GradGradient(GradientBuilder& g) {
  g.Set(grad, g.Add("SparseReduceSum", With(g, "input_values", g.grad(values_grad)), {{"keep_dims", g.AttrOf("keep_dims")}}));
}

constexpr const char* kSumDetails = "Integers wrap. Floats are summed in double and rounded once.";
constexpr const char* kMaxDetails = "NaN where there is one. Elements that are not there do not count: a maximum may be below 0.";

auto DenseBlock(const char* name, const char* summary, const char* details) {
  return Block(name, summary)
      .Details(details)
      .Ports(input_indices, input_values, input_shape, reduction_axes, output)
      .Attrs(keep_dims)
      .ShapedBy(input_shape, reduction_axes);
}

auto SparseBlock(const char* name, const char* summary, const char* details) {
  return Block(name, summary)
      .Details(details)
      .Ports(input_indices, input_values, input_shape, reduction_axes, output_indices, output_values, output_shape)
      .Attrs(keep_dims)
      .ShapedBy(input_shape, reduction_axes);
}

}  // namespace

BlockDef SparseReduceMax() {
  return DenseBlock("SparseReduceMax", "The greatest values of a sparse tensor along some axes, as a dense tensor.", kMaxDetails)
      .Types("T", kReals)
      .Kernel([](PlanContext& ctx) { return PlanDense<MaxOf>(ctx, kReals); }, RunDense<MaxOf>);
}

BlockDef SparseReduceMaxSparse() {
  return SparseBlock("SparseReduceMaxSparse", "The greatest values of a sparse tensor along some axes, as a sparse tensor.", kMaxDetails)
      .Types("T", kReals)
      .Producer(PlanSparseOutput, RunSparseOutput<MaxOf, kReals>);
}

BlockDef SparseReduceSum() {
  return DenseBlock("SparseReduceSum", "Adds the values of a sparse tensor along some axes, to a dense tensor.", kSumDetails)
      .Types("T", kNumbers)
      .Gradient(Gradient)
      .Kernel([](PlanContext& ctx) { return PlanDense<SumOf>(ctx, kNumbers); }, RunDense<SumOf>);
}

BlockDef SparseReduceSumSparse() {
  return SparseBlock("SparseReduceSumSparse", "Adds the values of a sparse tensor along some axes, to a sparse tensor.", kSumDetails)
      .Types("T", kNumbers)
      .Producer(PlanSparseOutput, RunSparseOutput<SumOf, kNumbers>);
}

BlockDef SparseReduceSumGrad() {
  return Block("SparseReduceSumGrad", "The gradient of SparseReduceSum with respect to its values.")
      .Ports(input_indices, grad, input_shape, reduction_axes, values_grad)
      .Attrs(keep_dims)
      .Types("T", kFloats + kComplexes)
      .ShapedBy(input_shape, reduction_axes)
      .Internal()
      .Gradient(GradGradient)
      .Kernel(PlanGrad, RunGrad, kBySize);
}

}  // namespace weft::blocks
