// What a scope gives its blocks: files, waiting, state by name.
#pragma once

#include <deque>
#include <unordered_set>
#include <vector>

#include "runtime/state/resource_store.h"
#include "runtime/state/thread_pool.h"
#include "weft/block/deferred_wait.h"
#include "weft/block/named_bind.h"
#include "weft/state/scope.h"

namespace weft {

/// The files that the scope was opened with.
class ScopeFiles final : public Files {
 public:
  explicit ScopeFiles(const Scope& scope) : options_(scope.options()) {}
  Result<std::filesystem::path> Resolve(std::string_view name, Access access) const override;

 private:
  const ScopeOptions& options_;
};

/// The step of a run that is at work.
class RunningStep {
 public:
  virtual ~RunningStep() = default;
  virtual size_t step() const = 0;
  /// For messages: "'put' (QueueEnqueue)".
  virtual std::string Name() const = 0;
};

/// Waits in short slices, so that cancelling, deadlines and stalls are seen soon. For the thread that runs.
class ScopeWaiter final : public DeferringWaiter {
 public:
  ScopeWaiter(Scope& scope, const PoolWorkers& workers) : scope_(scope), workers_(workers) {}
  Status Wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, FunctionRef<bool()> ready, int64_t timeout_ms,
              std::string_view what) override;
  void Defer(std::unique_ptr<DeferredWait>& wait) override;

  /// Who waits from here on; null: nobody known, and nothing is deferred.
  void SetRunning(const RunningStep* running) { running_ = running; }
  struct Deferred {
    size_t step = 0;
    std::unique_ptr<DeferredWait> wait;
  };
  /// The first that was deferred and not taken yet; without a wait where there is none.
  Deferred TakeDeferred();
  /// Takes back what was deferred.
  void DropDeferred() {
    deferred_.clear();
    deferring_.clear();
  }

 private:
  Scope& scope_;
  const PoolWorkers& workers_;
  const RunningStep* running_ = nullptr;
  std::deque<Deferred> deferred_;
  std::unordered_set<size_t> deferring_;  // their steps
};

/// State by name for one block: its own, or shared under a name.
class ScopeBinder final : public NamedBind {
 public:
  ScopeBinder(Scope& scope, std::string_view type, std::string_view block) : scope_(scope), type_(type), block_(block) {}
  std::string_view block_id() const override { return block_; }
  Result<ResourceHandle> Own(const Factory& make) override { return FindOrMake(ResourceStore::OwnKey(type_, block_), make); }
  Result<ResourceHandle> Shared(std::string_view container, std::string_view shared_name, const Factory& make) override {
    return FindOrMake(ResourceStore::SharedKey(container, shared_name.empty() ? block_ : shared_name), make);
  }

 private:
  Result<ResourceHandle> FindOrMake(std::string key, const Factory& make);

  Scope& scope_;
  std::string_view type_, block_;
};

}  // namespace weft
