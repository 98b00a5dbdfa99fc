// Blocks that wait for others: how soon they end, what they cost, and what is said where nobody can end the wait.
#include <ctime>
#include <limits>

#include "tests/kit/sanitized.h"
#include "tests/runtime/session_kit.h"
#include "weft/host/page_run.h"
#include "weft/host/session_choice.h"

namespace weft::test {
namespace {

using std::chrono::milliseconds;

constexpr double kLatest = kit::kSanitized ? 100 : 10;  // milliseconds
constexpr int kTries = 3;                               // others may keep the machine busy

std::string Long(int64_t value) { return Cat("{\"dtype\": \"DT_INT64\", \"shape\": [], \"values\": [", value, "]}"); }
std::string Texts(std::string_view text) { return Cat("{\"dtype\": \"DT_STRING\", \"shape\": [1], \"values\": [\"", text, "\"]}"); }

/// Blocks of which the one called "wait" waits for ever, once those called "before" have run.
struct Row {
  std::string name;
  std::vector<std::string> blocks;
  bool before = false;
};

Row OfQueue(const std::string& kind, const std::string& attrs, const std::string& types, bool many) {
  Row row{Cat(kind, many ? ", many" : ""), {Block("q", kind, {}, attrs)}};
  std::vector<std::pair<std::string, std::string>> inputs = {{"handle", "q.handle"}};
  if (many) inputs.emplace_back("n", Ints({3}));
  row.blocks.push_back(Block("wait", many ? "QueueDequeueMany" : "QueueDequeue", inputs, Cat("component_types_ = {", types, "};")));
  return row;
}

Row OfMap(const std::string& kind, const std::string& what) {
  const std::string at = "shared_name_ = m;dtypes_ = {DT_FLOAT};capacity_ = 1;", first = Ints({0});
  if (what == "Stage") {
    auto stage = [&](const char* id, int64_t key) {
      return Block(id, kind + "MapStage", {{"key", Long(key)}, {"indices", first}, {"values", Cat("[", Scalar(1), "]")}}, at);
    };
    return {kind + "MapStage", {stage("before", 1), stage("wait", 2)}, true};
  }
  std::vector<std::pair<std::string, std::string>> inputs = {{"indices", first}};
  if (what != "UnstageNoKey") inputs.insert(inputs.begin(), {"key", Long(1)});
  return {kind + "Map" + what, {Block("wait", kind + "Map" + what, inputs, at)}};
}

std::vector<Row> Rows() {
  const std::string one = "component_types_ = {DT_FLOAT};shapes_ = [];", area = "shared_name_ = s;dtypes_ = {DT_FLOAT};";
  std::vector<Row> rows;
  for (bool many : {false, true}) {
    rows.push_back(OfQueue("FIFOQueue", one, "DT_FLOAT", many));
    rows.push_back(OfQueue("PaddingFIFOQueue", one, "DT_FLOAT", many));
    rows.push_back(OfQueue("PriorityQueue", one, "DT_INT64,DT_FLOAT", many));
    rows.push_back(OfQueue("RandomShuffleQueue", one, "DT_FLOAT", many));
  }
  auto put = [](const char* id) { return Block(id, "QueueEnqueue", {{"handle", "q.handle"}, {"components", Cat("[", Scalar(1), "]")}}); };
  rows.push_back({"a full queue", {Block("q", "FIFOQueue", {}, one + "capacity_ = 1;"), put("before"), put("wait")}, true});
  auto stage = [](const char* id) { return Block(id, "Stage", {{"values", Cat("[", Scalar(1), "]")}}, "shared_name_ = s;capacity_ = 1;"); };
  rows.push_back({"a full staging area", {stage("before"), stage("wait")}, true});
  rows.push_back({"Unstage", {Block("wait", "Unstage", {}, area)}});
  rows.push_back({"StagePeek", {Block("wait", "StagePeek", {{"index", Literal("DT_INT32", {}, {0})}}, area)}});
  for (const char* kind : {"", "Ordered"}) {
    for (const char* what : {"Stage", "Unstage", "UnstageNoKey", "Peek"}) rows.push_back(OfMap(kind, what));
  }
  rows.push_back({"BarrierTakeMany",
                  {Block("b", "Barrier", {}, one),
                   Block("wait", "BarrierTakeMany", {{"handle", "b.handle"}, {"num_elements", Literal("DT_INT32", {}, {1})}},
                         "component_types_ = {DT_FLOAT};")}});
  return rows;
}

double ThreadMilliseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/// How late the run ended after it was cancelled, or after its deadline; and what of a core it took.
struct WaitEnded {
  double late = 0, worked = 0;
};

WaitEnded WaitUntilStopped(Session& session, bool cancel) {
  constexpr milliseconds kWait{60};
  RunOptions options;
  Clock::time_point end = Clock::now() + kWait;
  if (!cancel) options.deadline = end;
  std::thread other;
  if (cancel) {
    other = std::thread([&] {
      std::this_thread::sleep_until(end);
      end = Clock::now();
      session.Cancel();
    });
  }
  const double before = ThreadMilliseconds();
  const Status status = session.Run(options);
  const Clock::time_point now = Clock::now();
  const double worked = ThreadMilliseconds() - before;
  if (other.joinable()) other.join();
  INFO(ToString(status));
  CHECK(status.code() == Code::kCancelled);
  return {std::chrono::duration<double, std::milli>(now - end).count(), worked};
}

TEST_CASE("Blocks that wait end within 10 ms of a cancel or deadline, and work little meanwhile", "[waiting]") {
  for (const Row& row : Rows()) {
    INFO(row.name);
    TestPage page(row.blocks, {.threads = 2, .memory_limit = 0}, StallAfter(-1));
    if (row.before) RunOk(*page.Open({}, {"before"}));
    auto session = page.Open({}, {"wait"});
    for (bool cancel : {false, true}) {
      WaitEnded best{1e9, 1e9};
      for (int attempt = 0; attempt < kTries && (best.late > kLatest || best.worked > kLatest); ++attempt) {
        const WaitEnded ended = WaitUntilStopped(*session, cancel);
        best = {std::min(best.late, ended.late), std::min(best.worked, ended.worked)};
      }
      CHECK(best.late <= kLatest);
      CHECK(best.worked <= kLatest);
    }
  }
}

TEST_CASE("The longest time limits that can be written do not pass at once", "[waiting]") {
  constexpr int64_t kLongest = std::numeric_limits<int64_t>::max();
  const TestPage page({Block("q", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};"),
                       Block("wait", "QueueDequeue", {{"handle", "q.handle"}}, Cat("component_types_ = {DT_FLOAT};timeout_ms_ = ", kLongest, ";")),
                       Block("put", "QueueEnqueue", {{"handle", "q.handle"}, {"components", Cat("[", Scalar(7), "]")}})},
                      {.threads = 2, .memory_limit = 0}, StallAfter(kLongest));
  const auto waiting = page.Open({"wait.components[0]"});
  Status ended;
  std::thread other([&] { ended = waiting->Run(); });
  std::this_thread::sleep_for(milliseconds(20));
  RunOk(*page.Open({}, {"put"}));
  other.join();
  INFO(ToString(ended));
  REQUIRE(ended.ok());
  CHECK(Get(*waiting, "wait.components[0]") == Floats{7});
}

// ---- within one run ------------------------------------------------------------------------------------------------------------

TEST_CASE("What waits for room lets the blocks go on that come later in the run", "[waiting]") {
  const std::string attrs = "component_types_ = {DT_FLOAT};shapes_ = [];capacity_ = 1;";
  for (const char* kind : {"FIFOQueue", "RandomShuffleQueue"}) {
    TestPage page({Block("q", kind, {}, attrs),
                   Block("put", "QueueEnqueue", {{"handle", "q.handle"}, {"components", Cat("[", Scalar(1), "]")}}),
                   Block("more", "QueueEnqueueMany", {{"handle", "q.handle"}, {"components", Cat("[", Vector({2, 3}), "]")}}),
                   Block("take", "QueueDequeue", {{"handle", "q.handle"}}, "component_types_ = {DT_FLOAT};"),
                   Block("all", "QueueDequeueMany", {{"handle", "q.handle"}, {"n", Ints({3})}}, "component_types_ = {DT_FLOAT};"),
                   Block("size", "QueueSize", {{"handle", "q.handle"}})});
    RunOk(*page.Open({}, {"put"}));
    auto both = page.Open({"take.components[0]"}, {"put"});
    for (int i = 0; i < 3; ++i) RunOk(*both);
    auto many = page.Open({"all.components[0]"}, {"more"});  // two wait, and one is in the queue
    RunOk(*many);
    CHECK(Get(*many, "all.components[0]") == Floats{1, 2, 3});
  }
}

TEST_CASE("Staging areas and maps let the blocks go on, too", "[waiting]") {
  const std::string map = "shared_name_ = m;dtypes_ = {DT_FLOAT};capacity_ = 1;", first = Ints({0});
  auto stage = [&](const char* id, int64_t key) {
    return Block(id, "MapStage", {{"key", Long(key)}, {"indices", first}, {"values", Cat("[", Scalar(static_cast<double>(key)), "]")}},
                 map);
  };
  TestPage page({Block("in", "Stage", {{"values", Cat("[", Scalar(1), "]")}}, "shared_name_ = s;capacity_ = 1;"),
                 Block("out", "Unstage", {}, "shared_name_ = s;dtypes_ = {DT_FLOAT};"), stage("one", 1), stage("two", 2),
                 Block("take", "MapUnstage", {{"key", Long(1)}, {"indices", first}}, map)});
  RunOk(*page.Open({}, {"in"}));
  auto both = page.Open({"out.values[0]"}, {"in"});
  for (int i = 0; i < 3; ++i) RunOk(*both);
  RunOk(*page.Open({}, {"one"}));
  auto exchange = page.Open({"take.values[0]"}, {"two"});
  RunOk(*exchange);
  CHECK(Get(*exchange, "take.values[0]") == Floats{1});
}

TEST_CASE("Of blocks that wait those go first whose wait nothing in the run can end", "[waiting]") {
  const std::string one = "component_types_ = {DT_FLOAT};shapes_ = [];", types = "dtypes_ = {DT_FLOAT};";
  // Each page: what is taken first comes of what is taken second. `start` brings the second one.
  const std::vector<std::string> areas = {Block("first", "Unstage", {}, "shared_name_ = a;" + types),
                                          Block("second", "Unstage", {}, "shared_name_ = b;" + types),
                                          Block("fill", "Stage", {{"values", "[\"second.values[0]\"]"}}, "shared_name_ = a;"),
                                          Block("start", "Stage", {{"values", Cat("[", Scalar(1), "]")}}, "shared_name_ = b;")};
  const std::string count = Literal("DT_INT32", {}, {1});
  auto take = [&](const char* id, const char* from) {
    return Block(id, "BarrierTakeMany", {{"handle", from}, {"num_elements", count}}, "component_types_ = {DT_FLOAT};");
  };
  auto insert = [&](const char* id, const char* into, const std::string& values) {
    return Block(id, "BarrierInsertMany", {{"handle", into}, {"keys", Texts("k")}, {"values", values}}, "component_index_ = 0;");
  };
  const std::vector<std::string> barriers = {Block("a", "Barrier", {}, one),
                                             Block("b", "Barrier", {}, one),
                                             take("first", "a.handle"),
                                             take("second", "b.handle"),
                                             insert("fill", "a.handle", "second.values[0]"),
                                             insert("start", "b.handle", Vector({1}))};
  for (const auto& [blocks, fetched] : {std::pair(areas, "first.values[0]"), std::pair(barriers, "first.values[0]")}) {
    TestPage page(blocks, {.threads = 2, .memory_limit = 0}, StallAfter(0));
    RunOk(*page.Open({}, {"start"}));
    RunOk(*page.Open({fetched, "second.values[0]"}, {"fill"}));
  }
}

TEST_CASE("A wait for what an update brings comes after the update", "[waiting]") {
  const std::string queue = "component_types_ = {DT_FLOAT};shapes_ = [];", type = "component_types_ = {DT_FLOAT};";
  auto put = [](const char* id, const char* into, const char* what) {
    return Block(id, "QueueEnqueue", {{"handle", into}, {"components", Cat("[\"", what, "\"]")}});
  };
  auto take = [&](const char* id, const char* from) { return Block(id, "QueueDequeue", {{"handle", from}}, type); };
  const std::vector<std::string> blocks = {
      Variable("v", Scalar(1)), Variable("step", Long(0)), Block("q", "FIFOQueue", {}, queue), Block("other", "FIFOQueue", {}, queue),
      take("second", "other.handle"), take("first", "q.handle"), put("hand_on", "other.handle", "first.components[0]"),
      Block("less_old", "Subtract", {{"x", "first.components[0]"}, {"y", "v.ref"}}),
      Block("with_new", "Add", {{"x", "first.components[0]"}, {"y", "up.output_ref"}}),
      Block("up", "AssignAdd", {{"ref", "v.ref"}, {"value", Scalar(1)}}), put("fill", "q.handle", "up.output_ref"),
      Block("unstage", "Unstage", {}, "shared_name_ = a;dtypes_ = {DT_FLOAT};"),
      Block("stage", "Stage", {{"values", "[\"up.output_ref\"]"}}, "shared_name_ = a;"),
      Block("sums", "ConditionalAccumulator", {}, "dtype_ = DT_FLOAT;shape_ = [];"),
      Block("mean", "AccumulatorTakeGradient", {{"handle", "sums.handle"}, {"num_required", Literal("DT_INT32", {}, {1})}},
            "dtype_ = DT_FLOAT;"),
      Block("next_step", "AssignAdd", {{"ref", "step.ref"}, {"value", Long(1)}}),
      Block("apply", "AccumulatorApplyGradient",
            {{"handle", "sums.handle"}, {"local_step", "next_step.output_ref"}, {"gradient", Scalar(2)}})};
  const auto open = [&] { return TestPage(blocks, {.threads = 2, .memory_limit = 0}, StallAfter(0)); };
  {
    const TestPage page = open();
    auto session = page.Open({"second.components[0]", "less_old.z", "with_new.z"}, {"fill", "hand_on"}, Keep::kAsked);
    for (float run = 1; run <= 3; ++run) {
      RunOk(*session);
      CHECK(Get(*session, "second.components[0]") == Floats{run + 1});
      CHECK(Get(*session, "less_old.z") == Floats{1});  // reads of the variable are of the value before the run
      CHECK(Get(*session, "with_new.z") == Floats{2 * (run + 1)});
    }
  }
  const TestPage page = open();
  auto staged = page.Open({"unstage.values[0]"}, {"stage"});
  RunOk(*staged);
  CHECK(Get(*staged, "unstage.values[0]") == Floats{2});
  auto mean = page.Open({"mean.average"}, {"apply"});
  RunOk(*mean);
  CHECK(Get(*mean, "mean.average") == Floats{2});
}

TEST_CASE("An update of what a run waited for, and what it brings to later runs, come after the wait", "[waiting]") {
  TestPage page({Variable("v", Scalar(1)), Block("q", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};shapes_ = [];"),
                 Block("take", "QueueDequeue", {{"handle", "q.handle"}}, "component_types_ = {DT_FLOAT};"),
                 Block("up", "AssignAdd", {{"ref", "v.ref"}, {"value", "take.components[0]"}}),
                 Block("put", "QueueEnqueue", {{"handle", "q.handle"}, {"components", "[\"up.output_ref\"]"}}),
                 Block("start", "QueueEnqueue", {{"handle", "q.handle"}, {"components", Cat("[", Scalar(1), "]")}})},
                {.threads = 2, .memory_limit = 0}, StallAfter(0));
  RunOk(*page.Open({}, {"start"}));
  auto session = page.Open({"take.components[0]"}, {"put"});
  for (float expected : {1.0f, 2.0f, 4.0f}) {
    RunOk(*session);
    CHECK(Get(*session, "take.components[0]") == Floats{expected});
  }
}

TEST_CASE("A run that fails takes back what it could not put in", "[waiting]") {
  TestPage page({Block("q", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};capacity_ = 1;"),
                 Block("put", "QueueEnqueue", {{"handle", "q.handle"}, {"components", Cat("[", Scalar(1), "]")}}),
                 Block("late", "QueueEnqueue", {{"handle", "q.handle"}, {"components", Cat("[", Scalar(2), "]")}}),
                 Block("take", "QueueDequeue", {{"handle", "q.handle"}}, "component_types_ = {DT_FLOAT};"),
                 Block("none", "Unstage", {}, "dtypes_ = {DT_FLOAT};"), Block("size", "QueueSize", {{"handle", "q.handle"}})},
                {.threads = 2, .memory_limit = 0}, StallAfter(30));
  RunOk(*page.Open({}, {"put"}));
  const Status status = page.Open({"none.values[0]"}, {"late"})->Run();
  CHECK(status.code() == Code::kFailedPrecondition);
  CHECK(status.place().block == "none");
  auto take = page.Open({"take.components[0]"});
  RunOk(*take);
  CHECK(Get(*take, "take.components[0]") == Floats{1});
  auto size = page.Open({"size.size"});
  RunOk(*size);
  CHECK(Get<int32_t>(*size, "size.size") == std::vector<int32_t>{0});
}

TEST_CASE("What is put into a full queue in a loop waits for its turn", "[waiting]") {
  TestPage page({Block("q", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};capacity_ = 2;"),
                 Block("put", "QueueEnqueueMany", {{"handle", "q.handle"}, {"components", Cat("[", Vector({1, 2, 3, 4, 5}), "]")}},
                       "timeout_ms_ = 20;"),
                 Block("size", "QueueSize", {{"handle", "q.handle"}})},
                {.threads = 2, .memory_limit = 0}, StallAfter(-1));
  CHECK(page.Open({}, {"put"})->Run().code() == Code::kCancelled);  // those that are in stay in
  auto size = page.Open({"size.size"});
  RunOk(*size);
  CHECK(Get<int32_t>(*size, "size.size") == std::vector<int32_t>{2});
}

// ---- sessions that wait for one another ------------------------------------------------------------------------------------------

TEST_CASE("A page whose sessions all wait for one another is told so at once, with their blocks", "[waiting]") {
  auto queue = [](const char* id) { return Block(id, "FIFOQueue", {}, "component_types_ = {DT_FLOAT};"); };
  auto take = [](const char* id, const char* from) {
    return Block(id, "QueueDequeue", {{"handle", from}}, "component_types_ = {DT_FLOAT};");
  };
  auto put = [](const char* id, const char* into, const char* what) {
    return Block(id, "QueueEnqueue", {{"handle", into}, {"components", Cat("[\"", what, "\"]")}});
  };
  auto session = [](const char* id, const char* run) {
    return Block(id, "ClientSession", {{"run_outputs", Cat("[\"", run, ".operation\"]")}}, "INFINITE_LOOP_ = true;");
  };
  const TestPage page({queue("a"), queue("b"), take("left", "a.handle"), put("to_b", "b.handle", "left.components[0]"),
                       take("right", "b.handle"), put("to_a", "a.handle", "right.components[0]"), session("one", "to_b"),
                       session("two", "to_a")});
  for (const std::string& error : page.errors()) FAIL_CHECK(error);
  const std::shared_ptr<Revision> revision = page.scope()->revision();
  Diagnostics found;
  PageRun run(OpenRunners(page.scope(), revision, SessionsOf(*revision->graph), Keep::kAll, nullptr, found));
  const Clock::time_point start = Clock::now();
  const Status status = run.Run({});
  CHECK(MillisecondsSince(start) < 1000);  // without knowing that nobody else will come it would be five seconds
  INFO(ToString(status));
  CHECK(status.code() == Code::kFailedPrecondition);
  for (const char* block : {"'left' (QueueDequeue)", "'right' (QueueDequeue)"}) CHECK(status.message().find(block) != std::string::npos);
}

}  // namespace
}  // namespace weft::test
