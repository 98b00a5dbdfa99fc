#include "blocks/reduction.h"

namespace weft::blocks::reduction {

Result<std::vector<bool>> ReducedAxes(const Tensor& axes, std::string_view port, int rank) {
  if (axes.shape().rank() > 1) return InvalidArgument("needs a scalar or a vector, found shape ", axes.shape()).WithPort(port);
  std::vector<bool> is_reduced(rank, false);
  for (int64_t i = 0; i < axes.count(); ++i) {
    const int64_t given = axes.dtype() == DType::kInt64 ? axes.values<int64_t>()[i] : axes.values<int32_t>()[i];
    if (given < -rank || given >= rank) {
      return InvalidArgument("needs axes in [", -rank, ", ", rank, ") for an input of rank ", rank, ", found ", given).WithPort(port);
    }
    const int64_t axis = given < 0 ? given + rank : given;
    if (is_reduced[axis]) return InvalidArgument("needs each axis once, found axis ", axis, " again").WithPort(port);
    is_reduced[axis] = true;
  }
  return is_reduced;
}

std::vector<int64_t> ReducedDims(const Shape& shape, const std::vector<bool>& is_reduced, bool keep) {
  std::vector<int64_t> dims;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!is_reduced[i]) dims.push_back(shape[i]);
    else if (keep) dims.push_back(1);
  }
  return dims;
}

Result<kernels::ReduceLayout> Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(input);
  WEFT_ASSIGN_OR_RETURN(const std::vector<bool> is_reduced, ReducedAxes(ctx.value(axis), axis.name, shape.rank()));
  WEFT_RETURN_IF_ERROR(ctx.set_checked(output, ReducedDims(shape, is_reduced, ctx.attr(keep_dims)), input));
  auto layout = kernels::ReduceLayout::Make(shape.dims(), is_reduced);
  ctx.set_scratch(layout.ScratchBytes());
  return layout;
}

}  // namespace weft::blocks::reduction
