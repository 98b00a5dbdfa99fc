// What the blocks of dense and of sparse accumulators have in common: their ports, settings and checks.
#pragma once

#include "blocks/data_flow/accumulator.h"
#include "blocks/limits.h"

namespace weft::blocks::accumulating {

/// The types that TensorFlow declares; a run finds accumulators of kAccumulated only.
inline constexpr auto kDeclared = kNumbers + kQuantized;

inline constexpr Out<0> made{"handle", "DT_STRING", "[2], the handle of the accumulator: its container and its name"};
inline constexpr In<0> handle{"handle", "DT_STRING", "[2], the accumulator"};
inline constexpr In<1> local_step{
    "local_step", "DT_INT64", "a scalar: the step that the gradient belongs to; one of an earlier step than the accumulator's is left out"};
inline constexpr In<1> num_required{"num_required", "DT_INT32", "a scalar, 1 or more: how many gradients to wait for"};

inline constexpr Attr<DType> dtype{"dtype", kRequired, "the type of the gradients"};
inline constexpr Attr<PartialShape> shape{"shape", kRequired,
                                          "the shape of a gradient; ? stands for sizes that the first gradient decides"};
inline constexpr Attr<std::string> container{"container", "\"\"", "name space of the accumulator's name"};
inline constexpr Attr<std::string> shared_name{"shared_name", "\"\"",
                                               "blocks of one shared name share the accumulator; empty means the block's id"};
inline constexpr Attr<std::string> reduction_type{"reduction_type", "MEAN", "what a take gives: the MEAN or the SUM of the gradients",
                                                  "MEAN|SUM"};

/// What a block that makes an accumulator was given.
struct Made {
  AccumulatorSpec spec;
  std::string container, shared_name;
};

Result<Made> PlanMake(PlanContext& ctx);

inline constexpr auto RunMake = [](const Made&, RunContext& ctx) { PutNamedHandle(ctx, made); };
/// Finds or makes the accumulator of a block in the page's scope, an A where it is new; refuses one of that name with other settings.
template <class A>
constexpr auto BindMade = [](const Made& p, BindContext& ctx) -> Result<ResourceHandle> {
  const auto make = [&]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<A>(p.spec)); };
  WEFT_ASSIGN_OR_RETURN(ResourceHandle named, BindNamed(ctx, p.container, p.shared_name, make));
  WEFT_ASSIGN_OR_RETURN(const Accumulator* accumulator, FoundAs<Accumulator>(static_cast<const NamedResource&>(*named).target));
  WEFT_RETURN_IF_ERROR(accumulator->CheckSame(p.spec));
  return named;
};
/// The block that makes an A.
template <class A>
BlockDef MakerBlock(const char* name, const char* summary) {
  return StateBlock(name, summary)
      .Ports(made)
      .Attrs(dtype, shape, container, shared_name, reduction_type)
      .Types("dtype", kAccumulated)
      .Kernel(PlanMake, RunMake, BindMade<A>);
}

/// The accumulator at `handle`, where it is an A of the gradients' type.
template <class A>
Result<std::shared_ptr<A>> FindOfType(const ProduceContext& ctx, DType dtype) {
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<Accumulator> found, FindNamed<Accumulator>(ctx, handle));
  WEFT_RETURN_IF_ERROR(found->CheckKind(A::kBlock, dtype));
  return std::static_pointer_cast<A>(std::move(found));
}

/// The value of num_required.
inline Result<int64_t> Required(const ProduceContext& ctx) {
  const int32_t number = ctx.in<int32_t>(num_required)[0];
  if (number < 1) return ctx.Error(num_required, "needs 1 or more, found ", number);
  return number;
}

}  // namespace weft::blocks::accumulating
