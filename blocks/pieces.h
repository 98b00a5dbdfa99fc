// Reductions of floats to one element that take their input in parts; see weft/block/pieces.h.
#pragma once

#include <memory>
#include <utility>

#include "blocks/kernels/reduce.h"
#include "weft/base/divide.h"
#include "weft/block/block.h"

namespace weft::blocks {

/// For elements of type T; OpFor<T> gives the operation for a layout, as the block's Run has it.
template <class T, class OpFor>
Pieces PiecesOfReduction(const kernels::ReduceLayout& layout) {
  using Op = decltype(std::declval<OpFor>().template operator()<T>(layout));
  struct Total {
    alignas(Pieces::kTotalBytes) typename Op::Acc value;
  };
  static_assert(sizeof(Total) == Pieces::kTotalBytes);
  Pieces pieces;
  pieces.count = layout.pieces;
  pieces.step = DivideUp(layout.count, layout.pieces);
  pieces.begin = [](void* total) { static_cast<Total*>(total)->value = Op::Identity(); };
  pieces.add = [](const void* parameters, const void* elements, int64_t n, void* total) {
    const Op op = OpFor{}.template operator()<T>(*static_cast<const kernels::ReduceLayout*>(parameters));
    kernels::internal::ReduceRun(op, static_cast<const T*>(elements), n, static_cast<Total*>(total)->value);
  };
  pieces.finish = [](const void* parameters, const void* totals, void* output) {
    const auto& layout = *static_cast<const kernels::ReduceLayout*>(parameters);
    const Op op = OpFor{}.template operator()<T>(layout);
    const Total* total = static_cast<const Total*>(totals);
    typename Op::Acc acc = total[0].value;
    for (int64_t p = 1; p < layout.pieces; ++p) acc = Op::Join(acc, total[p].value);
    *static_cast<T*>(output) = op.Finish(acc, layout.count);
  };
  return pieces;
}

/// A reduction whose parameters are a ReduceLayout of its input 0, with pieces where it reduces all elements of a float tensor to one.
template <class OpFor>
BlockDef InPieces(BlockDef def, OpFor) {
  def.plan = [plan = std::move(def.plan)](PlanContext& ctx) -> Result<PlannedBlock> {
    auto planned = plan(ctx);
    if (!planned.ok()) return planned;
    const auto& layout = *static_cast<const kernels::ReduceLayout*>(planned->parameters.get());
    const bool whole = layout.outputs == 1 && layout.width == 1 && layout.reduced.empty() && layout.run == layout.count && layout.count > 1;
    const DType dtype = ctx.dtype(In<0>{"", "", ""});
    if (!whole || !IsFloating(dtype)) return planned;
    planned->pieces = std::make_shared<Pieces>(Dispatch(dtype, kFloats, [&]<class T>() { return PiecesOfReduction<T, OpFor>(layout); }));
    return planned;
  };
  return def;
}

}  // namespace weft::blocks
