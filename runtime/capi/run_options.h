// What calls that run or wait take of times and steps.
#pragma once

#include <algorithm>
#include <chrono>

#include "runtime/capi/guard.h"
#include "weft/capi/session.h"

namespace weft::capi {

/// A year: what is longer could pass the clock's end.
inline constexpr int64_t kLongestMs = int64_t{365} * 24 * 3600 * 1000, kLongestNs = kLongestMs * 1'000'000;

/// A timeout in milliseconds as waits take it; negative: for ever.
inline std::chrono::nanoseconds ToTimeout(int64_t timeout_ms) {
  return std::chrono::nanoseconds(timeout_ms < 0 ? -1 : std::min(timeout_ms, kLongestMs) * 1'000'000);
}

/// The options with their steps and times checked; NULL: the defaults. `least`: of steps.
inline Result<weft_run_options> ReadRunOptions(const weft_run_options* options, int64_t least = 1) {
  weft_run_options known = WEFT_RUN_OPTIONS_INIT;
  WEFT_RETURN_IF_ERROR(ReadStruct(options, known, "weft_run_options"));
  if (known.steps < least && known.steps != WEFT_UNTIL_STOPPED) {
    return InvalidArgument("needs ", least, least == 1 ? " step" : " steps", " or more, or WEFT_UNTIL_STOPPED, found ", known.steps).WithPort("steps");
  }
  if (known.deadline_ns < 0) return InvalidArgument("needs a time of 0 or more, found ", known.deadline_ns).WithPort("deadline_ns");
  if (known.interval_ns < 0) return InvalidArgument("needs a time of 0 or more, found ", known.interval_ns).WithPort("interval_ns");
  return known;
}

/// Sets the steps and times of a RunRequest or a PageRunRequest; a deadline counts from now.
template <class Request>
void SetTiming(const weft_run_options& options, Request& request) {
  using std::chrono::nanoseconds;
  request.steps = options.steps;
  if (options.deadline_ns > 0) request.deadline = std::chrono::steady_clock::now() + nanoseconds(std::min(options.deadline_ns, kLongestNs));
  request.interval = nanoseconds(std::min(options.interval_ns, kLongestNs));
}

}  // namespace weft::capi
