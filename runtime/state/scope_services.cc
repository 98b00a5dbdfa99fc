#include "runtime/state/scope_services.h"

#include "runtime/state/scope_state.h"

namespace weft {
namespace {

constexpr auto kSlice = std::chrono::milliseconds(10);

}  // namespace

Result<std::filesystem::path> ScopeFiles::Resolve(std::string_view name, Access access) const {
  if (options_.files != nullptr) return options_.files->Resolve(name, access);
  return PermissionDenied("the file '", name, "' cannot be used: the page may use no files");
}

ScopeWaiter::Running::Running(Scope& scope, const PoolWorkers& workers) : scope_(scope) {
  std::unique_lock lock(scope_.stall_mutex_);
  while (scope_.holds_ > 0 && !workers.Stopped()) scope_.runs_changed_.wait_for(lock, kSlice);
  ++scope_.running_;
  ++scope_.progress_;
}

ScopeWaiter::Running::~Running() {
  std::lock_guard lock(scope_.stall_mutex_);
  --scope_.running_;
  if (scope_.holds_ > 0) scope_.runs_changed_.notify_all();
}

Status ScopeWaiter::Wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, FunctionRef<bool()> ready, int64_t timeout_ms,
                         std::string_view what) {
  if (ready()) return {};
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now(), stalled_since = start;
  uint64_t seen_progress;
  {
    std::lock_guard stall(scope_.stall_mutex_);
    ++scope_.waiting_;
    seen_progress = scope_.progress_;
  }
  Status status;
  while (!ready()) {
    if (workers_.Stopped()) {
      status = Cancelled(workers_.Reason(), " while it waited for ", what);
      break;
    }
    Clock::time_point now = Clock::now();
    if (timeout_ms >= 0 && now - start >= std::chrono::milliseconds(timeout_ms)) {
      status = Cancelled("waited ", timeout_ms, " ms for ", what);
      break;
    }
    {
      std::lock_guard stall(scope_.stall_mutex_);
      if (scope_.waiting_ < scope_.running_ || scope_.progress_ != seen_progress) {
        stalled_since = now;
        seen_progress = scope_.progress_;
      }
    }
    int64_t limit = scope_.options_.stall_limit_ms;
    if (limit >= 0 && now - stalled_since >= std::chrono::milliseconds(limit)) {
      status = FailedPrecondition("waits for ", what, ", and no session that runs can bring it about")
                   .WithHint("run the session that does at the same time");
      break;
    }
    changed.wait_for(lock, kSlice);
  }
  std::lock_guard stall(scope_.stall_mutex_);
  --scope_.waiting_;
  if (status.ok()) ++scope_.progress_;
  return status;
}

Turn** Turn::Place() {
  Turn** place = &first_;
  while (*place != nullptr && *place != this) place = &(*place)->next_;
  return place;
}

Status Turn::Take(ScopeWaiter& waiter, std::string_view what) {
  if (held_) return {};
  std::unique_lock lock(scope_.turn_mutex_);
  next_ = nullptr;
  *Place() = this;
  Status status = waiter.Wait(lock, scope_.turn_changed_, [&] { return first_ == this; }, -1, what);
  held_ = status.ok();
  if (held_) return {};
  *Place() = next_;
  scope_.turn_changed_.notify_all();
  return status;
}

void Turn::Give() {
  if (!held_) return;
  held_ = false;
  {
    std::lock_guard lock(scope_.turn_mutex_);
    first_ = next_;
  }
  scope_.turn_changed_.notify_all();
}

Result<ResourceHandle> ScopeBinder::FindOrMake(std::string key, const Factory& make) {
  std::lock_guard lock(scope_.resources_mutex_);
  if (auto it = scope_.resources_.find(key); it != scope_.resources_.end()) return it->second;
  WEFT_ASSIGN_OR_RETURN(ResourceHandle made, make());
  if (auto saved = scope_.restored_.find(key); saved != scope_.restored_.end()) {
    auto change = LoadResource(*made, saved->second.kind, saved->second.state, scope_);
    if (!change.ok()) return Status(change.status().code(), Cat("the restored snapshot does not fit: ", change.status().message()));
    (*change)();
    scope_.restored_.erase(saved);
  }
  scope_.resources_.emplace(std::move(key), made);
  return made;
}

}  // namespace weft
