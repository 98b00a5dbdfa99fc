#include "runtime/host/run_loop.h"

#include <algorithm>
#include <optional>

#include "runtime/base/failure.h"
#include "runtime/state/run_gate.h"

namespace weft {

void RunLoop::Drive() {
  const RunRequest& request = control_.Enter();
  observer_.TellState();
  RunOptions options;
  options.observer = &observer_;
  options.deadline = request.deadline;
  const bool paced = request.interval.count() > 0 || request.deadline.has_value();
  due_ = RunControl::Clock::now();
  Status status;
  // Who waits for this session learns from its failure that nothing will come; the gate would say no more than that.
  std::optional<RunGate::Series> series;
  try {
    series.emplace(session_.scope().runs());
    for (int64_t made = 0; status.ok() && (request.steps < 0 || made < request.steps); ++made) {
      if (request.steps >= 0) control_.SetStepsLeft(request.steps - made);
      if (paced || control_.has_work() || feeds_.waiting(session_)) {
        const Result<bool> goes_on = BeforeRun(request, made == 0);
        if (!goes_on.ok()) status = goes_on.status();
        if (!goes_on.ok() || !*goes_on) break;
      }
      status = session_.Run(options);
      if (status.ok() && outputs_.any()) status = outputs_.Give(session_);
    }
    if (!status.ok()) status = std::move(status).WithPage(session_.graph()->name());
  } catch (...) {
    status = StatusOfException("the run ended");
  }
  if (!status.ok()) observer_.TellFailure(status);
  series.reset();
  control_.End(std::move(status), [&] { return feeds_.Apply(session_); });
  observer_.TellState();
}

// What is asked for between two runs. False where running is to end here.
Result<bool> RunLoop::BeforeRun(const RunRequest& request, bool first) {
  using Clock = RunControl::Clock;
  const PauseReason reason = pauses_.BeforeRun(first);
  if (reason != PauseReason::kNone) WEFT_RETURN_IF_ERROR(observer_.Pause(reason, "", ""));
  if (request.interval.count() > 0) {
    while (control_.WaitUntil(due_)) WEFT_RETURN_IF_ERROR(observer_.Pause(PauseReason::kAsked, "", ""));
    // After a late run the next one comes an interval later: runs that were missed are not made up for.
    due_ = std::max(due_, Clock::now() - request.interval) + request.interval;
  }
  WEFT_ASSIGN_OR_RETURN(const bool goes_on, control_.GoesOn());
  WEFT_RETURN_IF_ERROR(feeds_.BeforeRun(session_));
  return goes_on;
}

}  // namespace weft
