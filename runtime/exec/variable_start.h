// VariableStart: the first values of a scope's variables.
#pragma once

#include <vector>

#include "runtime/state/variable_store.h"
#include "weft/state/scope.h"

namespace weft {

/// Done once, by the first run of a revision that has variables; others wait for it. A host's value stays.
class VariableStart {
 public:
  /// Gives the values of the spec's fetches, by a run that reads variables which have started and no others.
  using Evaluate = FunctionRef<Result<std::vector<Tensor>>(const SessionSpec&)>;

  VariableStart(Scope& scope, Revision& revision, Waiter& waiter, Evaluate evaluate)
      : scope_(scope), revision_(revision), graph_(*revision.graph), waiter_(waiter), evaluate_(evaluate) {}

  /// Nothing where the variables have started. Else what the evaluation says, or invalid_argument for a value of another shape than the
  /// variable declares: then a later run starts those that are left.
  Status Start();

 private:
  void SetConstants();
  Tensor ConstantOf(int variable) const;
  std::vector<char> WiredOnes() const;
  Status StartTogether(const std::vector<int>& variables);

  Scope& scope_;
  Revision& revision_;
  const Graph& graph_;
  Waiter& waiter_;
  Evaluate evaluate_;
};

}  // namespace weft
