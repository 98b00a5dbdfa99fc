// enuSpace's modes, as what a runner does.
#include "tests/runtime/host_kit.h"
#include "weft/host/modes.h"

namespace weft::test {
namespace {

struct Moded : Driven {
  explicit Moded(const TestPage& page) : Driven(page, {"half.z"}, {"count"}), modes(*runner) {}
  ~Moded() { runner->Close(); }
  void Set(Mode mode) {
    const Status status = modes.Set(mode);
    INFO(ToString(status));
    REQUIRE(status.ok());
    CHECK(modes.mode() == mode);
  }
  void RunsTo(uint64_t runs) const {
    const Clock::time_point start = Clock::now();
    while (session->runs() < runs && MillisecondsSince(start) < 20000) std::this_thread::sleep_for(milliseconds(1));
    REQUIRE(session->runs() >= runs);
  }
  Modes modes;
};

}  // namespace

TEST_CASE("Modes: each step is one run, then nothing goes on", "[modes]") {
  TestPage page(CountingPage());
  Moded host(page);
  CHECK(host.modes.mode() == Mode::kEdit);
  for (uint64_t run = 1; run <= 3; ++run) {
    host.Set(Mode::kStep);
    CHECK(host.Paused().reason == PauseReason::kStepped);
    CHECK(host.session->runs() == run);
  }
  host.Set(Mode::kEdit);
  CHECK(host.runner->state().state == RunState::kIdle);
  CHECK(host.session->runs() == 3);
}

TEST_CASE("Modes: run, freeze, run and edit", "[modes]") {
  TestPage page(CountingPage());
  Moded host(page);
  host.Set(Mode::kFreeze);  // nothing runs that could be paused
  CHECK(host.runner->state().state == RunState::kIdle);
  host.Set(Mode::kRun);
  host.RunsTo(3);
  host.Set(Mode::kFreeze);
  host.Paused();
  const uint64_t runs = host.session->runs();
  std::this_thread::sleep_for(milliseconds(5));
  CHECK(host.session->runs() == runs);
  host.Set(Mode::kRun);
  host.RunsTo(runs + 2);
  host.Set(Mode::kStep);  // of what runs: the run that goes on is the last
  CHECK(host.Paused().reason == PauseReason::kStepped);
  host.Set(Mode::kEdit);
  CHECK(host.runner->state().state == RunState::kIdle);
  CHECK(host.runner->info().last_status.code() == Code::kCancelled);
  host.Set(Mode::kEdit);
}

TEST_CASE("Modes: what is started has the rate that was asked for, not the number of steps", "[modes]") {
  TestPage page(CountingPage());
  Moded host(page);
  RunRequest request;
  request.steps = 1;
  request.interval = std::chrono::hours(1);
  REQUIRE(host.modes.Set(Mode::kRun, request).ok());
  host.RunsTo(1);
  std::this_thread::sleep_for(milliseconds(5));
  CHECK(host.session->runs() == 1);
  CHECK(host.runner->state().state == RunState::kRunning);  // waits for the time of the next
  host.Set(Mode::kEdit);
}

TEST_CASE("Modes: the thread that runs cannot wait for its own end", "[modes]") {
  struct Editing final : RunListener {
    explicit Editing(Modes& given) : modes(given) {}
    void OnRunBegin(uint64_t, size_t) override { status = modes.Set(Mode::kEdit); }
    Modes& modes;
    Status status;
  };
  TestPage page(CountingPage());
  Moded host(page);
  auto editing = std::make_shared<Editing>(host.modes);
  host.runner->AddListener(editing);
  REQUIRE(host.runner->RunBlocking({}).ok());
  CHECK(editing->status.code() == Code::kFailedPrecondition);
}

}  // namespace weft::test
