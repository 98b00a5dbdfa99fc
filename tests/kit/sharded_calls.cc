// The calls of job.h and sharded.h that handles_test.cc tries.
#include "tests/kit/handle_calls.h"

namespace weft::test {
namespace {

/// CALL(weft_sharded_step, weft_sharded, 0, problems): the handle comes first.
#define CALL(function, kind, ...) \
  HandleCall{#function, #kind, false, [](void* pointer, [[maybe_unused]] weft_diagnostics** problems) -> weft_status { \
    [[maybe_unused]] OwnedStrings strings; [[maybe_unused]] OwnedView view; return function(As<kind>(pointer), __VA_ARGS__); }}

}  // namespace

std::vector<HandleCall> ShardedCalls(LiveHandles& /*live*/) {
  static weft_job_info job = WEFT_JOB_INFO_INIT;
  static weft_sharded* run = nullptr;
  static weft_sharded_info info = WEFT_SHARDED_INFO_INIT;
  static weft_sharded_times times = WEFT_SHARDED_TIMES_INIT;
  static FloatBuffer values({1});
  static weft_buffer buffer = values.get();
  return {
      CALL(weft_runtime_get_job, weft_runtime, &job, problems),
      CALL(weft_runtime_rank_names, weft_runtime, strings.out(), problems),
      CALL(weft_runtime_abort_job, weft_runtime, "tried", problems),
      CALL(weft_sharded_open, weft_page, nullptr, &run, problems),
      HandleCall{"weft_sharded_close", "weft_sharded", true,
                 [](void* pointer, weft_diagnostics**) { return weft_sharded_close(As<weft_sharded>(pointer)); }},
      CALL(weft_sharded_feed, weft_sharded, "n.ref", &buffer, problems),
      CALL(weft_sharded_step, weft_sharded, 1, problems),
      CALL(weft_sharded_cancel, weft_sharded, problems),
      CALL(weft_sharded_get_info, weft_sharded, &info, problems),
      CALL(weft_sharded_where, weft_sharded, strings.out(), problems),
      CALL(weft_sharded_progress, weft_sharded, &times, nullptr, 0, problems),
      CALL(weft_sharded_results, weft_sharded, strings.out(), problems),
      CALL(weft_sharded_view, weft_sharded, "n.ref", view.out(), problems),
      CALL(weft_sharded_save, weft_sharded, "none", problems),
      CALL(weft_sharded_load, weft_sharded, "none", problems),
      CALL(weft_sharded_save_newest, weft_sharded, "none", problems),
      CALL(weft_sharded_resume, weft_sharded, "none", strings.out(), problems),
  };
}

void* ClosedSharded(LiveHandles& live) {
  weft_sharded* run = nullptr;
  REQUIRE(weft_sharded_open(live.page, nullptr, &run, nullptr) == WEFT_OK);
  REQUIRE(weft_sharded_close(run) == WEFT_OK);
  return run;
}

}  // namespace weft::test

#undef CALL
