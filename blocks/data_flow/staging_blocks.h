// What the blocks of staging areas and of staging maps have in common: how they name the one they work on, and its limits.
#pragma once

#include "blocks/data_flow/staging.h"
#include "blocks/data_flow/state_block.h"
#include "blocks/limits.h"

namespace weft::blocks {

inline constexpr Attr<int64_t> kStageCapacity{
    "capacity", "0", "most that may be there at a time; 0 for no limit. Those that put something in look at it", nullptr, 0};
inline constexpr Attr<int64_t> kStageMemoryLimit{"memory_limit", "0", "most bytes that may be there at a time; 0 for no limit", nullptr, 0};
inline constexpr Attr<std::string> kStageContainer{"container", "\"\"", "name space of the shared name"};
inline constexpr Attr<std::string> kStageName{"shared_name", "\"\"",
                                              "blocks of one shared name work on the same; empty means the block's id"};
inline constexpr Out<0> kStageSize{"size", "DT_INT32", "[], how many there are"};

/// `types` are the attributes of the values' types.
auto StageBlock(const char* name, const char* summary, const auto&... types) {
  return StateBlock(name, summary).Attrs(kStageCapacity, kStageMemoryLimit, types..., kStageContainer, kStageName);
}

/// Where the values are that a block works on.
struct StagePlace {
  StageLimits limits;
  std::string container, shared_name;
};

inline StagePlace StagePlaceOf(const PlanContext& ctx) {
  return {{ctx.attr(kStageCapacity), ctx.attr(kStageMemoryLimit)}, ctx.attr(kStageContainer), ctx.attr(kStageName)};
}

/// Finds or makes the S of a place; refuses another resource of that name.
template <class S, class... Args>
Result<ResourceHandle> BindStage(const StagePlace& place, BindContext& ctx, std::string_view kind, Args... args) {
  auto make = [&]() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<S>(args...)); };
  WEFT_ASSIGN_OR_RETURN(ResourceHandle handle, ctx.Shared(place.container, place.shared_name, make));
  if (handle->kind() != kind) {
    return InvalidArgument("needs a name of a ", kind, ", found a ", handle->kind(), " of that name")
        .WithPort(kStageName.name)
        .WithHint("give one of them another shared_name");
  }
  return handle;
}

/// Copies of the inputs, which the run uses again.
Result<StagedValues> CopyValues(ProduceContext& ctx, const InputPort auto& port, const DTypes& types) {
  StagedValues values;
  for (int k = 0; k < ctx.count(port); ++k) {
    WEFT_ASSIGN_OR_RETURN(Tensor value, ctx.Copy(port, types[static_cast<size_t>(k)], k));
    values.push_back(std::move(value));
  }
  return values;
}

void EmitAll(ProduceContext& ctx, const OutputPort auto& port, std::span<Tensor> values) {
  for (size_t k = 0; k < values.size(); ++k) ctx.Emit(port, std::move(values[k]), static_cast<int>(k));
}

inline int32_t SizeOut(int64_t size) { return static_cast<int32_t>(std::min<int64_t>(size, INT32_MAX)); }

}  // namespace weft::blocks
