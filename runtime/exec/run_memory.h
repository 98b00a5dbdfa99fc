// RunMemory: where the values of a plan's runs lie.
#pragma once

#include <memory>

#include "runtime/exec/fused.h"
#include "runtime/exec/result_set.h"
#include "runtime/exec/session_plan.h"

namespace weft {

/// Owns the arena, which both sets of results use in turn: what lies there is good for one run. Memory of results belongs to the sets.
/// For the thread that runs.
class RunMemory {
 public:
  RunMemory(const SessionPlan& planned, const FusedRunner& fused, std::shared_ptr<MemoryBudget> budget)
      : planned_(planned), plan_(planned.plan), fused_(fused), budget_(std::move(budget)) {}

  /// Takes the arena. resource_exhausted, placed at the block that needs most of it.
  Status TakeArena();
  bool tiles_whole() const { return fused_.whole(); }
  std::byte* arena() const { return static_cast<std::byte*>(arena_->data()); }

  /// Gives a new set memory for its results, and points its values at their memory. On failure the set is as it was.
  Status Bind(ResultSet& set) const;
  /// Points the values whose place the plan knows at their memory, as after an exchange of memories.
  void Point(ResultSet& set) const;
  /// Memory `memory` of the layout, new. resource_exhausted, placed at the block of its first result.
  Result<std::shared_ptr<ResultMemory>> NewResultMemory(size_t memory) const;

  /// Memory for a value that has none in the plan. That of the set's last run is used again where it fits and no reader has it.
  Status Allocate(ResultSet& set, uint32_t slot, const Shape& shape) const;

 private:
  void PointValue(ResultSet& set, size_t slot) const;
  Status AllocateInLoop(ResultSet& set, uint32_t slot, const Shape& shape) const;

  const SessionPlan& planned_;
  const Plan& plan_;
  const FusedRunner& fused_;
  const std::shared_ptr<MemoryBudget> budget_;
  std::shared_ptr<Buffer> arena_;
};

}  // namespace weft
