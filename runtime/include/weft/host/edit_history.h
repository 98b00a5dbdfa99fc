// EditHistory: what takes back the edits of a page, and what makes them again.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "weft/base/memory.h"
#include "weft/page/edit.h"

namespace weft {

/// Steps that can be taken back and steps that can be made again. Holds memory of the page's budget; where that or kMostSteps is used up, the
/// oldest steps are forgotten. Not thread-safe.
class EditHistory {
 public:
  static constexpr size_t kMostSteps = 1000;
  enum class Direction : bool { kUndo, kRedo };

  explicit EditHistory(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}

  /// Notes a new step by what takes it back; steps that could be made again are forgotten.
  void Add(std::vector<Edit> inverse);
  /// The edits of the next step; null where there is none.
  const std::vector<Edit>* Next(Direction direction) const;
  /// The next step was made: `inverse` takes it back.
  void Made(Direction direction, std::vector<Edit> inverse);
  size_t size(Direction direction) const { return steps(direction).size(); }

 private:
  struct Step {
    std::vector<Edit> edits;
    MemoryCharge held;
  };
  using Steps = std::deque<Step>;  // the last one is the next

  const Steps& steps(Direction direction) const { return direction == Direction::kUndo ? undo_ : redo_; }
  void Push(Steps& steps, std::vector<Edit> edits);

  std::shared_ptr<MemoryBudget> budget_;
  Steps undo_, redo_;
};

}  // namespace weft
