// Executor: runs what a session asks for, on one revision of its page: a plan for the present shapes, and the parts that a plan needs.
#pragma once

#include <memory>
#include <vector>

#include "runtime/exec/results.h"
#include "runtime/exec/run_services.h"
#include "runtime/exec/run_view.h"
#include "runtime/exec/step_loop.h"
#include "runtime/state/kept_blocks.h"
#include "weft/exec/session.h"

namespace weft {

/// The error of a session that asks for what has errors on this revision; ok where it may be planned.
Status CheckSpec(const Revision& revision, const SessionSpec& spec);

/// One thread runs it at a time; results are read from any thread.
class Executor {
 public:
  /// `spec` may change between runs: other feeds.
  Executor(Scope& scope, std::shared_ptr<Revision> revision, const SessionSpec& spec, Keep keep, std::atomic<bool>& cancelled);
  ~Executor();

  /// Plans for the present shapes of feeds and variables.
  void Prepare(Diagnostics& diagnostics);
  /// Null where planning failed, and before.
  const Plan* plan() const { return planned_ == nullptr ? nullptr : &planned_->plan; }
  const std::shared_ptr<Revision>& revision() const { return revision_; }
  /// From here on the blocks that the session has by name are kept through edits: its ClientSession, or what a host asks for. They are by
  /// their indices in this revision, in ascending order.
  void KeepBlocks();
  using NamedBlocks = std::vector<std::pair<int, KeptBlock>>;
  const NamedBlocks& named_blocks() const { return named_blocks_; }

  /// One run. What fails leaves variables and results as they were.
  Status Execute(uint64_t run, const RunOptions& options);

  /// What readers see. TakeOver from the executor of an earlier revision: its results, until a run of this one succeeds.
  Results& results() { return results_; }
  const Results& results() const { return results_; }

 private:
  struct Parts;

  /// The values of the spec's fetches, within a run of another executor that starts variables.
  Result<std::vector<Tensor>> Evaluate(const RunOptions& options);
  bool FeedsFit() const;
  Status MakePlan();
  Status MakeParts();
  Status TakeInputs();
  Status BindBack();
  Status StartVariables(const RunOptions& options);
  Status Complete(uint64_t run, Status status);
  Status CheckFetches(const ResultSet& set) const;

  Scope& scope_;
  const std::shared_ptr<Revision> revision_;
  const SessionSpec& spec_;
  NamedBlocks named_blocks_;
  const Keep keep_;
  std::atomic<bool>& cancelled_;
  RunServices services_;
  std::shared_ptr<const SessionPlan> planned_;
  Results results_;
  ExecutorView view_;
  std::unique_ptr<Parts> parts_;  // of planned_; null until a run of it begins
};

}  // namespace weft
