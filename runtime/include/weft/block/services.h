// What a running block may ask of the engine. These are interfaces: the layers `state` and `exec` implement them.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <type_traits>

#include "weft/base/divide.h"
#include "weft/base/status.h"
#include "weft/base/tensor.h"

namespace weft {

/// A reference to a callable, without ownership or allocation; the callable must outlive the call it is passed to.
template <class Signature>
class FunctionRef;
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, Args... args) -> R { return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...); }) {}
  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

/// Parallel loops. Work is divided into tasks by its size alone, never by the number of threads, so that results have the same bits on any
/// number of threads.
class Workers {
 public:
  virtual ~Workers() = default;
  /// Threads that work at the same time, the calling one included.
  virtual int threads() const = 0;
  /// Calls task(0) ... task(count - 1), each once, in any order and on any thread, and returns when all have ended. Starts no further
  /// tasks when the run is to end; the block's outputs are discarded then.
  virtual void Run(int64_t count, FunctionRef<void(int64_t)> task) = 0;
  /// Whether the run is to end: it was cancelled, or its deadline has passed. May read the clock: asked once in about a millisecond's work.
  virtual bool Stopped() const { return false; }

  /// Calls body(begin, end) over [0, size) in ranges of `grain` items (the last may be shorter); on the calling thread where one range
  /// covers all.
  template <class Body>
  void For(int64_t size, int64_t grain, Body&& body) {
    if (size <= 0) return;
    grain = std::max<int64_t>(grain, 1);
    if (size <= grain) {
      body(int64_t{0}, size);
      return;
    }
    Run(DivideUp(size, grain), [&](int64_t task) { body(task * grain, std::min(size, (task + 1) * grain)); });
  }
};

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
