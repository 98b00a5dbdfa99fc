// Handles of the C interface that close themselves.
#pragma once

#include <catch2/catch.hpp>
#include <utility>

#include "weft.h"

namespace weft::kit {

/// A handle, closed at the end.
template <class Handle, weft_status (*Close)(Handle*)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle* handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() { (void)Close(handle_); }
  operator Handle*() const { return handle_; }
  Handle** out() { return &handle_; }
  Handle* release() { return std::exchange(handle_, nullptr); }

 private:
  Handle* handle_ = nullptr;
};
using OwnedRuntime = Owned<weft_runtime, weft_runtime_close>;
using OwnedPage = Owned<weft_page, weft_page_close>;
using OwnedPageRun = Owned<weft_page_run, weft_page_run_close>;
using OwnedSession = Owned<weft_session, weft_session_close>;
using OwnedView = Owned<weft_view, weft_view_release>;
using OwnedResults = Owned<weft_results, weft_results_release>;
using OwnedStrings = Owned<weft_strings, weft_strings_release>;
using OwnedProblems = Owned<weft_diagnostics, weft_diagnostics_release>;
using OwnedEvents = Owned<weft_events, weft_events_close>;
using OwnedSubscription = Owned<weft_subscription, weft_subscription_close>;
using OwnedBreakpoint = Owned<weft_breakpoint, weft_breakpoint_close>;

inline OwnedRuntime OpenRuntime(int threads = 2) {
  OwnedRuntime runtime;
  weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
  options.threads = threads;
  REQUIRE(weft_runtime_open(&options, runtime.out(), nullptr) == WEFT_OK);
  return runtime;
}

}  // namespace weft::kit
