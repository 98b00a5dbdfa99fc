// No memory in what a host does with pages and sessions that are open: each call by itself, all of it repeated when there is memory again.
#include <cstdlib>
#include <pugixml.hpp>

#include "tests/faults/fault_kit.h"
#include "tests/kit/test_services.h"
#include "weft/block/registry.h"

namespace weft::faults {
namespace {

/// Calls `call` with each allocation failing, then without: it must succeed then.
void Repeats(const std::string& what, const std::function<weft_status()>& call, bool others_keep = true) {
  EveryAllocationFails(what, [&](const FaultyCall& fault) {
    if (fault(call) != WEFT_OK) CHECK(call() == WEFT_OK);
  }, {.others_keep = others_keep});
}

weft_status TextsOf(const std::function<weft_status(weft_strings**)>& call) {
  OwnedStrings texts;
  return call(texts.out());
}

TEST_CASE("What an editor shows of a page lacks memory without harm", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  const kit::TemporaryFolder folder;
  Sample sample(runtime, "softmax_regression", folder.path().string());
  REQUIRE((sample.Load() == WEFT_OK && sample.Open() == WEFT_OK && sample.Run() == WEFT_OK));
  weft_page* const page = sample.page;
  const auto texts = [&](const std::string& what, std::function<weft_status(weft_strings**)> call) {
    Repeats(what, [&] { return TextsOf(call); });
  };
  texts("write", [&](weft_strings** out) { return weft_page_write(page, out, nullptr); });
  texts("blocks", [&](weft_strings** out) { return weft_page_blocks(page, out, nullptr); });
  texts("sessions", [&](weft_strings** out) { return weft_page_sessions(page, out, nullptr); });
  texts("block", [&](weft_strings** out) { return weft_page_block_json(page, "loss", out, nullptr); });
  texts("wires", [&](weft_strings** out) { return weft_page_wires_json(page, out, nullptr); });
  texts("layout", [&](weft_strings** out) { return weft_page_layout_json(page, 0, out, nullptr); });
  texts("types", [&](weft_strings** out) { return weft_page_types_json(page, out, nullptr); });
  texts("plan", [&](weft_strings** out) { return weft_page_plan_json(page, nullptr, out, nullptr); });
  texts("inputs for", [&](weft_strings** out) { return weft_page_inputs_for(page, "loss.output", out, nullptr); });
  texts("block manifest", [&](weft_strings** out) { return weft_block_json(runtime, "MatMul", out, nullptr); });
  Repeats("diagnostics", [&] {
    OwnedProblems found;
    return weft_page_diagnostics(page, found.out(), nullptr);
  });
  Repeats("why not", [&] {
    OwnedProblems reasons;
    return weft_page_why_not(page, "loss", reasons.out(), nullptr);
  });
}

TEST_CASE("Feeds, subscriptions and breakpoints lack memory without harm", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  const std::string text = R"({"weft": 1, "page": "p", "blocks": [
    {"id": "x", "block": "Placeholder", "attrs": "dtype_ = DT_FLOAT;shape_ = [2];"},
    {"id": "v", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2]}}},
    {"id": "sum_of_both_of_them", "block": "Add", "inputs": {"x": "x.output", "y": "v.ref"}},
    {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["sum_of_both_of_them.z"]}}]})";
  OwnedPage page;
  OwnedProblems problems;
  REQUIRE(weft_page_load(runtime, text.data(), text.size(), nullptr, page.out(), problems.out()) == WEFT_OK);
  weft_session_options options = WEFT_SESSION_OPTIONS_INIT;
  const int64_t shape[] = {2};
  float numbers[] = {10, 20};
  weft_buffer buffer = WEFT_BUFFER_INIT;
  buffer.dtype = WEFT_FLOAT;
  buffer.rank = 1;
  buffer.shape = shape;
  buffer.data = numbers;
  buffer.bytes = sizeof numbers;
  EveryAllocationFails("feed and watch", [&](const FaultyCall& fault) {
    OwnedSession session;
    REQUIRE(weft_session_open(page, &options, session.out(), nullptr) == WEFT_OK);
    const auto all = [&] {
      OwnedSubscription subscription;
      OwnedBreakpoint breakpoint;
      OwnedResults results;
      weft_sample samples[4] = {WEFT_SAMPLE_INIT};
      size_t count = 0;
      weft_breakpoint_options never = WEFT_BREAKPOINT_OPTIONS_INIT;
      never.kind = WEFT_BREAK_CONDITION;
      never.condition = "sum_of_both_of_them.z < 0";
      weft_status status = weft_session_feed(session, "x.output", &buffer, nullptr);
      if (status == WEFT_OK) status = weft_session_subscribe(session, "sum_of_both_of_them.z", nullptr, subscription.out(), nullptr);
      if (status == WEFT_OK) status = weft_session_break(session, &never, breakpoint.out(), nullptr);
      if (status == WEFT_OK) status = weft_session_run(session, nullptr, nullptr);
      if (status == WEFT_OK) status = weft_session_samples(session, samples, 4, &count, nullptr);
      for (size_t i = 0; i < count; ++i) {
        if (status == WEFT_OK && samples[i].code != WEFT_OK) status = samples[i].code;
        (void)weft_view_release(samples[i].value);
        (void)weft_view_release(samples[i].high);
      }
      if (status == WEFT_OK) status = weft_session_read_results(session, nullptr, 0, results.out(), nullptr);
      return status == WEFT_OK ? weft_page_set_variable(page, "v", &buffer, nullptr) : status;
    };
    if (fault(all) != WEFT_OK) CHECK(all() == WEFT_OK);
    OwnedView view;
    weft_view_info info = WEFT_VIEW_INFO_INIT;
    REQUIRE(weft_session_run(session, nullptr, nullptr) == WEFT_OK);
    REQUIRE(weft_session_view(session, "sum_of_both_of_them.z", view.out(), nullptr) == WEFT_OK);
    REQUIRE(weft_view_get_info(view, &info) == WEFT_OK);
    CHECK(static_cast<const float*>(info.data)[1] == 40);
  }, {.others_keep = true});
}

TEST_CASE("Sessions that loop end where one lacks memory", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  for (const bool waits : {true, false}) {
    EveryAllocationFails(waits ? "run loops" : "start loops", [&](const FaultyCall& fault) {
      const OwnedPage page = LoadLoops(runtime);
      OwnedPageRun run;
      REQUIRE(weft_page_run_open(page, nullptr, run.out(), nullptr) == WEFT_OK);
      weft_run_options steps = WEFT_RUN_OPTIONS_INIT;
      steps.steps = 4;
      fault([&] {
        if (waits) return weft_page_run_all(run, &steps, nullptr);
        const weft_status status = weft_page_run_start(run, &steps, nullptr);
        return status == WEFT_OK ? weft_page_run_wait(run, -1, nullptr, nullptr) : status;
      });
      int32_t state = WEFT_RUNNING;
      (void)weft_page_run_wait(run, -1, &state, nullptr);
      CHECK(state == WEFT_IDLE);
      OwnedSession once;
      REQUIRE(weft_page_run_session(run, "once", once.out(), nullptr) == WEFT_OK);
      CHECK(weft_session_run(once, nullptr, nullptr) == WEFT_OK);
    });
  }
}

TEST_CASE("A block is added with all its names or not at all", "[memory]") {
  const Registry catalog(MakeCatalog());
  const BlockDef* const like = catalog.Find("QueueSize");
  REQUIRE(like != nullptr);
  REQUIRE(!like->aliases.empty());
  EveryAllocationFails("add a block", [&](const FaultyCall& fault) {
    Registry registry(std::span<const CatalogEntry>{});
    const auto add = [&] {
      try {
        return registry.Add(*like).ok() ? WEFT_OK : WEFT_INTERNAL;
      } catch (const std::bad_alloc&) {
        return WEFT_RESOURCE_EXHAUSTED;
      }
    };
    if (fault(add) != WEFT_OK) {
      CHECK(registry.blocks().empty());
      CHECK(registry.Names().empty());
      CHECK(add() == WEFT_OK);
    }
    CHECK(registry.Find(like->aliases[0]) == registry.Find(like->name));
  });
}

// ---- libraries that do not use operator new ---------------------------------------------------------------------------------------------

uint64_t xml_asked = 0, xml_fails = 0;

TEST_CASE("A design page for which the XML parser lacks memory is no broken page", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  const std::string text = "<svg xmlns=\"http://www.w3.org/2000/svg\" pg-xcenter=\"0.00\"><g id=\"" + std::string(100, 'x') + "\"/></svg>";
  pugi::set_memory_management_functions([](size_t size) { return ++xml_asked == xml_fails ? nullptr : std::malloc(size); }, std::free);
  weft_status status = WEFT_OK;
  for (xml_fails = 1; xml_fails < 10; ++xml_fails) {
    OwnedPage page;
    OwnedProblems problems;
    xml_asked = 0;
    status = weft_page_load(runtime, text.data(), text.size(), nullptr, page.out(), problems.out());
    const char* said = "";
    (void)weft_diagnostics_text(problems, &said);
    INFO(said);
    CHECK(status == (xml_asked >= xml_fails ? WEFT_RESOURCE_EXHAUSTED : WEFT_OK));
    CHECK((page != nullptr) == (status == WEFT_OK));
  }
  CHECK(status == WEFT_OK);
  pugi::set_memory_management_functions(std::malloc, std::free);
}

}  // namespace
}  // namespace weft::faults
