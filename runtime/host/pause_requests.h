// PauseRequests: where the runs of a runner are to be paused, as its callers ask.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/host/kept_name.h"
#include "weft/host/runner.h"

namespace weft {

/// Thread-safe.
class PauseRequests {
 public:
  /// `steps_wanted` is counted up while a pause before a block may come.
  explicit PauseRequests(std::atomic<uint32_t>& steps_wanted) : steps_wanted_(steps_wanted) {}

  /// Those of a request, and no others. `until`: its block to pause before.
  void Begin(const RunRequest& request, std::optional<KeptName> until);
  void Ask(PauseAt at);
  /// What comes after a pause that ends. `before_step`: the block that it came before is the next to run.
  void PauseEnded(GoOn how, bool before_step);
  /// Forgets all but the block to pause before.
  void Drop();
  /// The same with that block.
  void End();
  /// Whether a pause at the next place was asked for; not again.
  bool TakeAsked();
  /// Whether a run is to be paused before it begins.
  bool any_before_run() const;
  /// Why to pause before a run, or before the step of a block; kNone: not to.
  PauseReason BeforeRun(bool first);
  PauseReason Before(const RunView& view, const Node& node);

 private:
  void WantSteps();

  std::atomic<uint32_t>& steps_wanted_;
  mutable std::mutex mutex_;  // of all below
  bool asked_ = false, after_run_ = false;
  bool step_block_ = false;  // before a block
  int skip_ = 0;             // after so many
  std::optional<KeptName> until_;  // before this block
  std::string until_id_;           // what it is called in the page of the plan `until_plan_`
  uint64_t until_plan_ = 0;
  bool wants_steps_ = false;
};

}  // namespace weft
