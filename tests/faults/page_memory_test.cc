// No memory: what lacks it says so, leaves all as it was, and succeeds when there is some again.
#include "tests/faults/fault_kit.h"
#include "tests/kit/test_services.h"

namespace weft::faults {
namespace {

/// Queues, readers and random streams go on where a run has failed.
bool Repeats(const std::string& name) { return name != "queue" && name != "random_start" && name != "xor"; }

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
    EveryAllocationFails("load " + name, [&](const FaultyCall& fault) {
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
  }
}

TEST_CASE("Sessions open with all their memory or not at all", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  const kit::TemporaryFolder folder;
  for (const std::string& name : SamplePages()) {
    Sample sample(runtime, name, folder.path().string());
    REQUIRE(sample.Load() == WEFT_OK);
    EveryAllocationFails("open " + name, [&](const FaultyCall& fault) {
      const weft_status status = fault([&] { return sample.Open(); });
      CHECK((sample.run != nullptr) == (status == WEFT_OK));
      if (status != WEFT_OK) CHECK(sample.Open() == WEFT_OK);
      sample.run = OwnedRun();
    });
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
      if (Repeats(name)) CHECK(sample.Results() == expected);
    });
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
