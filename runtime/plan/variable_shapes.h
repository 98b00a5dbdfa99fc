// Shapes of variables while steps are planned.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "weft/plan/plan.h"

namespace weft {

/// By index into Graph::variables(), for those that the plan has to do with: the shapes at the start, and what the updates planned so far leave.
class VariableShapes {
 public:
  VariableShapes(const Graph& graph, const PlanRequest& request) : graph_(graph), request_(request) {}

  /// When the run starts: the same for the whole plan, whatever another thread does meanwhile.
  const std::optional<Shape>& AtStart(int variable) const;
  /// The shape of a variable; absent where it is not known.
  const std::optional<Shape>& Of(int variable) const;
  void Set(int variable, std::optional<Shape> shape) { now_[variable] = std::move(shape); }
  /// The one shape of several Variable nodes; absent where they differ.
  std::optional<Shape> Common(std::span<const int> nodes) const;
  /// Graph::VariablesOf, which is looked for once for all that comes through one RefSelect. Good until the next call.
  std::span<const int> NodesOf(ValueRef reference) const;
  /// Whether an update planned so far gives it a value.
  bool MayHaveValue(int variable) const { return may_have_value_.contains(variable); }
  void SetMayHaveValue(int variable) { may_have_value_.insert(variable); }

  /// The slot is the variable that a reference leads to, as it is now.
  void Describe(Slot& slot, ValueRef reference) const;
  /// What an update leaves; `after` is absent where only the run can tell.
  void Apply(const Step::Update& update, const std::optional<Shape>& after);

 private:
  const Graph& graph_;
  const PlanRequest& request_;
  mutable std::unordered_map<int, std::optional<Shape>> at_start_;
  mutable std::unordered_map<int, std::vector<int>> chosen_from_;  // by RefSelect node: Variable nodes
  mutable int only_ = -1;                                          // of a reference that is no RefSelect's
  std::unordered_map<int, std::optional<Shape>> now_;  // of those that are not as at the start
  std::unordered_set<int> may_have_value_;
};

}  // namespace weft
