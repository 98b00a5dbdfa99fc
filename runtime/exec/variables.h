// VariableTransaction: the variables of a scope as one run reads and updates them.
#pragma once

#include <vector>

#include "runtime/exec/prefetch.h"
#include "runtime/exec/result_set.h"
#include "runtime/exec/session_plan.h"
#include "runtime/state/turn_line.h"
#include "runtime/state/variable_store.h"
#include "weft/state/scope.h"

namespace weft {

/// One variable during a run.
struct RunVariable {
  /// A tensor for the next value, which the pool shares: one that was a value and that nobody has any more, else a new one.
  Result<Tensor> NewValue(DType dtype, const Shape& shape, const std::shared_ptr<MemoryBudget>& budget);
  /// The one that NewValue will most likely give; null where there is none.
  const Tensor* Next() const { return pool.empty() ? nullptr : &pool[(newest + 1) % pool.size()]; }

  int variable = -1;  // index into Graph::variables()
  Tensor value;       // what the last update of this run left, or the value at its start
  bool updated = false;
  bool temporary = false;    // gone with the run
  size_t updates = 0;        // that the plan makes
  std::vector<Tensor> pool;  // tensors that were values
  size_t newest = 0;         // of the pool: the others were let go in the order that follows it
};

/// One run after another: Take at its start; updates, each from what the last one left; Commit makes all new values those of the scope, or
/// a run that fails leaves the scope as it was. From TakeTurn or the first update, whichever comes first, to End no other session of the
/// scope updates variables. Reads see the values of the start, or of TakeTurn, whatever is updated. For the thread that runs.
class VariableTransaction {
 public:
  static constexpr size_t kNoStep = SIZE_MAX;

  VariableTransaction(Scope& scope, const SessionPlan& planned, Waiter& waiter);
  /// About how much memory one takes for the plan, without values.
  static int64_t BytesFor(const Plan& plan);

  /// All reads of the run see the values that the variables have now. False where the plan does not fit their shapes any more. Takes no
  /// memory, and does nothing where no value was set since the last run.
  bool Take();
  /// Puts the values into the slots of Variable blocks. failed_precondition, placed, where one that the run needs has none.
  Status Place(ResultSet& set);
  /// All updates become the scope's. Cannot fail.
  void Commit();
  /// Another session may update variables. After every run, whether it was committed or not.
  void End() { turn_.Give(); }

  /// The step before which TakeTurn must be called: the first that reads a variable which the run updates, too, so that no other session
  /// updates it in between, or else the first that updates one; kNoStep where there is none. Where the run waits for another between such a
  /// read and its first update, the step after the wait: who holds the turn while it waits may wait for one who needs it.
  size_t turn_step() const { return turn_step_; }
  /// Whether steps from there on wait for others.
  bool waits_after_turn() const { return waits_after_turn_; }
  /// Waits for the updates of another session to end. The run reads the variables that it updates as they are now. aborted where it has
  /// read one already that is another now.
  Status TakeTurn(ResultSet& set);
  /// Before the updates of a step; waits for the updates of another session to end. They start from the values of now, which may be newer
  /// than those that the run reads.
  Status BeginUpdates();
  /// The step's references become the variables as the last update left them.
  Status TakeReferences(ResultSet& set, const Step& step);
  /// In loops, whose updates take effect at once: the variables that a step reads are as they are now.
  Status TakeReads(ResultSet& set, const Step& step);
  /// Memory for what the step writes, as RunContext::updates. `dynamic`: what a dynamic step was planned for.
  Status MakeNewValues(const Step& step, const PlannedShapes* dynamic, RunContext& ctx);
  /// What the step wrote becomes the variables' values, also those of its reference outputs.
  void EndUpdates(ResultSet& set, const Step& step);

  /// The variable that a RefSelect chose, for those that update it.
  void Select(uint32_t slot, int variable) { selected_[slot] = variable; }
  int selected(int slot) const { return selected_[static_cast<size_t>(slot)]; }

  /// Whether the values from which this run's updates start are those that it read, of the planned shapes.
  bool as_planned() const { return as_planned_; }
  std::vector<RunVariable>& variables() { return variables_; }
  size_t IndexOf(int variable) const { return static_cast<size_t>(index_[variable]); }

 private:
  RunVariable& InRun(int variable) { return variables_[IndexOf(variable)]; }
  RunVariable& InRun(const Step::Update& update) { return InRun(update.selector < 0 ? update.variable : selected(update.selector)); }
  VariableCell& CellOf(const RunVariable& variable) const { return *planned_.revision->variables[static_cast<size_t>(variable.variable)]; }
  bool Fit(const VariableAccess& access) const;
  void Add(const Step& step);
  void FindTurn();
  bool IsUpdated(size_t index) const { return variables_[index].updates > 0 && !variables_[index].temporary; }
  void PrefetchCommit(size_t after, const VariableAccess& access) const;

  Scope& scope_;
  const SessionPlan& planned_;
  Waiter& waiter_;
  std::vector<RunVariable> variables_;
  NodeNumbers index_;                                     // of Graph::variables(): into variables_
  std::vector<std::pair<uint32_t, size_t>> slots_;        // of Variable blocks, and their index in variables_
  std::vector<int> selected_;                             // by slot; only where there is a RefSelect
  size_t turn_step_ = kNoStep;
  bool reads_ = false, reads_before_turn_ = false;        // variables that it updates
  bool waits_after_turn_ = false;
  // VariableAccess::changes() when variables_ were as the scope's and fitted the plan, 0: they may not be; and at the run's first update.
  uint64_t taken_ = 0, updating_from_ = 0;
  bool as_planned_ = false;
  std::vector<Value> updates_;      // by input value of the step that runs
  std::vector<Tensor> new_values_;  // by update of the step that runs
  TurnLine::Turn turn_;
};

}  // namespace weft
