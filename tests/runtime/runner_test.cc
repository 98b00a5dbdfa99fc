// Runners: what is read while a run is paused, listeners that come and go, pauses that several ask for.
#include "tests/runtime/host_kit.h"

namespace weft::test {
namespace {

/// Counts the steps it is told of; wants them or not.
struct Counter final : RunListener {
  void Want(bool wants) { WantSteps(wants); }
  Status OnStep(size_t, const Node&) override {
    ++steps;
    return {};
  }
  void OnJoin(RunView&) override { ++joined; }
  void OnRunEnd(uint64_t, const Status&) override { ++runs; }
  int steps = 0, joined = 0, runs = 0;
};

RunRequest Until(std::string block, int64_t steps = 1) {
  RunRequest request;
  request.steps = steps;
  request.until = std::move(block);
  return request;
}

}  // namespace

TEST_CASE("Runner: while a run is paused, a value is what the run has computed, else the last result", "[runner]") {
  TestPage page(CountingPage());
  Driven host(page, {"half.z"}, {"count"});
  REQUIRE(host.runner->RunBlocking({}).ok());
  REQUIRE(host.runner->Start(Until("half")).ok());
  host.Paused();
  const std::string_view names[] = {"half.z", "seen.z", "none.z"};
  const auto values = host.runner->Read(names);
  REQUIRE(values.size() == 3);
  REQUIRE(values[0].ok());
  CHECK_FALSE(values[0]->in_progress);
  CHECK(values[0]->run == 1);
  CHECK(Values(values[0]->tensor) == Floats{0.5F});
  REQUIRE(values[1].ok());
  CHECK(values[1]->in_progress);
  CHECK(values[1]->run == 2);
  CHECK(Values(values[1]->tensor) == Floats{2});
  CHECK(values[2].status().code() == Code::kNotFound);
  CHECK(Get(*host.session, "seen.z") == Floats{1});  // the result
  REQUIRE(host.runner->Resume(GoOn::kRun).ok());
  REQUIRE(host.Ended().ok());
  CHECK(Values(values[1]->tensor) == Floats{2});  // a copy
  CHECK_FALSE(host.Read("seen.z").value().in_progress);
  CHECK(Values(host.Read("half.z").value().tensor) == Floats{1});
}

TEST_CASE("Runner: listeners get steps while they want them, and those that others want not", "[runner]") {
  TestPage page(CountingPage());
  Driven host(page, {"half.z"}, {"count"});
  auto wanting = std::make_shared<Counter>(), other = std::make_shared<Counter>();
  wanting->Want(true);
  host.runner->AddListener(wanting);
  host.runner->AddListener(other);
  REQUIRE(host.runner->RunBlocking({}).ok());
  const int steps = wanting->steps;
  CHECK(steps == 3);
  CHECK(other->steps == 0);
  wanting->Want(false);
  REQUIRE(host.runner->RunBlocking({}).ok());
  CHECK(wanting->steps == steps);
  wanting->Want(true);
  other->Want(true);
  host.runner->RemoveListener(wanting.get());
  REQUIRE(host.runner->RunBlocking({}).ok());
  CHECK(wanting->steps == steps);
  CHECK(wanting->runs == 2);
  CHECK(other->steps == 3);
}

TEST_CASE("Runner: what its deadline ends names the page, in a run and between two", "[runner]") {
  TestPage page(CountingPage());
  Driven host(page, {"half.z"}, {"count"});
  RunRequest request;
  request.deadline = Clock::now() + std::chrono::milliseconds(20);
  request.steps = -1;
  for (const auto interval : {std::chrono::nanoseconds(0), std::chrono::nanoseconds(std::chrono::hours(1))}) {
    request.interval = interval;
    const Status status = host.runner->RunBlocking(request);
    CHECK(status.message() == "the run's deadline passed");
    CHECK(status.place().page == "p");
  }
}

TEST_CASE("Runner: who is added while a run is paused is told of the run before its next step, once", "[runner]") {
  TestPage page(CountingPage());
  Driven host(page, {"half.z"}, {"count"});
  REQUIRE(host.runner->Start(Until("half", 2)).ok());
  host.Paused();
  auto late = std::make_shared<Counter>();
  late->Want(true);
  host.runner->AddListener(late);
  CHECK(late->joined == 0);
  REQUIRE(host.runner->Resume(GoOn::kRun).ok());
  REQUIRE(host.Ended().ok());
  CHECK(late->joined == 1);
  CHECK(late->runs == 2);
  CHECK(late->steps >= 3);
}

TEST_CASE("Runner: where a listener pauses and a pause is asked for there, the run is paused once", "[runner]") {
  struct Pausing final : RunListener {
    explicit Pausing(Runner& given) : runner(given) { WantSteps(true); }
    Status OnStep(size_t, const Node& node) override { return node.id == "half" ? runner.PauseRun(PauseReason::kBreak, node.id, "here") : Status(); }
    Runner& runner;
  };
  TestPage page(CountingPage());
  Driven host(page, {"half.z"}, {"count"});
  host.runner->AddListener(std::make_shared<Pausing>(*host.runner));
  REQUIRE(host.runner->Start(Until("half")).ok());
  CHECK(host.Paused().detail == "here");
  REQUIRE(host.runner->Resume(GoOn::kRun).ok());
  CHECK(host.Ended().ok());
  host.runner->Close();
}

}  // namespace weft::test
