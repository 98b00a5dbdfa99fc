// What tests of the C interface share: pages and sessions that load and open, values, and the words of a failure.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/kit/owned.h"
#include "tests/kit/sanitized.h"
#include "tests/runtime/session_kit.h"
#include "weft.h"

namespace weft::test {

using kit::OpenRuntime, kit::OwnedBreakpoint, kit::OwnedEvents, kit::OwnedPage, kit::OwnedPageRun, kit::OwnedProblems, kit::OwnedResults, kit::OwnedRuntime;
using kit::OwnedSession, kit::OwnedStrings, kit::OwnedSubscription, kit::OwnedView;

/// What a call said of its failure, as text; each call of out() forgets the last.
class Problems {
 public:
  weft_diagnostics** out() {
    list_ = OwnedProblems();
    return list_.out();
  }
  weft_diagnostics* list() const { return list_; }
  std::string text() const {
    const char* text = "";
    if (list_ != nullptr) (void)weft_diagnostics_text(list_, &text);
    return text;
  }
  weft_diagnostic at(size_t index) const {
    weft_diagnostic one = WEFT_DIAGNOSTIC_INIT;
    REQUIRE(weft_diagnostics_get(list_, index, &one) == WEFT_OK);
    return one;
  }

 private:
  OwnedProblems list_;
};

/// Requires that `call`, which uses `problems`, succeeds.
#define C_OK(problems, call)       \
  do {                             \
    weft_status c_status = (call); \
    INFO(#call);                   \
    INFO((problems).text());       \
    REQUIRE(c_status == WEFT_OK);  \
  } while (false)

inline std::string PageText(const std::vector<std::string>& blocks) {
  std::string text = "{\"weft\": 1, \"page\": \"p\", \"blocks\": [";
  for (size_t i = 0; i < blocks.size(); ++i) text += Cat(i ? ",\n" : "", blocks[i]);
  return text + "]}";
}

inline OwnedPage LoadPage(weft_runtime* runtime, const std::vector<std::string>& blocks, const weft_page_options* options = nullptr) {
  OwnedPage page;
  Problems problems;
  std::string text = PageText(blocks);
  C_OK(problems, weft_page_load(runtime, text.data(), text.size(), options, page.out(), problems.out()));
  return page;
}

inline OwnedSession OpenSession(weft_page* page, std::vector<const char*> fetches = {}) {
  OwnedSession session;
  Problems problems;
  weft_session_options options = WEFT_SESSION_OPTIONS_INIT;
  options.fetches = fetches.data();
  options.fetch_count = fetches.size();
  C_OK(problems, weft_session_open(page, &options, session.out(), problems.out()));
  return session;
}

inline weft_session_info InfoOf(weft_session* session) {
  weft_session_info info = WEFT_SESSION_INFO_INIT;
  REQUIRE(weft_session_get_info(session, &info, nullptr) == WEFT_OK);
  return info;
}

inline weft_view_info InfoOf(weft_view* view) {
  weft_view_info info = WEFT_VIEW_INFO_INIT;
  REQUIRE(weft_view_get_info(view, &info) == WEFT_OK);
  return info;
}

inline OwnedView ViewOf(weft_session* session, const char* name) {
  OwnedView view;
  Problems problems;
  C_OK(problems, weft_session_view(session, name, view.out(), problems.out()));
  return view;
}

inline std::vector<float> FloatsOf(weft_view* view) {
  weft_view_info info = InfoOf(view);
  REQUIRE(info.dtype == WEFT_FLOAT);
  const float* data = static_cast<const float*>(info.data);
  return {data, data + info.count};
}
inline std::vector<float> FloatsOf(weft_session* session, const char* name) { return FloatsOf(ViewOf(session, name)); }

/// The first of a list.
inline std::string TextOf(weft_strings* strings) {
  const char* text = "";
  size_t bytes = 0;
  REQUIRE(weft_strings_get(strings, 0, &text, &bytes) == WEFT_OK);
  return {text, bytes};
}

/// How much longer things may take.
constexpr double kSlow = kit::kSanitized ? 50 : 1;

/// Ports of a host's block that gives as much as it takes.
inline const weft_port kX[] = {{"x", "DT_FLOAT", WEFT_SINGLE, nullptr, "any shape"}};
inline const weft_port kY[] = {{"y", "DT_FLOAT", WEFT_SINGLE, nullptr, "the shape of x"}};

/// A vector of floats as the host gives it.
struct FloatBuffer {
  explicit FloatBuffer(std::vector<float> given) : values(std::move(given)), shape(static_cast<int64_t>(values.size())) {}
  weft_buffer get() {
    weft_buffer buffer = WEFT_BUFFER_INIT;
    buffer.dtype = WEFT_FLOAT;
    buffer.rank = 1;
    buffer.shape = &shape;
    buffer.data = values.data();
    buffer.bytes = static_cast<int64_t>(values.size() * sizeof(float));
    return buffer;
  }
  std::vector<float> values;
  int64_t shape;
};

/// A counter that grows by one with each run: a page with a variable.
inline std::vector<std::string> CounterBlocks() {
  return {Variable("n", Scalar(0)), Block("next", "AssignAdd", {{"ref", "n.ref"}, {"value", Scalar(1)}}),
          Block("run", "ClientSession", {{"fetch_outputs", "[\"n.ref\"]"}, {"run_outputs", "[\"next.operation\"]"}})};
}

}  // namespace weft::test
