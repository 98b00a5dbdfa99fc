// Modes: enuSpace's task modes, in terms of a runner.
#pragma once

#include <atomic>

#include "weft/host/runner.h"

namespace weft {

/// By enuSpace's numbers.
enum class Mode : uint8_t {
  kEdit = 0,    // nothing runs
  kFreeze = 1,  // paused between two blocks; results can be read
  kStep = 2,    // one run, then as kFreeze
  kRun = 3,     // runs until another mode is set
};

/// The mode of one runner. Thread-safe.
class Modes {
 public:
  explicit Modes(Runner& runner) : runner_(runner) {}
  /// kEdit cancels and waits until the runner is idle. kFreeze pauses what runs. kStep makes one run, or finishes the current one, or the one that is
  /// paused, and pauses. kRun starts, or resumes. What kStep or kRun starts is `request`, but for its number of steps. Errors are those of
  /// the runner; failed_precondition for kEdit on the thread that runs.
  Status Set(Mode mode, RunRequest request = {});
  /// The last that was set.
  Mode mode() const { return mode_.load(); }

 private:
  Status Edit();
  Status Step(RunRequest request);
  Status Run(RunRequest request);

  Runner& runner_;
  std::atomic<Mode> mode_{Mode::kEdit};
};

}  // namespace weft
