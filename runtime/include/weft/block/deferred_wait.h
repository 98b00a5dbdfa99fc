// For blocks without outputs that wait for another to make room: what waits at the end of the run instead of in its place.
#pragma once

#include <memory>

#include "weft/block/services.h"

namespace weft {

/// What a block has begun, and what is to be waited for before the run succeeds. Its destructor takes back what has not come to pass.
class DeferredWait {
 public:
  virtual ~DeferredWait() = default;
  /// Waits, on the run's thread. Errors as Waiter::Wait, and the block's own.
  virtual Status Finish() = 0;
};

/// A Waiter that lets blocks go on first that come later in the run: one of them may bring about what is waited for.
class DeferringWaiter : public Waiter {
 public:
  /// Takes the wait over and leaves null, or leaves it where it is to be waited for at once: a step of a loop defers one wait at a time.
  virtual void Defer(std::unique_ptr<DeferredWait>& wait) = 0;
};

/// Waits at the end of the run where the engine can, else at once.
inline Status WaitAtEnd(Waiter& waiter, std::unique_ptr<DeferredWait> wait) {
  if (auto* deferring = dynamic_cast<DeferringWaiter*>(&waiter)) deferring->Defer(wait);
  return wait == nullptr ? Status() : wait->Finish();
}

}  // namespace weft
