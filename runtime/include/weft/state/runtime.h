// Runtime: what all pages of a host share: the blocks it offers, the threads, the memory limit.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "weft/base/tensor.h"
#include "weft/block/registry.h"
#include "weft/block/services.h"

namespace weft {

struct RuntimeOptions {
  int threads = 0;           // that work at the same time, at most one a processor; 0: one a processor
  int64_t memory_limit = 0;  // bytes that all pages hold together, see MemoryBudget; 0: four fifths of the machine's memory
  int64_t page_memory_limit = 0;  // bytes that one page holds; 0: all that there is
  int processors = 0;        // how many there are taken to be; 0: those that the thread which makes the runtime may run on
  /// Of each call that loads, checks, edits or plans a page, from its begin: what still works then is cancelled. 0: none. Runs have their own.
  std::chrono::nanoseconds call_deadline{0};
};

/// Thread-safe once made. Must outlive the scopes opened on it.
class Runtime {
 public:
  explicit Runtime(Registry registry, RuntimeOptions options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  const Registry& registry() const { return registry_; }
  /// Adds a block of the host, as Registry::Add. Only before the first scope is opened, and by one thread.
  Status AddBlock(BlockDef def) { return registry_.Add(std::move(def)); }
  const std::shared_ptr<MemoryBudget>& budget() const { return budget_; }
  /// A budget for one page, which counts in budget() as well.
  std::shared_ptr<MemoryBudget> PageBudget() const;
  /// The end of a call that begins now; none without a deadline.
  std::optional<std::chrono::steady_clock::time_point> CallEnd() const;
  int threads() const;  // that work at the same time
  class ThreadPool& pool() const { return *pool_; }

 private:
  Registry registry_;
  std::shared_ptr<MemoryBudget> budget_;
  const int64_t page_memory_limit_;
  const std::chrono::nanoseconds call_deadline_;
  std::unique_ptr<class ThreadPool> pool_;
};

}  // namespace weft
