// LoopHistory, LoopHistoryPush, LoopHistoryHas, LoopHistoryPop: values of a loop's iterations, kept for the loop of its gradient.
#include <mutex>
#include <unordered_map>

#include "blocks/data_flow/queue_blocks.h"
#include "blocks/element_moves.h"
#include "weft/block/run_resource.h"

namespace weft::blocks {
namespace {

/// Values by key, below 2^32, and iteration. Thread-safe; what it holds counts in the budget.
class History final : public RunResource {
 public:
  static constexpr std::string_view kKind = "loop history";
  explicit History(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)), charge_(budget_) {}
  std::string_view kind() const override { return kKind; }

  /// Copies the value.
  Status Push(int64_t key, int32_t iteration, const Tensor& value, Workers& workers) {
    constexpr int64_t kEntry = sizeof(Tensor) + 5 * sizeof(void*);  // with its node in the table
    const std::lock_guard lock(mutex_);
    WEFT_RETURN_IF_ERROR(charge_.Hold(static_cast<int64_t>(values_.size() + 1) * kEntry));
    WEFT_ASSIGN_OR_RETURN(Tensor copy, Tensor::Allocate(value.dtype(), value.shape(), budget_));
    MovesOf(value.dtype()).CopyLong(value.data(), copy.data(), value.count(), workers);
    values_[Place(key, iteration)] = std::move(copy);
    return {};
  }
  bool Has(int64_t key, int32_t iteration) const {
    const std::lock_guard lock(mutex_);
    return values_.contains(Place(key, iteration));
  }
  /// Takes the value out; undefined where there is none.
  Tensor Pop(int64_t key, int32_t iteration) {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find(Place(key, iteration));
    if (found == values_.end()) return {};
    Tensor value = std::move(found->second);
    values_.erase(found);
    return value;
  }
  void EndRun() noexcept override {
    const std::lock_guard lock(mutex_);
    values_.clear();
    charge_.Resize(0);
  }

 private:
  static uint64_t Place(int64_t key, int32_t iteration) { return static_cast<uint64_t>(key) << 32 | static_cast<uint32_t>(iteration); }

  const std::shared_ptr<MemoryBudget> budget_;
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, Tensor> values_;  // by key and iteration
  MemoryCharge charge_;                          // of their entries
};

constexpr Out<0> made{"handle", "DT_RESOURCE", "[], the history"};
constexpr In<0> handle{"handle", "DT_RESOURCE", "[], the history"};
constexpr In<1> iteration{"iteration", "DT_INT32", "a scalar: the number of the iteration, from 0"};
constexpr In<2> pushed{"value", "T", "of any shape"};
constexpr Out<0> done{"done", "DT_INT32", "the iteration, for what must be done afterwards"};
constexpr Out<0> has{"has", "DT_BOOL", "a scalar: whether a value was kept in this iteration"};
constexpr Out<0> popped{"value", "dtype", "the value"};
constexpr Attr<int64_t> key{"key", kRequired, "which of the loop's values", nullptr, 0};
constexpr Attr<DType> dtype{"dtype", kRequired, "the type of the value"};

struct Kept {
  int64_t key;
  DType dtype = DType::kInvalid;
};

constexpr int64_t kMostKeys = int64_t{1} << 20;  // more values than a loop can have

Result<Kept> PlanKey(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, handle));
  WEFT_RETURN_IF_ERROR(CheckScalars(ctx, iteration));
  const int64_t number = ctx.attr(key);
  if (number >= kMostKeys) return ctx.Error(key, "needs a number below ", kMostKeys, ", found ", number);
  return Kept{number};
}

Status PlanMade(PlanContext&) { return {}; }
constexpr auto RunMade = [](const NoParameters&, RunContext& ctx) {
  ctx.out<ResourceHandle>(made)[0] = std::make_shared<History>(ctx.budget());
};

Result<Kept> PlanPush(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Kept kept, PlanKey(ctx));
  kept.dtype = ctx.dtype(pushed);
  return kept;
}
constexpr auto RunPush = [](const Kept& kept, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(History * history, ctx.Find<History>(handle));
  const int32_t at = ctx.in<int32_t>(iteration)[0];
  if (at < 0) return ctx.Error(iteration, "needs 0 or more, found ", at);
  auto* data = const_cast<std::byte*>(ctx.in<std::byte>(pushed).data());
  ctx.out<int32_t>(done)[0] = at;
  return history->Push(kept.key, at, Tensor::View(kept.dtype, ctx.shape(pushed), data, nullptr), ctx.workers());
};

constexpr auto RunHas = [](const Kept& kept, RunContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(const History* history, ctx.Find<History>(handle));
  ctx.out<bool>(has)[0] = history->Has(kept.key, ctx.in<int32_t>(iteration)[0]);
  return {};
};

Result<Kept> PlanPop(PlanContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(Kept kept, PlanKey(ctx));
  kept.dtype = ctx.attr(dtype);
  ctx.set_unknown(popped);
  return kept;
}
constexpr auto RunPop = [](const Kept& kept, ProduceContext& ctx) -> Status {
  WEFT_ASSIGN_OR_RETURN(History * history, ctx.Find<History>(handle));
  const int32_t at = ctx.in<int32_t>(iteration)[0];
  Tensor value = history->Pop(kept.key, at);
  if (!value.defined()) return ctx.Error(iteration, "needs an iteration that kept a value, found ", at);
  if (value.dtype() != kept.dtype) return ctx.Error(dtype, "needs ", value.dtype(), ", found ", kept.dtype);
  return Emitted(ctx, popped, std::move(value));
};

auto Declare(const char* name, const char* summary, const auto&... ports) {
  return Block(name, summary).Ports(ports...).Internal().Stateful();
}

}  // namespace

BlockDef LoopHistory() {
  return Declare("LoopHistory", "Makes a place for values of a loop's iterations, for one run.", made).Kernel(PlanMade, RunMade);
}

BlockDef LoopHistoryPush() {
  return Declare("LoopHistoryPush", "Keeps a value of an iteration for the loop's gradient.", handle, iteration, pushed, done)
      .Types("T", kAllTypes).Attrs(key).Kernel(PlanPush, RunPush);
}

BlockDef LoopHistoryHas() {
  return Declare("LoopHistoryHas", "Whether an iteration kept a value, or it was dead there.", handle, iteration, has)
      .Attrs(key).Kernel(PlanKey, RunHas);
}

BlockDef LoopHistoryPop() {
  return Declare("LoopHistoryPop", "Takes out a value that an iteration kept.", handle, iteration, popped)
      .Attrs(key, dtype).Producer(PlanPop, RunPop);
}

}  // namespace weft::blocks
