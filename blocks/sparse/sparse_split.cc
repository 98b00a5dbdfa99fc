// SparseSplit: a sparse tensor cut into parts along an axis.
#include <algorithm>

#include "blocks/kernels/reduce/segment.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {
namespace {

constexpr In<0> split_dim{"split_dim", "DT_INT64", "a scalar: the axis that is cut; a negative one counts from the end"};
constexpr In<1> indices{"indices", "DT_INT64", "[places, rank], in any order"};
constexpr In<2> values{"values", "T", "[places]"};
constexpr In<3> shape{"shape", "DT_INT64", "[rank]: the shape of the sparse tensor, of 1 axis or more"};
constexpr OutList<0> output_indices{"output_indices", "DT_INT64", "num_split", "[places of the part, rank], in the order of indices"};
constexpr OutList<1> output_values{"output_values", "T", "num_split", "[places of the part]"};
constexpr OutList<2> output_shape{"output_shape", "DT_INT64", "num_split", "[rank]: the shape of the part"};
constexpr Attr<int64_t> num_split{"num_split", kRequired, "how many parts there are: at most the size of the axis", nullptr, 1};

struct Cut {
  Places places;
  DType dtype = DType::kInvalid;
  size_t axis = 0;
  int64_t parts = 0;
  int64_t width = 0;   // of the later parts along the axis
  int64_t larger = 0;  // so many parts in front are one wider

  /// The first index of a part along the axis.
  int64_t Start(int64_t part) const { return part * width + std::min(part, larger); }
  int64_t PartOf(int64_t index) const {
    const int64_t wide = larger * (width + 1);
    return index < wide ? index / (width + 1) : larger + (index - wide) / width;
  }
};

Result<Cut> Plan(PlanContext& ctx) {
  Cut p;
  if (!ctx.shape(split_dim).scalar()) return ctx.Error(split_dim, "needs a scalar, found shape ", ctx.shape(split_dim));
  WEFT_ASSIGN_OR_RETURN(p.places, PlanSparse(ctx, indices, values, shape));
  const int64_t rank = static_cast<int64_t>(p.places.rank());
  WEFT_ASSIGN_OR_RETURN(const int64_t axis, AxisOf(ctx, ctx.ints(split_dim)[0], rank, split_dim));
  WEFT_RETURN_IF_ERROR(CheckCounted(ctx, p.places, shape));
  p.axis = static_cast<size_t>(axis);
  p.dtype = ctx.dtype(values);
  p.parts = ctx.attr(num_split);
  const int64_t size = p.places.size[p.axis];
  if (p.parts > size) return ctx.Error(num_split, "needs at most ", size, " parts, the size of axis ", axis, ", found ", p.parts);
  p.width = size / p.parts;
  p.larger = size % p.parts;
  for (int k = 0; k < static_cast<int>(p.parts); ++k) {
    ctx.set_unknown(output_indices, k, PartialShape::Make({-1, rank}).value());
    ctx.set_unknown(output_values, k, PartialShape::Make({-1}).value());
    ctx.set(output_shape, Shape{rank}, k);
  }
  return p;
}

/// The places sorted by part: those of part k are order[starts[k]] ... order[starts[k + 1] - 1], in their order.
struct Grouped {
  Tensor starts, order;
  int64_t start(int64_t part) const { return starts.values<int64_t>()[static_cast<size_t>(part)]; }
};

Result<Grouped> Group(const Cut& p, const int64_t* index, ProduceContext& ctx) {
  const int64_t rank = static_cast<int64_t>(p.places.rank());
  Grouped grouped;
  WEFT_ASSIGN_OR_RETURN(Tensor parts, ctx.Allocate(DType::kInt64, Shape{p.places.count}));
  WEFT_ASSIGN_OR_RETURN(grouped.starts, ctx.Allocate(DType::kInt64, Shape{p.parts + 2}));
  WEFT_ASSIGN_OR_RETURN(grouped.order, ctx.Allocate(DType::kInt64, Shape{p.places.count}));
  int64_t* part = parts.values<int64_t>().data();
  kernels::ForEach(ctx.workers(), p.places.count, 16384, [&](int64_t i) {
    part[i] = p.PartOf(index[i * rank + static_cast<int64_t>(p.axis)]);
  });
  constexpr const int64_t* kNumbers = nullptr;
  if (ctx.cancelled() || !kernels::GroupBySegment(part, kNumbers, p.places.count, p.parts, grouped.starts.values<int64_t>().data(),
                                                  grouped.order.values<int64_t>().data(), ctx.workers())) {
    return kernels::RunStopped();
  }
  return grouped;
}

Status EmitPart(const Cut& p, const int64_t* from, const Grouped& grouped, int64_t k, ProduceContext& ctx) {
  const int64_t rank = static_cast<int64_t>(p.places.rank()), count = grouped.start(k + 1) - grouped.start(k);
  const int64_t* order = grouped.order.values<int64_t>().data() + grouped.start(k);
  WEFT_ASSIGN_OR_RETURN(SparseValue part, AllocateSparse(p.dtype, count, p.places.size, ctx.services().budget));
  part.shape.values<int64_t>()[p.axis] = p.Start(k + 1) - p.Start(k);
  int64_t* to = part.indices.values<int64_t>().data();
  DispatchSize(p.dtype, [&]<class T>() {
    const T* value = ctx.in<T>(values).data();
    T* to_value = static_cast<T*>(part.values.data());
    kernels::ForEach(ctx.workers(), count, 16384, [&](int64_t i) {
      std::copy(from + order[i] * rank, from + (order[i] + 1) * rank, to + i * rank);
      to[i * rank + static_cast<int64_t>(p.axis)] -= p.Start(k);
      to_value[i] = value[order[i]];
    });
  });
  EmitSparse(ctx, output_indices, output_values, output_shape, std::move(part), static_cast<int>(k));
  return {};
}

constexpr auto Run = [](const Cut& p, ProduceContext& ctx) -> Status {
  const int64_t* index = ctx.in<int64_t>(indices).data();
  WEFT_RETURN_IF_ERROR(p.places.Check(index, nullptr, ctx.workers()));
  WEFT_ASSIGN_OR_RETURN(const Grouped grouped, Group(p, index, ctx));
  for (int64_t k = 0; k < p.parts; ++k) {
    if (ctx.cancelled()) return kernels::RunStopped();
    WEFT_RETURN_IF_ERROR(EmitPart(p, index, grouped, k, ctx));
  }
  return {};
};

}  // namespace

BlockDef SparseSplit() {
  return Block("SparseSplit", "Cuts a sparse tensor into parts along an axis.")
      .Details("Where the axis cannot be divided evenly, the first parts are one wider.")
      .Ports(split_dim, indices, values, shape, output_indices, output_values, output_shape)
      .Attrs(num_split)
      .Types("T", kSparseTypes)
      .ShapedBy(split_dim, shape)
      .Producer(Plan, Run);
}

}  // namespace weft::blocks
