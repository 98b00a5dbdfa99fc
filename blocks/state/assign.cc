// Assign: gives a variable a new value.
#include <algorithm>

#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr RefIn<0> ref{"ref", "T", "the variable; it need not have a value yet"};
constexpr In<1> value{"value", "T", "the new value, in the variable's shape unless validate_shape is false"};
constexpr RefOut<0, 0> output_ref{"output_ref", "T", "the variable after the update"};
constexpr Attr<bool> validate_shape{"validate_shape", "true",
                                    "refuse a value whose shape is not the variable's; otherwise the variable takes its shape"};
constexpr Attr<bool> use_locking{"use_locking", "true", "accepted and not used: updates never interleave"};

Status Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(value);
  if (!ctx.has_shape(ref)) {
    ctx.set_variable(ref, shape);
  } else if (!(ctx.shape(ref) == shape)) {
    if (ctx.attr(validate_shape)) return ctx.Error(value, "needs the variable's shape ", ctx.shape(ref), ", found ", shape);
    ctx.set_variable(ref, shape);
  }
  ctx.set(output_ref, shape);
  return {};
}

constexpr auto Run = []<class T>(const NoParameters&, RunContext& ctx) {
  auto from = ctx.in<T>(value);
  auto to = ctx.update<T>(ref);
  ctx.workers().For(static_cast<int64_t>(from.size()), (int64_t{1} << 18) / static_cast<int64_t>(sizeof(T)),
                    [&](int64_t begin, int64_t end) { std::copy(from.begin() + begin, from.begin() + end, to.begin() + begin); });
};

}  // namespace

BlockDef Assign() {
  return Block("Assign", "Gives a variable a new value.")
      .Ports(ref, value, output_ref)
      .Types("T", kAllTypes)
      .Attrs(validate_shape, use_locking)
      .Updates(ref)
      .MayBeUninitialized(ref)
      .NotDifferentiable()
      .Kernel(Plan, Run, kBySize);
}

}  // namespace weft::blocks
