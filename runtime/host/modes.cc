#include "weft/host/modes.h"

namespace weft {

Status Modes::Edit() {
  if (runner_.state().state != RunState::kIdle && runner_.on_running_thread()) {
    return FailedPrecondition("the thread that runs the session cannot wait for its end");
  }
  runner_.Cancel();
  RunState state = RunState::kRunning;
  while (state != RunState::kIdle) {
    static_cast<void>(runner_.Wait(std::chrono::nanoseconds(-1), &state).ok());  // what ended the run is no failure of this call
    if (state == RunState::kPaused) runner_.Cancel();
  }
  return {};
}

Status Modes::Step(RunRequest request) {
  switch (runner_.state().state) {
    case RunState::kPaused: return runner_.Resume(GoOn::kStepRun);
    case RunState::kRunning: return runner_.Pause(PauseAt::kRun);
    case RunState::kIdle: break;
  }
  request.steps = -1;
  request.pause_after_run = true;
  return runner_.Start(request);
}

Status Modes::Run(RunRequest request) {
  switch (runner_.state().state) {
    case RunState::kPaused: return runner_.Resume(GoOn::kRun);
    case RunState::kRunning: return {};
    case RunState::kIdle: break;
  }
  request.steps = -1;
  return runner_.Start(request);
}

Status Modes::Set(Mode mode, RunRequest request) {
  Status status;
  switch (mode) {
    case Mode::kEdit: status = Edit(); break;
    case Mode::kFreeze:
      // Where nothing runs there is nothing to pause.
      if (runner_.state().state == RunState::kRunning) static_cast<void>(runner_.Pause().ok());
      break;
    case Mode::kStep: status = Step(std::move(request)); break;
    case Mode::kRun: status = Run(std::move(request)); break;
  }
  if (status.ok()) mode_.store(mode);
  return status;
}

}  // namespace weft
