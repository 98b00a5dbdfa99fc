// SparseConcat: sparse tensors joined along an axis.
#include <algorithm>
#include <numeric>

#include "blocks/kernels/stop_check.h"
#include "blocks/limits.h"
#include "blocks/sparse/place_order.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {
namespace {

constexpr InList<0> indices{"indices", "DT_INT64", "N", "[places, rank] of each tensor, in any order"};
constexpr InList<1> values{"values", "T", "N", "[places] of each tensor"};
constexpr InList<2> shapes{"shapes", "DT_INT64", "N", "[rank]: the shape of each tensor; equal but along the axis"};
constexpr Out<0> output_indices{"output_indices", "DT_INT64", "[all places, rank], in row-major order"};
constexpr Out<1> output_values{"output_values", "T", "[all places]"};
constexpr Out<2> output_shape{"output_shape", "DT_INT64", "[rank]"};
constexpr Attr<int64_t> concat_dim{"concat_dim", kRequired, "the axis that is joined; a negative one counts from the end"};
constexpr Attr<int64_t> many{"N", kRequired, "how many tensors there are", nullptr, 2};

struct Joined {
  std::vector<int64_t> starts{0};  // the first place of each tensor among those of all, and the end
  std::vector<int64_t> shifts;     // what is added to the indices of each along the axis
  std::vector<int64_t> size, axes;
  int64_t axis = 0;
  int64_t order_offset = 0;  // in the scratch memory, after the indices of all

  int64_t count() const { return starts.back(); }
  int64_t rank() const { return static_cast<int64_t>(size.size()); }
};

Result<Places> PlanTensor(PlanContext& ctx, int k) {
  const bool vector = ctx.shape(shapes, k).rank() == 1;
  WEFT_ASSIGN_OR_RETURN(Places places, MakePlaces({ctx.shape(indices, k), ctx.shape(shapes, k), vector ? ctx.ints(shapes, k) : Ints{},
                                                   indices.name, shapes.name},
                                                  DType::kInt64, PlaceForms::kMatrix));
  const Shape& found = ctx.shape(values, k);
  if (found.rank() == 1 && found[0] == places.count) return places;
  return ctx.Error(values, "needs [", places.count, "], a value for each place in indices[", k, "], found ", found, " in values[", k, "]");
}

Status Join(PlanContext& ctx, Joined& p, const Places& tensor, int k) {
  for (size_t i = 0; i < p.size.size(); ++i) {
    if (tensor.size.size() == p.size.size() && (static_cast<int64_t>(i) == p.axis || tensor.size[i] == p.size[i])) continue;
    return ctx.Error(shapes, "needs the sizes of shapes[0] but along axis ", p.axis, ", found ", tensor.SizeText(), " in shapes[", k, "]");
  }
  p.shifts.push_back(k == 0 ? 0 : p.size[static_cast<size_t>(p.axis)]);
  const int64_t own = k == 0 ? 0 : tensor.size[static_cast<size_t>(p.axis)];
  int64_t& joined = p.size[static_cast<size_t>(p.axis)];
  if (own > INT64_MAX - joined || tensor.count > INT64_MAX - p.count()) {
    return ctx.Error(shapes, "needs sizes whose sum along axis ", p.axis, " fits 63 bits, found ", own, " after ", joined);
  }
  joined += own;
  p.starts.push_back(p.count() + tensor.count);
  return {};
}

Status PlanOutputs(PlanContext& ctx, Joined& p) {
  const int64_t sizes[] = {p.count(), p.rank()};
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output_indices, sizes, indices));
  ctx.set(output_values, Shape{p.count()});
  ctx.set(output_shape, Shape{p.rank()});
  WEFT_ASSIGN_OR_RETURN(const int64_t order, AtPort(indices, OrderScratchBytes(p.count(), p.rank())));
  const auto joined = CheckedMultiply(ctx.planned().outputs[0].count(), sizeof(int64_t));
  if (!joined || *joined > INT64_MAX - order) return ctx.Error(indices, "needs fewer places, found ", p.count());
  p.order_offset = *joined;
  ctx.set_scratch(*joined + order);
  return {};
}

Result<Joined> Plan(PlanContext& ctx) {
  Joined p;
  for (int k = 0; k < ctx.count(indices); ++k) {
    WEFT_ASSIGN_OR_RETURN(const Places tensor, PlanTensor(ctx, k));
    if (k == 0) {
      p.size = tensor.size;
      WEFT_ASSIGN_OR_RETURN(p.axis, AxisOf(ctx, ctx.attr(concat_dim), p.rank(), concat_dim));
    }
    WEFT_RETURN_IF_ERROR(CheckCounted(ctx, tensor, shapes));
    WEFT_RETURN_IF_ERROR(Join(ctx, p, tensor, k));
  }
  if (!ProductOf(p.size)) {
    return ctx.Error(shapes, "needs tensors whose joined sizes have a product that fits 63 bits, found ", PlaceText(p.size));
  }
  p.axes.resize(p.size.size());
  std::iota(p.axes.begin(), p.axes.end(), int64_t{0});
  WEFT_RETURN_IF_ERROR(PlanOutputs(ctx, p));
  return p;
}

/// The places of all tensors one after another, where they are in the output.
void ShiftIndices(const Joined& p, RunContext& ctx, int64_t* to) {
  for (size_t k = 0; k < p.shifts.size(); ++k) {
    const int64_t *from = ctx.in<int64_t>(indices, static_cast<int>(k)).data(), rank = p.rank(), shift = p.shifts[k];
    int64_t* own = to + p.starts[k] * rank;
    ctx.workers().For(p.starts[k + 1] - p.starts[k], 16384, [&](int64_t begin, int64_t end) {
      std::copy(from + begin * rank, from + end * rank, own + begin * rank);
      for (int64_t i = begin; i < end; ++i) own[i * rank + p.axis] = WrapAdd(own[i * rank + p.axis], shift);
    });
  }
}

constexpr auto Run = []<class T>(const Joined& p, RunContext& ctx) -> Status {
  int64_t* joined = ctx.scratch<int64_t>().data();
  ShiftIndices(p, ctx, joined);
  if (ctx.cancelled()) return kernels::RunStopped();  // not all indices are there
  WEFT_ASSIGN_OR_RETURN(const PlaceOrder order,
                        OrderPlaces(joined, p.count(), p.rank(), p.axes, ctx.scratch().data() + p.order_offset, ctx.workers()));
  TakeIndices(order, joined, ctx.out<int64_t>(output_indices).data(), p.count(), p.rank(), ctx.workers());
  T* to = ctx.out<T>(output_values).data();
  ctx.workers().For(p.count(), 16384, [&](int64_t begin, int64_t end) {
    size_t k = 0;
    const T* from = nullptr;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t place = order.at(i);
      if (from == nullptr || place < p.starts[k] || place >= p.starts[k + 1]) {
        k = static_cast<size_t>(std::ranges::upper_bound(p.starts, place) - p.starts.begin()) - 1;
        from = ctx.in<T>(values, static_cast<int>(k)).data();
      }
      to[i] = from[place - p.starts[k]];
    }
  });
  std::ranges::copy(p.size, ctx.out<int64_t>(output_shape).begin());
  return {};
};

}  // namespace

BlockDef SparseConcat() {
  return Block("SparseConcat", "Joins sparse tensors along an axis.")
      .Details("The places come out in row-major order, those that repeat in the order of the tensors.")
      .Ports(indices, values, shapes, output_indices, output_values, output_shape)
      .Attrs(concat_dim, many)
      .Inferred(many)
      .Types("T", kSparseTypes)
      .ShapedBy(shapes)
      .NotDifferentiable()
      .Kernel(Plan, Run, kBySize);
}

}  // namespace weft::blocks
