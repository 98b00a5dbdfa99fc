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
constexpr auto kLarger = []<class T>(T a, T b) { return b > a || b != b ? b : a; };
constexpr auto kSmaller = []<class T>(T a, T b) { return b < a || b != b ? b : a; };

template <auto kChoice>
constexpr auto Run = [](const Operands& p, ProduceContext& ctx) -> Status {
  WEFT_RETURN_IF_ERROR(p.a.Check(BytesOf(ctx, a_indices), nullptr, ctx.workers()));
  WEFT_RETURN_IF_ERROR(p.b.Check(BytesOf(ctx, b_indices), nullptr, ctx.workers()));
  return EmitMerged(p, kReals, ctx, output_indices, output_values, []<class T>(const T* x, const T* y, T& chosen) {
    chosen = kChoice(x != nullptr ? *x : T(0), y != nullptr ? *y : T(0));
    return true;
  });
};

template <auto kChoice>
BlockDef Extreme(const char* name, const char* summary) {
  return Block(name, summary)
      .Details(
          "Where only one of them has a place, the other counts as 0. NaN where either is. Places out of order are merged as they come.")
      .Ports(a_indices, a_values, a_shape, b_indices, b_values, b_shape, output_indices, output_values)
      .Types("T", kReals)
      .ShapedBy(a_shape, b_shape)
      .Producer(Plan, Run<kChoice>);
}

}  // namespace

BlockDef SparseSparseMaximum() {
  return Extreme<kLarger>("SparseSparseMaximum", "The larger of the values of two sparse tensors at each place.");
}

BlockDef SparseSparseMinimum() {
  return Extreme<kSmaller>("SparseSparseMinimum", "The smaller of the values of two sparse tensors at each place.");
}

}  // namespace weft::blocks
