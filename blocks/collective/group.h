// What the blocks of collectives share: their group, and the agreement of its processes on what they do together.
#pragma once

#include <string>
#include <vector>

#include "blocks/limits.h"
#include "weft/block/block.h"
#include "weft/block/collectives.h"

namespace weft::blocks {

inline constexpr Attr<std::string> kCommunicationHint{"communication_hint", "auto", "taken as it is: there is one way to communicate"};
inline constexpr Attr<float> kTimeoutSeconds{"timeout_seconds", "0", "how long to wait for the others; 0: as long as the job waits"};
inline constexpr Attr<bool> kIsStateless{"is_stateless", "false", "taken as it is"};
inline constexpr Attr<int64_t> kOrderingTokens{"Nordering_token", "0", "only 0: blocks run in the order of the plan, which is the same on all ranks", nullptr, 0};
// The numbers of a group, inputs that follow one another.
template <int kInput>
inline constexpr In<kInput> kGroupSize{"group_size", "DT_INT32", "how many processes take part: 1, or all of the job"};
template <int kInput>
inline constexpr In<kInput> kGroupKey{"group_key", "DT_INT32", "a number of the group"};
template <int kInput>
inline constexpr In<kInput> kInstanceKey{"instance_key", "DT_INT32", "a number of this use of the group: the same at all processes"};

inline constexpr auto kCollectiveNumbers = TypeList<bfloat16, float, half, double, int32_t, int64_t>{};
inline constexpr auto kCollectiveRows = TypeList<float, half, double, int32_t, int64_t>{};
inline constexpr auto kCollectiveValues = TypeList<bool, float, half, double, int32_t, int64_t>{};

/// Set when the block is planned.
struct GroupPlan {
  DType dtype = DType::kInvalid;
  bool wide_shape = false;  // CollectiveBcastRecvV2: of 64 bits
  std::chrono::nanoseconds timeout{};
};

/// What a process says of its part in a collective.
struct GroupCall {
  std::string part;  // "CollectiveReduceV2 of DT_FLOAT [3]": those of all must be equal, but for a broadcast's sender
  int32_t size = 1, key = 0, instance = 0;
};

inline GroupPlan PlanOfGroup(const PlanContext& ctx) {
  constexpr double kLongest = 1e9;  // seconds; others than positive numbers set no limit
  const double seconds = ctx.attr(kTimeoutSeconds);
  return {ctx.type("T"), false, std::chrono::nanoseconds(seconds > 0 ? static_cast<int64_t>(std::min(seconds, kLongest) * 1e9) : 0)};
}

/// The collectives of the scope: those of its job, or of one process alone.
inline constexpr auto kBindCollectives = [](const auto&, BindContext& ctx) {
  return ctx.Shared(CollectivesResource::kContainer, CollectivesResource::kName,
                    []() -> Result<ResourceHandle> { return ResourceHandle(std::make_shared<CollectivesResource>(std::make_shared<LocalCollectives>())); });
};

/// The group's processes, by what they say of themselves; of a group of one, nobody. invalid_argument for a group that is neither one nor all.
Result<std::vector<std::string>> Meet(Collectives& collectives, const GroupCall& call, const GroupPlan& plan);

/// failed_precondition, with the rank that differs, where the processes do not say the same.
Status CheckAlike(const Collectives& collectives, const std::vector<std::string>& all);

/// For blocks whose group is named by input kFirst and the two behind it.
template <int kFirst>
Status CheckGroup(const PlanContext& ctx) {
  return CheckScalars(ctx, kGroupSize<kFirst>, kGroupKey<kFirst + 1>, kInstanceKey<kFirst + 2>);
}
template <int kFirst>
GroupCall CallOf(const ProduceContext& ctx, std::string part) {
  const auto number = [&](const auto& port) { return ctx.in<int32_t>(port)[0]; };
  return {std::move(part), number(kGroupSize<kFirst>), number(kGroupKey<kFirst + 1>), number(kInstanceKey<kFirst + 2>)};
}

}  // namespace weft::blocks
