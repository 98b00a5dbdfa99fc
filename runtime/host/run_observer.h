// RunObserver: tells a runner's listeners what its runs do, and pauses them.
#pragma once

#include "runtime/host/listener_list.h"
#include "runtime/host/run_control.h"

namespace weft {

/// Belongs to the thread that runs; others may use view() while the run is paused (RunControl::WhilePausedInRun).
class RunObserver final : public Observer {
 public:
  RunObserver(RunControl& control, PauseRequests& pauses, ListenerList& listeners) : control_(control), pauses_(pauses), listeners_(listeners) {}

  /// The current run.
  RunView& view() const { return *view_; }
  /// Waits until the run is resumed. A status that is not ok ends it.
  Status Pause(PauseReason reason, std::string_view block, std::string_view detail);
  void TellState();
  void TellFailure(const Status& status);

  const std::atomic<uint32_t>* wants_steps() const override { return &listeners_.steps_wanted(); }
  Status OnRunStart(uint64_t run, RunView& view) override;
  void OnRunBegin(uint64_t run, size_t steps) override;
  Status OnStep(size_t step, const Node& node) override;
  void OnStepEnd(size_t step, const Node& node, bool dead) override;
  void OnPrint(std::string_view text) override;
  void OnRunEnd(uint64_t run, const Status& status) override;

 private:
  void Join(const ListenerList::Entries& listeners);

  RunControl& control_;
  PauseRequests& pauses_;
  ListenerList& listeners_;
  RunView* view_ = nullptr;
  bool in_run_ = false;         // between OnRunBegin and OnRunEnd
  bool before_step_ = false;    // in OnStep
  uint64_t pauses_made_ = 0;
  uint64_t last_joined_ = 0;    // number of the newest listener that knows of the run
};

}  // namespace weft
