// Staging maps, whose values have keys: MapStage and OrderedMapStage put values in, MapUnstage takes those of a key and MapUnstageNoKey
// those of the next one, MapPeek looks at them; MapSize, MapIncompleteSize, MapClear; and the same seven of ordered maps.
#include "blocks/data_flow/staging_blocks.h"

namespace weft::blocks {
namespace {

constexpr In<0> key{"key", "DT_INT64", "one number: the key"};
constexpr In<1> indices{"indices", "DT_INT32", "which of the values, in rising order"};
constexpr In<0> indices_alone{"indices", "DT_INT32", "which of the values, in rising order"};
constexpr InTuple<2> values_in{"values", "fake_dtypes", "the values at those indices, of any shapes"};
constexpr Out<0> key_out{"key", "DT_INT64", "the key"};
constexpr OutTuple<0> values_out{"values", "dtypes", "the values at those indices"};
constexpr OutTuple<1> values_after_key{"values", "dtypes", "the values at those indices"};
constexpr Attr<DTypes> all_dtypes{"dtypes", kRequired, "the type of each value that a key has when it is complete"};
constexpr Attr<DTypes> fake_dtypes{"fake_dtypes", kRequired, "the types of the values given; follow from the wires", nullptr, 1};
constexpr Attr<DTypes> dtypes{"dtypes", kRequired, "the type of each value that is asked for", nullptr, 1};
constexpr Attr<DTypes> any_dtypes{"dtypes", kRequired, "the type of each value"};

struct Parameters {
  StagePlace place;
  DTypes types;      // of the values given or asked for
  DTypes all_types;  // MapStage: of a complete key
};

template <bool ordered>
constexpr auto Bind = [](const Parameters& p, BindContext& ctx) {
  return BindStage<StagingMap>(p.place, ctx, ordered ? StagingMap::kOrderedKind : StagingMap::kKind, ordered);
};

Status CheckIndices(const PlanContext& ctx, const auto& port, size_t values) {
  if (ctx.shape(port).count() == static_cast<int64_t>(values)) return {};
  return ctx.Error(port, "needs an index for each of the ", values, " values, found ", ctx.shape(port).count());
}

/// They rise, so that none is there twice.
Status CheckOrder(const ProduceContext& ctx, const auto& port) {
  const std::span<const int32_t> given = ctx.in<int32_t>(port);
  for (size_t i = 1; i < given.size(); ++i) {
    if (given[i - 1] >= given[i]) return ctx.Error(port, "needs indices in rising order, found ", given[i], " after ", given[i - 1]);
  }
  return {};
}

// ---- into the map --------------------------------------------------------------------------------------------------------------

Result<Parameters> PlanStage(PlanContext& ctx) {
  if (ctx.shape(key).count() != 1) return ctx.Error(key, "needs one key, found the shape ", ctx.shape(key));
  if (ctx.count(values_in) == 0) return ctx.Error(values_in, "needs at least one value, found none");
  WEFT_RETURN_IF_ERROR(CheckIndices(ctx, indices, static_cast<size_t>(ctx.count(values_in))));
  return Parameters{StagePlaceOf(ctx), DTypesOf(ctx, values_in), ctx.attr(all_dtypes)};
}

constexpr auto RunStage = [](const Parameters& p, ProduceContext& ctx) -> Status {
  WEFT_RETURN_IF_ERROR(CheckOrder(ctx, indices));
  const std::span<const int32_t> given = ctx.in<int32_t>(indices);
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] < 0 || given[i] >= static_cast<int64_t>(p.all_types.size())) {
      return ctx.Error(indices, "needs indices of the ", p.all_types.size(), " types in dtypes, found ", given[i]);
    }
    const DType needed = p.all_types[static_cast<size_t>(given[i])];
    if (p.types[i] != needed) return ctx.Error(values_in, "needs ", needed, " for the index ", given[i], ", found ", p.types[i]);
  }
  StagedPart part;
  WEFT_ASSIGN_OR_RETURN(part.key, ctx.Copy(key, DType::kInt64));
  part.indices.assign(given.begin(), given.end());
  WEFT_ASSIGN_OR_RETURN(part.values, CopyValues(ctx, values_in, p.types));
  part.components = static_cast<int64_t>(p.all_types.size());
  part.room = MemoryCharge(ctx.services().budget);
  return ctx.state<StagingMap>().Put(std::move(part), p.place.limits, *ctx.services().waiter, ctx.state_handle());
};

// ---- out of it -----------------------------------------------------------------------------------------------------------------

Result<Parameters> PlanUnstage(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, key));
  DTypes types = ctx.attr(dtypes);
  WEFT_RETURN_IF_ERROR(CheckIndices(ctx, indices, types.size()));
  for (int k = 0; k < ctx.count(values_out); ++k) ctx.set_unknown(values_out, k);
  return Parameters{StagePlaceOf(ctx), std::move(types), {}};
}

template <bool keep>
constexpr auto RunUnstage = [](const Parameters& p, ProduceContext& ctx) -> Status {
  WEFT_RETURN_IF_ERROR(CheckOrder(ctx, indices));
  StagingMap& map = ctx.state<StagingMap>();
  WEFT_ASSIGN_OR_RETURN(StagedValues values,
                        map.Take(ctx.in<int64_t>(key)[0], ctx.in<int32_t>(indices), p.types, keep, *ctx.services().waiter));
  EmitAll(ctx, values_out, values);
  return {};
};

Result<Parameters> PlanNoKey(PlanContext& ctx) {
  DTypes types = ctx.attr(dtypes);
  WEFT_RETURN_IF_ERROR(CheckIndices(ctx, indices_alone, types.size()));
  ctx.set_unknown(key_out);
  for (int k = 0; k < ctx.count(values_after_key); ++k) ctx.set_unknown(values_after_key, k);
  return Parameters{StagePlaceOf(ctx), std::move(types), {}};
}

constexpr auto RunNoKey = [](const Parameters& p, ProduceContext& ctx) -> Status {
  WEFT_RETURN_IF_ERROR(CheckOrder(ctx, indices_alone));
  StagingMap& map = ctx.state<StagingMap>();
  WEFT_ASSIGN_OR_RETURN(StagedValues values, map.TakeNext(ctx.in<int32_t>(indices_alone), p.types, *ctx.services().waiter));
  ctx.Emit(key_out, std::move(values[0]));
  EmitAll(ctx, values_after_key, std::span(values).subspan(1));
  return {};
};

// ---- its state -----------------------------------------------------------------------------------------------------------------

Result<Parameters> PlanPlace(PlanContext& ctx) { return Parameters{StagePlaceOf(ctx), {}, {}}; }

constexpr auto RunSize = [](const Parameters&, RunContext& ctx) {
  ctx.out<int32_t>(kStageSize)[0] = SizeOut(ctx.state<StagingMap>().size());
};
constexpr auto RunIncompleteSize = [](const Parameters&, RunContext& ctx) {
  ctx.out<int32_t>(kStageSize)[0] = SizeOut(ctx.state<StagingMap>().incomplete_size());
};
constexpr auto RunClear = [](const Parameters&, RunContext& ctx) { ctx.state<StagingMap>().Clear(); };

// ---- the blocks ----------------------------------------------------------------------------------------------------------------

template <bool ordered>
BlockDef DeclareStage(const char* name, const char* summary) {
  return StageBlock(name, summary, all_dtypes, fake_dtypes)
      .Details(
          "A key whose values are given bit by bit is incomplete until all are there, and does not count as one that fills the map. A key "
          "that is complete already keeps the values that it has.")
      .Ports(key, indices, values_in)
      .Inferred(fake_dtypes)
      .Producer(PlanStage, RunStage, Bind<ordered>);
}

template <bool ordered, bool keep>
BlockDef DeclareUnstage(const char* name, const char* summary) {
  return StageBlock(name, summary, dtypes).Ports(key, indices, values_out).Waits().Producer(PlanUnstage, RunUnstage<keep>, Bind<ordered>);
}

template <bool ordered>
BlockDef DeclareNoKey(const char* name, const char* summary) {
  return StageBlock(name, summary, dtypes)
      .Ports(indices_alone, key_out, values_after_key)
      .Waits()
      .Producer(PlanNoKey, RunNoKey, Bind<ordered>);
}

template <bool ordered, class Run>
BlockDef DeclareSize(const char* name, const char* summary, Run run) {
  return StageBlock(name, summary, any_dtypes).Ports(kStageSize).Kernel(PlanPlace, run, Bind<ordered>);
}

template <bool ordered>
BlockDef DeclareClear(const char* name, const char* summary) {
  return StageBlock(name, summary, any_dtypes).Kernel(PlanPlace, RunClear, Bind<ordered>);
}

}  // namespace

BlockDef MapStage() { return DeclareStage<false>("MapStage", "Puts values of a key into a staging map; waits while the map is full."); }
BlockDef MapUnstage() {
  return DeclareUnstage<false, false>("MapUnstage", "Takes values of a key out of a staging map; waits until the key is complete.");
}
BlockDef MapUnstageNoKey() {
  return DeclareNoKey<false>("MapUnstageNoKey",
                             "Takes values of some key out of a staging map, of the one that was complete first; waits for one.");
}
BlockDef MapPeek() {
  return DeclareUnstage<false, true>("MapPeek", "The values of a key of a staging map, which stay there; waits until the key is complete.");
}
BlockDef MapSize() { return DeclareSize<false>("MapSize", "How many complete keys a staging map holds.", RunSize); }
BlockDef MapIncompleteSize() {
  return DeclareSize<false>("MapIncompleteSize", "How many keys of a staging map lack some of their values.", RunIncompleteSize);
}
BlockDef MapClear() { return DeclareClear<false>("MapClear", "Drops all keys of a staging map."); }

BlockDef OrderedMapStage() {
  return DeclareStage<true>("OrderedMapStage", "Puts values of a key into an ordered staging map; waits while the map is full.");
}
BlockDef OrderedMapUnstage() {
  return DeclareUnstage<true, false>("OrderedMapUnstage",
                                     "Takes values of a key out of an ordered staging map; waits until the key is complete.");
}
BlockDef OrderedMapUnstageNoKey() {
  return DeclareNoKey<true>("OrderedMapUnstageNoKey", "Takes values of the lowest key out of an ordered staging map; waits for one.");
}
BlockDef OrderedMapPeek() {
  return DeclareUnstage<true, true>("OrderedMapPeek",
                                    "The values of a key of an ordered staging map, which stay there; waits until the key is complete.");
}
BlockDef OrderedMapSize() { return DeclareSize<true>("OrderedMapSize", "How many complete keys an ordered staging map holds.", RunSize); }
BlockDef OrderedMapIncompleteSize() {
  return DeclareSize<true>("OrderedMapIncompleteSize", "How many keys of an ordered staging map lack some of their values.",
                           RunIncompleteSize);
}
BlockDef OrderedMapClear() { return DeclareClear<true>("OrderedMapClear", "Drops all keys of an ordered staging map."); }

}  // namespace weft::blocks
