#include "runtime/state/scope_services.h"

#include <algorithm>

#include "runtime/state/run_gate.h"
#include "runtime/state/scope_state.h"

namespace weft {
namespace {

// Compared as counts: a limit of any number of milliseconds, which need not fit as nanoseconds.
int64_t Milliseconds(std::chrono::nanoseconds time) { return std::chrono::duration_cast<std::chrono::milliseconds>(time).count(); }

}  // namespace

Result<std::filesystem::path> ScopeFiles::Resolve(std::string_view name, Access access) const {
  if (options_.files != nullptr) return options_.files->Resolve(name, access);
  return PermissionDenied("the file '", name, "' cannot be used: the page may use no files");
}

Status ScopeWaiter::Wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, FunctionRef<bool()> ready, int64_t timeout_ms,
                         std::string_view what) {
  if (ready()) return {};
  using Clock = std::chrono::steady_clock;
  constexpr auto kSlice = std::chrono::milliseconds(4);  // to end within 10 ms of what nobody tells of: a cancel, a stall
  const Clock::time_point start = Clock::now();
  const std::optional<Clock::time_point> deadline = workers_.deadline();
  RunGate::Waiting waiting(scope_.runs(), Cat(running_ == nullptr ? "a run" : running_->Name(), " waits for ", what), timeout_ms >= 0);
  while (!ready()) {
    if (workers_.Stopped()) return Cancelled(workers_.Reason(), " while it waited for ", what);
    if (timeout_ms >= 0 && Milliseconds(Clock::now() - start) >= timeout_ms) {
      return Cancelled("waited ", timeout_ms, " ms for ", what);
    }
    const int64_t limit = scope_.options().stall_limit_ms;
    if (const auto stalled = waiting.Stalled(); limit >= 0 && Milliseconds(stalled) >= limit) {
      return FailedPrecondition("waits for ", what, ", and no session that runs can bring it about: ", waiting.AllThatWait())
          .WithHint("run the session that does at the same time");
    }
    Clock::time_point next = Clock::now() + kSlice;
    if (deadline) next = std::min(next, *deadline);
    if (timeout_ms >= 0 && timeout_ms < kSlice.count()) next = std::min(next, start + std::chrono::milliseconds(timeout_ms));
    changed.wait_until(lock, next);
  }
  return {};
}

void ScopeWaiter::Defer(std::unique_ptr<DeferredWait>& wait) {
  if (running_ == nullptr) return;
  const size_t step = running_->step();
  if (!deferring_.insert(step).second) return;
  deferred_.push_back({step, nullptr});
  deferred_.back().wait = std::move(wait);
}

ScopeWaiter::Deferred ScopeWaiter::TakeDeferred() {
  if (deferred_.empty()) return {};
  Deferred first = std::move(deferred_.front());
  deferred_.pop_front();
  deferring_.erase(first.step);
  return first;
}

Result<ResourceHandle> ScopeBinder::FindOrMake(std::string key, const Factory& make) {
  return scope_.resources().FindOrMake(std::move(key), make, [&](Resource& made, const ResourceStore::Saved& saved) -> Status {
    auto change = LoadResource(made, saved.kind, saved.state, scope_);
    if (!change.ok()) return Status(change.status().code(), Cat("the restored snapshot does not fit: ", change.status().message()));
    (*change)();
    return {};
  });
}

}  // namespace weft
