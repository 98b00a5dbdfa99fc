#include "weft/host/edit_history.h"

#include <numeric>

namespace weft {

const std::vector<Edit>* EditHistory::Next(How how) const {
  const Steps& from = how == How::kUndo ? undo_ : redo_;
  return from.empty() ? nullptr : &from.back().edits;
}

int64_t EditHistory::BytesHeld(const Steps& steps) {
  return std::accumulate(steps.begin(), steps.end(), int64_t{0}, [](int64_t sum, const Step& step) { return sum + step.held.bytes(); });
}

void EditHistory::NewStep::Prepare(const std::vector<Edit>& inverse) {
  to_.push_back({inverse, MemoryCharge(history_.budget_)});
  prepared_ = true;
}

void EditHistory::NewStep::Keep() noexcept {
  prepared_ = false;
  if (how_ == How::kEdit) history_.redo_.clear();
  if (how_ == How::kUndo) history_.undo_.pop_back();
  if (how_ == How::kRedo) history_.redo_.pop_back();
  if (to_.size() > kMostSteps) to_.pop_front();
  const int64_t bytes = BytesOf(to_.back().edits);
  const int64_t most = history_.budget_ == nullptr ? INT64_MAX : history_.budget_->limit() / kPartOfBudget;
  int64_t held = BytesHeld(history_.undo_) + BytesHeld(history_.redo_);
  while (!to_.empty() && (held > most - bytes || !to_.back().held.Resize(bytes))) {
    held -= to_.front().held.bytes();
    to_.pop_front();
  }
}

}  // namespace weft
