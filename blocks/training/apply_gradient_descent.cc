// ApplyGradientDescent: var - alpha * delta.
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr RefIn<0> var{"var", "T", "the variable, of any shape"};
constexpr In<1> alpha{"alpha", "T", "the learning rate, a scalar"};
constexpr In<2> delta{"delta", "T", "the gradient, in the variable's shape"};
constexpr RefOut<0, 0> out{"out", "T", "the variable after the update"};
constexpr Attr<bool> use_locking{"use_locking", "false", "accepted and not used: updates never interleave"};

Status Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(var);
  if (!ctx.shape(alpha).scalar()) return ctx.Error(alpha, "needs a scalar, found ", ctx.shape(alpha));
  if (!(ctx.shape(delta) == shape)) return ctx.Error(delta, "needs the variable's shape ", shape, ", found ", ctx.shape(delta));
  ctx.set(out, shape);
  return {};
}

constexpr auto Run = []<class T>(const NoParameters&, RunContext& ctx) {
  using A = Accumulator<T>;
  const A rate = static_cast<A>(ctx.in<T>(alpha)[0]);
  const T* old_value = ctx.in<T>(var).data();
  const T* step = ctx.in<T>(delta).data();
  auto updated = ctx.update<T>(var);
  T* new_value = updated.data();
  ctx.workers().For(static_cast<int64_t>(updated.size()), 32768, [=](int64_t begin, int64_t end) {
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) new_value[i] = static_cast<T>(static_cast<A>(old_value[i]) - rate * static_cast<A>(step[i]));
  });
};

}  // namespace

BlockDef ApplyGradientDescent() {
  return Block("ApplyGradientDescent", "Moves a variable against its gradient: var - alpha * delta.")
      .Ports(var, alpha, delta, out)
      .Types("T", kFloats + kComplexes)
      .Attrs(use_locking)
      .Updates(var)
      .Kernel(Plan, Run);
}

}  // namespace weft::blocks
