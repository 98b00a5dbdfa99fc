#include "runtime/base/call_limit.h"

#include <algorithm>

namespace weft {

CallLimit::CallLimit(std::optional<Clock::time_point> deadline, const std::atomic<bool>* cancelled)
    : outer_(current_), deadline_(deadline), cancelled_(cancelled) {
  if (outer_ != nullptr && outer_->deadline_) deadline_ = std::min(deadline_.value_or(*outer_->deadline_), *outer_->deadline_);
  current_ = this;
}

void CallLimit::Look() {
  constexpr int kChecks = 64;  // of a few microseconds each
  unchecked_ = kChecks;
  if (cancelled()) throw CallStopped(Cancelled("the call was cancelled"));
  if (deadline_ && Clock::now() >= *deadline_) throw CallStopped(Cancelled("the call's deadline passed"));
}

}  // namespace weft
