#include "runtime/state/scope_services.h"

#include <system_error>

#include "runtime/state/run_gate.h"
#include "runtime/state/scope_state.h"

namespace weft {
namespace fs = std::filesystem;
namespace {

bool IsInside(const fs::path& path, const fs::path& folder) {
  auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end() || (std::next(end) == folder.end() && end->empty());  // "folder/" ends in an empty name
}

}  // namespace

Result<fs::path> ScopeFiles::Resolve(std::string_view name, Access) const {
  if (name.empty()) return InvalidArgument("needs the name of a file, found an empty string");
  if (name.find('\0') != std::string_view::npos) return InvalidArgument("needs the name of a file, found one with a NUL in it");
  std::error_code error;
  fs::path base = options_.page_folder.empty() ? fs::current_path(error) : options_.page_folder;
  fs::path wanted = fs::path(name).is_absolute() ? fs::path(name) : base / fs::path(name);
  fs::path resolved = fs::weakly_canonical(wanted, error);
  if (error) return InvalidArgument("cannot find '", name, "': ", error.message());
  auto allowed = [&](const fs::path& folder) {
    std::error_code ignored;
    fs::path canonical = fs::weakly_canonical(folder, ignored);
    return !ignored && IsInside(resolved, canonical);
  };
  bool inside = options_.allow_page_folder && allowed(base);
  for (const fs::path& folder : options_.allowed_folders) inside = inside || allowed(folder);
  if (!inside) {
    return PermissionDenied("the file '", name, "' lies outside the folders that the page may use")
        .WithHint(Cat("allow its folder: --allow ", resolved.parent_path().string()));
  }
  return resolved;
}

Status ScopeWaiter::Wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, FunctionRef<bool()> ready, int64_t timeout_ms,
                         std::string_view what) {
  if (ready()) return {};
  using Clock = std::chrono::steady_clock;
  constexpr auto kSlice = std::chrono::milliseconds(10);
  const Clock::time_point start = Clock::now();
  RunGate::Waiting waiting(scope_.runs());
  while (!ready()) {
    if (workers_.Stopped()) return Cancelled(workers_.Reason(), " while it waited for ", what);
    if (timeout_ms >= 0 && Clock::now() - start >= std::chrono::milliseconds(timeout_ms)) {
      return Cancelled("waited ", timeout_ms, " ms for ", what);
    }
    const int64_t limit = scope_.options().stall_limit_ms;
    if (const auto stalled = waiting.Stalled(); limit >= 0 && stalled >= std::chrono::milliseconds(limit)) {
      return FailedPrecondition("waits for ", what, ", and no session that runs can bring it about")
          .WithHint("run the session that does at the same time");
    }
    changed.wait_for(lock, kSlice);
  }
  waiting.Succeed();
  return {};
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
