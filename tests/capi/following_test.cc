// Names that hosts give while the page is edited: those of the run that goes on, and those of the page as it is now.
#include <cmath>
#include <thread>

#include "tests/capi/watch_kit.h"

using namespace weft;
using namespace weft::test;

namespace {

std::vector<std::string> Line() {
  return {Block("x", "Const", {{"value", Vector({1, 2})}}), Block("old", "Add", {{"x", "x.output"}, {"y", Scalar(1)}}),
          Block("end", "Neg", {{"x", "x.output"}})};
}

/// Memory of the host that counts how often it comes back.
struct BoundFloats {
  explicit BoundFloats(std::vector<float> given) : floats(std::move(given)) {}
  weft_buffer get() {
    weft_buffer buffer = floats.get();
    buffer.user = &released;
    buffer.release = [](void* user, void*) { ++*static_cast<int*>(user); };
    return buffer;
  }
  FloatBuffer floats;
  int released = 0;
};

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
  weft_status Bind(const char* name, BoundFloats& values) {
    const weft_buffer buffer = values.get();
    return weft_session_bind_output(session, name, &buffer, problems.out());
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
constexpr const char* kWithoutInput = R"([{"op": "connect", "value": {"dtype": "DT_FLOAT", "shape": [2], "values": [0, 0]}, "to": "old.x"},
    {"op": "connect", "from": "old.z", "to": "end.x"}, {"op": "remove", "block": "input"}])";
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

TEST_CASE("C: what is fed follows its block through a rename, and is taken back by the new name or the one it was given", "[capi][following]") {
  EditedHost host;
  FloatBuffer values({10, 20});
  weft_buffer buffer = values.get();
  C_OK(host.problems, weft_session_feed(host.session, "x.output", &buffer, host.problems.out()));
  host.Edit(R"({"op": "rename", "block": "x", "to": "input"})");
  host.Run();
  CHECK(FloatsOf(host.session, "end.y") == std::vector<float>{-10, -20});
  C_OK(host.problems, weft_session_unbind(host.session, "x.output", host.problems.out()));
  CHECK(weft_session_unbind(host.session, "x.output", host.problems.out()) == WEFT_NOT_FOUND);
  C_OK(host.problems, weft_session_feed(host.session, "input.output", &buffer, host.problems.out()));
  host.Edit(R"({"op": "rename", "block": "input", "to": "x"})");
  host.Edit(R"({"op": "rename", "block": "x", "to": "input"})");
  host.Run();
  CHECK(FloatsOf(host.session, "end.y") == std::vector<float>{-10, -20});
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

TEST_CASE("C: memory that is bound as an output follows its block through renames, and is unbound by any of its names", "[capi][following]") {
  BoundFloats values({0, 0}), others({0, 0}), again({0, 0});
  EditedHost host;
  const auto bind = [&](const char* name) { C_OK(host.problems, host.Bind(name, values)); };
  bind("end.y");
  host.Edit(R"({"op": "rename", "block": "end", "to": "last"})");
  host.Run();
  CHECK(values.floats.values == std::vector<float>{-1, -2});
  C_OK(host.problems, weft_session_unbind(host.session, "end.y", host.problems.out()));
  CHECK(values.released == 1);
  CHECK(weft_session_unbind(host.session, "end.y", host.problems.out()) == WEFT_NOT_FOUND);
  CHECK(weft_session_unbind(host.session, "last.y", host.problems.out()) == WEFT_NOT_FOUND);
  bind("last.y");
  host.Edit(R"({"op": "rename", "block": "last", "to": "end"})");
  C_OK(host.problems, weft_session_unbind(host.session, "end.y", host.problems.out()));
  CHECK(values.released == 2);
  // By the name that an edit has just given, of which the session has not run yet; what the page calls it comes before what it was called.
  bind("end.y");
  host.Edit(R"([{"op": "rename", "block": "end", "to": "first"}, {"op": "rename", "block": "old", "to": "end"}])");
  C_OK(host.problems, host.Bind("end.z", others));
  C_OK(host.problems, host.Bind("first.y", again));
  CHECK(values.released == 3);
  host.Run();
  CHECK(again.floats.values == std::vector<float>{-1, -2});
  CHECK(others.floats.values == std::vector<float>{2, 3});
  C_OK(host.problems, weft_session_unbind(host.session, "end.z", host.problems.out()));
  CHECK(others.released == 1);
  CHECK(again.released == 0);
}

TEST_CASE("C: a run that goes on is not ended by a rename of the block whose output is bound", "[capi][following]") {
  BoundFloats values({0, 0});
  EditedHost host;
  C_OK(host.problems, host.Bind("end.y", values));
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.steps = WEFT_UNTIL_STOPPED;
  C_OK(host.problems, weft_session_start(host.session, &options, host.problems.out()));
  const auto run_on = [&] {
    const uint64_t runs = InfoOf(host.session).runs;
    while (InfoOf(host.session).state == WEFT_RUNNING && InfoOf(host.session).runs < runs + 3) std::this_thread::yield();
    REQUIRE(InfoOf(host.session).state == WEFT_RUNNING);
  };
  run_on();
  host.Edit(R"([{"op": "rename", "block": "end", "to": "last"}, {"op": "connect", "from": "old.z", "to": "last.x"}])");
  run_on();
  host.Edit(R"({"op": "remove", "block": "last"})");
  run_on();
  C_OK(host.problems, weft_session_stop(host.session, host.problems.out()));
  CHECK(host.Wait() == WEFT_IDLE);
  CHECK(values.floats.values == std::vector<float>{-2, -3});
}

TEST_CASE("C: while a block is away its output is not written, and is again when a block with its id is back", "[capi][following]") {
  BoundFloats values({0, 0});
  EditedHost host;
  C_OK(host.problems, host.Bind("end.y", values));
  // A host's own undo list has blocks as JSON: what it brings back is a new block, whose id a rename has changed since the last run.
  host.Edit(R"({"op": "rename", "block": "end", "to": "last"})");
  host.Edit(R"({"op": "remove", "block": "last"})");
  host.Run();
  CHECK(values.floats.values == std::vector<float>{0, 0});
  host.Edit(R"({"op": "add", "block": {"id": "last", "block": "Abs", "inputs": {"x": "old.z"}}})");
  host.Run();
  CHECK(values.floats.values == std::vector<float>{2, 3});
  host.Edit(R"({"op": "remove", "block": "last"})");
  CHECK(values.released == 0);
  C_OK(host.problems, weft_session_unbind(host.session, "last.y", host.problems.out()));
  CHECK(values.released == 1);
  CHECK(weft_session_unbind(host.session, "last.y", host.problems.out()) == WEFT_NOT_FOUND);
}

TEST_CASE("C: an output that an edit takes from what a session keeps ends no run, and a value of another shape does", "[capi][following]") {
  BoundFloats values({0, 0});
  EditedHost host;
  OwnedSession session = OpenSession(host.page, {"end.y"});
  weft_buffer buffer = values.get();
  host.Edit(R"({"op": "connect", "from": "old.z", "to": "end.x"})");
  C_OK(host.problems, weft_session_run(session, nullptr, host.problems.out()));
  C_OK(host.problems, weft_session_bind_output(session, "old.z", &buffer, host.problems.out()));
  C_OK(host.problems, weft_session_run(session, nullptr, host.problems.out()));
  CHECK(values.floats.values == std::vector<float>{2, 3});
  host.Edit(R"([{"op": "connect", "from": "x.output", "to": "end.x"}, {"op": "set", "input": "x.value", "value": {"dtype": "DT_FLOAT", "shape": [1], "values": [7]}}])");
  C_OK(host.problems, weft_session_run(session, nullptr, host.problems.out()));
  CHECK(values.floats.values == std::vector<float>{2, 3});
  host.Edit(R"([{"op": "connect", "from": "old.z", "to": "end.x"}, {"op": "rename", "block": "old", "to": "sum"}])");
  CHECK(weft_session_run(session, nullptr, host.problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(host.problems.at(0).block == std::string("sum"));
  CHECK(values.floats.values == std::vector<float>{2, 3});
}

TEST_CASE("C: what is fed is fed again when its block is back, and is taken back while it is away", "[capi][following]") {
  BoundFloats values({10, 20});
  EditedHost host;
  const auto add = [&](const std::string& id) {
    host.Edit(Cat(R"([{"op": "add", "block": {"id": ")", id, R"(", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [2], "values": [5, 6]}}}},
                      {"op": "connect", "from": ")", id, R"(.output", "to": "end.x"}])").c_str());
  };
  const weft_buffer buffer = values.get();
  C_OK(host.problems, weft_session_bind_input(host.session, "x.output", &buffer, host.problems.out()));
  host.Run();
  // It is back under another id than in the last run.
  host.Edit(R"({"op": "rename", "block": "x", "to": "input"})");
  host.Edit(kWithoutInput);
  if (GENERATE(false, true)) {
    host.Run();
    CHECK(FloatsOf(host.session, "end.y") == std::vector<float>{-1, -1});
  }
  add("input");
  host.Run();
  CHECK(FloatsOf(host.session, "end.y") == std::vector<float>{-10, -20});
  values.floats.values = {11, 21};
  host.Run();
  CHECK(FloatsOf(host.session, "end.y") == std::vector<float>{-11, -21});
  host.Edit(kWithoutInput);
  host.Run();
  CHECK(values.released == 0);
  const char* name = GENERATE("input.output", "x.output");  // that it had last, and that it was given
  C_OK(host.problems, weft_session_unbind(host.session, name, host.problems.out()));
  for (int i = 0; i < 3; ++i) host.Run();  // results of earlier runs go
  CHECK(values.released == 1);
  add("input");
  host.Run();
  CHECK(FloatsOf(host.session, "end.y") == std::vector<float>{-5, -6});
}

TEST_CASE("C: breakpoints follow renames, those that are off and those on conditions, too", "[capi][watch][following]") {
  EditedHost host;
  weft_breakpoint_options options = WEFT_BREAKPOINT_OPTIONS_INIT;
  const auto pauses_at = [&] {
    C_OK(host.problems, weft_session_start(host.session, nullptr, host.problems.out()));
    std::string block;
    if (host.Wait() == WEFT_PAUSED) {
      OwnedStrings place;
      C_OK(host.problems, weft_session_paused_at(host.session, place.out(), host.problems.out()));
      const char* text = "";
      REQUIRE(weft_strings_get(place, 1, &text, nullptr) == WEFT_OK);
      block = text;
      C_OK(host.problems, weft_session_resume(host.session, WEFT_GO_ON, host.problems.out()));
      CHECK(host.Wait() == WEFT_IDLE);
    }
    return block.substr(std::min(block.size(), block.find(": ") + 2));
  };
  SECTION("before a block") {
    options.block = "end";
    C_OK(host.problems, weft_session_break(host.session, &options, host.breakpoint.out(), host.problems.out()));
    CHECK(pauses_at() == "before end");
    C_OK(host.problems, weft_breakpoint_enable(host.breakpoint, GENERATE(0, 1), host.problems.out()));
    host.Edit(R"({"op": "rename", "block": "end", "to": "last"})");
    host.Edit(R"({"op": "rename", "block": "last", "to": "finish"})");
    C_OK(host.problems, weft_breakpoint_enable(host.breakpoint, 1, host.problems.out()));
    CHECK(pauses_at() == "before finish");
    host.Edit(R"({"op": "remove", "block": "finish"})");
    CHECK(pauses_at().empty());
    host.Edit(R"({"op": "add", "block": {"id": "finish", "block": "Abs", "inputs": {"x": "old.z"}}})");
    CHECK(pauses_at() == "before finish");
  }
  SECTION("on a condition") {
    options.kind = WEFT_BREAK_CONDITION;
    options.condition = " old.z[1]  >= 3";
    C_OK(host.problems, weft_session_break(host.session, &options, host.breakpoint.out(), host.problems.out()));
    CHECK(pauses_at() == "old.z[1] is 3");
    host.Edit(R"({"op": "rename", "block": "old", "to": "sum"})");
    CHECK(pauses_at() == "sum.z[1] is 3");
    host.Edit(R"({"op": "rename", "block": "sum", "to": "total"})");
    host.Edit(R"({"op": "remove", "block": "total"})");
    CHECK(pauses_at().empty());
    host.Edit(R"({"op": "add", "block": {"id": "total", "block": "Add", "inputs": {"x": "x.output", "y": "x.output"}}})");
    CHECK(pauses_at() == "total.z[1] is 4");
  }
  SECTION("on what is not finite") {
    options.kind = WEFT_BREAK_NOT_FINITE;
    options.block = "end";
    options.port = "y";
    C_OK(host.problems, weft_session_break(host.session, &options, host.breakpoint.out(), host.problems.out()));
    host.Edit(R"({"op": "rename", "block": "end", "to": "last"})");
    FloatBuffer values({NAN, 1});
    const weft_buffer buffer = values.get();
    C_OK(host.problems, weft_session_feed(host.session, "x.output", &buffer, host.problems.out()));
    CHECK(pauses_at().starts_with("last.y[0] is"));
  }
}

TEST_CASE("C: a run to a block stops at it under its new name", "[capi][following]") {
  EditedHost host;
  OwnedSession session = OpenSession(host.page, {"end.y"});
  weft_breakpoint_options once = WEFT_BREAKPOINT_OPTIONS_INIT;
  once.block = "end";
  once.once = 1;
  C_OK(host.problems, weft_session_break(session, &once, host.breakpoint.out(), host.problems.out()));
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.steps = 2;
  options.until_block = "old";  // which the first run does not need
  C_OK(host.problems, weft_session_start(session, &options, host.problems.out()));
  int32_t state = WEFT_RUNNING;
  C_OK(host.problems, weft_session_wait(session, 20000, &state, host.problems.out()));
  REQUIRE(InfoOf(session).pause_reason == WEFT_PAUSE_BREAK);
  host.Edit(R"([{"op": "rename", "block": "old", "to": "late"}, {"op": "connect", "from": "late.z", "to": "end.x"}])");
  C_OK(host.problems, weft_session_resume(session, WEFT_GO_ON, host.problems.out()));
  C_OK(host.problems, weft_session_wait(session, 20000, &state, host.problems.out()));
  REQUIRE(state == WEFT_PAUSED);
  CHECK(InfoOf(session).pause_reason == WEFT_PAUSE_REACHED);
  OwnedStrings place;
  C_OK(host.problems, weft_session_paused_at(session, place.out(), host.problems.out()));
  CHECK(TextOf(place) == "late");
}

TEST_CASE("C: events tell a session by the id that its block has in their run", "[capi][watch][following]") {
  WatchingHost host;
  OwnedEvents events = host.Events(WEFT_EVENT_BIT(WEFT_EVENT_PRINT) | WEFT_EVENT_BIT(WEFT_EVENT_RUN));
  const auto told_of = [&](const std::string& id) {
    host.Run(1);
    const std::vector<weft_event> told = Poll(events);
    CHECK(told.size() >= 2);
    for (const weft_event& event : told) CHECK(event.session == id);
  };
  told_of("run");
  C_OK(host.problems, weft_page_edit(host.page, R"({"op": "rename", "block": "run", "to": "train"})", WEFT_EDIT_APPLY, nullptr, host.problems.out()));
  told_of("train");
}

TEST_CASE("C: names and conditions that a host keeps itself are renamed as the engine's", "[capi][following]") {
  const auto renamed = [](const char* text, const char* from = "loss", const char* to = "cost") {
    OwnedStrings now;
    Problems problems;
    C_OK(problems, weft_name_renamed(text, from, to, now.out(), problems.out()));
    return TextOf(now);
  };
  CHECK(renamed("loss.output") == "cost.output");
  CHECK(renamed("loss.result_output[0][2]") == "cost.result_output[0][2]");
  CHECK(renamed("loss.output < 0.5") == "cost.output < 0.5");
  CHECK(renamed("  loss.z[1]<=-1e3 ") == "  cost.z[1]<=-1e3 ");
  CHECK(renamed("loss2.output > 1") == "loss2.output > 1");
  CHECK(renamed("lo.ss.output == 1", "lo.ss") == "cost.output == 1");
  CHECK(renamed("loss.x.output") == "loss.x.output");
  CHECK(renamed("run >= 100", "run", "train") == "run >= 100");
  CHECK(renamed("run.output >= 100", "run", "train") == "train.output >= 100");
  CHECK(renamed("", "", "x").empty());
  OwnedStrings now;
  CHECK(weft_name_renamed(nullptr, "a", "b", now.out(), nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_name_renamed("a.z", nullptr, "b", now.out(), nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_name_renamed("a.z", "a", nullptr, now.out(), nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_name_renamed("a.z", "a", "b", nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
}
