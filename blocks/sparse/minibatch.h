// A batch of sparse tensors as one sparse tensor, whose first index names the element: taken apart, and put together.
#pragma once

#include <span>

#include "blocks/sparse/places.h"

namespace weft::blocks {

struct Minibatch {
  Places places;
  DType dtype = DType::kInvalid;

  int64_t elements() const { return places.size[0]; }
  /// Calls take(k, element k) for each element in turn, those without places too, until one fails. invalid_argument at the port of the
  /// indices where a place is outside of the batch, out of order or there twice; cancelled where the run is to end.
  Status ForElements(const int64_t* indices, const void* values, Workers& workers, const std::shared_ptr<MemoryBudget>& budget,
                     FunctionRef<Status(int64_t, SparseValue)> take) const;
};

/// The block must be ShapedBy(shape).
Result<Minibatch> PlanMinibatch(PlanContext& ctx, const auto& indices, const auto& values, const auto& shape) {
  WEFT_ASSIGN_OR_RETURN(Places places, PlanSparse(ctx, indices, values, shape));
  if (places.rank() < 2) {
    return ctx.Error(shape, "needs 2 sizes or more, that of the batch and those of its elements, found ", places.rank());
  }
  WEFT_RETURN_IF_ERROR(CheckCounted(ctx, places, shape));
  return Minibatch{std::move(places), ctx.dtype(values)};
}

/// The outputs of a block that stacks sparse tensors.
namespace stacked {
inline constexpr Out<0> indices{"sparse_indices", "DT_INT64", "[places of all, rank + 1]: the number of the tensor, and its index there"};
inline constexpr Out<1> values{"sparse_values", "dtype", "[places of all]"};
inline constexpr Out<2> shape{"sparse_shape", "DT_INT64", "[rank + 1]: how many tensors there are, and the largest of their sizes"};
}  // namespace stacked

void SetStackedShapes(PlanContext& ctx);
/// Emits the tensors along a new first axis. invalid_argument at `port` where one is no sparse tensor of that type or rank.
Status EmitStacked(std::span<const SparseValue> tensors, DType dtype, const char* port, ProduceContext& ctx);

}  // namespace weft::blocks
