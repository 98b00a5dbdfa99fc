#include "weft/host/edit_history.h"

namespace weft {

void EditHistory::Push(Steps& steps, std::vector<Edit> edits) {
  Step step{std::move(edits), MemoryCharge(budget_)};
  const int64_t bytes = BytesOf(step.edits);
  while (!step.held.Resize(bytes)) {
    if (steps.empty()) return;
    steps.pop_front();
  }
  if (steps.size() == kMostSteps) steps.pop_front();
  steps.push_back(std::move(step));
}

void EditHistory::Add(std::vector<Edit> inverse) {
  redo_.clear();
  Push(undo_, std::move(inverse));
}

const std::vector<Edit>* EditHistory::Next(Direction direction) const {
  const Steps& from = steps(direction);
  return from.empty() ? nullptr : &from.back().edits;
}

void EditHistory::Made(Direction direction, std::vector<Edit> inverse) {
  (direction == Direction::kUndo ? undo_ : redo_).pop_back();
  Push(direction == Direction::kUndo ? redo_ : undo_, std::move(inverse));
}

}  // namespace weft
