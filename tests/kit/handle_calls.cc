// The calls that handles_test.cc tries, part by part of weft.h.
#include "tests/kit/handle_calls.h"

namespace weft::test {
namespace {

/// A cast of the handle in question to what the function takes.
struct AnyHandle {
  void* pointer;
  template <class Handle>
  operator Handle*() const { return static_cast<Handle*>(pointer); }
};

/// Names the function once: TRY(weft_page_write, weft_page, handle, strings.out(), problems).
#define TRY(function, kind, ...) \
  HandleCall{#function, #kind, false, [&live](void* pointer, weft_diagnostics** problems) -> weft_status { \
    [[maybe_unused]] AnyHandle handle{pointer}; (void)live; (void)problems; \
    OwnedStrings strings; OwnedProblems list; OwnedPage page; OwnedSession session; OwnedView view; weft_view* views[1] = {}; \
    const char* text = nullptr; const char* names[] = {"n.ref"}; size_t count = 0; int32_t state = 0; FloatBuffer values({1}); weft_buffer buffer = values.get(); \
    (void)text; (void)names; (void)count; (void)state; (void)views; (void)buffer; \
    return function(__VA_ARGS__); }}
#define TRY_CLOSE(function, kind) HandleCall{#function, #kind, true, [](void* pointer, weft_diagnostics**) { return function(static_cast<kind*>(pointer)); }}

}  // namespace

std::vector<HandleCall> BaseCalls(LiveHandles& live) {
  static weft_diagnostic one = WEFT_DIAGNOSTIC_INIT;
  static weft_runtime_info info = WEFT_RUNTIME_INFO_INIT;
  static weft_block block = WEFT_BLOCK_INIT;
  return {
      TRY(weft_strings_count, weft_strings, handle, &count),
      TRY(weft_strings_get, weft_strings, handle, 0, &text, nullptr),
      TRY_CLOSE(weft_strings_release, weft_strings),
      TRY(weft_diagnostics_count, weft_diagnostics, handle, &count),
      TRY(weft_diagnostics_get, weft_diagnostics, handle, 0, &one),
      TRY(weft_diagnostics_text, weft_diagnostics, handle, &text),
      TRY_CLOSE(weft_diagnostics_release, weft_diagnostics),
      TRY_CLOSE(weft_runtime_close, weft_runtime),
      TRY(weft_runtime_get_info, weft_runtime, handle, &info, problems),
      TRY(weft_blocks_json, weft_runtime, handle, strings.out(), problems),
      TRY(weft_block_json, weft_runtime, handle, "Add", strings.out(), problems),
      TRY(weft_block_markdown, weft_runtime, handle, "Add", strings.out(), problems),
      TRY(weft_runtime_add_block, weft_runtime, handle, &block, problems),
  };
}

std::vector<HandleCall> PageCalls(LiveHandles& live) {
  static uint64_t edits = 0;
  return {
      TRY(weft_page_load, weft_runtime, handle, "{}", 2, nullptr, page.out(), problems),
      TRY(weft_page_load_file, weft_runtime, handle, "none.json", nullptr, page.out(), problems),
      TRY_CLOSE(weft_page_close, weft_page),
      TRY(weft_page_diagnostics, weft_page, handle, list.out(), problems),
      TRY(weft_page_write, weft_page, handle, strings.out(), problems),
      TRY(weft_page_blocks, weft_page, handle, strings.out(), problems),
      TRY(weft_page_sessions, weft_page, handle, strings.out(), problems),
      TRY(weft_page_get_variable, weft_page, handle, "n", view.out(), problems),
      TRY(weft_page_set_variable, weft_page, handle, "n", &buffer, problems),
      TRY(weft_page_hold_memory, weft_page, handle, 0, problems),
      TRY(weft_page_edit, weft_page, handle, "[]", WEFT_EDIT_APPLY, strings.out(), problems),
      TRY(weft_page_edits, weft_page, handle, &edits, problems),
      TRY(weft_page_undo, weft_page, handle, strings.out(), problems),
      TRY(weft_page_redo, weft_page, handle, strings.out(), problems),
      TRY(weft_page_history, weft_page, handle, &count, nullptr, problems),
      TRY(weft_page_file_path, weft_page, handle, "x", WEFT_FILE_READ, strings.out(), problems),
      TRY(weft_page_read_file, weft_page, handle, "x", strings.out(), problems),
      TRY(weft_page_write_file, weft_page, handle, "x", "", 0, problems),
  };
}

std::vector<HandleCall> PageRunCalls(LiveHandles& live) {
  static weft_page_run* run = nullptr;
  return {
      TRY(weft_page_run_open, weft_page, handle, nullptr, &run, problems),
      TRY_CLOSE(weft_page_run_close, weft_page_run),
      TRY(weft_page_run_sessions, weft_page_run, handle, strings.out(), problems),
      TRY(weft_page_run_session, weft_page_run, handle, nullptr, session.out(), problems),
      TRY(weft_page_run_start, weft_page_run, handle, nullptr, problems),
      TRY(weft_page_run_all, weft_page_run, handle, nullptr, problems),
      TRY(weft_page_run_wait, weft_page_run, handle, 0, &state, problems),
      TRY(weft_page_run_stop, weft_page_run, handle, problems),
      TRY(weft_page_run_cancel, weft_page_run, handle, problems),
      TRY(weft_page_run_view, weft_page_run, handle, "n.ref", view.out(), problems),
      TRY(weft_page_run_results, weft_page_run, handle, strings.out(), problems),
  };
}

void* ClosedPageRun(LiveHandles& live) {
  weft_page_run* run = nullptr;
  REQUIRE(weft_page_run_open(live.page, nullptr, &run, nullptr) == WEFT_OK);
  REQUIRE(weft_page_run_close(run) == WEFT_OK);
  return run;
}

std::vector<HandleCall> SessionCalls(LiveHandles& live) {
  static weft_session_info info = WEFT_SESSION_INFO_INIT;
  return {
      TRY(weft_session_open, weft_page, handle, nullptr, session.out(), problems),
      TRY_CLOSE(weft_session_close, weft_session),
      TRY(weft_session_run, weft_session, handle, nullptr, problems),
      TRY(weft_session_start, weft_session, handle, nullptr, problems),
      TRY(weft_session_wait, weft_session, handle, 0, &state, problems),
      TRY(weft_session_pause, weft_session, handle, problems),
      TRY(weft_session_resume, weft_session, handle, WEFT_GO_ON, problems),
      TRY(weft_session_stop, weft_session, handle, problems),
      TRY(weft_session_cancel, weft_session, handle, problems),
      TRY(weft_session_get_info, weft_session, handle, &info, problems),
      TRY(weft_session_paused_at, weft_session, handle, strings.out(), problems),
      TRY(weft_session_set_mode, weft_session, handle, WEFT_MODE_FREEZE, nullptr, problems),
  };
}

std::vector<HandleCall> ResultCalls(LiveHandles& live) {
  static weft_view_info info = WEFT_VIEW_INFO_INIT;
  static weft_bytes bytes;
  static weft_dl_managed_tensor* tensor = nullptr;
  return {
      TRY(weft_session_view, weft_session, handle, "n.ref", view.out(), problems),
      TRY(weft_session_views, weft_session, handle, names, 1, views, problems),
      TRY(weft_session_results, weft_session, handle, strings.out(), problems),
      TRY(weft_view_get_info, weft_view, handle, &info),
      TRY(weft_view_string, weft_view, handle, 0, &bytes),
      TRY(weft_view_text, weft_view, handle, 10, strings.out(), problems),
      TRY(weft_view_retain, weft_view, handle),
      TRY_CLOSE(weft_view_release, weft_view),
      TRY(weft_view_dlpack, weft_view, handle, &tensor, problems),
      TRY(weft_session_feed, weft_session, handle, "n.ref", &buffer, problems),
      TRY(weft_session_bind_input, weft_session, handle, "n.ref", &buffer, problems),
      TRY(weft_session_bind_output, weft_session, handle, "n.ref", &buffer, problems),
      TRY(weft_session_unbind, weft_session, handle, "n.ref", problems),
  };
}

}  // namespace weft::test
