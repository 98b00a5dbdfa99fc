// Calls that work on a page end at a deadline or when they are cancelled, and leave everything as it was.
#include <catch2/catch.hpp>
#include <ctime>

#include "runtime/base/call_limit.h"
#include "runtime/plan/step_order.h"
#include "tests/kit/sanitized.h"
#include "tests/runtime/page_test.h"
#include "tests/runtime/session_kit.h"
#include "weft/host/document.h"

namespace weft::test {
namespace {

using Catch::Matchers::Contains;
using Clock = CallLimit::Clock;

std::vector<std::string> ChainOf(int count) {
  std::vector<std::string> blocks = {Block("b0", "Const", {{"value", Vector({1, 2})}})};
  for (int i = 1; i < count; ++i) blocks.push_back(Block(Cat("b", i), "Negate", {{"x", Cat("b", i - 1, i == 1 ? ".output" : ".y")}}));
  return blocks;
}

TEST_CASE("A limit stops the thread that set it, at its deadline or when its flag is set", "[call_limit]") {
  CallLimit::Check();  // without one nothing happens
  {
    const CallLimit none(std::nullopt);
    for (int i = 0; i < 1000; ++i) CallLimit::Check();
  }
  {
    const CallLimit over(Clock::now());
    CHECK_THROWS_AS(CallLimit::Check(), CallStopped);
  }
  std::atomic<bool> cancelled{false};
  {
    const CallLimit outer(std::nullopt, &cancelled);
    const CallLimit inner(Clock::now() + std::chrono::hours(1));
    CallLimit::Check();
    cancelled = true;
    bool stopped = false;
    for (int i = 0; i < 1000 && !stopped; ++i) {
      try {
        CallLimit::Check();
      } catch (const CallStopped& stop) {
        CHECK(stop.status().message() == "the call was cancelled");
        stopped = true;
      }
    }
    CHECK(stopped);
  }
  {
    const CallLimit outer(Clock::now());
    const CallLimit inner(Clock::now() + std::chrono::hours(1));  // cannot be longer than the outer one
    CHECK_THROWS_AS(CallLimit::Check(), CallStopped);
  }
  CallLimit::Check();
}

TEST_CASE("An edit that is stopped leaves the page as it was", "[call_limit]") {
  TestPage page(ChainOf(200));
  const std::string before = WritePage(page.scope()->revision()->graph->page());
  const std::vector<Edit> edit = ReadEdits(R"({"op": "remove", "block": "b100"})").value();
  Diagnostics found;
  {
    const CallLimit over(Clock::now());
    CHECK_THROWS_AS(page.scope()->Apply(edit, found, EditMode::kApply), CallStopped);
  }
  CHECK(WritePage(page.scope()->revision()->graph->page()) == before);
  CHECK(page.scope()->edits() == 0);
  REQUIRE(page.scope()->Apply(edit, found, EditMode::kApply).ok());
  CHECK(page.scope()->edits() == 1);
}

TEST_CASE("A session whose planning is stopped says so, and plans the next time", "[call_limit]") {
  TestPage page(ChainOf(200));
  Session session(page.scope(), page.scope()->graph().DefaultSession());
  RunOptions late;
  late.deadline = Clock::now();
  const Status status = session.Run(late);
  CHECK(status.code() == Code::kCancelled);
  RunOk(session);
  // The same for an edit's plan: the run at the deadline fails, and nothing calls the page faulty.
  Diagnostics found;
  REQUIRE(page.scope()->Apply(ReadEdits(R"({"op": "set", "input": "b0.value", "value": {"dtype": "DT_FLOAT", "shape": [3], "values": [1, 2, 3]}})").value(), found, EditMode::kApply).ok());
  late.deadline = Clock::now();
  CHECK(session.Run(late).code() == Code::kCancelled);
  CHECK_FALSE(session.outdated_page());
  RunOk(session);
  CHECK(Get(session, "b199.y") == Floats{-1, -2, -3});
}

TEST_CASE("The order of steps that wait or update is not looked for when the time is over", "[call_limit]") {
  const std::string area = "dtypes_ = {DT_FLOAT};shared_name_ = s;";
  TestPage page({Variable("v", Scalar(1)), Block("take", "Unstage", {}, area), Block("up", "AssignAdd", {{"ref", "v.ref"}, {"value", Scalar(1)}}),
                 Block("put", "Stage", {{"values", "[\"up.output_ref\"]"}}, area)});
  const Graph& graph = page.graph();
  const std::vector<int> order = graph.in_order();
  const int update = graph.FindNode("up").value(), fill = graph.FindNode("put").value();
  const auto none = [] { return std::set<int>(); };
  CHECK(WaitingForUpdates(graph, order, {update, fill}, Clusters(), {}).size() == 1);
  // The first look of a limit is at once.
  const auto late = [](auto&& call) {
    const CallLimit over(Clock::now());
    call();
  };
  CHECK_THROWS_AS(late([&] { WaitingLast(graph, order, Clusters(), none); }), CallStopped);
  CHECK_THROWS_AS(late([&] { ProducersFirst(graph, order, Clusters()); }), CallStopped);
  CHECK_THROWS_AS(late([&] { WaitingForUpdates(graph, order, {update, fill}, Clusters(), {}); }), CallStopped);
  CHECK_THROWS_AS(late([&] { OrderUpdates(graph, {update}, Clusters()); }), CallStopped);
}

TEST_CASE("The order of many updates of one of many variables is found once for all of them", "[call_limit]") {
  constexpr int kCount = 4000;
  std::vector<std::string> blocks = {Block("index", "Const", {{"value", Literal("DT_INT32", {}, {1})}})};
  std::string variables;
  for (int i = 0; i < kCount; ++i) {
    blocks.push_back(Variable(Cat("v", i), Scalar(0)));
    variables += Cat(i ? ", " : "", "\"v", i, ".ref\"");
  }
  blocks.push_back(Block("select", "RefSelect", {{"index", "index.output"}, {"inputs", Cat("[", variables, "]")}}));
  blocks.push_back(Block("u0", "AssignAdd", {{"ref", "v1.ref"}, {"value", Scalar(1)}}));
  for (int i = 1; i < kCount; ++i) blocks.push_back(Block(Cat("u", i), "AssignAdd", {{"ref", "select.output"}, {"value", Scalar(1)}}));
  blocks.push_back(Block(Cat("u", kCount), "AssignAdd", {{"ref", "v2.ref"}, {"value", Scalar(1)}}));
  const TestPage page(blocks);
  std::vector<int> updates;
  for (int i = 0; i <= kCount; ++i) updates.push_back(page.graph().FindNode(Cat("u", i)).value());
  const std::vector<int> backwards(updates.rbegin(), updates.rend());
  const CallLimit limit(Clock::now() + std::chrono::seconds(1));
  CHECK(OrderUpdates(page.graph(), backwards, Clusters()) == updates);
}

TEST_CASE("A document's calls end at the runtime's deadline", "[call_limit]") {
  auto runtime = std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .call_deadline = std::chrono::nanoseconds(1)});
  auto document = Document::Open(runtime, PageOf(ChainOf(100)), {.name = "slow.json"});
  CHECK(document->faults().FirstError().code() == Code::kCancelled);
  CHECK(document->faults().FirstError().place().page == "slow.json");
  CHECK(document->scope()->revision()->graph->page().blocks.empty());
  Diagnostics found;
  const auto edited = document->Apply(R"({"op": "add", "block": {"id": "n", "block": "NoOp"}})", EditMode::kApply, found);
  CHECK(edited.status().code() == Code::kCancelled);
  CHECK(document->scope()->edits() == 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(NDEBUG)
constexpr int kCallTries = 3;

TEST_CASE("Loading, checking and editing a large page end within 100 ms of the deadline", "[call_limit][large]") {
  constexpr auto kDeadline = std::chrono::milliseconds(5);
  auto runtime = std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .call_deadline = kDeadline});
  // Processor time, the least of some calls: other programs may be running, and the system may be short of large pages.
  const auto seconds = [](auto&& call) {
    double least = 1;
    for (int tries = 0; tries < kCallTries && least >= 0.105; ++tries) {
      const std::clock_t start = std::clock();
      call();
      least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return least;
  };
  const std::string text = PageOf(ChainOf(200000));
  std::unique_ptr<Document> document;
  CHECK(seconds([&] { document = Document::Open(runtime, text); }) < 0.105);
  CHECK(document->faults().FirstError().code() == Code::kCancelled);
  const std::string blanks = std::string(40 << 20, ' ') + "{}";
  CHECK(seconds([&] { document = Document::Open(runtime, blanks); }) < 0.105);
  CHECK(document->faults().FirstError().code() == Code::kCancelled);
  std::string values = "1";
  for (int i = 1; i < 4'000'000; ++i) values += ";1";
  const std::string texts = PageOf({Block("b", "Const", {{"value", Cat(R"({"dtype": "DT_INT32", "text": ")", values, R"("})")}})});
  CHECK(seconds([&] { document = Document::Open(runtime, texts); }) < 0.105);
  CHECK(document->faults().FirstError().code() == Code::kCancelled);
  std::string drawing = "<svg xmlns=\"http://www.w3.org/2000/svg\">", label = drawing + "<text>" + std::string(50 << 20, 'x') + "</text></svg>";
  while (drawing.size() < (50 << 20)) drawing += "<g id=\"a\"><path d=\"M0 0\"/><text>label</text></g>\n";
  drawing += "</svg>";
  for (const std::string& design : {drawing, label}) {
    CHECK(seconds([&] { document = Document::Open(runtime, design); }) < 0.105);
    CHECK(document->faults().FirstError().code() == Code::kCancelled);
  }
  // Of a page that was opened without a deadline.
  TestPage page(ChainOf(100000));
  std::vector<Edit> edits;
  for (int i = 1; i < 2000; ++i) edits.push_back(ReadEdits(Cat(R"({"op": "rename", "block": "b)", i, R"(", "to": "c)", i, R"("})")).value().front());
  Diagnostics found;
  const auto limited = [&](auto&& call) {
    return seconds([&] {
      const CallLimit limit(Clock::now() + std::chrono::milliseconds(2));
      CHECK_THROWS_AS(call(), CallStopped);
    });
  };
  CHECK(limited([&] { return page.scope()->Apply(edits, found, EditMode::kApply); }) < 0.105);
  CHECK(limited([&] { CheckSessions(page.scope(), found); }) < 0.105);
}

TEST_CASE("A run whose plan has millions of values ends within 100 ms of its deadline", "[call_limit][large]") {
  std::vector<std::string> blocks = {Block("c", "Const", {{"value", R"({"dtype": "DT_FLOAT", "shape": [1048576, 0], "values": []})"}})};
  for (int i = 0; i < 4; ++i) blocks.push_back(Block(Cat("u", i), "Unstack", {{"value", "c.output"}}, "num_ = 1048576;"));
  TestPage page(blocks);
  for (const int milliseconds : {10, 30, 60, 100, 150, 200, 300, 600, 800}) {
    INFO(milliseconds);
    Status status;
    double late = 100;
    for (int tries = 0; tries < kCallTries && late >= 100; ++tries) {
      Session session(page.scope(), page.scope()->graph().DefaultSession());
      const std::clock_t start = std::clock();
      const auto deadline = Clock::now() + std::chrono::milliseconds(milliseconds);
      status = session.Run({.observer = nullptr, .deadline = deadline});
      // What others took of the processor is not this run's: what it worked itself counts.
      late = std::min(MillisecondsSince(deadline), 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC - milliseconds);
    }
    CHECK(late < 100);
    if (status.ok() && milliseconds > 10) break;  // a fast machine is done by then
    CHECK(status.code() == Code::kCancelled);
  }
}
#endif

}  // namespace
}  // namespace weft::test
