// SparseSlice: the places of a sparse tensor inside of a box, and its gradient.
#include <algorithm>
#include <numeric>

#include "blocks/kernels/stop_check.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {
namespace {

constexpr In<0> indices{"indices", "DT_INT64", "[places, rank], in any order"};
constexpr In<1> values{"values", "T", "[places]"};
constexpr In<2> shape{"shape", "DT_INT64", "[rank]: the shape of the sparse tensor"};
constexpr In<3> start{"start", "DT_INT64", "[rank]: where the box begins"};
constexpr In<4> size{"size", "DT_INT64", "[rank]: the sizes of the box, which may go over the end"};
constexpr Out<0> output_indices{"output_indices", "DT_INT64",
                                "[n, rank]: the places inside, in their order, counted from the start of the box"};
constexpr Out<1> output_values{"output_values", "T", "[n]"};
constexpr Out<2> output_shape{"output_shape", "DT_INT64", "[rank]: the sizes of the box, cut at the end of the tensor"};

struct Box {
  Places places;
  std::vector<int64_t> begin, end;  // of the indices inside
  std::vector<int64_t> sizes;       // of the output
  DType dtype = DType::kInvalid;

  bool Holds(const int64_t* index) const {
    for (size_t i = 0; i < begin.size(); ++i) {
      if (index[i] < begin[i] || index[i] >= end[i]) return false;
    }
    return true;
  }
};

Result<Box> PlanBox(PlanContext& ctx, const auto& taken) {
  Box p;
  WEFT_ASSIGN_OR_RETURN(p.places, PlanPlaces(ctx, indices, shape));
  WEFT_RETURN_IF_ERROR(CheckCounted(ctx, p.places, shape));
  const auto check = [&](const auto& port) {
    const Shape& found = ctx.shape(port);
    return found.rank() == 1 && found[0] == static_cast<int64_t>(p.places.rank())
               ? Status{}
               : ctx.Error(port, "needs [", p.places.rank(), "], a number for each axis, found ", found);
  };
  WEFT_RETURN_IF_ERROR(check(start));
  WEFT_RETURN_IF_ERROR(check(size));
  p.begin = ctx.ints(start);
  p.sizes = ctx.ints(size);
  for (size_t i = 0; i < p.sizes.size(); ++i) {
    const int64_t first = p.begin[i], wanted = p.sizes[i], all = p.places.size[i];
    if (wanted < 0) return ctx.Error(size, "needs sizes of 0 or more, found ", PlaceText(p.sizes));
    p.end.push_back(first > INT64_MAX - wanted ? INT64_MAX : first + wanted);
    p.sizes[i] = first >= all ? 0 : std::min(wanted, first < all - INT64_MAX ? INT64_MAX : all - first);
  }
  p.dtype = ctx.dtype(taken);
  return p;
}

Result<Box> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Box p, PlanBox(ctx, values));
  WEFT_RETURN_IF_ERROR(CheckValues(ctx, p.places, values));
  ctx.set_unknown(output_indices, 0, PartialShape::Make({-1, static_cast<int64_t>(p.places.rank())}).value());
  ctx.set_unknown(output_values, 0, PartialShape::Make({-1}).value());
  ctx.set(output_shape, ctx.shape(shape));
  return p;
}

constexpr int64_t kBlock = 32768;  // places of a task

/// counts[k] becomes the number of places inside in front of block k; returns that of all.
int64_t CountInside(const Box& p, const int64_t* index, std::span<int64_t> counts, Workers& workers) {
  const int64_t rank = static_cast<int64_t>(p.places.rank());
  workers.For(p.places.count, kBlock, [&](int64_t begin, int64_t end) {
    int64_t inside = 0;
    for (int64_t i = begin; i < end; ++i) inside += p.Holds(index + i * rank);
    counts[static_cast<size_t>(begin / kBlock)] = inside;
  });
  if (workers.Stopped()) return 0;  // not all were counted
  const int64_t last = counts.empty() ? 0 : counts.back();
  std::exclusive_scan(counts.begin(), counts.end(), counts.begin(), int64_t{0});
  return counts.empty() ? 0 : counts.back() + last;
}

constexpr auto Run = [](const Box& p, ProduceContext& ctx) -> Status {
  const int64_t* from = ctx.in<int64_t>(indices).data();
  const int64_t rank = static_cast<int64_t>(p.places.rank());
  WEFT_ASSIGN_OR_RETURN(Tensor counts, ctx.Allocate(DType::kInt64, Shape{DivideUp(p.places.count, kBlock)}));
  const int64_t count = CountInside(p, from, counts.values<int64_t>(), ctx.workers());
  if (ctx.cancelled()) return kernels::RunStopped();
  WEFT_ASSIGN_OR_RETURN(SparseValue inside, AllocateSparse(p.dtype, count, p.sizes, ctx.services().budget));
  int64_t* to = inside.indices.values<int64_t>().data();
  DispatchSize(p.dtype, [&]<class T>() {
    const T* value = ctx.in<T>(values).data();
    T* to_value = static_cast<T*>(inside.values.data());
    ctx.workers().For(p.places.count, kBlock, [&](int64_t begin, int64_t end) {
      int64_t next = counts.values<int64_t>()[static_cast<size_t>(begin / kBlock)];
      for (int64_t i = begin; i < end; ++i) {
        if (!p.Holds(from + i * rank)) continue;
        for (int64_t a = 0; a < rank; ++a) to[next * rank + a] = from[i * rank + a] - p.begin[static_cast<size_t>(a)];
        to_value[next++] = value[i];
      }
    });
  });
  EmitSparse(ctx, output_indices, output_values, output_shape, std::move(inside));
  return {};
};

// ---- gradient ----------------------------------------------------------------------------------------------------------------

constexpr In<1> grad{"grad", "T", "[n]: the gradient of output_values"};
constexpr Out<0> values_grad{"output", "T", "[places]: the gradient of values; 0 outside of the box"};

Result<Box> PlanGrad(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Box p, PlanBox(ctx, grad));
  if (ctx.shape(grad).rank() != 1) return ctx.Error(grad, "needs a vector, found shape ", ctx.shape(grad));
  ctx.set(values_grad, Shape{p.places.count});
  ctx.set_scratch(DivideUp(p.places.count, kBlock) * static_cast<int64_t>(sizeof(int64_t)));
  return p;
}

constexpr auto RunGrad = []<class T>(const Box& p, RunContext& ctx) -> Status {
  const int64_t* index = ctx.in<int64_t>(indices).data();
  const auto from = ctx.in<T>(grad);
  T* to = ctx.out<T>(values_grad).data();
  const int64_t rank = static_cast<int64_t>(p.places.rank());
  const auto counts = ctx.scratch<int64_t>();
  const int64_t count = CountInside(p, index, counts, ctx.workers());
  if (ctx.cancelled()) return kernels::RunStopped();
  if (count != static_cast<int64_t>(from.size())) {
    return ctx.Error(grad, "needs [", count, "], an element for each place inside, found ", from.size());
  }
  ctx.workers().For(p.places.count, kBlock, [&](int64_t begin, int64_t end) {
    int64_t next = counts[static_cast<size_t>(begin / kBlock)];
    for (int64_t i = begin; i < end; ++i) to[i] = p.Holds(index + i * rank) ? from[static_cast<size_t>(next++)] : T{};
  });
  return {};
};

GradientInputs With(GradientBuilder& g, const char* port, GradientValue taken) {
  return {{"indices", {g.in(indices)}}, {port, {taken}}, {"shape", {g.in(shape)}}, {"start", {g.in(start)}}, {"size", {g.in(size)}}};
}

void Gradient(GradientBuilder& g) { g.Set(values, g.Add("SparseSliceGrad", With(g, "grad", g.grad(output_values)))); }

void GradGradient(GradientBuilder& g) {
  g.Set(grad, GradientBuilder::Output(g.Add("SparseSlice", With(g, "values", g.grad(values_grad))), 1));
}

}  // namespace

BlockDef SparseSlice() {
  return Block("SparseSlice", "The places of a sparse tensor inside of a box.")
      .Ports(indices, values, shape, start, size, output_indices, output_values, output_shape)
      .Types("T", kSparseTypes)
      .ShapedBy(shape, start, size)
      .Gradient(Gradient)
      .Producer(Plan, Run);
}

BlockDef SparseSliceGrad() {
  return Block("SparseSliceGrad", "The gradient of SparseSlice with respect to its values.")
      .Ports(indices, grad, shape, start, size, values_grad)
      .Types("T", kFloats + kComplexes)
      .ShapedBy(shape, start, size)
      .Internal()
      .Gradient(GradGradient)
      .Kernel(PlanGrad, RunGrad);
}

}  // namespace weft::blocks
