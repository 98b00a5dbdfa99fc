// SparseSparseMaximum and SparseSparseMinimum: the larger or the smaller of the values of two sparse tensors at each place.
#include "blocks/sparse/merge.h"
#include "blocks/sparse/places.h"

namespace weft::blocks {
namespace {

using namespace merge;

constexpr Out<0> output_indices{"output_indices", "DT_INT64", "[places, rank]: where either tensor has a place, in row-major order"};
constexpr Out<1> output_values{"output_values", "T", "[places]"};

Result<Operands> Plan(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Operands p, PlanOperands(ctx));
  ctx.set_unknown(output_indices, 0, PartialShape::Make({-1, static_cast<int64_t>(p.a.rank())}).value());
  ctx.set_unknown(output_values, 0, PartialShape::Make({-1}).value());
  return p;
}

/// The one that goes before the other; a where they are equal, NaN where either is.
struct Larger {
  template <class T>
  static T Of(T a, T b) {
    return b > a || b != b ? b : a;
  }
};
struct Smaller {
  template <class T>
  static T Of(T a, T b) {
    return b < a || b != b ? b : a;
  }
};

template <class Choice, class T>
int64_t MergeValues(const Operands& p, ProduceContext& ctx, Tensor& indices, Tensor& values) {
  const int64_t rank = static_cast<int64_t>(p.a.rank());
  const Cursor a{ctx.in<int64_t>(a_indices).data(), 0, p.a.count, rank}, b{ctx.in<int64_t>(b_indices).data(), 0, p.b.count, rank};
  const T *left = ctx.in<T>(a_values).data(), *right = ctx.in<T>(b_values).data();
  int64_t *index = indices.values<int64_t>().data(), count = 0;
  T* value = values.values<T>().data();
  MergePlaces(a, b, ctx.workers(), [&](const Cursor* in_a, const Cursor* in_b) {
    value[count] = Choice::Of(in_a != nullptr ? left[in_a->at] : T(0), in_b != nullptr ? right[in_b->at] : T(0));
    const int64_t* from = (in_a != nullptr ? in_a : in_b)->index();
    std::copy(from, from + rank, index + count * rank);
    ++count;
  });
  return count;
}

template <class Choice>
constexpr auto Run = [](const Operands& p, ProduceContext& ctx) -> Status {
  WEFT_RETURN_IF_ERROR(p.a.Check(BytesOf(ctx, a_indices), nullptr, ctx.workers()));
  WEFT_RETURN_IF_ERROR(p.b.Check(BytesOf(ctx, b_indices), nullptr, ctx.workers()));
  const int64_t most = p.a.count + p.b.count, rank = static_cast<int64_t>(p.a.rank());  // both have elements in memory
  WEFT_ASSIGN_OR_RETURN(Tensor indices, ctx.Allocate(DType::kInt64, Shape{most, rank}));
  WEFT_ASSIGN_OR_RETURN(Tensor values, ctx.Allocate(p.dtype, Shape{most}));
  const int64_t count = Dispatch(p.dtype, kReals, [&]<class T>() { return MergeValues<Choice, T>(p, ctx, indices, values); });
  if (ctx.cancelled()) return kernels::RunStopped();
  WEFT_ASSIGN_OR_RETURN(indices, Shortened(std::move(indices), count, ctx));
  WEFT_ASSIGN_OR_RETURN(values, Shortened(std::move(values), count, ctx));
  ctx.Emit(output_indices, std::move(indices));
  ctx.Emit(output_values, std::move(values));
  return {};
};

template <class Choice>
BlockDef Extreme(const char* name, const char* summary) {
  return Block(name, summary)
      .Details(
          "Where only one of them has a place, the other counts as 0. NaN where either is. Places out of order are merged as they come.")
      .Ports(a_indices, a_values, a_shape, b_indices, b_values, b_shape, output_indices, output_values)
      .Types("T", kReals)
      .ShapedBy(a_shape, b_shape)
      .Producer(Plan, Run<Choice>);
}

}  // namespace

BlockDef SparseSparseMaximum() {
  return Extreme<Larger>("SparseSparseMaximum", "The larger of the values of two sparse tensors at each place.");
}

BlockDef SparseSparseMinimum() {
  return Extreme<Smaller>("SparseSparseMinimum", "The smaller of the values of two sparse tensors at each place.");
}

}  // namespace weft::blocks
