// EditHistory: what takes back the edits of a page, and what makes them again.
#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "weft/base/memory.h"
#include "weft/page/edit.h"

namespace weft {

/// Steps that can be taken back and steps that can be made again. Holds memory of the page's budget, which may be null, at most a part of it, so
/// that edits and runs have the rest; where that or kMostSteps is used up, the oldest steps are forgotten. Not thread-safe.
class EditHistory {
 public:
  static constexpr size_t kMostSteps = 1000;
  static constexpr int64_t kPartOfBudget = 8;  // one in so many of its bytes
  /// How a step comes about: as a new edit, after which nothing can be made again; by taking back; by making again.
  enum class How : uint8_t { kEdit, kUndo, kRedo };
  class NewStep;

  explicit EditHistory(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}

  /// The edits that take back, or make again, the next step; null where there is none.
  const std::vector<Edit>* Next(How how) const;
  size_t undo_steps() const { return undo_.size(); }
  size_t redo_steps() const { return redo_.size(); }

 private:
  struct Step {
    std::vector<Edit> edits;
    MemoryCharge held;
  };
  using Steps = std::deque<Step>;  // the last one is the next

  static int64_t BytesHeld(const Steps& steps);

  std::shared_ptr<MemoryBudget> budget_;
  Steps undo_, redo_;
};

/// A step that is being made: prepared before the page changes, which may lack memory, and kept once it has changed, which cannot fail.
/// Without Keep the history is as it was.
class EditHistory::NewStep {
 public:
  NewStep(EditHistory& history, How how) : history_(history), how_(how), to_(how == How::kUndo ? history.redo_ : history.undo_) {}
  NewStep(const NewStep&) = delete;
  ~NewStep() {
    if (prepared_) to_.pop_back();
  }

  /// `inverse`: what takes the step back.
  void Prepare(const std::vector<Edit>& inverse);
  bool prepared() const { return prepared_; }
  void Keep() noexcept;

 private:
  EditHistory& history_;
  const How how_;
  Steps& to_;
  bool prepared_ = false;
};

}  // namespace weft
