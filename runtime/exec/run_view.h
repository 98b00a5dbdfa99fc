// ExecutorView: the run of a session as its observer sees and changes it.
#pragma once

#include <atomic>

#include "runtime/exec/loop_frames.h"
#include "runtime/exec/results.h"
#include "runtime/exec/run_services.h"

namespace weft {

/// The step that a thread runs, which others may look at. (No step needs more than the store of a plain number.)
class CurrentStep {
 public:
  operator size_t() const { return step_.load(std::memory_order_relaxed); }
  CurrentStep& operator=(size_t step) {
    step_.store(step, std::memory_order_relaxed);
    return *this;
  }
  void operator++() { *this = *this + 1; }

 private:
  std::atomic<size_t> step_{0};
};

/// Its own functions are for the thread that runs; those of RunView are called between its steps.
class ExecutorView final : public RunView {
 public:
  ExecutorView(Scope& scope, const Revision& revision, const std::shared_ptr<const SessionPlan>& planned, const weft::Results& results,
               RunServices& services)
      : scope_(scope), revision_(revision), planned_(planned), results_(results), services_(services) {}

  /// A run has the number, and no values yet.
  void Start(uint64_t run);
  /// The run has its inputs in the set; `frames`: null where the plan has no loops.
  void Begin(ResultSet& set, const LoopFrames* frames);
  void End();
  /// Before a step, and after it. A step that a Switch left out has no values.
  void BeginStep(size_t step);
  void EndStep(size_t step, bool dead);
  /// For current(): the step that runs; null outside of a run.
  void SetCurrent(const CurrentStep* step) { current_.store(step, std::memory_order_relaxed); }
  /// Whether a value was given memory of its own in this run: what is forwarded without a step is then not where the plan says.
  bool replaced() const { return replaced_ == run_; }

  const std::shared_ptr<const Graph>& graph() const override { return revision_.graph; }
  uint64_t run() const override { return run_; }
  uint64_t plan_id() const override { return planned_ == nullptr ? 0 : planned_->id; }
  Result<Tensor> Peek(ValueRef value) const override;
  Status Override(ValueRef value, const Tensor& tensor) override;
  size_t steps() const override { return set_ != nullptr ? planned_->plan.steps.size() : 0; }
  void ForDone(FunctionRef<void(const Node& node, bool dead)> each) const override;
  std::vector<Result<ResultValue>> Results(std::span<const ValueRef> values) const override { return results_.GetAll(*graph(), values); }
  int current() const override;
  Status Stopped() const override { return services_.stopped() ? services_.Stopped() : Status(); }
  void SetPaused(bool paused) override;

 private:
  int StepOf(int slot) const;
  std::vector<char> Settled() const;
  void GiveOwn(size_t slot, Tensor tensor);
  Status KeepForwarded(int root);
  void ForwardOwn(size_t from);

  Scope& scope_;
  const Revision& revision_;
  const std::shared_ptr<const SessionPlan>& planned_;  // of the executor
  const weft::Results& results_;
  RunServices& services_;
  ResultSet* set_ = nullptr;  // null before the run has begun
  const LoopFrames* frames_ = nullptr;
  uint64_t run_ = 0;
  std::atomic<const CurrentStep*> current_{nullptr};
  size_t done_ = 0;        // steps before this one have run, in plans without loops
  int ended_ = -1;         // the step that just ended, or -1
  uint64_t replaced_ = 0;  // the last run in which a value got memory of its own
};

}  // namespace weft
