// RunLoop: the runs of one start, one after another, at their rate.
#pragma once

#include "runtime/host/run_observer.h"
#include "runtime/host/run_values.h"

namespace weft {

/// Belongs to the thread that runs.
class RunLoop {
 public:
  RunLoop(Session& session, RunControl& control, PauseRequests& pauses, RunObserver& observer, RunFeeds& feeds, RunOutputs& outputs)
      : session_(session), control_(control), pauses_(pauses), observer_(observer), feeds_(feeds), outputs_(outputs) {}

  /// What RunControl::Begin was asked for, from there to idle.
  void Drive();

 private:
  Result<bool> BeforeRun(const RunRequest& request, bool first);

  Session& session_;
  RunControl& control_;
  PauseRequests& pauses_;
  RunObserver& observer_;
  RunFeeds& feeds_;
  RunOutputs& outputs_;
  RunControl::Clock::time_point due_{};  // of the next run
};

}  // namespace weft
