// CollectiveBcastSendV2, CollectiveBcastRecvV2: the value of one process at all of them.
#include "blocks/collective/group.h"
#include "blocks/random/random_stream.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "what the others get"};
constexpr In<3> shape{"shape", "Tshape", "of what comes"};
constexpr Out<0> data{"data", "T", "the value of the process that sends"};

constexpr Attr<DType> kRequiredType{"T", kRequired, "the type of what comes"};

constexpr std::string_view kSends = "sends ";

/// Which of the processes sends: one, and all speak of one type and shape.
Result<int> SenderOf(Collectives& collectives, const std::vector<std::string>& all) {
  int sender = -1;
  std::vector<std::string> values;
  for (size_t r = 0; r < all.size(); ++r) {
    const bool sends = all[r].starts_with(kSends);
    if (sends && sender >= 0) return FailedPrecondition("ranks ", sender, " and ", r, " both send: one of them needs a CollectiveBcastRecvV2");
    if (sends) sender = static_cast<int>(r);
    values.push_back(all[r].substr(all[r].find(' ') + 1));
  }
  if (sender < 0) return FailedPrecondition("no rank sends: one of them needs a CollectiveBcastSendV2");
  WEFT_RETURN_IF_ERROR(CheckAlike(collectives, values));
  return sender;
}

Result<GroupPlan> PlanSend(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckGroup<1>(ctx));
  ctx.set(data, ctx.shape(input));
  return PlanOfGroup(ctx);
}

constexpr auto RunSend = [](const GroupPlan& p, ProduceContext& ctx) -> Status {
  Collectives& collectives = ctx.state<CollectivesResource>().collectives();
  const GroupCall call = CallOf<1>(ctx, Cat(kSends, p.dtype, " ", ctx.shape(input)));
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, Meet(collectives, call, p));
  WEFT_ASSIGN_OR_RETURN(Tensor value, ctx.Copy(input, p.dtype));
  if (!all.empty()) {
    WEFT_ASSIGN_OR_RETURN(const int sender, SenderOf(collectives, all));
    const auto bytes = std::span(static_cast<std::byte*>(value.data()), static_cast<size_t>(value.bytes()));
    WEFT_RETURN_IF_ERROR(Broadcast(collectives, CollectiveUser::kBlocks, sender, bytes, "for a broadcast"));
  }
  return Emitted(ctx, data, std::move(value));
};

Result<GroupPlan> PlanReceive(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckGroup<0>(ctx));
  WEFT_ASSIGN_OR_RETURN(Shape given, ShapeGiven(ctx, shape));
  ctx.set(data, std::move(given));
  GroupPlan plan = PlanOfGroup(ctx);
  plan.wide_shape = ctx.type("Tshape") == DType::kInt64;
  return plan;
}

constexpr auto RunReceive = [](const GroupPlan& p, ProduceContext& ctx) -> Status {
  Collectives& collectives = ctx.state<CollectivesResource>().collectives();
  const auto sizes = [&]<class I>(I) {
    const std::span<const I> dims = ctx.in<I>(shape);
    return Shape::Make(std::vector<int64_t>(dims.begin(), dims.end()));
  };
  WEFT_ASSIGN_OR_RETURN(Shape given, p.wide_shape ? sizes(int64_t()) : sizes(int32_t()));
  const GroupCall call = CallOf<0>(ctx, Cat("receives ", p.dtype, " ", given));
  if (call.size == 1) return ctx.ErrorOf(Code::kFailedPrecondition, kGroupSize<0>, "nobody sends in a group of one process");
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, Meet(collectives, call, p));
  WEFT_ASSIGN_OR_RETURN(const int sender, SenderOf(collectives, all));
  WEFT_ASSIGN_OR_RETURN(Tensor value, ctx.Allocate(p.dtype, std::move(given)));
  const auto bytes = std::span(static_cast<std::byte*>(value.data()), static_cast<size_t>(value.bytes()));
  WEFT_RETURN_IF_ERROR(Broadcast(collectives, CollectiveUser::kBlocks, sender, bytes, "for a broadcast"));
  return Emitted(ctx, data, std::move(value));
};

}  // namespace

BlockDef CollectiveBcastSendV2() {
  return Block("CollectiveBcastSendV2", "Gives a value to all other processes of a job.")
      .Details("The others have a CollectiveBcastRecvV2 of the same keys. Alone, or in a group of one, only the input.")
      .Ports(input, kGroupSize<1>, kGroupKey<2>, kInstanceKey<3>, data)
      .Types("T", kCollectiveValues)
      .Attrs(kCommunicationHint, kTimeoutSeconds)
      .Stateful()
      .Producer(PlanSend, RunSend, kBindCollectives);
}

BlockDef CollectiveBcastRecvV2() {
  return Block("CollectiveBcastRecvV2", "The value of the process of a job that has the CollectiveBcastSendV2.")
      .Ports(kGroupSize<0>, kGroupKey<1>, kInstanceKey<2>, shape, data)
      .Attrs(kRequiredType)
      .Types("T", kCollectiveValues)
      .Types("Tshape", TypeList<int32_t, int64_t>{})
      .Attrs(kCommunicationHint, kTimeoutSeconds)
      .ShapedBy(shape)
      .Stateful()
      .Producer(PlanReceive, RunReceive, kBindCollectives);
}

}  // namespace weft::blocks
