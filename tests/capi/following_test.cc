// Names that hosts give while the page is edited: those of the run that goes on, and those of the page as it is now.
#include "tests/capi/watch_kit.h"

using namespace weft;
using namespace weft::test;

namespace {

std::vector<std::string> Line() {
  return {Block("x", "Const", {{"value", Vector({1, 2})}}), Block("old", "Add", {{"x", "x.output"}, {"y", Scalar(1)}}),
          Block("end", "Neg", {{"x", "x.output"}})};
}

struct EditedHost {
  EditedHost() { REQUIRE(weft_session_open(page, nullptr, session.out(), nullptr) == WEFT_OK); }
  void Edit(const char* edits) { C_OK(problems, weft_page_edit(page, edits, WEFT_EDIT_APPLY, nullptr, problems.out())); }
  void Run() { C_OK(problems, weft_session_run(session, nullptr, problems.out())); }
  weft_status Break(const char* block) {
    weft_breakpoint_options options = WEFT_BREAKPOINT_OPTIONS_INIT;
    options.block = block;
    return weft_session_break(session, &options, breakpoint.out(), problems.out());
  }
  weft_status Subscribe(const char* name, int32_t reduction = WEFT_LAST) {
    weft_subscription_options options = WEFT_SUBSCRIPTION_OPTIONS_INIT;
    options.reduction = reduction;
    return weft_session_subscribe(session, name, &options, subscription.out(), problems.out());
  }
  int32_t Wait() {
    int32_t state = WEFT_RUNNING;
    C_OK(problems, weft_session_wait(session, 20000, &state, problems.out()));
    return state;
  }
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, Line());
  OwnedSession session;
  OwnedBreakpoint breakpoint;
  OwnedSubscription subscription;
  Problems problems;
};

constexpr const char* kAddNew = R"({"op": "add", "block": {"id": "new", "block": "Abs", "inputs": {"x": "end.y"}}})";
constexpr const char* kRemoveOld = R"({"op": "remove", "block": "old"})";

}  // namespace

TEST_CASE("C: breakpoints and subscriptions take what an edit has just brought, and what the session's own page still has", "[capi][watch]") {
  EditedHost host;
  host.Run();
  host.Edit(kAddNew);
  host.Edit(kRemoveOld);
  // The session has not run since: its results are of the page with "old", its next run is of the page with "new".
  CHECK(host.Break("old") == WEFT_OK);
  CHECK(host.Subscribe("old.z", WEFT_MEAN) == WEFT_OK);
  CHECK(FloatsOf(host.session, "old.z") == std::vector<float>{2, 3});
  CHECK(host.Break("neither") == WEFT_NOT_FOUND);
  CHECK(host.Subscribe("neither.z") == WEFT_NOT_FOUND);
  CHECK(host.Subscribe("new.y", WEFT_MEAN) == WEFT_OK);
  CHECK(host.Break("new") == WEFT_OK);
  weft_run_options until = WEFT_RUN_OPTIONS_INIT;
  until.until_block = "old";
  CHECK(weft_session_start(host.session, &until, host.problems.out()) == WEFT_NOT_FOUND);
  C_OK(host.problems, weft_session_start(host.session, nullptr, host.problems.out()));
  REQUIRE(host.Wait() == WEFT_PAUSED);
  CHECK(InfoOf(host.session).pause_reason == WEFT_PAUSE_BREAK);
  C_OK(host.problems, weft_session_resume(host.session, WEFT_GO_ON, host.problems.out()));
  CHECK(host.Wait() == WEFT_IDLE);
  weft_sample sample = WEFT_SAMPLE_INIT;
  size_t count = 0;
  REQUIRE(weft_subscription_samples(host.subscription, &sample, 1, &count, nullptr) == WEFT_OK);
  REQUIRE(count == 1);
  CHECK(sample.code == WEFT_OK);
  OwnedView value(sample.value);
  CHECK(static_cast<const double*>(InfoOf(value).data)[1] == 2);
  // Now the session's own page has it no more, either.
  CHECK(host.Break("old") == WEFT_NOT_FOUND);
  CHECK(host.Subscribe("old.z") == WEFT_NOT_FOUND);
  until.until_block = "new";
  C_OK(host.problems, weft_session_start(host.session, &until, host.problems.out()));
  REQUIRE(host.Wait() == WEFT_PAUSED);
}

TEST_CASE("C: a paused run of the page as it was goes on with its own names", "[capi][watch]") {
  EditedHost host;
  REQUIRE(host.Break("end") == WEFT_OK);
  C_OK(host.problems, weft_session_start(host.session, nullptr, host.problems.out()));
  REQUIRE(host.Wait() == WEFT_PAUSED);
  host.Edit(R"([{"op": "rename", "block": "end", "to": "last"}, {"op": "remove", "block": "old"}])");
  OwnedView view;
  CHECK(weft_session_view(host.session, "old.z", view.out(), host.problems.out()) == WEFT_OK);
  OwnedSubscription subscription;
  C_OK(host.problems, weft_session_subscribe(host.session, "end.y", nullptr, subscription.out(), host.problems.out()));
  C_OK(host.problems, weft_session_resume(host.session, WEFT_GO_ON, host.problems.out()));
  CHECK(host.Wait() == WEFT_IDLE);
  CHECK(FloatsOf(host.session, "end.y") == std::vector<float>{-1, -2});
  weft_sample sample = WEFT_SAMPLE_INIT;
  size_t count = 0;
  REQUIRE(weft_subscription_samples(subscription, &sample, 1, &count, nullptr) == WEFT_OK);
  REQUIRE(count == 1);
  CHECK(sample.code == WEFT_OK);
  OwnedView value(sample.value);
  CHECK(FloatsOf(value) == std::vector<float>{-1, -2});
}

TEST_CASE("C: what is fed follows its block through a rename, and is taken back by the new name", "[capi]") {
  EditedHost host;
  FloatBuffer values({10, 20});
  weft_buffer buffer = values.get();
  C_OK(host.problems, weft_session_feed(host.session, "x.output", &buffer, host.problems.out()));
  host.Edit(R"({"op": "rename", "block": "x", "to": "input"})");
  host.Run();
  CHECK(FloatsOf(host.session, "end.y") == std::vector<float>{-10, -20});
  CHECK(weft_session_unbind(host.session, "x.output", host.problems.out()) == WEFT_NOT_FOUND);
  C_OK(host.problems, weft_session_unbind(host.session, "input.output", host.problems.out()));
  host.Run();
  CHECK(FloatsOf(host.session, "end.y") == std::vector<float>{-1, -2});
  CHECK(weft_session_unbind(host.session, "input.output", host.problems.out()) == WEFT_NOT_FOUND);
  // Fed by the name that an edit has just given, before any run of the page.
  host.Edit(R"({"op": "rename", "block": "input", "to": "given"})");
  C_OK(host.problems, weft_session_feed(host.session, "given.output", &buffer, host.problems.out()));
  host.Run();
  CHECK(FloatsOf(host.session, "end.y") == std::vector<float>{-10, -20});
}
