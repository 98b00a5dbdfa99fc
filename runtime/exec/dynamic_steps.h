// DynamicSteps: steps whose blocks are planned during the run, for shapes that only it can tell.
#pragma once

#include <optional>
#include <vector>

#include "runtime/exec/result_set.h"
#include "runtime/exec/session_plan.h"
#include "weft/state/scope.h"

namespace weft {

/// Keeps what each such step was planned for last, so that steady shapes are planned for once. For the thread that runs.
class DynamicSteps {
 public:
  struct Entry {
    PlannedBlock block;
    PlannedShapes planned;
    ResourceHandle resource;
    std::span<std::byte> scratch() const {
      if (scratch_memory == nullptr) return {};
      return {static_cast<std::byte*>(scratch_memory->data()), static_cast<size_t>(planned.scratch_bytes)};
    }

    std::vector<std::optional<Shape>> shapes;  // of the inputs it is planned for; absent for a variable without a value
    std::vector<Tensor> shaping;               // values of ShapedBy inputs it is planned for; undefined for others
    std::shared_ptr<Buffer> scratch_memory;
    bool valid = false;
  };

  /// About how much memory its entries take for the plan, without what they are planned for.
  static int64_t BytesFor(const Plan& plan);

  DynamicSteps(Scope& scope, const SessionPlan& planned, std::shared_ptr<MemoryBudget> budget);

  /// The step, planned for the inputs that it has now. What its block's Plan says, and resource_exhausted.
  Result<const Entry*> Prepare(const ResultSet& set, size_t step);

 private:
  bool Fits(const ResultSet& set, const Step& step, const Entry& entry) const;
  Status TakeSignature(const ResultSet& set, const Step& step, Entry& entry) const;
  Status PlanEntry(const ResultSet& set, const Step& step, Entry& entry) const;

  Scope& scope_;
  const SessionPlan& planned_;
  const std::shared_ptr<MemoryBudget> budget_;
  std::vector<Entry> entries_;  // by step; empty where none is dynamic
};

/// Finds or makes the state of a node's block, as its Bind says.
Result<ResourceHandle> BindResource(Scope& scope, const Node& node, const PlannedBlock& block);

}  // namespace weft
