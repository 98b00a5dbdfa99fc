// What a running block may ask of the engine. These are interfaces: the layers `state` and `exec` implement them.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>

#include "weft/base/status.h"
#include "weft/base/tensor.h"
#include "weft/base/workers.h"

namespace weft {

/// State that outlives a run: a queue, a reader, a random stream. Lives in the page's scope. Thread-safety is the class's own.
class Resource {
 public:
  virtual ~Resource() = default;
  /// What it is, for errors: "queue", "reader".
  virtual std::string_view kind() const = 0;
};

/// Which files a block may read and write: those inside the folders that the host allows. Thread-safe.
class Files {
 public:
  enum class Access : uint8_t { kRead, kWrite };
  virtual ~Files() = default;
  /// The path to use for a name on the page; relative names are relative to the page. permission_denied outside the allowed folders.
  virtual Result<std::filesystem::path> Resolve(std::string_view name, Access access) const = 0;
};

/// Waits for a change that another session may make, such as an element added to a queue.
class Waiter {
 public:
  virtual ~Waiter() = default;
  /// Waits with `lock` released until ready() holds (called with the lock locked). cancelled where the run was cancelled, its deadline
  /// passed, or `timeout_ms` milliseconds (where >= 0) passed; failed_precondition where all sessions of the scope have waited for one
  /// another for too long (a deadlock). `what` is for the message: "an element of queue q".
  virtual Status Wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, FunctionRef<bool()> ready, int64_t timeout_ms,
                      std::string_view what) = 0;
};

/// Receives what Print and warnings of blocks write. Thread-safe.
class Log {
 public:
  virtual ~Log() = default;
  virtual void Print(std::string_view text) = 0;
};

/// All of the above, for one run, which owns none of it. Pointers are never null while a block runs; the budget may be.
struct Services {
  Workers* workers = nullptr;
  Files* files = nullptr;
  Waiter* waiter = nullptr;
  Log* log = nullptr;
  std::shared_ptr<MemoryBudget> budget;
};

}  // namespace weft
