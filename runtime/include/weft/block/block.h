// Block(): declares a block. The BlockDef it makes is used for validation, shape inference, the palette, the help and the tests:
//
//   BlockDef BiasAddGrad() {
//     return Block("BiasAddGrad", "Sums a gradient over every axis but the channel.")
//         .Ports(out_backprop, output).Attrs(data_format).Types("T", kNumbers).Kernel(Plan, Run);
//   }
//
// Plan is `Result<P> Plan(PlanContext&)`, or `Status Plan(PlanContext&)` where Run needs no parameters. Run is a lambda
// `[]<class T>(const P&, RunContext&)` for each type T of the first Types(), or a plain `[](const P&, RunContext&)`; it returns nothing,
// or a Status where data can be at fault. Without parameters P is NoParameters. Where P chooses between implementations, its method
// `std::string implementation() const` names the chosen one: `weft plan` prints it.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "weft/base/float16.h"
#include "weft/block/def.h"

namespace weft {

struct NoParameters {};

namespace internal {

template <class R>
struct PlanResult;
template <class P>
struct PlanResult<Result<P>> {
  using Parameters = P;
};
template <>
struct PlanResult<Status> {
  using Parameters = NoParameters;
};
template <class Plan>
using ParametersOf = typename PlanResult<std::invoke_result_t<Plan, PlanContext&>>::Parameters;

template <class F>
Status CallWithStatus(F&& f) {
  if constexpr (std::is_void_v<decltype(f())>) {
    f();
    return {};
  } else {
    return f();
  }
}

/// The function pointers of one instance of a kernel. Run is a lambda without captures, so it is default-constructed where it is called.
template <class P, class Run, class T>
Status RunTyped(const void* parameters, RunContext& ctx) {
  return CallWithStatus([&] { return Run{}.template operator()<T>(*static_cast<const P*>(parameters), ctx); });
}
template <class P, class Run>
Status RunUntyped(const void* parameters, RunContext& ctx) {
  return CallWithStatus([&] { return Run{}(*static_cast<const P*>(parameters), ctx); });
}
/// Run may have a static `const ChainLink* Link<T>()`, for some T.
template <class P, class Run, class T>
void SetTyped(PlannedBlock& planned) {
  planned.run = RunTyped<P, Run, T>;
  if constexpr (requires { Run::template Link<T>(); }) planned.link = Run::template Link<T>();
}
template <class P, class Run>
Status ProduceUntyped(const void* parameters, ProduceContext& ctx) {
  return CallWithStatus([&] { return Run{}(*static_cast<const P*>(parameters), ctx); });
}
template <class P, class Bind>
Result<ResourceHandle> BindParameters(const void* parameters, BindContext& ctx) {
  return Bind{}(*static_cast<const P*>(parameters), ctx);
}

template <class P>
std::string DescribeParameters(const void* parameters) {
  return static_cast<const P*>(parameters)->implementation();
}

/// Calls Plan and stores the parameters it returns.
template <class Plan>
Status PlanWith(const Plan& plan, PlanContext& ctx, PlannedBlock& planned) {
  if constexpr (std::is_same_v<std::invoke_result_t<Plan, PlanContext&>, Status>) {
    static constexpr NoParameters kNone;
    planned.parameters = std::shared_ptr<const void>(std::shared_ptr<const void>(), &kNone);  // owns nothing
    return plan(ctx);
  } else {
    using P = ParametersOf<Plan>;
    WEFT_ASSIGN_OR_RETURN(auto parameters, plan(ctx));
    if constexpr (requires(const P& p) { p.implementation(); }) planned.implementation = DescribeParameters<P>;
    planned.parameters = std::make_shared<const P>(std::move(parameters));
    return {};
  }
}

}  // namespace internal

/// The bits of a 16-byte element, for blocks that only move elements.
struct alignas(16) Bits128 {
  uint64_t low, high;
};
inline constexpr struct BySize {
} kBySize;

/// Calls f.template operator()<T>() with an unsigned type of the element's size, or String or ResourceHandle.
template <class F>
auto DispatchSize(DType dtype, F&& f) {
  if (dtype == DType::kString) return f.template operator()<String>();
  if (dtype == DType::kResource) return f.template operator()<ResourceHandle>();
  switch (ElementSize(dtype)) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    case 8: return f.template operator()<uint64_t>();
    default: return f.template operator()<Bits128>();
  }
}

/// The part of BlockBuilder that does not depend on types; not a template, and marked cold, to keep the code of the catalog small.
struct BlockParts {
  BlockDef def;
  [[gnu::cold]] void AddInput(PortSpec port);
  [[gnu::cold]] void AddOutput(PortSpec port);
  [[gnu::cold]] void AddAttr(AttrSpec attr);
  [[gnu::cold]] void AddTypes(const char* type_attr, std::vector<DType> dtypes);
  [[gnu::cold]] void AddDetails(const char* text);
  [[gnu::cold]] void AddAlias(const char* name);
  [[gnu::cold]] void AddPortAlias(const char* spelling, const char* port);
  [[gnu::cold]] void MarkInferred(const char* attr);
  /// `plan` makes the parameters and chooses the function that runs on them.
  [[gnu::cold]] void SetPlan(std::function<Status(PlanContext&, PlannedBlock&)> plan);
  /// The block has state.
  [[gnu::cold]] static BlockDef WithBind(BlockDef def, BindFunction bind);
};

/// Builds a BlockDef; `Dispatch` is the TypeList of the first Types(), which Kernel instantiates Run for.
template <class DispatchTypes = void>
class BlockBuilder {
 public:
  explicit BlockBuilder(BlockParts parts, const char* dispatch_attr = nullptr) : parts_(std::move(parts)), dispatch_attr_(dispatch_attr) {}

  template <class... P>
  BlockBuilder&& Ports(const P&... ports) && {
    (AddPort(ports), ...);
    return std::move(*this);
  }
  template <class... A>
  BlockBuilder&& Attrs(const A&... attrs) && {
    (parts_.AddAttr(SpecOf(attrs)), ...);
    return std::move(*this);
  }
  /// The types that a type attribute may have. An attribute not declared by Attrs is inferred from the inputs. The first call names the
  /// types that Run is instantiated for.
  template <class... Ts>
  decltype(auto) Types(const char* type_attr, TypeList<Ts...>) && {
    parts_.AddTypes(type_attr, TypeList<Ts...>::dtypes());
    if constexpr (std::is_void_v<DispatchTypes>) {
      return BlockBuilder<TypeList<Ts...>>(std::move(parts_), type_attr);
    } else {
      return std::move(*this);
    }
  }

  BlockBuilder&& Details(const char* text) && {
    parts_.AddDetails(text);
    return std::move(*this);
  }
  BlockBuilder&& Alias(const char* name) && {
    parts_.AddAlias(name);
    return std::move(*this);
  }
  BlockBuilder&& PortAlias(const char* spelling, const char* port) && {
    parts_.AddPortAlias(spelling, port);
    return std::move(*this);
  }
  /// Attributes that follow from an input where they are not given, such as the type of a constant or the length of a list.
  template <class... A>
  BlockBuilder&& Inferred(const A&... attrs) && {
    (parts_.MarkInferred(attrs.name), ...);
    return std::move(*this);
  }
  BlockBuilder&& Stateful() && { return With([](BlockDef& d) { d.stateful = true; }); }
  /// May block, on a queue for instance: in a run, blocks that do not depend on it are ordered before it.
  BlockBuilder&& Waits() && {
    return With([](BlockDef& d) { d.stateful = d.waits = true; });
  }
  BlockBuilder&& Internal() && { return With([](BlockDef& d) { d.internal = true; }); }
  BlockBuilder&& Elementwise() && { return With([](BlockDef& d) { d.elementwise = true; }); }
  BlockBuilder&& Structure(Structural kind) && { return With([&](BlockDef& d) { d.structural = kind; }); }
  BlockBuilder&& WithFlow(Flow flow) && { return With([&](BlockDef& d) { d.flow = flow; }); }
  template <class... P>
  BlockBuilder&& ShapedBy(const P&...) && { return With([](BlockDef& d) { (d.shaped_by.push_back(P::index), ...); }); }
  template <class... P>
  BlockBuilder&& Updates(const P&...) && { return With([](BlockDef& d) { (d.updates.push_back(P::index), ...); }); }
  template <class... P>
  BlockBuilder&& MayBeUninitialized(const P&...) && { return With([](BlockDef& d) { (d.uninitialized.push_back(P::index), ...); }); }
  BlockBuilder&& Gradient(GradientFunction gradient) && { return With([&](BlockDef& d) { d.gradient = gradient; }); }
  /// One that cannot fail: `[](GradientBuilder& g) { g.Set(x, ...); }`.
  BlockBuilder&& Gradient(void (*gradient)(GradientBuilder&)) && { return std::move(*this).Gradient(Unfailing(gradient)); }
  BlockBuilder&& NotDifferentiable() && { return With([](BlockDef& d) { d.not_differentiable = true; }); }

  /// Run is `[]<class T>(const P&, RunContext&)`, or without T.
  template <class Plan, class Run>
  BlockDef Kernel(Plan plan, Run) && {
    using P = internal::ParametersOf<Plan>;
    if constexpr (std::is_invocable_v<Run, const P&, RunContext&>) {
      SetPlan(plan, [](PlanContext&, PlannedBlock& planned) { planned.run = internal::RunUntyped<P, Run>; });
    } else {
      SetPlan(plan, [attr = dispatch_attr_](PlanContext& ctx, PlannedBlock& planned) {
        Dispatch(ctx.type(attr), DispatchTypes{}, [&]<class T>() { internal::SetTyped<P, Run, T>(planned); });
      });
    }
    return std::move(parts_.def);
  }
  /// Run is instantiated for element sizes; see DispatchSize.
  template <class Plan, class Run>
  BlockDef Kernel(Plan plan, Run, BySize) && {
    using P = internal::ParametersOf<Plan>;
    SetPlan(plan, [attr = dispatch_attr_](PlanContext& ctx, PlannedBlock& planned) {
      planned.run = DispatchSize(ctx.type(attr), []<class T>() -> RunFunction { return internal::RunTyped<P, Run, T>; });
    });
    return std::move(parts_.def);
  }
  /// With state: bind is `[](const P&, BindContext&) -> Result<ResourceHandle>`.
  template <class Plan, class Run, class Bind>
    requires(!std::is_same_v<Bind, BySize>)
  BlockDef Kernel(Plan plan, Run run, Bind) && {
    BlockDef def = std::move(*this).Kernel(plan, run);
    return WithBind<Plan, Bind>(std::move(def));
  }
  /// Run is `[](const P&, ProduceContext&)` and emits the outputs, for those whose shape depends on data.
  template <class Plan, class Run>
  BlockDef Producer(Plan plan, Run) && {
    using P = internal::ParametersOf<Plan>;
    SetPlan(plan, [](PlanContext&, PlannedBlock& planned) { planned.produce = internal::ProduceUntyped<P, Run>; });
    return std::move(parts_.def);
  }
  template <class Plan, class Run, class Bind>
  BlockDef Producer(Plan plan, Run run, Bind) && {
    BlockDef def = std::move(*this).Producer(plan, run);
    return WithBind<Plan, Bind>(std::move(def));
  }
  /// For structural blocks and blocks that the executor handles itself.
  BlockDef NoKernel() && { return std::move(parts_.def); }
  /// A plan that only sets shapes: Flow::kForward, kSwitch and kMerge.
  template <class Plan>
  BlockDef PlanOnly(Plan plan) && {
    SetPlan(plan, [](PlanContext&, PlannedBlock&) {});
    return std::move(parts_.def);
  }

 private:
  template <class F>
  BlockBuilder&& With(F&& f) {
    f(parts_.def);
    return std::move(*this);
  }
  template <class P>
  void AddPort(const P& port) {
    if constexpr (InputPort<P>) parts_.AddInput(SpecOf(port));
    else parts_.AddOutput(SpecOf(port));
  }
  template <class Plan, class Choose>
  void SetPlan(Plan plan, Choose choose) {
    parts_.SetPlan([plan, choose](PlanContext& ctx, PlannedBlock& planned) -> Status {
      WEFT_RETURN_IF_ERROR(internal::PlanWith(plan, ctx, planned));
      choose(ctx, planned);
      return {};
    });
  }
  template <class Plan, class Bind>
  static BlockDef WithBind(BlockDef def) {
    return BlockParts::WithBind(std::move(def), internal::BindParameters<internal::ParametersOf<Plan>, Bind>);
  }

  BlockParts parts_;
  const char* dispatch_attr_;
};

/// `summary` is one sentence.
[[gnu::cold]] BlockBuilder<> Block(const char* name, const char* summary);

}  // namespace weft
