// What a scope gives its blocks: files, waiting, state by name.
#pragma once

#include "runtime/state/resource_store.h"
#include "runtime/state/thread_pool.h"
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

/// Waits in short slices, so that cancelling, deadlines and stalls are seen soon.
class ScopeWaiter final : public Waiter {
 public:
  ScopeWaiter(Scope& scope, const PoolWorkers& workers) : scope_(scope), workers_(workers) {}
  Status Wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, FunctionRef<bool()> ready, int64_t timeout_ms,
              std::string_view what) override;

 private:
  Scope& scope_;
  const PoolWorkers& workers_;
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
