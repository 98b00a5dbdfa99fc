// CollectiveGatherV2: the rows of all processes, one below the other.
#include "blocks/collective/group.h"

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "[rows, ...]: this process's rows, as many as everybody's"};
constexpr Out<0> data{"data", "T", "[group_size * rows, ...]: those of the first process first"};

Result<GroupPlan> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckGroup<1>(ctx));
  if (ctx.attr(kOrderingTokens) != 0) return InvalidArgument("needs 0 ordering tokens, found ", ctx.attr(kOrderingTokens)).WithPort("Nordering_token");
  if (ctx.shape(input).rank() == 0) return ctx.Error(input, "needs rank 1 or more, found a scalar");
  std::vector<int64_t> dims(ctx.shape(input).dims().begin(), ctx.shape(input).dims().end());
  dims[0] = -1;
  WEFT_ASSIGN_OR_RETURN(PartialShape rows, PartialShape::Make(std::move(dims)));
  ctx.set_unknown(data, 0, std::move(rows));
  return PlanOfGroup(ctx);
}

constexpr auto Run = [](const GroupPlan& p, ProduceContext& ctx) -> Status {
  Collectives& collectives = ctx.state<CollectivesResource>().collectives();
  const GroupCall call = CallOf<1>(ctx, Cat("CollectiveGatherV2 of ", p.dtype, " ", ctx.shape(input)));
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, Meet(collectives, call, p));
  WEFT_RETURN_IF_ERROR(CheckAlike(collectives, all));
  WEFT_ASSIGN_OR_RETURN(Tensor own, ctx.Copy(input, p.dtype));
  if (!all.empty()) {
    std::vector<int64_t> dims(own.shape().dims().begin(), own.shape().dims().end());
    const std::optional<int64_t> rows_of_all = CheckedMultiply(dims[0], call.size);
    if (!rows_of_all) return ctx.ErrorOf(Code::kResourceExhausted, input, "the rows of all processes are too many");
    dims[0] = *rows_of_all;
    WEFT_ASSIGN_OR_RETURN(Shape shape, Shape::Make(dims));
    WEFT_ASSIGN_OR_RETURN(Tensor rows, ctx.Allocate(p.dtype, std::move(shape)));
    const auto bytes = static_cast<size_t>(own.bytes());
    const auto at = [&](int rank) { return static_cast<char*>(rows.data()) + static_cast<size_t>(rank) * bytes; };
    std::copy_n(static_cast<const char*>(own.data()), bytes, at(collectives.rank()));
    std::vector<Message> messages;
    for (int r = 0; r < collectives.size(); ++r) {
      if (r == collectives.rank()) continue;
      messages.push_back({r, false, own.data(), bytes});
      messages.push_back({r, true, at(r), bytes});
    }
    WEFT_RETURN_IF_ERROR(collectives.Move(CollectiveUser::kBlocks, messages, Cat("for ", call.part)));
    own = std::move(rows);
  }
  return Emitted(ctx, data, std::move(own));
};

}  // namespace

BlockDef CollectiveGatherV2() {
  return Block("CollectiveGatherV2", "The rows of all processes of a job, one below the other.")
      .Details("In the order of ranks. Alone, or in a group of one, the input.")
      .Ports(input, kGroupSize<1>, kGroupKey<2>, kInstanceKey<3>, data)
      .Types("T", kCollectiveRows)
      .Attrs(kCommunicationHint, kTimeoutSeconds, kIsStateless, kOrderingTokens)
      .Stateful()
      .Producer(Plan, Run, kBindCollectives);
}

}  // namespace weft::blocks
