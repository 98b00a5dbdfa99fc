// A session that a runner drives, for tests of what a host sees and controls.
#pragma once

#include <algorithm>

#include "tests/runtime/session_kit.h"
#include "weft/host/runner.h"

namespace weft::test {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

/// v counts the runs: seen.z is 1 + the number of runs before, and half.z is half of that.
inline std::vector<std::string> CountingPage() {
  return {Variable("v", Scalar(0)),
          Block("seen", "Add", {{"x", "v.ref"}, {"y", Scalar(1)}}),
          Block("half", "Multiply", {{"x", "seen.z"}, {"y", Scalar(0.5)}}),
          Block("count", "ApplyGradientDescent", {{"var", "v.ref"}, {"alpha", Scalar(-1)}, {"delta", Scalar(1)}})};
}

/// The page's runner; until its session ends the page must live.
struct Driven {
  Driven(const TestPage& page, const std::vector<std::string>& fetches, const std::vector<std::string>& run = {}, Keep keep = Keep::kAll)
      : session(page.Open(fetches, run, keep)), runner(std::make_unique<Runner>(session)) {}

  void Start(int64_t steps) {
    RunRequest request;
    request.steps = steps;
    const Status status = runner->Start(request);
    INFO(ToString(status));
    REQUIRE(status.ok());
  }
  /// Waits until it is paused; the test fails where it ends instead.
  RunnerState Paused() {
    RunState state = RunState::kIdle;
    const Status status = runner->Wait(seconds(20), &state);
    INFO(ToString(status));
    REQUIRE(state == RunState::kPaused);
    return runner->state();
  }
  Status Ended() {
    RunState state = RunState::kRunning;
    Status status = runner->Wait(seconds(20), &state);
    REQUIRE(state == RunState::kIdle);
    return status;
  }
  /// The same, also where pauses end by themselves.
  Status EndedAtLast() {
    const Clock::time_point start = Clock::now();
    while (runner->state().state != RunState::kIdle && MillisecondsSince(start) < 20000) std::this_thread::sleep_for(milliseconds(1));
    return Ended();
  }
  Result<ResultValue> Read(std::string_view name) const { return std::move(runner->Read({&name, 1})[0]); }
  /// What the paused run has computed.
  float Peek(std::string_view name) const {
    auto value = Read(name);
    INFO(name << ": " << ToString(value.status()));
    REQUIRE(value.ok());
    CHECK(value->in_progress);
    return Values(value->tensor).at(0);
  }

  std::shared_ptr<Session> session;
  std::unique_ptr<Runner> runner;
};

}  // namespace weft::test
