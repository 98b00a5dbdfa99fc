#include "runtime/state/host_call.h"

namespace weft {
namespace {

Planning*& Innermost() {
  thread_local Planning* innermost = nullptr;
  return innermost;
}

}  // namespace

Planning::Planning(const Scope& scope) : scope_(&scope), outer_(Innermost()) { Innermost() = this; }
Planning::~Planning() { Innermost() = outer_; }

HostCall::HostCall() : of_(Innermost()) {
  if (of_ != nullptr) of_->calls_host_ = true;
}
HostCall::~HostCall() {
  if (of_ != nullptr) of_->calls_host_ = false;
}

bool WaitsForHostCall(const Scope& scope) {
  for (const Planning* planning = Innermost(); planning != nullptr; planning = planning->outer_) {
    if (planning->calls_host_ && planning->scope_ == &scope) return true;
  }
  return false;
}

}  // namespace weft
