// Partial reductions of floats: reductions to one element that fused steps run part by part; see weft/block/partial_reduction.h.
#pragma once

#include <memory>
#include <utility>

#include "blocks/kernels/reduce/reduce.h"
#include "weft/base/divide.h"
#include "weft/block/block.h"

namespace weft::blocks {

/// For elements of type T; OpFor<T> gives the operation for a layout, as the block's Run has it.
template <class T, class OpFor>
PartialReduction PartialReductionOf(const kernels::ReduceLayout& layout) {
  using Op = decltype(std::declval<OpFor>().template operator()<T>(layout));
  struct Partial {
    alignas(PartialReduction::kPartialBytes) typename Op::Acc value;
  };
  static_assert(sizeof(Partial) == PartialReduction::kPartialBytes);
  PartialReduction reduction;
  reduction.parts = layout.pieces;
  reduction.part_elements = DivideUp(layout.count, layout.pieces);
  reduction.initialize = [](void* partial) { static_cast<Partial*>(partial)->value = Op::Identity(); };
  reduction.accumulate = [](const void* parameters, const void* elements, int64_t n, void* partial) {
    const Op op = OpFor{}.template operator()<T>(*static_cast<const kernels::ReduceLayout*>(parameters));
    kernels::internal::ReduceRun(op, static_cast<const T*>(elements), n, static_cast<Partial*>(partial)->value);
  };
  reduction.finalize = [](const void* parameters, const void* partials, void* output) {
    const auto& layout = *static_cast<const kernels::ReduceLayout*>(parameters);
    const Op op = OpFor{}.template operator()<T>(layout);
    const Partial* partial = static_cast<const Partial*>(partials);
    typename Op::Acc acc = partial[0].value;
    for (int64_t p = 1; p < layout.pieces; ++p) acc = Op::Join(acc, partial[p].value);
    *static_cast<T*>(output) = op.Finish(acc, layout.count);
  };
  return reduction;
}

/// A reduction by a ReduceLayout of its input 0, with a partial reduction where it reduces a float tensor to one element.
template <class OpFor>
BlockDef WithPartialReduction(BlockDef def, OpFor) {
  def.plan = [plan = std::move(def.plan)](PlanContext& ctx) -> Result<PlannedBlock> {
    auto planned = plan(ctx);
    if (!planned.ok()) return planned;
    const auto& layout = *static_cast<const kernels::ReduceLayout*>(planned->parameters.get());
    const bool whole = layout.outputs == 1 && layout.width == 1 && layout.reduced.empty() && layout.run == layout.count && layout.count > 1;
    const DType dtype = ctx.dtype(In<0>{"", "", ""});
    if (!whole || !IsFloating(dtype)) return planned;
    planned->partial_reduction =
        std::make_shared<PartialReduction>(Dispatch(dtype, kFloats, [&]<class T>() { return PartialReductionOf<T, OpFor>(layout); }));
    return planned;
  };
  return def;
}

}  // namespace weft::blocks
