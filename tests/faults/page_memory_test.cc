// No memory: what lacks it says so, leaves all as it was, and succeeds when there is some again.
#include "blocks/data_flow/queue.h"
#include "runtime/base/failure.h"
#include "tests/faults/fault_kit.h"
#include "tests/kit/test_services.h"

namespace weft::faults {
namespace {

/// Whether a run that failed leaves a page as it was: what one session has done stays when another fails, and random streams go on.
bool Repeats(const Sample& sample) {
  OwnedStrings ids;
  size_t sessions = 0;
  REQUIRE(weft_page_run_sessions(sample.run, ids.out(), nullptr) == WEFT_OK);
  REQUIRE(weft_strings_count(ids, &sessions) == WEFT_OK);
  return sessions == 1 && sample.text.find("Random") == sample.text.npos;
}

TEST_CASE("A runtime opens with all its memory or not at all", "[memory]") {
  EveryAllocationFails("open a runtime", [](const FaultyCall& fault) {
    OwnedRuntime runtime;
    weft_runtime_options options = WEFT_RUNTIME_OPTIONS_INIT;
    options.threads = 3;
    const weft_status status = fault([&] { return weft_runtime_open(&options, runtime.out(), nullptr); });
    CHECK((runtime != nullptr) == (status == WEFT_OK));
  });
}

TEST_CASE("A page is loaded with all its memory or not at all", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  const kit::TemporaryFolder folder;
  for (const std::string& name : SamplePages()) {
    const uint64_t last = EveryAllocationFails("load " + name, [&](const FaultyCall& fault) {
      Sample sample(runtime, name, folder.path().string());
      const weft_status status = fault([&] { return sample.Load(); });
      CHECK((sample.page != nullptr) == (status == WEFT_OK));
      if (status != WEFT_OK) REQUIRE(sample.Load() == WEFT_OK);
      OwnedStrings json;
      const char* written = "";
      REQUIRE(weft_page_write(sample.page, json.out(), nullptr) == WEFT_OK);
      REQUIRE(weft_strings_get(json, 0, &written, nullptr) == WEFT_OK);
      CHECK(written == sample.text);
    });
    CHECK(last <= kEachAllocation);
  }
}

TEST_CASE("Sessions open with all their memory or not at all", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  const kit::TemporaryFolder folder;
  for (const std::string& name : SamplePages()) {
    Sample sample(runtime, name, folder.path().string());
    REQUIRE(sample.Load() == WEFT_OK);
    const uint64_t last = EveryAllocationFails("open " + name, [&](const FaultyCall& fault) {
      const weft_status status = fault([&] { return sample.Open(); });
      CHECK((sample.run != nullptr) == (status == WEFT_OK));
      if (status != WEFT_OK) CHECK(sample.Open() == WEFT_OK);
      sample.run = OwnedPageRun();
    });
    CHECK(last <= kEachAllocation);
    REQUIRE(sample.Open() == WEFT_OK);
    CHECK(sample.Run() == WEFT_OK);
  }
}

TEST_CASE("A run that lacks memory changes nothing, and the next one gives the same results", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  for (const std::string& name : SamplePages()) {
    const kit::TemporaryFolder folder;
    Sample reference(runtime, name, folder.path().string());
    REQUIRE((reference.Load() == WEFT_OK && reference.Open() == WEFT_OK && reference.Run() == WEFT_OK));
    const auto expected = reference.Results();
    CHECK(!expected.empty());
    EveryAllocationFails("run " + name, [&](const FaultyCall& fault) {
      Sample sample(runtime, name, folder.path().string());
      REQUIRE((sample.Load() == WEFT_OK && sample.Open() == WEFT_OK));
      const weft_status status = fault([&] {
        weft_run_options options = WEFT_RUN_OPTIONS_INIT;
        return weft_page_run_all(sample.run, &options, nullptr);
      });
      if (status != WEFT_OK) {
        weft_run_options options = WEFT_RUN_OPTIONS_INIT;
        REQUIRE(weft_page_run_all(sample.run, &options, nullptr) == WEFT_OK);
      }
      weft_run_options options = WEFT_RUN_OPTIONS_INIT;
      REQUIRE(weft_page_run_all(sample.run, &options, nullptr) == WEFT_OK);
      if (Repeats(sample)) CHECK(sample.Results() == expected);
    }, {.at_least = 400, .time = std::chrono::milliseconds(500)});
  }
}

TEST_CASE("Reading results lacks memory without harm", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  const kit::TemporaryFolder folder;
  Sample sample(runtime, "softmax_regression", folder.path().string());
  REQUIRE((sample.Load() == WEFT_OK && sample.Open() == WEFT_OK && sample.Run() == WEFT_OK));
  const auto expected = sample.Results();
  EveryAllocationFails("read results", [&](const FaultyCall& fault) {
    OwnedStrings names, text;
    OwnedView view;
    fault([&] {
      weft_status status = weft_page_run_results(sample.run, names.out(), nullptr);
      if (status == WEFT_OK) status = weft_page_run_view(sample.run, "loss.output", view.out(), nullptr);
      return status == WEFT_OK ? weft_view_text(view, 10, text.out(), nullptr) : status;
    });
  });
  CHECK(sample.Results() == expected);
}

TEST_CASE("The table of handles grows or stays as it is", "[memory]") {
  std::vector<OwnedEvents> held;
  const auto open = [&] { return weft_events_open(nullptr, held.emplace_back().out(), nullptr); };
  held.reserve(20000);
  bool happens = true;
  for (uint64_t number = 1; happens; ++number) {
    REQUIRE(held.size() < 18000);
    INFO("allocation " << number);
    while (capi::LiveHandles() % 1024 != 0) REQUIRE(open() == WEFT_OK);  // the next one needs more slots
    weft_status status = WEFT_OK;
    {
      const MemoryFault fault(number);
      status = open();
      happens = fault.happened();
    }
    CHECK((status == WEFT_OK || status == WEFT_RESOURCE_EXHAUSTED));
    CHECK((held.back() != nullptr) == (status == WEFT_OK));
    for (int i = 0; i < 3; ++i) REQUIRE(open() == WEFT_OK);
    int32_t ready = 1;
    CHECK(weft_events_wait(held.back(), 0, &ready, nullptr) == WEFT_OK);
  }
}

TEST_CASE("A failure needs no memory, and keeps what it says as far as there is some", "[memory]") {
  const Status made = InvalidArgument("needs something that is long enough to lie on the heap, found nothing").WithBlock("a_block_with_a_long_name");
  const std::string message = made.message();
  Code copied{}, none{}, changed{};
  bool says = false;
  {
    const MemoryFault fault(1, true);
    const Status copy = made;
    copied = copy.code();
    Status without = NoMemory().WithBlock("a_block_with_a_name_that_is_long").WithHint("and a hint that is long, too");
    none = without.code();
    says = !without.message().empty() && IsNoMemory(without);
    Status kept = Status(made).WithPage("a page with a name that is long enough for the heap");
    without = std::move(kept);
    changed = without.code();
  }
  CHECK(copied == Code::kResourceExhausted);
  CHECK(none == Code::kResourceExhausted);
  CHECK(says);
  CHECK(changed == Code::kResourceExhausted);
  CHECK(made.message() == message);
  CHECK(NoMemory().WithBlock("b").place().block == "b");
  CHECK(NoMemory().place().block.empty());
}

TEST_CASE("A queue that lacks memory keeps its elements in their order", "[memory]") {
  using blocks::Queue;
  kit::TestWaiter waiter;
  EveryAllocationFails("queue", [&](const FaultyCall& fault) {
    Queue queue({"FIFOQueue", {DType::kInt32}, {PartialShape(Shape{})}, -1}, blocks::MakeFifoStore());
    std::vector<blocks::QueueElement> elements;
    for (int32_t i = 0; i < 9; ++i) elements.push_back({Tensor::Scalar<int32_t>(i)});
    REQUIRE(queue.Enqueue(std::move(elements), waiter, 0).ok());
    std::vector<blocks::QueueElement> taken;
    fault([&] {
      try {
        auto some = queue.Dequeue(8, false, waiter, 0);
        if (some.ok()) taken = std::move(*some);
        return some.ok() ? WEFT_OK : WEFT_RESOURCE_EXHAUSTED;
      } catch (const std::bad_alloc&) {
        return WEFT_RESOURCE_EXHAUSTED;
      }
    });
    auto rest = queue.Dequeue(9 - static_cast<int64_t>(taken.size()), false, waiter, 0);
    REQUIRE(rest.ok());
    taken.insert(taken.end(), rest->begin(), rest->end());
    for (int32_t i = 0; i < 9; ++i) CHECK(taken[static_cast<size_t>(i)].at(0).values<int32_t>()[0] == i);
  });
}

TEST_CASE("What is open is closed without memory", "[memory]") {
  const kit::TemporaryFolder folder;
  for (int round = 0; round < 2; ++round) {
    const Held before;
    {
      OwnedRuntime runtime = OpenRuntime(3);
      Sample sample(runtime, "queue", folder.path().string());
      REQUIRE((sample.Load() == WEFT_OK && sample.Open() == WEFT_OK && sample.Run() == WEFT_OK));
      OwnedSession session;
      REQUIRE(weft_session_open(sample.page, nullptr, session.out(), nullptr) == WEFT_OK);
      REQUIRE(weft_session_start(session, nullptr, nullptr) == WEFT_OK);
      weft_status closed[4];
      {
        const MemoryFault none_left(1, true);
        closed[0] = weft_session_close(session);
        closed[1] = weft_page_run_close(sample.run);
        closed[2] = weft_page_close(sample.page);
        closed[3] = weft_runtime_close(runtime);
      }
      for (const weft_status status : closed) CHECK(status == WEFT_OK);
      *session.out() = nullptr;
      *sample.run.out() = nullptr;
      *sample.page.out() = nullptr;
      *runtime.out() = nullptr;
    }
    if (round > 0) CHECK(Held() == before);
  }
}

}  // namespace
}  // namespace weft::faults
