// What a scope gives its blocks: files, waiting, state by name.
#pragma once

#include "runtime/state/thread_pool.h"
#include "weft/block/named_bind.h"
#include "weft/state/scope.h"

namespace weft {

/// The files that the scope was opened with.
class ScopeFiles final : public Files {
 public:
  explicit ScopeFiles(const Scope& scope) : options_(scope.options_) {}
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

  /// Counts a run of the scope while it lives.
  class Running {
   public:
    /// Waits while the scope's state is saved or restored, or until the run shall end.
    Running(Scope& scope, const PoolWorkers& workers);
    ~Running();
    Running(const Running&) = delete;

   private:
    Scope& scope_;
  };

 private:
  Scope& scope_;
  const PoolWorkers& workers_;
};

/// What only one run of a scope does at a time: updating variables, or starting them.
class Turn {
 public:
  Turn(Scope& scope, Turn* Scope::*line) : scope_(scope), first_(scope.*line) {}
  ~Turn() { Give(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool held() const { return held_; }
  /// Waits for it, as a block does for a queue: cancelling, deadlines and stalls end the wait.
  Status Take(ScopeWaiter& waiter, std::string_view what);
  void Give();

 private:
  /// The place in the line that points at this turn, or the line's end.
  Turn** Place();

  Scope& scope_;
  Turn*& first_;          // of the line, which goes on with `next_`: no memory is allocated for it
  Turn* next_ = nullptr;
  bool held_ = false;
};

/// Keys are "own/TYPE/BLOCK" and "shared/CONTAINER/NAME".
class ScopeBinder final : public NamedBind {
 public:
  ScopeBinder(Scope& scope, std::string_view type, std::string_view block) : scope_(scope), type_(type), block_(block) {}
  std::string_view block_id() const override { return block_; }
  Result<ResourceHandle> Own(const Factory& make) override { return FindOrMake(OwnKey(type_, block_), make); }
  Result<ResourceHandle> Shared(std::string_view container, std::string_view shared_name, const Factory& make) override {
    return FindOrMake(SharedKey(container, shared_name.empty() ? block_ : shared_name), make);
  }
  /// With the type: an edit may put another block in a block's place, whose state is of another kind.
  static std::string OwnKey(std::string_view type, std::string_view block) { return Cat("own/", type, "/", block); }
  static std::string SharedKey(std::string_view container, std::string_view name) { return Cat("shared/", container, "/", name); }

 private:
  Result<ResourceHandle> FindOrMake(std::string key, const Factory& make);

  Scope& scope_;
  std::string_view type_, block_;
};

}  // namespace weft
