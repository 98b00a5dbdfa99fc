// ReadVariableOp, IsVariableInitialized, CountUpTo: what a variable holds.
#include <limits>

#include "blocks/elementwise.h"

namespace weft::blocks {
namespace {

constexpr RefIn<0> resource{"resource", "dtype", "the variable; it needs a value"};
constexpr Out<0> value{"value", "dtype", "its value before the updates of this run, in its shape"};
constexpr Attr<DType> dtype{"dtype", kRequired, "the type of its elements"};

constexpr RefIn<0> ref{"ref", "dtype", "the variable"};
constexpr Out<0> is_initialized{"is_initialized", "DT_BOOL", "a scalar: whether the variable has a value"};

constexpr RefIn<0> counter{"ref", "T", "the variable, a scalar"};
constexpr Out<0> output{"output", "T", "a scalar: the variable before it is counted up"};
constexpr Attr<int64_t> limit{"limit", kRequired, "a variable that has reached it is not counted up: the run fails with out_of_range"};

Status PlanIsInitialized(PlanContext&) { return {}; }
constexpr auto RunIsInitialized = [](const NoParameters&, RunContext& ctx) { ctx.out<bool>(is_initialized)[0] = ctx.has_value(ref); };

Result<int64_t> PlanCount(PlanContext& ctx) {
  if (!ctx.shape(counter).scalar()) return ctx.Error(counter, "needs a scalar, found ", ctx.shape(counter));
  return ctx.attr(limit);
}

constexpr auto RunCount = []<class T>(const int64_t& most, RunContext& ctx) -> Status {
  const T now = ctx.in<T>(counter)[0];
  if (static_cast<int64_t>(now) >= most || now == std::numeric_limits<T>::max()) {
    return ctx.ErrorOf(Code::kOutOfRange, counter, "the variable is ", now, " and has reached the limit ", most);
  }
  ctx.out<T>(output)[0] = now;
  ctx.update<T>(counter)[0] = static_cast<T>(now + 1);
  return {};
};

}  // namespace

BlockDef ReadVariableOp() {
  return Block("ReadVariableOp", "The value of a variable.")
      .Details("It is the value before this run's updates.")
      .Ports(AsResource(resource), value)
      .Attrs(dtype)
      .Types("dtype", kAllTypes)
      .Stateful()
      .WithFlow(Flow::kForward)
      .Gradient([](GradientBuilder& g) { g.Set(resource, g.grad(value)); })
      .PlanOnly(PlanMap);
}

BlockDef IsVariableInitialized() {
  return Block("IsVariableInitialized", "Whether a variable has a value.")
      .Ports(ref, is_initialized)
      .Types("dtype", kAllTypes)
      .MayBeUninitialized(ref)
      .NotDifferentiable()
      .Kernel(PlanIsInitialized, RunIsInitialized);
}

BlockDef CountUpTo() {
  return Block("CountUpTo", "Adds 1 to a counter until it has reached a limit, and gives what it was before.")
      .Ports(counter, output)
      .Attrs(limit)
      .Types("T", kIndices)
      .Updates(counter)
      .NotDifferentiable()
      .Kernel(PlanCount, RunCount);
}

}  // namespace weft::blocks
