#include "weft/state/runtime.h"

#include <algorithm>

#include "runtime/state/thread_pool.h"
#include "weft/base/discard.h"

namespace weft {

namespace {

int ThreadsOf(const RuntimeOptions& options) {
  const int processors = options.processors > 0 ? options.processors : UsableProcessors();
  return options.threads > 0 ? std::min(options.threads, processors) : processors;
}

}  // namespace

Runtime::Runtime(Registry registry, RuntimeOptions options)
    : registry_(std::move(registry)),
      budget_(options.memory_limit > 0 ? std::make_shared<MemoryBudget>(options.memory_limit) : MemoryBudget::ForMachine()),
      page_memory_limit_(options.page_memory_limit),
      call_deadline_(options.call_deadline),
      pool_(std::make_unique<ThreadPool>(ThreadsOf(options))) {}

// The library may be unloaded once it is closed.
Runtime::~Runtime() { FinishDiscarding(); }

std::optional<std::chrono::steady_clock::time_point> Runtime::CallEnd() const {
  if (call_deadline_.count() <= 0) return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  return now + std::min(call_deadline_, std::chrono::nanoseconds(std::chrono::steady_clock::time_point::max() - now));
}

std::shared_ptr<MemoryBudget> Runtime::PageBudget() const {
  const int64_t limit = page_memory_limit_ > 0 ? std::min(page_memory_limit_, budget_->limit()) : budget_->limit();
  return std::make_shared<MemoryBudget>(limit, budget_);
}

int Runtime::threads() const { return pool_->threads(); }

}  // namespace weft
