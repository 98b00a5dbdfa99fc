#include "runtime/base/call_limit.h"

#include <algorithm>

namespace weft {

CallLimit::CallLimit(std::optional<Clock::time_point> deadline, const std::atomic<bool>* cancelled, std::shared_ptr<MemoryBudget> budget)
    : outer_(current_),
      deadline_(deadline),
      cancelled_(cancelled),
      budget_(std::move(budget)),
      holder_(budget_ != nullptr ? this : outer_ != nullptr ? outer_->holder_ : nullptr),
      charge_(budget_) {
  if (outer_ != nullptr && outer_->deadline_) deadline_ = std::min(deadline_.value_or(*outer_->deadline_), *outer_->deadline_);
  current_ = this;
}

void CallLimit::Look() {
  constexpr int kChecks = 64;  // of a few microseconds each
  unchecked_ = kChecks;
  if (cancelled()) throw CallStopped(Cancelled("the call was cancelled"));
  if (deadline_ && Clock::now() >= *deadline_) throw CallStopped(Cancelled("the call's deadline passed"));
}

void CallLimit::Take(std::string_view block) {
  constexpr int64_t kPortion = 256 << 10;
  if (charge_.Resize(grown_ + kPortion) || charge_.Resize(grown_)) return;
  Status refusal = budget_->Refusal(grown_);
  throw CallStopped(block.empty() ? std::move(refusal) : std::move(refusal).WithBlock(block));
}

Result<MemoryCharge> CallLimit::Keep(int64_t bytes, const std::shared_ptr<MemoryBudget>& budget) {
  if (current_ != nullptr && current_->holder_ != nullptr) {
    CallLimit& holder = *current_->holder_;
    holder.grown_ = std::max<int64_t>(holder.grown_ - bytes, 0);
    holder.charge_.Resize(std::min(holder.grown_, holder.charge_.bytes()));
  }
  MemoryCharge kept(budget);
  WEFT_RETURN_IF_ERROR(kept.Hold(bytes));
  return kept;
}

}  // namespace weft
