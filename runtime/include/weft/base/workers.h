// Parallel loops, as kernels and blocks see them; the layer `exec` implements them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/base/divide.h"

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

}  // namespace weft
