// Plans and gradients of a host's blocks that call the page that waits for them.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "tests/capi/capi_kit.h"

using namespace weft;
using namespace weft::test;

namespace {

constexpr const char kMove[] = R"({"op": "move", "block": "b", "layout": [1, 2]})";

/// What a block's functions do besides what they are for.
struct Work {
  std::function<void()> plan, gradient, run;
  int plans = 0;
};

int32_t Plan(void* user, const weft_plan_call* call, void**) {
  auto& work = *static_cast<Work*>(user);
  ++work.plans;
  if (work.plan) work.plan();
  return call->set_shape(call, 0, call->inputs[0].rank, call->inputs[0].shape);
}

int32_t Run(void* user, void*, const weft_run_call* call) {
  if (const auto& work = *static_cast<Work*>(user); work.run) work.run();
  std::memcpy(call->outputs[0].data, call->inputs[0].data, static_cast<size_t>(call->inputs[0].count) * sizeof(float));
  return WEFT_OK;
}

int32_t Gradient(void* user, const weft_gradient_call* call) {
  if (const auto& work = *static_cast<Work*>(user); work.gradient) work.gradient();
  return call->set(call, 0, call->gradients[0]);
}

void AddBlock(weft_runtime* runtime, const char* name, Work& work) {
  weft_block block = WEFT_BLOCK_INIT;
  block.name = name;
  block.summary = "For a test.";
  block.flags = WEFT_BLOCK_STATEFUL;  // each has a plan of its own
  block.inputs = kX;
  block.input_count = 1;
  block.outputs = kY;
  block.output_count = 1;
  block.plan = Plan;
  block.run = Run;
  block.gradient = Gradient;
  block.user = &work;
  Problems problems;
  C_OK(problems, weft_runtime_add_block(runtime, &block, problems.out()));
}

struct CallingHost {
  CallingHost() {
    AddBlock(runtime, "Calls", work);
    AddBlock(runtime, "Other", other);
    page = LoadPage(runtime, {Block("c", "Const", {{"value", Vector({1, 2})}}), Block("b", "Calls", {{"x", "c.output"}}),
                              Block("loss", "L2Loss", {{"t", "b.y"}}),
                              Block("grad", "AddSymbolicGradients", {{"outputs", "[\"loss.output\"]"}, {"inputs", "[\"c.output\"]"}})});
    session = OpenSession(page, {"grad.grad_outputs[0]", "b.y"});
  }
  void Edit() {
    const std::string edit = Cat(R"({"op": "set", "input": "c.value", "value": )", Vector({1, 2, 3}), "}");
    C_OK(problems, weft_page_edit(page, edit.c_str(), WEFT_EDIT_APPLY, nullptr, problems.out()));
  }
  /// Calls the page and its session, in all ways that there are to wait for what goes on.
  void CallAll() {
    OwnedSession opened;
    OwnedStrings text;
    weft_diagnostics* found = nullptr;
    Problems refused;
    codes.push_back(weft_page_edit(page, kMove, WEFT_EDIT_APPLY, nullptr, refused.out()));
    message = refused.text();
    codes.push_back(weft_session_open(page, nullptr, opened.out(), nullptr));
    codes.push_back(weft_page_diagnostics(page, &found, nullptr));
    codes.push_back(weft_page_write(page, text.out(), nullptr));
    codes.push_back(weft_session_run(session, nullptr, nullptr));
    codes.push_back(weft_session_wait(session, -1, nullptr, nullptr));
    weft_session_info info = WEFT_SESSION_INFO_INIT;
    codes.push_back(weft_session_get_info(session, &info, nullptr));
    codes.push_back(weft_session_close(session));
  }
  /// All calls of `during` were refused, and there were some.
  void RequireRefused(const char* during) {
    INFO(during);
    REQUIRE_FALSE(codes.empty());
    for (weft_status code : codes) CHECK(code == WEFT_FAILED_PRECONDITION);
    CHECK(message.find("waits for the plan or gradient") != std::string::npos);
    codes.clear();
  }

  Work work, other;
  std::vector<weft_status> codes;
  std::string message;
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page;
  OwnedSession session;
  Problems problems;
};

}  // namespace

TEST_CASE("C: a block's plan or gradient that calls its own page is refused, and the page goes on", "[capi][blocks]") {
  CallingHost host;
  host.work.plan = [&] { host.CallAll(); };
  {
    const OwnedSession second = OpenSession(host.page, {"b.y"});
    host.RequireRefused("opening a session");
  }
  host.Edit();
  host.RequireRefused("an edit");
  C_OK(host.problems, weft_session_run(host.session, nullptr, host.problems.out()));
  host.codes.clear();  // a plan of the edit may serve
  FloatBuffer longer({1, 2, 3, 4});
  const weft_buffer value = longer.get();
  C_OK(host.problems, weft_session_feed(host.session, "c.output", &value, host.problems.out()));
  C_OK(host.problems, weft_session_run(host.session, nullptr, host.problems.out()));
  host.RequireRefused("a run on this thread");
  FloatBuffer shorter({1});
  const weft_buffer less = shorter.get();
  C_OK(host.problems, weft_session_feed(host.session, "c.output", &less, host.problems.out()));
  C_OK(host.problems, weft_session_start(host.session, nullptr, host.problems.out()));
  C_OK(host.problems, weft_session_wait(host.session, 20000, nullptr, host.problems.out()));
  host.RequireRefused("a run in the background");
  host.work.plan = {};
  host.work.gradient = [&] { host.CallAll(); };
  host.Edit();
  host.RequireRefused("a gradient");
  host.work.gradient = {};
  CHECK(InfoOf(host.session).runs == 3);
  CHECK(FloatsOf(host.session, "b.y") == std::vector<float>{1});
}

TEST_CASE("C: plans may call other pages, whose plans may not call back; other threads and runs are free to", "[capi][blocks]") {
  CallingHost host;
  weft_status back = WEFT_OK, from_thread = WEFT_INTERNAL, from_run = WEFT_INTERNAL, own = WEFT_INTERNAL;
  bool nested = false;
  host.other.plan = [&] { back = weft_page_edit(host.page, kMove, WEFT_EDIT_APPLY, nullptr, nullptr); };
  host.work.plan = [&] {
    nested = true;
    const OwnedPage inner = LoadPage(host.runtime, {Block("o", "Other", {{"x", Vector({5})}})});
    const OwnedSession session = OpenSession(inner);
    own = weft_session_run(session, nullptr, nullptr);
    CHECK(FloatsOf(session, "o.y") == std::vector<float>{5});
    weft_session_info info = WEFT_SESSION_INFO_INIT;
    std::thread([&] { from_thread = weft_session_get_info(host.session, &info, nullptr); }).join();
  };
  host.Edit();
  REQUIRE(nested);
  CHECK(own == WEFT_OK);
  CHECK(back == WEFT_FAILED_PRECONDITION);
  CHECK(from_thread == WEFT_OK);
  // Inside a run there is nothing to wait for, also where another page is planned there.
  host.work.plan = {};
  host.work.run = [&] {
    const OwnedPage inner = LoadPage(host.runtime, {Block("o", "Other", {{"x", Vector({5})}})});
    weft_session_info info = WEFT_SESSION_INFO_INIT;
    from_run = weft_session_get_info(host.session, &info, nullptr);
  };
  C_OK(host.problems, weft_session_run(host.session, nullptr, host.problems.out()));
  CHECK(from_run == WEFT_OK);
  CHECK(back == WEFT_OK);
}

TEST_CASE("C: a block's run that saves or restores the state of its own page is refused at once, and the run goes on", "[capi][blocks]") {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / Cat("weft_capi_callback_", getpid(), ".snap");
  CallingHost host;
  weft_snapshot_options options = WEFT_SNAPSHOT_OPTIONS_INIT;
  options.patience_ms = 60000;
  C_OK(host.problems, weft_page_save_state(host.page, file.c_str(), &options, nullptr, host.problems.out()));
  host.work.run = [&] {
    host.codes.push_back(weft_page_save_state(host.page, file.c_str(), &options, nullptr, nullptr));
    host.codes.push_back(weft_page_restore_state(host.page, file.c_str(), &options, nullptr, nullptr));
  };
  const Clock::time_point start = Clock::now();
  C_OK(host.problems, weft_session_run(host.session, nullptr, host.problems.out()));
  CHECK(MillisecondsSince(start) < 30000);
  CHECK(host.codes == std::vector<weft_status>{WEFT_FAILED_PRECONDITION, WEFT_FAILED_PRECONDITION});
  C_OK(host.problems, weft_page_save_state(host.page, file.c_str(), &options, nullptr, host.problems.out()));
  std::filesystem::remove(file);
}
