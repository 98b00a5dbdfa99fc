// Staging areas: Stage puts values in, Unstage takes them out in the same order, StagePeek looks at them; StageSize and StageClear.
#include "blocks/data_flow/staging_blocks.h"

namespace weft::blocks {
namespace {

constexpr InTuple<0> values_in{"values", "dtypes", "the values, of any shapes"};
constexpr OutTuple<0> values_out{"values", "dtypes", "the values that were staged together"};
constexpr In<0> index{"index", "DT_INT32", "one number: 0 for the values that come out next"};
constexpr Attr<DTypes> dtypes{"dtypes", kRequired, "the type of each value", nullptr, 1};
constexpr Attr<DTypes> any_dtypes{"dtypes", kRequired, "the type of each value"};

struct Parameters {
  StagePlace place;
  DTypes types;
};

constexpr auto Bind = [](const Parameters& p, BindContext& ctx) { return BindStage<StagingArea>(p.place, ctx, StagingArea::kKind); };

Result<Parameters> PlanStage(PlanContext& ctx) {
  if (ctx.count(values_in) == 0) return ctx.Error(values_in, "needs at least one value, found none");
  return Parameters{StagePlaceOf(ctx), DTypesOf(ctx, values_in)};
}

constexpr auto RunStage = [](const Parameters& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(StagedValues values, CopyValues(ctx, values_in, p.types));
  return ctx.state<StagingArea>().Put(std::move(values), p.place.limits, *ctx.services().waiter, ctx.state_handle());
};

Result<Parameters> PlanUnstage(PlanContext& ctx) {
  for (int k = 0; k < ctx.count(values_out); ++k) ctx.set_unknown(values_out, k);
  return Parameters{StagePlaceOf(ctx), ctx.attr(dtypes)};
}

constexpr auto RunUnstage = [](const Parameters& p, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(StagedValues values, ctx.state<StagingArea>().Take(p.types, *ctx.services().waiter));
  EmitAll(ctx, values_out, values);
  return {};
};

Result<Parameters> PlanPeek(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, index));
  return PlanUnstage(ctx);
}

constexpr auto RunPeek = [](const Parameters& p, ProduceContext& ctx) -> Status {
  const int32_t at = ctx.in<int32_t>(index)[0];
  if (at < 0) return ctx.Error(index, "needs 0 or more, found ", at);
  WEFT_ASSIGN_OR_RETURN(StagedValues values, ctx.state<StagingArea>().Peek(at, p.types, *ctx.services().waiter));
  EmitAll(ctx, values_out, values);
  return {};
};

Result<Parameters> PlanPlace(PlanContext& ctx) { return Parameters{StagePlaceOf(ctx), {}}; }

constexpr auto RunSize = [](const Parameters&, RunContext& ctx) {
  ctx.out<int32_t>(kStageSize)[0] = SizeOut(ctx.state<StagingArea>().size());
};
constexpr auto RunClear = [](const Parameters&, RunContext& ctx) { ctx.state<StagingArea>().Clear(); };

}  // namespace

BlockDef Stage() {
  return StageBlock("Stage", "Puts values into a staging area; waits while the area is full.", dtypes)
      .Ports(values_in)
      .Inferred(dtypes)
      .Producer(PlanStage, RunStage, Bind);
}

BlockDef Unstage() {
  return StageBlock("Unstage", "Takes the values out of a staging area that were staged first; waits while the area is empty.", dtypes)
      .Ports(values_out)
      .Waits()
      .Producer(PlanUnstage, RunUnstage, Bind);
}

BlockDef StagePeek() {
  return StageBlock("StagePeek", "The values at an index of a staging area, which stay there; waits until there are so many.", dtypes)
      .Ports(index, values_out)
      .Waits()
      .Producer(PlanPeek, RunPeek, Bind);
}

BlockDef StageSize() {
  return StageBlock("StageSize", "How many lists of values a staging area holds.", any_dtypes)
      .Ports(kStageSize)
      .Kernel(PlanPlace, RunSize, Bind);
}

BlockDef StageClear() {
  return StageBlock("StageClear", "Drops all values of a staging area.", any_dtypes).Kernel(PlanPlace, RunClear, Bind);
}

}  // namespace weft::blocks
