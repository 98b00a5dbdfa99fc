// LoopHistory, LoopHistoryPush, LoopHistoryHas, LoopHistoryPop: values of a loop's iterations, kept for the loop of its gradient.
#include <mutex>
#include <vector>

#include "blocks/data_flow/queue_blocks.h"
#include "blocks/element_moves.h"
#include "weft/block/run_resource.h"

namespace weft::blocks {
namespace {

/// Values by key and iteration. Thread-safe; what it holds counts in the budget.
class History final : public RunResource {
 public:
  static constexpr std::string_view kKind = "loop history";
  explicit History(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)), charge_(budget_) {}
  std::string_view kind() const override { return kKind; }

  /// Copies the value.
  Status Push(int64_t key, int64_t iteration, const Tensor& value, Workers& workers) {
    const std::lock_guard lock(mutex_);
    if (values_.size() <= static_cast<size_t>(key)) values_.resize(static_cast<size_t>(key) + 1);
    std::vector<Tensor>& kept = values_[static_cast<size_t>(key)];
    const auto at = static_cast<size_t>(iteration);
    if (kept.size() <= at) {
      WEFT_RETURN_IF_ERROR(charge_.Hold(charge_.bytes() + static_cast<int64_t>((at + 1 - kept.size()) * 2 * sizeof(Tensor))));
      kept.resize(at + 1);
    }
    WEFT_ASSIGN_OR_RETURN(kept[at], Tensor::Allocate(value.dtype(), value.shape(), budget_));
    MovesOf(value.dtype()).CopyLong(value.data(), kept[at].data(), value.count(), workers);
    return {};
  }
  bool Has(int64_t key, int64_t iteration) const {
    const std::lock_guard lock(mutex_);
    return Find(key, iteration) != nullptr;
  }
  /// Takes the value out; undefined where there is none.
  Tensor Pop(int64_t key, int64_t iteration) {
    const std::lock_guard lock(mutex_);
    const Tensor* found = Find(key, iteration);
    return found == nullptr ? Tensor() : std::exchange(*const_cast<Tensor*>(found), Tensor());
  }
  void EndRun() noexcept override {
    const std::lock_guard lock(mutex_);
    values_.clear();
    charge_.Resize(0);
  }

 private:
  const Tensor* Find(int64_t key, int64_t iteration) const {
    if (key >= static_cast<int64_t>(values_.size())) return nullptr;
    const std::vector<Tensor>& kept = values_[static_cast<size_t>(key)];
    if (iteration < 0 || iteration >= static_cast<int64_t>(kept.size())) return nullptr;
    const Tensor& value = kept[static_cast<size_t>(iteration)];
    return value.defined() ? &value : nullptr;
  }

  const std::shared_ptr<MemoryBudget> budget_;
  mutable std::mutex mutex_;
  std::vector<std::vector<Tensor>> values_;  // by key, by iteration
  MemoryCharge charge_;                      // of those lists
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

Status CheckInputs(const PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckHandles(ctx, handle));
  return CheckScalars(ctx, iteration);
}

constexpr int64_t kMostKeys = int64_t{1} << 20;  // more values than a loop can have

Result<Kept> PlanKey(PlanContext& ctx) {
  WEFT_RETURN_IF_ERROR(CheckInputs(ctx));
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
  ctx.Emit(popped, std::move(value));
  return {};
};

}  // namespace

BlockDef LoopHistory() {
  return Block("LoopHistory", "Makes a place for values of a loop's iterations, for one run.")
      .Ports(made)
      .Internal()
      .Stateful()
      .Kernel(PlanMade, RunMade);
}

BlockDef LoopHistoryPush() {
  return Block("LoopHistoryPush", "Keeps a value of an iteration for the loop's gradient.")
      .Ports(handle, iteration, pushed, done)
      .Types("T", kAllTypes)
      .Attrs(key)
      .Internal()
      .Stateful()
      .Kernel(PlanPush, RunPush);
}

BlockDef LoopHistoryHas() {
  return Block("LoopHistoryHas", "Whether an iteration kept a value, or it was dead there.")
      .Ports(handle, iteration, has)
      .Attrs(key)
      .Internal()
      .Stateful()
      .Kernel(PlanKey, RunHas);
}

BlockDef LoopHistoryPop() {
  return Block("LoopHistoryPop", "Takes out a value that an iteration kept.")
      .Ports(handle, iteration, popped)
      .Attrs(key, dtype)
      .Internal()
      .Stateful()
      .Producer(PlanPop, RunPop);
}

}  // namespace weft::blocks
