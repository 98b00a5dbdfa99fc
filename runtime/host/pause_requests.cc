#include "runtime/host/pause_requests.h"

#include <utility>

namespace weft {

void PauseRequests::Begin(const RunRequest& request, std::optional<KeptName> until) {
  std::lock_guard lock(mutex_);
  asked_ = step_block_ = false;
  after_run_ = request.pause_after_run;
  until_ = std::move(until);
  until_plan_ = 0;
  WantSteps();
}

void PauseRequests::Ask(PauseAt at) {
  std::lock_guard lock(mutex_);
  (at == PauseAt::kRun ? after_run_ : asked_) = true;
  WantSteps();
}

void PauseRequests::PauseEnded(GoOn how, bool before_step) {
  std::lock_guard lock(mutex_);
  step_block_ = how == GoOn::kStepBlock;
  skip_ = before_step ? 0 : 1;
  after_run_ = how == GoOn::kStepRun;
  WantSteps();
}

void PauseRequests::Drop() {
  std::lock_guard lock(mutex_);
  asked_ = after_run_ = step_block_ = false;
  WantSteps();
}

void PauseRequests::End() {
  std::lock_guard lock(mutex_);
  asked_ = after_run_ = step_block_ = false;
  until_.reset();
  WantSteps();
}

bool PauseRequests::TakeAsked() {
  std::lock_guard lock(mutex_);
  const bool asked = std::exchange(asked_, false);
  WantSteps();
  return asked;
}

bool PauseRequests::any_before_run() const {
  std::lock_guard lock(mutex_);
  return asked_ || after_run_;
}

PauseReason PauseRequests::BeforeRun(bool first) {
  if (TakeAsked()) return PauseReason::kAsked;
  std::lock_guard lock(mutex_);
  return after_run_ && !first ? PauseReason::kStepped : PauseReason::kNone;
}

PauseReason PauseRequests::Before(const RunView& view, const Node& node) {
  std::lock_guard lock(mutex_);
  if (step_block_ && skip_-- <= 0) return PauseReason::kStepped;
  if (asked_) return PauseReason::kAsked;
  if (!until_) return PauseReason::kNone;
  if (until_plan_ != view.plan_id()) until_id_ = until_->In(*view.graph()).value_or("");
  until_plan_ = view.plan_id();
  if (node.id != until_id_) return PauseReason::kNone;
  until_.reset();
  WantSteps();
  return PauseReason::kReached;
}

// Called with the lock held, after each change.
void PauseRequests::WantSteps() {
  const bool wants = asked_ || step_block_ || until_.has_value();
  if (std::exchange(wants_steps_, wants) == wants) return;
  if (wants) steps_wanted_.fetch_add(1, std::memory_order_relaxed);
  else steps_wanted_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace weft
