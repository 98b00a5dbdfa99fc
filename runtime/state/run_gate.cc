#include "runtime/state/run_gate.h"

#include <algorithm>

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSlice = std::chrono::milliseconds(10);

}  // namespace

RunGate::Entry::Entry(RunGate& gate, FunctionRef<bool()> stopped) : gate_(gate) {
  std::unique_lock lock(gate_.mutex_);
  while (gate_.closed_ && !stopped()) gate_.changed_.wait_for(lock, kSlice);
  ++gate_.running_;
  ++gate_.progress_;
}

RunGate::Entry::~Entry() {
  std::lock_guard lock(gate_.mutex_);
  --gate_.running_;
  if (gate_.closed_) gate_.changed_.notify_all();
}

RunGate::Waiting::Waiting(RunGate& gate) : gate_(gate), stalled_since_(Clock::now()) {
  std::lock_guard lock(gate_.mutex_);
  ++gate_.waiting_;
  seen_progress_ = gate_.progress_;
}

RunGate::Waiting::~Waiting() {
  std::lock_guard lock(gate_.mutex_);
  --gate_.waiting_;
  if (succeeded_) ++gate_.progress_;
}

std::chrono::nanoseconds RunGate::Waiting::Stalled() {
  const Clock::time_point now = Clock::now();
  std::lock_guard lock(gate_.mutex_);
  if (gate_.waiting_ < gate_.running_ || gate_.progress_ != seen_progress_) {
    stalled_since_ = now;
    seen_progress_ = gate_.progress_;
  }
  return now - stalled_since_;
}

Status RunGate::Closing::Close(std::chrono::nanoseconds patience, bool but_waiting) {
  constexpr auto kShortSlice = std::chrono::milliseconds(2);  // nobody tells when a run begins to wait
  constexpr std::chrono::nanoseconds kLong = std::chrono::hours(24 * 365);
  const auto last = Clock::now() + std::min(patience, kLong);
  std::unique_lock lock(gate_.mutex_);
  auto wait = [&](auto ready) {
    while (!ready() && Clock::now() < last) gate_.changed_.wait_for(lock, kShortSlice);
    return ready();
  };
  if (!wait([&] { return !gate_.closed_; })) return FailedPrecondition("the state is being saved or restored by another call");
  gate_.closed_ = closed_ = true;
  if (wait([&] { return gate_.running_ == (but_waiting ? gate_.waiting_ + gate_.paused_ : 0); })) return {};
  return FailedPrecondition("a run is in progress").WithHint(gate_.paused_ > 0 ? "resume or cancel the run that is paused" : "pause, stop or cancel it first");
}

RunGate::Closing::~Closing() {
  if (!closed_) return;
  std::lock_guard lock(gate_.mutex_);
  gate_.closed_ = false;
  gate_.changed_.notify_all();
}

void RunGate::SetPaused(bool paused) {
  std::lock_guard lock(mutex_);
  paused_ += paused ? 1 : -1;
}

}  // namespace weft
