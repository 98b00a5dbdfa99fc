// Shapes of variables while steps are planned.
#pragma once

#include <optional>
#include <vector>

#include "weft/plan/plan.h"

namespace weft {

/// By Graph::variables(): what the updates planned so far leave.
class VariableShapes {
 public:
  VariableShapes(const Graph& graph, const PlanRequest& request)
      : graph_(graph), now_(request.variable_shapes), may_have_value_(now_.size(), 0) {}

  /// The shape of a variable; absent where it is not known.
  const std::optional<Shape>& Of(int variable) const { return now_[variable]; }
  void Set(int variable, std::optional<Shape> shape) { now_[variable] = std::move(shape); }
  /// The one shape of several Variable nodes; absent where they differ.
  std::optional<Shape> Common(const std::vector<int>& nodes) const;
  /// Whether an update planned so far gives it a value.
  bool MayHaveValue(int variable) const { return may_have_value_[variable] != 0; }
  void SetMayHaveValue(int variable) { may_have_value_[variable] = 1; }

  /// The slot is the variable that a reference leads to, as it is now.
  void Describe(Slot& slot, ValueRef reference) const;
  /// What an update leaves; `after` is absent where only the run can tell.
  void Apply(const Step::Update& update, const std::optional<Shape>& after);

 private:
  const Graph& graph_;
  std::vector<std::optional<Shape>> now_;
  std::vector<char> may_have_value_;
};

}  // namespace weft
