// Assign, AssignAdd, AssignSub, AssignVariableOp: give a variable a new value.
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

constexpr RefIn<0> resource{"resource", "dtype", "the variable; it need not have a value yet"};
constexpr In<1> resource_value{"value", "dtype", "the new value, in a shape that the variable declares"};
constexpr Attr<bool> check_shape{"validate_shape", "false", "refuse a value whose shape is not that of the present value"};

constexpr RefIn<0> changed{"ref", "T", "the variable, of any shape"};
constexpr In<1> change{"value", "T", "what is added or taken away, in the variable's shape"};
constexpr Attr<bool> change_locking{"use_locking", "false", "accepted and not used: updates never interleave"};

Status Plan(PlanContext& ctx) {
  const Shape& shape = ctx.shape(value);
  if (!ctx.has_shape(ref)) {
    const PartialShape declared = ctx.variable(ref).declared;
    if (ctx.attr(validate_shape) && !declared.Accepts(shape)) {
      return ctx.Error(value, "needs a shape that the variable declares, ", declared, ", found ", shape);
    }
    ctx.set_variable(ref, shape);
  } else if (!(ctx.shape(ref) == shape)) {
    if (ctx.attr(validate_shape)) return ctx.Error(value, "needs the variable's shape ", ctx.shape(ref), ", found ", shape);
    ctx.set_variable(ref, shape);
  }
  ctx.set(output_ref, shape);
  return {};
}

// A resource variable may change its shape within what is declared.
Status PlanResource(PlanContext& ctx) {
  const Shape& shape = ctx.shape(value);
  const PartialShape declared = ctx.variable(resource).declared;
  if (!declared.Accepts(shape)) return ctx.Error(value, "needs a shape that the variable declares, ", declared, ", found ", shape);
  bool same = ctx.has_shape(resource) && ctx.shape(resource) == shape;
  if (!same && ctx.has_shape(resource) && ctx.attr(check_shape)) {
    return ctx.Error(value, "needs the variable's shape ", ctx.shape(resource), ", found ", shape);
  }
  if (!same) ctx.set_variable(resource, shape);
  return {};
}

Status PlanChange(PlanContext& ctx) {
  const Shape &shape = ctx.shape(changed), &found = ctx.shape(change);
  if (!(shape == found)) return ctx.Error(change, "needs the variable's shape ", shape, ", found ", found);
  ctx.set(output_ref, shape);
  return {};
}

constexpr auto Run = []<class T>(const NoParameters&, RunContext& ctx) {
  auto from = ctx.in<T>(value);
  auto to = ctx.update<T>(ref);
  ctx.workers().For(static_cast<int64_t>(from.size()), (int64_t{1} << 18) / static_cast<int64_t>(sizeof(T)),
                    [&](int64_t begin, int64_t end) { std::copy(from.begin() + begin, from.begin() + end, to.begin() + begin); });
};

template <class T, bool Add>
void Change(RunContext& ctx) {
  using A = Accumulator<T>;
  const T *old_value = ctx.in<T>(changed).data(), *by = ctx.in<T>(change).data();
  const auto updated = ctx.update<T>(changed);
  T* new_value = updated.data();
  ctx.workers().For(static_cast<int64_t>(updated.size()), 32768, [=](int64_t begin, int64_t end) {
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      const A a = static_cast<A>(old_value[i]), b = static_cast<A>(by[i]);
      new_value[i] = static_cast<T>(Add ? WrapAdd(a, b) : WrapSubtract(a, b));
    }
  });
}
constexpr auto RunAdd = []<class T>(const NoParameters&, RunContext& ctx) { Change<T, true>(ctx); };
constexpr auto RunSubtract = []<class T>(const NoParameters&, RunContext& ctx) { Change<T, false>(ctx); };

auto ChangeBlock(const char* name, const char* summary) {
  return Block(name, summary)
      .Ports(changed, change, output_ref).Types("T", kNumbers).Attrs(change_locking).Updates(changed)
      .NotDifferentiable();
}

}  // namespace

BlockDef Assign() {
  return Block("Assign", "Gives a variable a new value.")
      .Ports(ref, value, output_ref).Types("T", kAllTypes).Attrs(validate_shape, use_locking).Updates(ref)
      .MayBeUninitialized(ref)
      .NotDifferentiable().Kernel(Plan, Run, kBySize);
}

BlockDef AssignAdd() { return ChangeBlock("AssignAdd", "Adds a value to a variable.").Kernel(PlanChange, RunAdd); }
BlockDef AssignSub() { return ChangeBlock("AssignSub", "Takes a value away from a variable.").Kernel(PlanChange, RunSubtract); }

BlockDef AssignVariableOp() {
  return Block("AssignVariableOp", "Gives the variable of a handle a new value.")
      .Ports(AsResource(resource), resource_value).Types("dtype", kAllTypes).Attrs(check_shape).Updates(resource)
      .MayBeUninitialized(resource)
      .Stateful().Kernel(PlanResource, Run, kBySize);
}

}  // namespace weft::blocks
