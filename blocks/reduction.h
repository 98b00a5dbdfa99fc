// What reductions over axes have in common: ports, attributes, the plan. A reduction is declared by its ports, its types and
// `Kernel(reduction::Plan, Run)`, where Run calls kernels::Reduce with an operation as in kernels/reduce/reduce.h.
#pragma once

#include "blocks/kernels/reduce/reduce.h"
#include "weft/block/block.h"

namespace weft::blocks::reduction {

inline constexpr In<0> input{"input", "T", "of any shape"};
inline constexpr In<1> axis{"axis", "Tidx", "a scalar or a vector: the axes to reduce, each in [-rank, rank) and named once; none: nothing is reduced"};
inline constexpr Out<0> output{"output", "T", "the input's shape without the reduced axes; with size 1 for them where keep_dims"};
inline constexpr Attr<bool> keep_dims{"keep_dims", "false", "keep the reduced axes, with size 1"};

/// Checks the axes, sets the output's shape and the scratch memory.
Result<kernels::ReduceLayout> Plan(PlanContext& ctx);

/// Which dimensions of a tensor of that rank the value of the port `port` names.
Result<std::vector<bool>> ReducedAxes(const Tensor& axes, std::string_view port, int rank);

/// Sizes without the flagged axes, or with 1 for them.
std::vector<int64_t> ReducedDims(const Shape& shape, const std::vector<bool>& is_reduced, bool keep);

}  // namespace weft::blocks::reduction
