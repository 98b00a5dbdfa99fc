// CollectiveReduceV2: the values of all processes, element by element as one.
#include <algorithm>

#include "blocks/collective/group.h"

namespace weft::blocks {

enum class MergeOp : uint8_t { kMin, kMax, kMul, kAdd };
enum class FinalOp : uint8_t { kId, kDiv };

}  // namespace weft::blocks

template <>
struct weft::EnumTexts<weft::blocks::MergeOp> {
  static constexpr const char* values[] = {"Min", "Max", "Mul", "Add"};
};
template <>
struct weft::EnumTexts<weft::blocks::FinalOp> {
  static constexpr const char* values[] = {"Id", "Div"};
};

namespace weft::blocks {
namespace {

constexpr In<0> input{"input", "T", "this process's values"};
constexpr Out<0> data{"data", "T", "[shape of input]: the same at all processes"};
constexpr Attr<MergeOp> merge_op{"merge_op", kRequired, "how two values become one"};
constexpr Attr<FinalOp> final_op{"final_op", kRequired, "Div divides what comes out by group_size"};
constexpr Attr<int64_t> max_subdivs_per_device{"max_subdivs_per_device", "-1", "taken as it is"};

struct Reduction : GroupPlan {
  MergeOp merge = MergeOp::kAdd;
  FinalOp final = FinalOp::kId;
};

Result<Reduction> Plan(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckGroup<1>(ctx));
  if (ctx.attr(kOrderingTokens) != 0) return InvalidArgument("needs 0 ordering tokens, found ", ctx.attr(kOrderingTokens)).WithPort("Nordering_token");
  ctx.set(data, ctx.shape(input));
  return Reduction{PlanOfGroup(ctx), ctx.attr(merge_op), ctx.attr(final_op)};
}

template <class T>
void Merge(MergeOp op, const T* from, T* to, int64_t count) {
  const auto each = [&](auto merge) {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(merge(to[i], from[i]));
  };
  switch (op) {
    case MergeOp::kMin: return each([](T a, T b) { return b < a ? b : a; });
    case MergeOp::kMax: return each([](T a, T b) { return a < b ? b : a; });
    case MergeOp::kMul: return each([](T a, T b) { return WrapMultiply(a, b); });
    case MergeOp::kAdd: return each([](T a, T b) { return WrapAdd(a, b); });
  }
}

/// Each process gets a part of the elements of all, merges it in one order, and gives it to the others.
template <class T>
class RankReduction {
 public:
  RankReduction(const Reduction& reduction, Collectives& collectives, std::span<T> all) : reduction_(reduction), collectives_(collectives), all_(all) {}

  Status Run(ProduceContext& ctx, std::string_view what) {
    const int rank = collectives_.rank(), size = collectives_.size();
    const int64_t own = At(rank + 1) - At(rank);
    WEFT_ASSIGN_OR_RETURN(Tensor parts, ctx.Allocate(kDTypeOf<T>, Shape{size, own}));
    T* const part = parts.values<T>().data();
    std::vector<Message> messages;
    for (int r = 0; r < size; ++r) {
      if (r == rank) continue;
      messages.push_back({r, false, all_.data() + At(r), Bytes(r)});
      messages.push_back({r, true, part + r * own, Bytes(rank)});
    }
    std::copy_n(all_.data() + At(rank), own, part + rank * own);
    WEFT_RETURN_IF_ERROR(collectives_.Move(CollectiveUser::kBlocks, messages, what));
    for (int distance = 1; distance < size; distance *= 2) {
      for (int r = 0; r + distance < size; r += 2 * distance) Merge(reduction_.merge, part + (r + distance) * own, part + r * own, own);
    }
    std::copy_n(part, own, all_.data() + At(rank));
    messages.clear();
    for (int r = 0; r < size; ++r) {
      if (r == rank) continue;
      messages.push_back({r, false, all_.data() + At(rank), Bytes(rank)});
      messages.push_back({r, true, all_.data() + At(r), Bytes(r)});
    }
    return collectives_.Move(CollectiveUser::kBlocks, messages, what);
  }

 private:
  int64_t At(int rank) const { return static_cast<int64_t>(all_.size()) * rank / collectives_.size(); }
  size_t Bytes(int rank) const { return static_cast<size_t>(At(rank + 1) - At(rank)) * sizeof(T); }

  const Reduction& reduction_;
  Collectives& collectives_;
  const std::span<T> all_;
};

constexpr auto Run = [](const Reduction& p, ProduceContext& ctx) -> Status {
  Collectives& collectives = ctx.state<CollectivesResource>().collectives();
  const char *merge = EnumTexts<MergeOp>::values[static_cast<int>(p.merge)], *finish = EnumTexts<FinalOp>::values[static_cast<int>(p.final)];
  const GroupCall call = CallOf<1>(ctx, Cat("CollectiveReduceV2 of ", p.dtype, " ", ctx.shape(input), " by ", merge, " and ", finish));
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all, Meet(collectives, call, p));
  WEFT_RETURN_IF_ERROR(CheckAlike(collectives, all));
  WEFT_ASSIGN_OR_RETURN(Tensor result, ctx.Copy(input, p.dtype));
  Status status;
  Dispatch(p.dtype, kCollectiveNumbers, [&]<class T>() {
    if (!all.empty()) status = RankReduction<T>(p, collectives, result.values<T>()).Run(ctx, Cat("for ", call.part));
    if (p.final == FinalOp::kId || call.size == 1) return;
    for (T& value : result.values<T>()) value = static_cast<T>(value / static_cast<T>(call.size));
  });
  WEFT_RETURN_IF_ERROR(status);
  return Emitted(ctx, data, std::move(result));
};

}  // namespace

BlockDef CollectiveReduceV2() {
  return Block("CollectiveReduceV2", "The values of all processes of a job, merged element by element.")
      .Details("Merged in one order of ranks, so that all processes get the same bits, in every run. Alone, or in a group of one, the input.")
      .Ports(input, kGroupSize<1>, kGroupKey<2>, kInstanceKey<3>, data)
      .Types("T", kCollectiveNumbers)
      .Attrs(merge_op, final_op, kCommunicationHint, kTimeoutSeconds, kIsStateless, kOrderingTokens, max_subdivs_per_device)
      .Stateful()
      .Producer(Plan, Run, kBindCollectives);
}

}  // namespace weft::blocks
