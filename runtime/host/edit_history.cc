#include "weft/host/edit_history.h"

namespace weft {

const std::vector<Edit>* EditHistory::Next(How how) const {
  const Steps& from = how == How::kUndo ? undo_ : redo_;
  return from.empty() ? nullptr : &from.back().edits;
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
  while (!to_.empty() && !to_.back().held.Resize(bytes)) to_.pop_front();
}

}  // namespace weft
