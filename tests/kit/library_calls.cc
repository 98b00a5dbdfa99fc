// Calls of the functions on libraries, case files, replays, overrides and single starts with a handle to be tried.
#include "tests/kit/handle_calls.h"

namespace weft::test {
namespace {

}  // namespace

std::vector<HandleCall> LibraryCalls(LiveHandles&) {
  using P = weft_diagnostics**;
  return {
      {"weft_runtime_add_library", "weft_runtime", false,
       [](void* h, P p) { return weft_runtime_add_library(As<weft_runtime>(h), "/nowhere/libnone.so", p); }},
      {"weft_runtime_test", "weft_runtime", false,
       [](void* h, P p) {
         weft_test_totals totals = WEFT_TEST_TOTALS_INIT;
         return weft_runtime_test(As<weft_runtime>(h), "/nowhere/none.cases.json", nullptr, &totals, p);
       }},
      {"weft_runtime_cancel_tests", "weft_runtime", false, [](void* h, P p) { return weft_runtime_cancel_tests(As<weft_runtime>(h), p); }},
      {"weft_blocks_hash", "weft_runtime", false,
       [](void* h, P p) {
         OwnedStrings hash;
         return weft_blocks_hash(As<weft_runtime>(h), hash.out(), p);
       }},
      {"weft_session_cancel_start", "weft_session", false, [](void* h, P p) { return weft_session_cancel_start(As<weft_session>(h), 1, p); }},
      {"weft_session_override", "weft_session", false,
       [](void* h, P p) {
         FloatBuffer value({1});
         const weft_buffer buffer = value.get();
         return weft_session_override(As<weft_session>(h), "n.ref", &buffer, p);
       }},
      {"weft_events_replay", "weft_events", false,
       [](void* h, P p) {
         weft_event event = WEFT_EVENT_INIT;
         size_t count = 0;
         return weft_events_replay(As<weft_events>(h), 1, &event, 1, &count, nullptr, p);
       }},
  };
}

}  // namespace weft::test
