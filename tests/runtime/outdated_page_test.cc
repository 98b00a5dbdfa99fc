// Sessions of a page whose edits leave faults: they go on with the last plan that could be made, and say so.
#include "tests/runtime/host_kit.h"
#include "weft/host/events.h"

namespace weft::test {
namespace {

// Makes the edits and gives what takes them back.
std::vector<Edit> Apply(const TestPage& page, std::string_view json) {
  auto edits = ReadEdits(json);
  INFO(json << "\n" << ToString(edits.status()));
  REQUIRE(edits.ok());
  Diagnostics found;
  auto undo = page.scope()->Apply(*edits, found);
  INFO(ToString(undo.status()));
  REQUIRE(undo.ok());
  return std::move(*undo);
}
void Undo(const TestPage& page, const std::vector<Edit>& edits) {
  Diagnostics found;
  REQUIRE(page.scope()->Apply(edits, found).ok());
}

constexpr const char* kCut = R"({"op": "disconnect", "to": "half.x"})";
constexpr const char* kJoin = R"({"op": "connect", "from": "seen.z", "to": "half.x"})";

bool IsOld(const Session& session, std::string_view name) { return session.Get(name).value().outdated_page; }

}  // namespace

TEST_CASE("outdated page: while a wire is cut runs go on with the last good plan, and take the new one when there is one", "[page_edit]") {
  TestPage page(CountingPage());
  auto session = page.Open({"half.z"}, {"count"});
  RunOk(*session);
  CHECK(Get(*session, "half.z") == Floats{0.5F});
  CHECK_FALSE(IsOld(*session, "half.z"));
  Apply(page, kCut);
  RunOk(*session);
  CHECK(session->outdated_page());
  CHECK(Get(*session, "half.z") == Floats{1});
  CHECK(IsOld(*session, "half.z"));
  CHECK(page.Var("v") == Floats{2});  // its runs count
  CHECK(session->Results().size() > 1);
  const Status fault = session->faults().FirstError();
  CHECK(fault.code() == Code::kFailedPrecondition);
  REQUIRE(fault.cause() != nullptr);
  CHECK(fault.cause()->place().block == "half");
  CHECK(fault.cause()->place().port == "x");
  // Another edit that leaves the fault is tried, and is none to take.
  Apply(page, R"({"op": "rename", "block": "seen", "to": "counted"})");
  RunOk(*session);
  CHECK(session->outdated_page());
  CHECK(Get(*session, "seen.z") == Floats{3});
  Apply(page, R"({"op": "connect", "from": "counted.z", "to": "half.x"})");
  RunOk(*session);
  CHECK_FALSE(session->outdated_page());
  CHECK(session->faults().all().empty());
  CHECK(Get(*session, "half.z") == Floats{2});
  CHECK(Get(*session, "counted.z") == Floats{4});
  CHECK_FALSE(IsOld(*session, "half.z"));
}

TEST_CASE("outdated page: faults that only planning finds, and blocks that are gone, end no run", "[page_edit]") {
  TestPage page({Block("a", "Const", {{"value", Vector({1, 2})}}), Block("b", "Const", {{"value", Vector({3, 4})}}),
                 Block("sum", "Add", {{"x", "a.output"}, {"y", "b.output"}})});
  auto session = page.Open({"sum.z"});
  RunOk(*session);
  for (const std::string& edit : {Cat(R"({"op": "set", "input": "b.value", "value": )", Vector({1, 2, 3}), "}"),  // shapes
                                  std::string(R"({"op": "remove", "block": "sum"})")}) {
    INFO(edit);
    const auto undo = Apply(page, edit);
    RunOk(*session);
    CHECK(session->outdated_page());
    CHECK_FALSE(session->faults().FirstError().ok());
    CHECK(Get(*session, "sum.z") == Floats{4, 6});
    Undo(page, undo);
    RunOk(*session);
    CHECK_FALSE(session->outdated_page());
  }
}

TEST_CASE("outdated page: a session without a run that succeeded fails, and runs when the page can be planned", "[page_edit]") {
  TestPage page(CountingPage());
  auto session = page.Open({"half.z"}, {"count"});
  Diagnostics found;
  session->Prepare(found);
  CHECK(session->planned());
  Apply(page, kCut);
  Status status = session->Run();
  CHECK(status.code() == Code::kFailedPrecondition);
  CHECK_FALSE(session->outdated_page());
  CHECK_FALSE(session->faults().all().empty());
  Apply(page, kJoin);
  RunOk(*session);
  CHECK(Get(*session, "half.z") == Floats{0.5F});
}

TEST_CASE("outdated page: a variable that starts anew is not written by runs of the page as it was", "[page_edit]") {
  TestPage page(CountingPage());
  auto session = page.Open({"half.z"}, {"count"});
  RunOk(*session);
  Apply(page, Cat("[", kCut, R"(, {"op": "set", "input": "v.initvalues", "value": )", Scalar(100), "}]"));
  for (int i = 0; i < 3; ++i) RunOk(*session);
  CHECK(Get(*session, "seen.z") == Floats{4});  // its own variable goes on
  CHECK(page.scope()->GetVariable("v").status().code() == Code::kFailedPrecondition);
  Apply(page, kJoin);
  RunOk(*session);
  CHECK(Get(*session, "seen.z") == Floats{101});
  CHECK(page.Var("v") == Floats{101});
}

TEST_CASE("outdated page: another feed is a reason to try again", "[page_edit]") {
  TestPage page({Block("a", "Const", {{"value", Vector({1, 2})}}), Block("b", "Const", {{"value", Vector({3, 4})}}),
                 Block("sum", "Add", {{"x", "a.output"}, {"y", "b.output"}})});
  Driven host(page, {"sum.z"});
  const auto floats = [](std::vector<float> values) {
    Tensor tensor = Tensor::Allocate(DType::kFloat, Shape{static_cast<int64_t>(values.size())}).value();
    std::copy(values.begin(), values.end(), tensor.values<float>().begin());
    return tensor;
  };
  REQUIRE(host.runner->Feed("a.output", floats({10, 20})).ok());
  REQUIRE(host.runner->RunBlocking({}).ok());
  Apply(page, Cat(R"({"op": "set", "input": "b.value", "value": )", Vector({1, 2, 3}), "}"));
  REQUIRE(host.runner->RunBlocking({}).ok());
  CHECK(host.session->outdated_page());
  CHECK(Get(*host.session, "sum.z") == Floats{13, 24});
  REQUIRE(host.runner->Feed("a.output", floats({1, 1, 1})).ok());
  REQUIRE(host.runner->RunBlocking({}).ok());
  CHECK_FALSE(host.session->outdated_page());
  CHECK(Get(*host.session, "sum.z") == Floats{2, 3, 4});
  // Another type, too: until it is fed, the page as it was runs.
  Apply(page, Cat(R"([{"op": "set", "input": "a.value", "value": )", Ints({5}), R"(}, {"op": "set", "input": "b.value", "value": )", Ints({1}), "}]"));
  REQUIRE(host.runner->RunBlocking({}).ok());
  CHECK(host.session->outdated_page());
  Tensor whole = Tensor::Allocate(DType::kInt32, Shape{1}).value();
  whole.values<int32_t>()[0] = 7;
  REQUIRE(host.runner->Feed("a.output", whole).ok());
  REQUIRE(host.runner->RunBlocking({}).ok());
  CHECK(Get<int32_t>(*host.session, "sum.z") == std::vector<int32_t>{8});
}

TEST_CASE("outdated page: a run that goes on for long lives through disconnect and reconnect, and its events say when it is old", "[page_edit][events]") {
  TestPage page(CountingPage());
  Driven host(page, {"half.z"}, {"count"});
  auto queue = std::make_shared<EventQueue>();
  EventOptions options;
  options.kinds = MaskOf(EventKind::kRun) | MaskOf(EventKind::kError);
  options.queue = queue;
  host.runner->AddListener(std::make_shared<EventFeed>(*host.session, std::move(options)));
  const auto told = [&](bool old) {
    const Clock::time_point start = Clock::now();
    while (MillisecondsSince(start) < 20000) {
      queue->Wait(milliseconds(50));
      for (const Event& event : queue->Poll()) {
        CHECK(event.kind == EventKind::kRun);
        if (event.outdated_page == old && event.progress == Progress::kEnded) return true;
      }
    }
    return false;
  };
  host.Start(-1);
  REQUIRE(told(false));
  Apply(page, kCut);
  REQUIRE(told(true));
  Apply(page, kJoin);
  REQUIRE(told(false));
  CHECK(host.runner->state().state == RunState::kRunning);
  host.runner->Stop();
  CHECK(host.Ended().ok());
  CHECK(page.Var("v") == Floats{static_cast<float>(host.session->runs())});
  host.runner->Close();
}

}  // namespace weft::test
