// Variable, VarHandleOp: a value that lives in the page's scope and that other blocks read and update. TemporaryVariable,
// DestroyTemporaryVariable: one that lives for a run. ReadVariableOp, IsVariableInitialized, CountUpTo: what a variable holds.
#include <limits>

#include "blocks/elementwise.h"
#include "weft/block/block.h"

namespace weft::blocks {
namespace {

constexpr StructuralIn<0> initvalues{"initvalues", PortKind::kTensor, PortList::kSingle, Presence::kOptional,
                                     "the value it starts with, a literal or a wire; without one the variable starts empty"};
constexpr RefOut<0, -1> ref{"ref", "dtype", "the variable, in its present shape"};
constexpr Attr<PartialShape> shape{"shape", kRequired, "its shape; where it is not given, that of the first value"};
constexpr Attr<DType> dtype{"dtype", kRequired, "the type of its elements; where it is not given, that of the first value"};
constexpr Attr<std::string> container{"container", "", "variables of one container and shared name are one"};
constexpr Attr<std::string> shared_name{"shared_name", "", "the name to share it under; empty for the block's id"};

constexpr auto resource = AsResource(RefOut<0, -1>{"resource", "dtype", "a handle of the variable, which has a value once one is assigned"});
constexpr Attr<PartialShape> handle_shape{"shape", kRequired, "the shapes that the variable may take; sizes of -1 are open"};
constexpr Attr<DType> handle_dtype{"dtype", kRequired, "the type of its elements"};
constexpr Attr<std::string> debug_name{"debug_name", "", "accepted and not used"};
constexpr Attr<Strings> allowed_devices{"allowed_devices", "{}", "accepted and not used"};

constexpr RefOut<0, -1> temporary{"ref", "dtype", "the variable, which has no value until one is assigned"};
constexpr Attr<PartialShape> temporary_shape{"shape", kRequired, "its shape"};
constexpr Attr<std::string> var_name{"var_name", "",
                                    "its name, which no other temporary variable of a run may have; empty for the block's id"};

constexpr RefIn<0> destroyed{"ref", "T", "a temporary variable after its last update"};
constexpr Out<0> value{"value", "T", "the value it had, in its shape"};
constexpr Attr<std::string> destroyed_name{"var_name", kRequired, "the variable's name"};

Status PlanDestroy(PlanContext& ctx) {
  const std::string name = ctx.attr(destroyed_name), found = ctx.variable(destroyed).temporary;
  if (found.empty()) return ctx.ErrorOf(Code::kNotFound, destroyed, "needs a temporary variable, found one that lasts");
  if (found != name) return ctx.ErrorOf(Code::kNotFound, destroyed_name, "needs the variable's name '", found, "', found '", name, "'");
  ctx.set(value, ctx.shape(destroyed));
  return {};
}

constexpr RefIn<0> read{"resource", "dtype", "the variable; it needs a value"};
constexpr Out<0> present{"value", "dtype", "its value before the updates of this run, in its shape"};
constexpr Attr<DType> read_dtype{"dtype", kRequired, "the type of its elements"};

constexpr RefIn<0> asked{"ref", "dtype", "the variable"};
constexpr Out<0> is_initialized{"is_initialized", "DT_BOOL", "a scalar: whether the variable has a value"};

constexpr RefIn<0> counter{"ref", "T", "the variable, a scalar"};
constexpr Out<0> count_before{"output", "T", "a scalar: the variable before it is counted up"};
constexpr Attr<int64_t> limit{"limit", kRequired, "a variable that has reached it is not counted up: the run fails with out_of_range"};

Status PlanIsInitialized(PlanContext&) { return {}; }
constexpr auto RunIsInitialized = [](const NoParameters&, RunContext& ctx) { ctx.out<bool>(is_initialized)[0] = ctx.has_value(asked); };

Result<int64_t> PlanCount(PlanContext& ctx) {
  if (!ctx.shape(counter).scalar()) return ctx.Error(counter, "needs a scalar, found ", ctx.shape(counter));
  const int64_t most = ctx.attr(limit);
  if (ctx.dtype(counter) == DType::kInt32 && most != static_cast<int32_t>(most)) {
    return ctx.Error(limit, "needs a number of the counter's type, DT_INT32, found ", most);
  }
  return most;
}

constexpr auto RunCount = []<class T>(const int64_t& most, RunContext& ctx) -> Status {
  const T now = ctx.in<T>(counter)[0];
  if (static_cast<int64_t>(now) >= most || now == std::numeric_limits<T>::max()) {
    return ctx.ErrorOf(Code::kOutOfRange, counter, "the variable is ", now, " and has reached the limit ", most);
  }
  ctx.out<T>(count_before)[0] = now;
  ctx.update<T>(counter)[0] = static_cast<T>(now + 1);
  return {};
};

}  // namespace

BlockDef DestroyTemporaryVariable() {
  return Block("DestroyTemporaryVariable", "Ends a temporary variable and gives the value it had.")
      .Ports(destroyed, value).Types("T", kAllTypes).Attrs(destroyed_name).WithFlow(Flow::kForward).PlanOnly(PlanDestroy);
}

BlockDef TemporaryVariable() {
  return Block("TemporaryVariable", "A variable that lives for one run: each run starts it without a value.")
      .Ports(temporary).Attrs(temporary_shape, handle_dtype, var_name).Types("dtype", kAllTypes)
      .Structure(Structural::kTemporary).Stateful().NoKernel();
}

BlockDef VarHandleOp() {
  return Block("VarHandleOp", "A handle of a variable, for blocks that take a resource.")
      .Details("Blocks that take a resource take the ref of a Variable as well. Variables of one container and shared name are one.")
      .Ports(resource).Attrs(container, shared_name, debug_name, handle_dtype, handle_shape, allowed_devices)
      .Types("dtype", kAllTypes)
      .Structure(Structural::kVariable).Stateful().NoKernel();
}

BlockDef Variable() {
  return Block("Variable", "Keeps a value between runs; it starts once, when the page's first session does.")
      .Ports(initvalues, ref).Attrs(shape, dtype, container, shared_name).Inferred(shape, dtype)
      .Types("dtype", kAllTypes).Alias("VariableV2")
      .Structure(Structural::kVariable).Stateful().NoKernel();
}

BlockDef ReadVariableOp() {
  return Block("ReadVariableOp", "The value of a variable.")
      .Details("It is the value before this run's updates.")
      .Ports(AsResource(read), present).Attrs(read_dtype).Types("dtype", kAllTypes)
      .Stateful().WithFlow(Flow::kForward).Gradient([](GradientBuilder& g) { g.Set(read, g.grad(present)); })
      .PlanOnly(PlanMap);
}

BlockDef IsVariableInitialized() {
  return Block("IsVariableInitialized", "Whether a variable has a value.")
      .Ports(asked, is_initialized).Types("dtype", kAllTypes).MayBeUninitialized(asked)
      .NotDifferentiable().Kernel(PlanIsInitialized, RunIsInitialized);
}

BlockDef CountUpTo() {
  return Block("CountUpTo", "Adds 1 to a counter until it has reached a limit, and gives what it was before.")
      .Ports(counter, count_before).Attrs(limit).Types("T", kIndices).Updates(counter)
      .NotDifferentiable().Kernel(PlanCount, RunCount);
}

}  // namespace weft::blocks
