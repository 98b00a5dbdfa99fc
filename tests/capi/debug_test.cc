// A paused run through the C interface: values that are replaced, states that forbid what is asked, and results of runs that were cancelled.
#include <thread>

#include "tests/capi/watch_kit.h"

using namespace weft;
using namespace weft::test;

namespace {

weft_breakpoint_options Before(const char* block) {
  weft_breakpoint_options options = WEFT_BREAKPOINT_OPTIONS_INIT;
  options.block = block;
  return options;
}

/// A scalar of floats as the host gives it.
struct ScalarBuffer {
  explicit ScalarBuffer(float given) : value(given) {}
  weft_buffer get() {
    weft_buffer buffer = WEFT_BUFFER_INIT;
    buffer.dtype = WEFT_FLOAT;
    buffer.data = &value;
    buffer.bytes = sizeof value;
    return buffer;
  }
  float value;
};

weft_status Override(weft_session* session, const char* name, float value, Problems& problems) {
  ScalarBuffer scalar(value);
  const weft_buffer buffer = scalar.get();
  return weft_session_override(session, name, &buffer, problems.out());
}

/// A page whose values have all kinds of memory: a kept one, one that is handed on, one whose shape the run tells.
std::vector<std::string> MixedBlocks() {
  return {Block("x", "Const", {{"value", Vector({1, -2, 3})}}),
          Block("sum", "Add", {{"x", "x.output"}, {"y", Scalar(1)}}),
          Block("same", "Identity", {{"input", "sum.z"}}),
          Block("where", "Where", {{"condition", "positive.z"}}),
          Block("positive", "Greater", {{"x", "sum.z"}, {"y", Scalar(0)}}),
          Block("twice", "Multiply", {{"x", "same.output"}, {"y", Scalar(2)}}),
          Block("rows", "Shape", {{"input", "where.index"}}),
          Block("end", "Neg", {{"x", "twice.z"}})};
}

/// What is handed on twice, without a copy: `first` reads the one, `second` the other.
std::vector<std::string> HandedOn() {
  return {Block("x", "Const", {{"value", Vector({1, 2})}}),
          Block("sum", "Add", {{"x", "x.output"}, {"y", Scalar(1)}}),
          Block("a", "Identity", {{"input", "sum.z"}}),
          Block("b", "Identity", {{"input", "a.output"}}),
          Block("first", "Multiply", {{"x", "a.output"}, {"y", Scalar(10)}}),
          Block("second", "Add", {{"x", "b.output"}, {"y", "first.z"}}),
          Block("c", "Identity", {{"input", "sum.z"}})};
}

struct MixedHost {
  explicit MixedHost(const std::vector<std::string>& blocks = MixedBlocks(), const char* before = "end") : page(LoadPage(runtime, blocks)) {
    weft_breakpoint_options options = Before(before);
    REQUIRE(weft_session_break(session, &options, breakpoint.out(), nullptr) == WEFT_OK);
  }
  void Pause() {
    C_OK(problems, weft_session_start(session, nullptr, problems.out()));
    int32_t state = WEFT_RUNNING;
    C_OK(problems, weft_session_wait(session, 20000, &state, problems.out()));
    REQUIRE(state == WEFT_PAUSED);
  }
  void GoOn() {
    C_OK(problems, weft_session_resume(session, WEFT_GO_ON, problems.out()));
    int32_t state = WEFT_RUNNING;
    C_OK(problems, weft_session_wait(session, 20000, &state, problems.out()));
    REQUIRE(state == WEFT_IDLE);
  }
  void Set(const char* name, std::vector<float> values) {
    FloatBuffer floats(std::move(values));
    const weft_buffer buffer = floats.get();
    C_OK(problems, weft_session_override(session, name, &buffer, problems.out()));
  }
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page;
  OwnedSession session = OpenSession(page);
  OwnedBreakpoint breakpoint;
  Problems problems;
};

}  // namespace

TEST_CASE("C: a value of a paused run is replaced for the steps to come, in this run alone", "[capi][watch]") {
  WatchingHost host;
  OwnedBreakpoint breakpoint = host.Break(Before("half"));
  host.Start(2);
  REQUIRE(host.Wait() == WEFT_PAUSED);
  CHECK(host.Peek("seen.z") == 1);
  C_OK(host.problems, Override(host.session, "seen.z", 10, host.problems));
  CHECK(host.Peek("seen.z") == 10);
  C_OK(host.problems, weft_session_resume(host.session, WEFT_STEP_BLOCK, host.problems.out()));
  REQUIRE(host.Wait() == WEFT_PAUSED);
  CHECK(host.Peek("half.z") == 5);
  C_OK(host.problems, weft_session_resume(host.session, WEFT_STEP_RUN, host.problems.out()));
  REQUIRE(host.Wait() == WEFT_PAUSED);
  CHECK(FloatsOf(host.session, "seen.z").at(0) == 10);
  CHECK(FloatsOf(host.session, "half.z").at(0) == 5);
  C_OK(host.problems, weft_breakpoint_enable(breakpoint, 0, host.problems.out()));
  C_OK(host.problems, weft_session_resume(host.session, WEFT_GO_ON, host.problems.out()));
  CHECK(host.Wait() == WEFT_IDLE);
  CHECK(FloatsOf(host.session, "half.z").at(0) == 1);  // the second run's own: 0.5 * (1 + 1)
}

TEST_CASE("C: values with memory of every kind are replaced, and what they came from stays", "[capi][watch]") {
  MixedHost host;
  OwnedView before, after;
  for (int run = 0; run < 3; ++run) {
    host.Pause();
    // What is only handed on gets memory of its own: its source keeps its value.
    host.Set("same.output", {7, 8, 9});
    // "twice" has run already, and its own value is one more.
    host.Set("twice.z", {1, 2, 3});
    host.GoOn();
    CHECK(FloatsOf(host.session, "sum.z") == std::vector<float>{2, -1, 4});
    CHECK(FloatsOf(host.session, "same.output") == std::vector<float>{7, 8, 9});
    CHECK(FloatsOf(host.session, "end.y") == std::vector<float>{-1, -2, -3});
    if (run == 0) before = ViewOf(host.session, "same.output");
  }
  REQUIRE(weft_breakpoint_enable(host.breakpoint, 0, nullptr) == WEFT_OK);
  for (int run = 0; run < 3; ++run) C_OK(host.problems, weft_session_run(host.session, nullptr, host.problems.out()));
  CHECK(FloatsOf(host.session, "same.output") == std::vector<float>{2, -1, 4});
  CHECK(FloatsOf(host.session, "end.y") == std::vector<float>{-4, 2, -8});
  CHECK(FloatsOf(before) == std::vector<float>{7, 8, 9});
}

TEST_CASE("C: what is handed on without a copy keeps its value where a block has read it, and follows where none has", "[capi][watch]") {
  using Floats = std::vector<float>;
  MixedHost early(HandedOn(), "first");
  early.Pause();
  early.Set("sum.z", {5, 6});
  early.GoOn();
  CHECK(FloatsOf(early.session, "sum.z") == Floats{5, 6});
  CHECK(FloatsOf(early.session, "a.output") == Floats{5, 6});
  CHECK(FloatsOf(early.session, "second.z") == Floats{55, 66});
  MixedHost host(HandedOn(), "second");
  for (int run = 0; run < 3; ++run) {
    host.Pause();  // `first` has read a
    host.Set("sum.z", {5, 6});
    host.GoOn();
    CHECK(FloatsOf(host.session, "sum.z") == Floats{5, 6});
    CHECK(FloatsOf(host.session, "a.output") == Floats{2, 3});
    CHECK(FloatsOf(host.session, "b.output") == Floats{2, 3});  // of a, not of sum
    CHECK(FloatsOf(host.session, "c.output") == Floats{5, 6});
    CHECK(FloatsOf(host.session, "first.z") == Floats{20, 30});
    CHECK(FloatsOf(host.session, "second.z") == Floats{22, 33});
  }
  host.Pause();
  host.Set("a.output", {7, 8});
  host.Set("sum.z", {5, 6});
  host.GoOn();
  CHECK(FloatsOf(host.session, "a.output") == Floats{7, 8});
  CHECK(FloatsOf(host.session, "b.output") == Floats{7, 8});
  CHECK(FloatsOf(host.session, "first.z") == Floats{20, 30});
  CHECK(FloatsOf(host.session, "second.z") == Floats{27, 38});
  host.Pause();
  C_OK(host.problems, weft_breakpoint_enable(host.breakpoint, 0, host.problems.out()));
  host.GoOn();
  for (int run = 0; run < 3; ++run) C_OK(host.problems, weft_session_run(host.session, nullptr, host.problems.out()));
  CHECK(FloatsOf(host.session, "b.output") == Floats{2, 3});
  CHECK(FloatsOf(host.session, "c.output") == Floats{2, 3});
  CHECK(FloatsOf(host.session, "second.z") == Floats{22, 33});
}

TEST_CASE("C: fused blocks take what was replaced, also of what is handed on without a copy", "[capi][watch]") {
  const auto large = [](const char* id, double value) {
    return Block(id, "Fill", {{"dims", test::Ints({2, 300000})}, {"value", Scalar(value)}});
  };
  const auto total = [](const char* id, const char* of) {
    return Block(id, "Cumsum", {{"x", of}, {"axis", test::Literal("DT_INT32", {}, {0})}});
  };
  // f1, f2 and f3 are fused, and would read a where sum is.
  const std::vector<std::string> blocks = {large("x", 1),
                                           total("sum", "x.output"),
                                           Block("a", "Identity", {{"input", "sum.out"}}),
                                           total("z", "sum.out"),
                                           Block("f1", "Multiply", {{"x", "a.output"}, {"y", "z.out"}}),
                                           Block("f2", "Add", {{"x", "f1.z"}, {"y", "a.output"}}),
                                           Block("f3", "Neg", {{"x", "f2.z"}})};
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, blocks);
  OwnedSession session = OpenSession(page, {"f3.y", "a.output", "sum.out"});
  OwnedBreakpoint breakpoint;
  Problems problems;
  weft_breakpoint_options before = Before("z");
  before.once = 1;
  C_OK(problems, weft_session_break(session, &before, breakpoint.out(), problems.out()));
  C_OK(problems, weft_session_start(session, nullptr, problems.out()));
  C_OK(problems, weft_session_wait(session, 20000, nullptr, problems.out()));
  REQUIRE(InfoOf(session).state == WEFT_PAUSED);
  const std::vector<float> values(600000, 5);
  const int64_t shape[] = {2, 300000};
  weft_buffer buffer = WEFT_BUFFER_INIT;
  buffer.dtype = WEFT_FLOAT;
  buffer.rank = 2;
  buffer.shape = shape;
  buffer.data = const_cast<float*>(values.data());
  buffer.bytes = static_cast<int64_t>(values.size() * sizeof(float));
  C_OK(problems, weft_session_override(session, "a.output", &buffer, problems.out()));
  C_OK(problems, weft_session_resume(session, WEFT_GO_ON, problems.out()));
  C_OK(problems, weft_session_wait(session, 20000, nullptr, problems.out()));
  CHECK(FloatsOf(session, "sum.out").back() == 2);
  CHECK(FloatsOf(session, "f3.y").back() == -20);  // -(5 * 3 + 5)
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  CHECK(FloatsOf(session, "f3.y").back() == -8);
}

TEST_CASE("C: what is handed on has no value before what it hands on has one", "[capi][watch]") {
  MixedHost host(HandedOn(), "sum");
  host.Pause();
  OwnedView view;
  CHECK(weft_session_view(host.session, "a.output", view.out(), host.problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(host.problems.text().find("no value yet") != std::string::npos);
  host.GoOn();
}

TEST_CASE("C: a value whose shape the run tells takes another shape", "[capi][watch]") {
  MixedHost host;
  weft_breakpoint_options options = Before("rows");
  OwnedBreakpoint second;
  REQUIRE(weft_session_break(host.session, &options, second.out(), nullptr) == WEFT_OK);
  host.Pause();
  OwnedStrings place;
  C_OK(host.problems, weft_session_paused_at(host.session, place.out(), host.problems.out()));
  const char* block = nullptr;
  REQUIRE(weft_strings_get(place, 0, &block, nullptr) == WEFT_OK);
  if (block == std::string("end")) {
    C_OK(host.problems, weft_session_resume(host.session, WEFT_GO_ON, host.problems.out()));
    int32_t state = WEFT_RUNNING;
    C_OK(host.problems, weft_session_wait(host.session, 20000, &state, host.problems.out()));
    REQUIRE(state == WEFT_PAUSED);
  }
  const int64_t rows[] = {0, 0, 1, 2};
  const int64_t shape[] = {4, 1};
  weft_buffer buffer = WEFT_BUFFER_INIT;
  buffer.dtype = WEFT_INT64;
  buffer.rank = 2;
  buffer.shape = shape;
  buffer.data = const_cast<int64_t*>(rows);
  buffer.bytes = sizeof rows;
  C_OK(host.problems, weft_session_override(host.session, "where.index", &buffer, host.problems.out()));
  int32_t state = WEFT_PAUSED;
  while (state == WEFT_PAUSED) {
    C_OK(host.problems, weft_session_resume(host.session, WEFT_GO_ON, host.problems.out()));
    C_OK(host.problems, weft_session_wait(host.session, 20000, &state, host.problems.out()));
  }
  OwnedView counted = ViewOf(host.session, "rows.output");
  CHECK(*static_cast<const int32_t*>(InfoOf(counted).data) == 4);
}

TEST_CASE("C: what cannot be replaced is refused, and nothing changes", "[capi][watch]") {
  WatchingHost host;
  CHECK(Override(host.session, "seen.z", 1, host.problems) == WEFT_FAILED_PRECONDITION);  // idle
  OwnedBreakpoint breakpoint = host.Break(Before("half"));
  host.Start(1);
  REQUIRE(host.Wait() == WEFT_PAUSED);
  CHECK(Override(host.session, "half.z", 1, host.problems) == WEFT_FAILED_PRECONDITION);  // not computed yet
  CHECK(Override(host.session, "nothing.z", 1, host.problems) == WEFT_NOT_FOUND);
  CHECK(Override(host.session, "v.ref", 1, host.problems) == WEFT_UNSUPPORTED);
  CHECK(std::string(host.problems.at(0).hint).find("variable") != std::string::npos);
  FloatBuffer three({1, 2, 3});
  weft_buffer wrong = three.get();
  CHECK(weft_session_override(host.session, "seen.z", &wrong, host.problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(host.problems.at(0).needed == std::string("DT_FLOAT []"));
  CHECK(host.problems.at(0).found == std::string("DT_FLOAT [3]"));
  wrong.dtype = WEFT_INT32;
  CHECK(weft_session_override(host.session, "seen.z", &wrong, host.problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_session_override(host.session, nullptr, &wrong, nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_session_override(host.session, "seen.z", nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(host.Peek("seen.z") == 1);
  C_OK(host.problems, weft_session_cancel(host.session, host.problems.out()));
  MixedHost mixed;
  mixed.Pause();
  FloatBuffer values({1, 1, 1});
  const weft_buffer buffer = values.get();
  CHECK(weft_session_override(mixed.session, "x.output", &buffer, mixed.problems.out()) == WEFT_UNSUPPORTED);
  CHECK(weft_session_override(mixed.session, "sum.result_z[1]", &buffer, mixed.problems.out()) == WEFT_UNSUPPORTED);
}

TEST_CASE("C: what a state forbids is refused, and leaves the state as it is", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, WatchedBlocks());
  OwnedSession session;
  REQUIRE(weft_session_open(page, nullptr, session.out(), nullptr) == WEFT_OK);
  OwnedView view;
  OwnedStrings place;
  auto refused = [&](weft_status status, int32_t state) {
    CHECK(status == WEFT_FAILED_PRECONDITION);
    CHECK(InfoOf(session).state == state);
  };
  // Idle: there is nothing to pause, resume or see; stop and cancel do nothing.
  refused(weft_session_pause(session, nullptr), WEFT_IDLE);
  for (int32_t how : {WEFT_GO_ON, WEFT_STEP_BLOCK, WEFT_STEP_RUN}) refused(weft_session_resume(session, how, nullptr), WEFT_IDLE);
  refused(weft_session_view(session, "seen.z", view.out(), nullptr), WEFT_IDLE);
  refused(weft_session_paused_at(session, place.out(), nullptr), WEFT_IDLE);
  refused(weft_session_cancel_start(session, 1, nullptr), WEFT_IDLE);
  CHECK(weft_session_stop(session, nullptr) == WEFT_OK);
  CHECK(weft_session_cancel(session, nullptr) == WEFT_OK);
  // Paused: it cannot be run or started anew; pause is no change.
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.until_block = "half";
  REQUIRE(weft_session_start(session, &options, nullptr) == WEFT_OK);
  int32_t state = WEFT_RUNNING;
  REQUIRE(weft_session_wait(session, 20000, &state, nullptr) == WEFT_OK);
  REQUIRE(state == WEFT_PAUSED);
  refused(weft_session_run(session, nullptr, nullptr), WEFT_PAUSED);
  refused(weft_session_start(session, nullptr, nullptr), WEFT_PAUSED);
  CHECK(weft_session_pause(session, nullptr) == WEFT_OK);
  CHECK(weft_session_resume(session, 3, nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_session_resume(session, -1, nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(InfoOf(session).state == WEFT_PAUSED);
  CHECK(weft_session_set_mode(session, 4, nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
  REQUIRE(weft_session_stop(session, nullptr) == WEFT_OK);
  REQUIRE(weft_session_wait(session, 20000, &state, nullptr) == WEFT_OK);
  CHECK(state == WEFT_IDLE);
  CHECK(InfoOf(session).runs == 1);
}

TEST_CASE("C: each start has a number, by which it alone is cancelled", "[capi]") {
  WatchingHost host;
  OwnedEvents events = host.Events(WEFT_EVENT_BIT(WEFT_EVENT_STATE) | WEFT_EVENT_BIT(WEFT_EVENT_PRINT) | WEFT_EVENT_BIT(WEFT_EVENT_RUN));
  CHECK(InfoOf(host.session).start == 0);
  host.Run(1);
  CHECK(InfoOf(host.session).start == 1);
  host.Start(WEFT_UNTIL_STOPPED);
  CHECK(InfoOf(host.session).start == 2);
  CHECK(weft_session_cancel_start(host.session, 1, host.problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(std::string(host.problems.at(0).message).find("is over") != std::string::npos);
  CHECK(weft_session_cancel_start(host.session, 3, host.problems.out()) == WEFT_FAILED_PRECONDITION);
  C_OK(host.problems, weft_session_cancel_start(host.session, 2, host.problems.out()));
  int32_t state = WEFT_RUNNING;
  CHECK(weft_session_wait(host.session, 20000, &state, nullptr) == WEFT_CANCELLED);
  CHECK(state == WEFT_IDLE);
  CHECK(weft_session_cancel_start(host.session, 2, nullptr) == WEFT_FAILED_PRECONDITION);
  bool second = false;
  for (const weft_event& event : Poll(events, 4096)) {
    CHECK(event.start <= 2);
    second = second || event.start == 2;
    if (event.kind == WEFT_EVENT_PRINT || event.kind == WEFT_EVENT_RUN) CHECK(event.start >= 1);
  }
  CHECK(second);
}

TEST_CASE("C: results are stale after a run that was cancelled or failed, until one succeeds", "[capi]") {
  WatchingHost host;
  host.Run(1);
  auto stale = [&](const char* name) { return InfoOf(ViewOf(host.session, name)).stale != 0; };
  CHECK_FALSE(stale("half.z"));
  OwnedView held = ViewOf(host.session, "half.z");
  OwnedSubscription subscription;
  REQUIRE(weft_session_subscribe(host.session, "half.z", nullptr, subscription.out(), nullptr) == WEFT_OK);
  host.Run(1);
  OwnedBreakpoint breakpoint = host.Break(Before("say"));
  host.Start(1);
  REQUIRE(host.Wait() == WEFT_PAUSED);
  CHECK_FALSE(stale("half.z"));  // its run goes on; what is shown is of the last one
  REQUIRE(weft_session_cancel(host.session, nullptr) == WEFT_OK);
  CHECK(weft_session_wait(host.session, 20000, nullptr, nullptr) == WEFT_CANCELLED);
  CHECK(stale("half.z"));
  CHECK(FloatsOf(host.session, "half.z").at(0) == 1);
  CHECK(InfoOf(ViewOf(host.session, "half.z")).generation == 2);
  CHECK(InfoOf(held).stale == 0);  // a view never changes
  const char* names[] = {"half.z", "seen.z"};
  weft_view* views[2] = {};
  REQUIRE(weft_session_views(host.session, names, 2, views, nullptr) == WEFT_OK);
  for (weft_view* view : views) {
    OwnedView owned(view);
    CHECK(InfoOf(view).stale != 0);
  }
  // A sample that was ready before is of its run.
  weft_sample sample = WEFT_SAMPLE_INIT;
  size_t count = 0;
  REQUIRE(weft_subscription_samples(subscription, &sample, 1, &count, nullptr) == WEFT_OK);
  REQUIRE(count == 1);
  CHECK(sample.code == WEFT_OK);
  CHECK(sample.run == 2);
  OwnedView value(sample.value);
  REQUIRE(weft_breakpoint_enable(breakpoint, 0, nullptr) == WEFT_OK);
  host.Run(1);
  CHECK_FALSE(stale("half.z"));
  CHECK(InfoOf(ViewOf(host.session, "half.z")).generation == 3);
}

TEST_CASE("C: memory bound as an input is never that of a variable which starts by a wire", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, {Block("x", "Const", {{"value", Vector({1, 2})}}), Block("i", "Identity", {{"input", "x.output"}}),
                                      Block("v", "Variable", {{"initvalues", "x.output"}}), Block("w", "Variable", {{"initvalues", "i.output"}}),
                                      Block("y", "Add", {{"x", "x.output"}, {"y", "v.ref"}}),
                                      Block("grow", "AssignAdd", {{"ref", "w.ref"}, {"value", "x.output"}})});
  OwnedSession session = OpenSession(page, {"y.z", "v.ref", "grow.output_ref"});
  Problems problems;
  FloatBuffer values({10, 20});
  const weft_buffer buffer = values.get();
  C_OK(problems, weft_session_bind_input(session, "x.output", &buffer, problems.out()));
  auto variable = [&](const char* name) {
    OwnedView view;
    C_OK(problems, weft_page_get_variable(page, name, view.out(), problems.out()));
    return view;
  };
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  OwnedView v = variable("v"), w = variable("w"), seen = ViewOf(session, "v.ref"), sum = ViewOf(session, "y.z");
  const std::vector<float> v_was = FloatsOf(v), w_was = FloatsOf(w), sum_was = FloatsOf(sum);
  CHECK(InfoOf(v).data != values.values.data());
  CHECK(InfoOf(w).data != values.values.data());
  CHECK(sum_was == std::vector<float>{10 + v_was[0], 20 + v_was[1]});
  CHECK(w_was == std::vector<float>{v_was[0] + 10, v_was[1] + 20});
  // The host writes its memory: what was started from it, and what is held, stays.
  values.values = {100, 200};
  CHECK(FloatsOf(v) == v_was);
  CHECK(FloatsOf(w) == w_was);
  CHECK(FloatsOf(seen) == v_was);
  CHECK(FloatsOf(sum) == sum_was);
  CHECK(FloatsOf(variable("v")) == v_was);
  CHECK(FloatsOf(variable("w")) == w_was);
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  CHECK(FloatsOf(session, "y.z") == std::vector<float>{100 + v_was[0], 200 + v_was[1]});
  CHECK(FloatsOf(variable("v")) == v_was);
  CHECK(FloatsOf(variable("w")) == std::vector<float>{w_was[0] + 100, w_was[1] + 200});
  CHECK(values.values == std::vector<float>{100, 200});  // updates write elsewhere
}
