#include "runtime/state/run_gate.h"

#include <algorithm>
#include <utility>

#include "runtime/state/thread_pool.h"

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSlice = std::chrono::milliseconds(10);
constexpr std::chrono::nanoseconds kForEver = std::chrono::hours(24 * 365);

}  // namespace

RunGate::Entry::Entry(RunGate& gate, FunctionRef<bool()> stopped) : gate_(gate), thread_(std::this_thread::get_id()) {
  std::unique_lock lock(gate_.mutex_);
  while (gate_.closed_ && !stopped()) gate_.changed_.wait_for(lock, kSlice);
  ++gate_.running_;
  ++gate_.progress_;
  next_ = std::exchange(gate_.entries_, this);
  if (next_ != nullptr) next_->before_ = this;
  const auto thread = gate_.threads_.find(thread_);
  if (thread != gate_.threads_.end() && thread->second.runs++ == 0) --gate_.between_;
}

RunGate::Entry::~Entry() {
  std::lock_guard lock(gate_.mutex_);
  --gate_.running_;
  ++gate_.progress_;
  (before_ != nullptr ? before_->next_ : gate_.entries_) = next_;
  if (next_ != nullptr) next_->before_ = before_;
  const auto thread = gate_.threads_.find(thread_);
  if (thread != gate_.threads_.end() && --thread->second.runs == 0) ++gate_.between_;
  if (gate_.closed_) gate_.changed_.notify_all();
}

// No run is in progress on this thread: it would not know of the series.
RunGate::Series::Series(RunGate& gate) : gate_(gate) {
  std::lock_guard lock(gate_.mutex_);
  if (gate_.threads_[std::this_thread::get_id()].series++ == 0) ++gate_.between_;
}

RunGate::Series::~Series() {
  std::lock_guard lock(gate_.mutex_);
  const auto thread = gate_.threads_.find(std::this_thread::get_id());
  if (--thread->second.series > 0) return;
  gate_.threads_.erase(thread);
  --gate_.between_;
  ++gate_.progress_;
}

RunGate::Complete::Complete(RunGate& gate, int sessions) : gate_(gate), sessions_(sessions) {
  std::lock_guard lock(gate_.mutex_);
  gate_.complete_ += sessions_;
}

RunGate::Complete::~Complete() {
  std::lock_guard lock(gate_.mutex_);
  gate_.complete_ -= sessions_;
}

// ---- waiting ---------------------------------------------------------------------------------------------------------------------------

RunGate::Waiting::Waiting(RunGate& gate, std::string what, bool ends)
    : gate_(gate), what_(std::move(what)), ends_(ends), stalled_since_(Clock::now()) {
  std::lock_guard lock(gate_.mutex_);
  place_ = gate_.waiting_.insert(gate_.waiting_.end(), this);
  seen_progress_ = looked_at_ = ++gate_.progress_;
}

RunGate::Waiting::~Waiting() {
  std::lock_guard lock(gate_.mutex_);
  gate_.waiting_.erase(place_);
  ++gate_.progress_;
}

// Each has looked once more since the last of them began to wait: before that it may have brought about what another waits for.
bool RunGate::Stuck() const {
  if (waiting() < running_ || between_ > 0) return false;
  return std::all_of(waiting_.begin(), waiting_.end(), [&](const Waiting* one) { return !one->ends_ && one->looked_at_ == progress_; });
}

std::chrono::nanoseconds RunGate::Waiting::Stalled() {
  const Clock::time_point now = Clock::now();
  std::lock_guard lock(gate_.mutex_);
  looked_at_ = gate_.progress_;
  if (!gate_.Stuck() || gate_.progress_ != seen_progress_) {
    stalled_since_ = now;
    seen_progress_ = gate_.progress_;
    if (!gate_.Stuck()) return {};
  }
  return gate_.complete_ > 0 && gate_.complete_ >= gate_.sessions_ ? kForEver : now - stalled_since_;
}

std::string RunGate::Waiting::AllThatWait() const {
  constexpr size_t kShown = 8;
  std::lock_guard lock(gate_.mutex_);
  std::string text;
  size_t left = gate_.waiting_.size();
  for (const Waiting* one : gate_.waiting_) {
    if (gate_.waiting_.size() - left == kShown) return text + Cat(", and ", left, " more");
    --left;
    text += Cat(text.empty() ? "" : ", ", one->what_);
  }
  return text;
}

Status RunGate::Closing::Close(std::chrono::nanoseconds patience, bool but_waiting) {
  constexpr auto kShortSlice = std::chrono::milliseconds(2);  // nobody tells when a run begins to wait
  const auto last = Clock::now() + std::min(patience, kForEver);
  std::unique_lock lock(gate_.mutex_);
  const auto only_waiting = [&] { return gate_.running_ == (but_waiting ? gate_.waiting() + gate_.paused_ : 0); };
  if (gate_.IsInside(but_waiting) && (gate_.closed_ || !only_waiting())) {
    return FailedPrecondition("a run is in progress, and waits for this call to return").WithHint("save and restore the state between two runs");
  }
  auto wait = [&](auto ready) {
    while (!ready() && Clock::now() < last) gate_.changed_.wait_for(lock, kShortSlice);
    return ready();
  };
  if (!wait([&] { return !gate_.closed_; })) return FailedPrecondition("the state is being saved or restored by another call");
  gate_.closed_ = closed_ = true;
  if (wait(only_waiting)) return {};
  return FailedPrecondition("a run is in progress").WithHint(gate_.paused_ > 0 ? "resume or cancel the run that is paused" : "pause, stop or cancel it first");
}

RunGate::Closing::~Closing() {
  if (!closed_) return;
  std::lock_guard lock(gate_.mutex_);
  gate_.closed_ = false;
  gate_.changed_.notify_all();
}

void RunGate::CountSession(bool opened) {
  std::lock_guard lock(mutex_);
  sessions_ += opened ? 1 : -1;
}

void RunGate::SetPaused(bool paused) {
  const auto here = std::this_thread::get_id();
  std::lock_guard lock(mutex_);
  paused_ += paused ? 1 : -1;
  Entry* entry = entries_;
  while (entry != nullptr && entry->thread_ != here) entry = entry->next_;
  if (entry != nullptr) entry->paused_ = paused;
}

// Called with the lock held. What a run has its helpers do is inside it, too.
bool RunGate::IsInside(bool but_paused) const {
  for (const Entry* entry = entries_; entry != nullptr; entry = entry->next_) {
    if (WaitsForThisThread(entry->thread_) && !(but_paused && entry->paused_)) return true;
  }
  return false;
}

}  // namespace weft
