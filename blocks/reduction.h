// What reductions over axes have in common: ports, attributes, the plan, the declaration. Run calls Reduce with an operation as in
// kernels/reduce/reduce.h.
#pragma once

#include "blocks/kernels/reduce/reduce.h"
#include "blocks/limits.h"
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

/// A reduced value, of the output's shape, repeated along the axes of the block that is differentiated; `mean`: divided by how many share it.
inline GradientValue Spread(GradientBuilder& g, GradientValue value, bool mean = false) {
  return g.Add("SpreadLike", {{"grad", {value}}, {"like", {g.in(input)}}, {"axis", {g.in(axis)}}},
               {{"keep_dims", g.AttrOf("keep_dims")}, {"mean", mean}});
}

/// Output = input reduced by the operation that a layout gives; integers as unsigned ones, which wrap.
template <class T, class Op>
void Reduce(const kernels::ReduceLayout& layout, RunContext& ctx, const Op& op) {
  using U = kernels::UnsignedOf<T>;
  U* to = reinterpret_cast<U*>(ctx.out<T>(output).data());
  kernels::Reduce(layout, reinterpret_cast<const U*>(ctx.in<T>(input).data()), to, ctx.scratch().data(), ctx.workers(), op);
}

template <class Types, class Run>
BlockDef Declare(const char* name, const char* summary, const char* details, Types types, void (*gradient)(GradientBuilder&), Run run) {
  return Block(name, summary)
      .Details(details)
      .Ports(input, axis, output).Attrs(keep_dims).Types("T", types).Types("Tidx", kIndices).ShapedBy(axis)
      .Gradient(gradient).Kernel(Plan, run);
}

}  // namespace weft::blocks::reduction
