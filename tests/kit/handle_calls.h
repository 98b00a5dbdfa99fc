// Calls of functions with a handle to be tried: null, closed, foreign.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/capi/capi_kit.h"

namespace weft::test {

/// One handle parameter of one function. All else that the call passes is valid.
struct HandleCall {
  std::string function;
  std::string kind;       // of the handle: "weft_page"
  bool null_is_ok = false;  // closes and releases
  std::function<weft_status(void* handle, weft_diagnostics** problems)> call;
};

template <class Handle>
Handle* As(void* handle) {
  return static_cast<Handle*>(handle);
}

/// What the calls of a file use besides the handle in question.
struct LiveHandles {
  LiveHandles();
  OwnedRuntime runtime;
  OwnedPage page;
  OwnedSession session;
  OwnedView view;
};

/// The tables of calls: one for each part of weft.h that has functions with handles.
using CallTable = std::vector<HandleCall> (*)(LiveHandles& live);
std::vector<HandleCall> BaseCalls(LiveHandles& live);
std::vector<HandleCall> PageCalls(LiveHandles& live);
std::vector<HandleCall> PageRunCalls(LiveHandles& live);
std::vector<HandleCall> SessionCalls(LiveHandles& live);
std::vector<HandleCall> ResultCalls(LiveHandles& live);
std::vector<HandleCall> WatchCalls(LiveHandles& live);
std::vector<HandleCall> LibraryCalls(LiveHandles& live);
std::vector<HandleCall> InspectCalls(LiveHandles& live);
std::vector<HandleCall> ShardedCalls(LiveHandles& live);
inline constexpr CallTable kTables[] = {BaseCalls, PageCalls, PageRunCalls, SessionCalls, ResultCalls, WatchCalls, LibraryCalls, InspectCalls,
                                        ShardedCalls};

/// A kind of handle besides those of LiveHandles, and how to get one that was closed.
struct OtherKind {
  std::string kind;
  void* (*closed)(LiveHandles& live);
};
void* ClosedEvents(LiveHandles& live);
void* ClosedSubscription(LiveHandles& live);
void* ClosedBreakpoint(LiveHandles& live);
void* ClosedPageRun(LiveHandles& live);
void* ClosedResults(LiveHandles& live);
void* ClosedSharded(LiveHandles& live);
inline std::vector<OtherKind> OtherKinds() {
  return {{"weft_events", ClosedEvents}, {"weft_subscription", ClosedSubscription}, {"weft_breakpoint", ClosedBreakpoint},
          {"weft_page_run", ClosedPageRun}, {"weft_results", ClosedResults}, {"weft_sharded", ClosedSharded}};
}

}  // namespace weft::test
