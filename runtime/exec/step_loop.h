// StepLoop: the loop over the steps of a plan. All kernels are called from it.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/exec/dynamic_steps.h"
#include "runtime/exec/fused.h"
#include "runtime/exec/loop_frames.h"
#include "runtime/exec/plain_updates.h"
#include "runtime/exec/run_memory.h"
#include "runtime/exec/run_services.h"
#include "runtime/exec/run_view.h"
#include "runtime/exec/step_taps.h"

namespace weft {

/// The parts that steps of some kinds need. What a plan has none of costs its steps nothing.
struct StepParts {
  const RunMemory& memory;
  FusedRunner& fused;
  VariableTransaction& variables;
  PlainUpdates& plain_updates;
  DynamicSteps& dynamic;
  LoopFrames* frames;  // null: no loops
};

/// Owns a record for each step, and the state that its block has bound. Steps allocate nothing and take no lock. For the thread that runs.
class StepLoop : private RunningStep {
 public:
  /// About how much memory one takes for the plan.
  static int64_t BytesFor(const Plan& plan) { return static_cast<int64_t>(plan.steps.size() * (sizeof(Record) + sizeof(ResourceHandle))); }

  /// The memory has its arena.
  StepLoop(Scope& scope, const SessionPlan& planned, const StepParts& parts, RunServices& services, ExecutorView& view);

  /// Runs all steps: over the values of the set, in which those of feeds and variables are in place. Ends early where the run is
  /// cancelled, an observer says so, or a kernel fails or throws.
  Status Dispatch(ResultSet& set, const RunOptions& options);
  /// What the run says where Dispatch ended so: a failure with the block, and the types and shapes of its inputs; cancelled, where the
  /// last kernel may have left its output half done.
  Status Explain(const ResultSet& set, Status status) const;

 private:
  /// What the loop needs of a step, without a detour over the graph.
  struct Record {
    RunFunction run = nullptr;  // null: the step needs more than a call
    const void* parameters = nullptr;
    const uint32_t *inputs = nullptr, *in_first = nullptr, *out_first = nullptr;
    std::byte* scratch = nullptr;
    int64_t scratch_bytes = 0;
    uint32_t first_output = 0;  // after `inputs`
    int special = kNothing;     // from 0 up: index into Plan::fused; from kFirstPlainUpdate down: which plain update

    const uint32_t* outputs() const { return inputs + first_output; }
  };
  static_assert(sizeof(Record) <= 64, "the loop over many steps is bound by what it reads");
  static constexpr int kNothing = -1, kFirstPlainUpdate = -2;

  // RunningStep
  size_t step() const override { return step_; }
  std::string Name() const override;

  /// Steps before which the loop does more than run them. Past the end: none.
  struct Halts {
    size_t turn;  // the first that updates variables, until it has the turn to
    size_t tap;   // before which an observer gets values
    size_t first() const { return std::min(turn, tap); }
  };

  Record RecordOf(const Step& step) const;
  void StartRun(ResultSet& set);
  Status Halt(ResultSet& set, ValueTaps* taps, Halts& halts);
  // (Inlined: debuggers and profilers see a kernel right below Dispatch.)
  /// The step, by a plain update or whole, and on to the next.
  [[gnu::always_inline]] Status RunPlain(ResultSet& set, bool many);
  /// The step, unless a dead value leaves it out, as the observer and the deadline see it, and on to the next.
  [[gnu::always_inline]] Status RunObserved(ResultSet& set, const RunOptions& options);
  /// The step, of any kind.
  [[gnu::always_inline]] Status RunWhole(ResultSet& set);
  void Advance(ResultSet& set) { step_ = parts_.frames != nullptr ? parts_.frames->Next(set, step_) : step_ + 1; }
  ValueTaps* TapsOf(Observer* observer);
  /// Waits for what blocks have put off waiting for.
  Status FinishWaits();
  /// Makes the context ready for the step's kernel, and gives the block that has it; null where the step is done without one.
  Result<const PlannedBlock*> Begin(ResultSet& set, size_t step);
  /// The kernel has succeeded.
  Status End(ResultSet& set, size_t step, const PlannedBlock& block);
  Result<const DynamicSteps::Entry*> PrepareDynamic(const ResultSet& set, size_t index);
  Result<const PlannedBlock*> BeginDynamic(ResultSet& set, size_t step);
  Status TakeOutputs(ResultSet& set, const Step& step, const DynamicSteps::Entry* dynamic);
  Status Emit(ResultSet& set, const Step& step);
  /// Counts what the strings of the step's outputs hold, as far as it is not counted yet.
  Status ChargeStrings(const ResultSet& set, const Step& step) const;
  Status Stopped() const;
  bool BeginsFused(size_t step, const RunOptions& options) const;
  Status RunFused(const ResultSet& set);
  /// Tells the observer where it wants steps; gives whether a dead value leaves the step out.
  Result<bool> BeginObserved(ResultSet& set, const RunOptions& options);
  void EndObserved(bool dead, const RunOptions& options);
  void PrefetchValues(const ResultSet& set, size_t step) const;
  void PointAt(const Record& record) {
    FrameOf(ctx_).inputs = record.inputs;
    FrameOf(ctx_).outputs = record.outputs();
    FrameOf(ctx_).in_first = record.in_first;
    FrameOf(ctx_).out_first = record.out_first;
    FrameOf(ctx_).scratch_data = record.scratch;
    FrameOf(ctx_).scratch_bytes = record.scratch_bytes;
  }

  Scope& scope_;
  const SessionPlan& planned_;
  const Plan& plan_;
  const StepParts parts_;
  RunServices& services_;
  ExecutorView& view_;
  std::vector<Record> records_;            // by step
  const bool has_strings_;                 // among the values of the plan
  std::vector<ResourceHandle> resources_;  // by step: what its block has bound, or null
  std::vector<Tensor> emitted_;            // by output value of the step that runs
  CurrentStep step_;                       // the one that runs
  RunContext ctx_;
  std::optional<StepTaps> taps_;           // once an observer wants values
};

}  // namespace weft
