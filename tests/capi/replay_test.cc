// Events once more, and all that an error event and a diagnostic say; codes as data.
#include <nlohmann/json.hpp>

#include "tests/capi/watch_kit.h"
#include "tests/kit/program.h"
#include "weft/base/status.h"

using namespace weft;
using namespace weft::test;

namespace {

struct Replayed {
  std::vector<weft_event> events;
  uint64_t missed = 99;
};

Replayed Replay(weft_events* events, uint64_t from, size_t capacity = 64) {
  Replayed result;
  result.events.assign(capacity, weft_event WEFT_EVENT_INIT);
  size_t count = 0;
  REQUIRE(weft_events_replay(events, from, result.events.data(), capacity, &count, &result.missed, nullptr) == WEFT_OK);
  result.events.resize(count);
  return result;
}

weft_diagnostic FirstOfLoad(weft_runtime* runtime, const std::vector<std::string>& blocks, Problems& problems) {
  OwnedPage page;
  const std::string text = PageText(blocks);
  CHECK(weft_page_load(runtime, text.data(), text.size(), nullptr, page.out(), problems.out()) != WEFT_OK);
  return problems.at(0);
}

}  // namespace

TEST_CASE("C: polled events come again from any number on, the same as before", "[capi][watch]") {
  WatchingHost host;
  OwnedEvents events = host.Events(WEFT_ALL_EVENTS);
  CHECK(Replay(events, 0).events.empty());  // nothing was polled yet
  CHECK(Replay(events, 0).missed == 0);
  host.Run(2);
  const std::vector<weft_event> told = Poll(events);
  REQUIRE(told.size() > 4);
  const Replayed all = Replay(events, 0);
  CHECK(all.missed == 0);
  REQUIRE(all.events.size() == told.size());
  for (size_t i = 0; i < told.size(); ++i) {
    CHECK(all.events[i].seq == told[i].seq);
    CHECK(all.events[i].kind == told[i].kind);
    CHECK(all.events[i].t_ns == told[i].t_ns);
    CHECK(std::string(all.events[i].block) == told[i].block);
    CHECK(std::string(all.events[i].text) == told[i].text);
  }
  const Replayed rest = Replay(events, told[3].seq, 2);
  REQUIRE(rest.events.size() == 2);
  CHECK(rest.events[0].seq == told[3].seq);
  CHECK(rest.missed == 0);
  // What has not been polled is no part of it.
  host.Run(1);
  CHECK(Replay(events, told.back().seq + 1).events.empty());
  CHECK(Replay(events, told.back().seq + 1).missed == 0);
  const std::vector<weft_event> later = Poll(events);
  REQUIRE_FALSE(later.empty());
  CHECK(later.front().seq == told.back().seq + 1);
  CHECK(Replay(events, told.back().seq + 1).events.size() == later.size());
}

TEST_CASE("C: the history is bounded, and says what it lost", "[capi][watch]") {
  WatchingHost host;
  weft_events_options options = WEFT_EVENTS_OPTIONS_INIT;
  options.most_history = 5;
  OwnedEvents events;
  C_OK(host.problems, weft_events_open(&options, events.out(), host.problems.out()));
  C_OK(host.problems, weft_events_add(events, host.session, WEFT_EVENT_BIT(WEFT_EVENT_PRINT), 0, host.problems.out()));
  host.Run(20);
  REQUIRE(Poll(events).size() == 20);
  const Replayed kept = Replay(events, 1);
  REQUIRE(kept.events.size() == 5);
  CHECK(kept.events.front().seq == 16);
  CHECK(kept.missed == 15);
  CHECK(Replay(events, 16).missed == 0);
  CHECK(Replay(events, 18).events.size() == 3);
  size_t count = 0;
  weft_event event = WEFT_EVENT_INIT;
  CHECK(weft_events_replay(events, 1, &event, 1, &count, nullptr, nullptr) == WEFT_OK);
  CHECK(count == 1);
  CHECK(weft_events_replay(events, 1, &event, 1, nullptr, nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_events_replay(events, 1, nullptr, 1, &count, nullptr, nullptr) == WEFT_INVALID_ARGUMENT);
}

TEST_CASE("C: who joins while a run is paused is told its state and progress, then what changes", "[capi][watch]") {
  WatchingHost host;
  weft_breakpoint_options options = WEFT_BREAKPOINT_OPTIONS_INIT;
  options.block = "say";
  OwnedBreakpoint breakpoint = host.Break(options);
  host.Start(1);
  REQUIRE(host.Wait() == WEFT_PAUSED);
  OwnedEvents events = host.Events(WEFT_ALL_EVENTS, 3);
  int states = 0;
  std::vector<std::string> ended;
  for (const weft_event& event : Poll(events)) {
    if (event.kind == WEFT_EVENT_STATE) {
      ++states;
      CHECK(event.state == WEFT_PAUSED);
      CHECK(std::string(event.block) == "say");
    }
    if (event.kind == WEFT_EVENT_PROGRESS) {
      CHECK(event.progress == WEFT_ENDED);
      CHECK(event.run == 1);
      CHECK(event.fraction > 0);
      ended.emplace_back(event.block);
    }
    if (event.kind == WEFT_EVENT_RUN) CHECK(event.progress == WEFT_BEGAN);
  }
  CHECK(states == 1);
  CHECK(ended == std::vector<std::string>{"seen", "half"});
  C_OK(host.problems, weft_session_resume(host.session, WEFT_GO_ON, host.problems.out()));
  CHECK(host.Wait() == WEFT_IDLE);
  ended.clear();
  for (const weft_event& event : Poll(events)) {
    if (event.kind == WEFT_EVENT_PROGRESS) ended.emplace_back(event.block);
    if (event.kind == WEFT_EVENT_RUN) CHECK(event.progress == WEFT_ENDED);
  }
  CHECK(ended == std::vector<std::string>{"say", "count"});
}

TEST_CASE("C: findings say in which phase they were made, what was needed and what was found", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  Problems problems;
  weft_diagnostic found = FirstOfLoad(runtime, {"{\"id\": 5}"}, problems);
  CHECK(found.phase == WEFT_PHASE_LOAD);
  found = FirstOfLoad(runtime, {Block("a", "Add", {{"x", "b.z"}, {"y", Scalar(1)}})}, problems);
  CHECK(found.phase == WEFT_PHASE_CONNECT);
  found = FirstOfLoad(runtime, {Block("a", "Add", {{"x", Scalar(1)}, {"y", test::Ints({1})}})}, problems);
  CHECK(found.phase == WEFT_PHASE_CONNECT);
  CHECK(found.port == std::string("y"));
  CHECK(std::string(found.needed).find("T") != std::string::npos);
  CHECK(found.found == std::string("DT_INT32"));
  found = FirstOfLoad(runtime, {Block("a", "Add", {{"x", Vector({1, 2})}, {"y", Vector({1, 2, 3})}})}, problems);
  CHECK(found.phase == WEFT_PHASE_COMPILE);
  CHECK(found.port == std::string("y"));
  CHECK(found.found == std::string("DT_FLOAT [3]"));
  CHECK(found.causes == 0);
  CHECK(weft_session_cancel(nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(problems.at(0).phase == WEFT_PHASE_NONE);
  CHECK(problems.at(0).needed == std::string());
}

TEST_CASE("C: an error event says what its diagnostic says, causes as well", "[capi][watch]") {
  FailingHost host;
  CHECK(weft_session_run(host.session, nullptr, host.problems.out()) != WEFT_OK);
  std::vector<weft_event> told = Poll(host.events);
  REQUIRE(told.size() == 1);
  CHECK(told[0].phase == WEFT_PHASE_RUN);
  CHECK(told[0].severity == WEFT_ERROR);
  CHECK(told[0].start == 1);
  CHECK(std::string(told[0].found) == "DT_INT32 [1]");
  CHECK(std::string(told[0].found) == host.problems.at(0).found);
  CHECK(std::string(told[0].needed) == host.problems.at(0).needed);
  CHECK(std::string(told[0].causes).empty());
  // A session of a block that an edit has broken says what is wrong with the block.
  const char* edit = R"({"op": "set", "block": "pick", "attr": "nonsuch", "value": "1"})";
  C_OK(host.problems, weft_page_edit(host.page, edit, WEFT_EDIT_APPLY, nullptr, host.problems.out()));
  CHECK(weft_session_run(host.session, nullptr, host.problems.out()) == WEFT_FAILED_PRECONDITION);
  REQUIRE(host.problems.at(0).causes == 1);
  CHECK(host.problems.at(1).severity == WEFT_NOTE);
  CHECK(host.problems.at(1).block == std::string("pick"));
  told = Poll(host.events);
  REQUIRE(told.size() == 1);
  CHECK(std::string(told[0].causes).find("nonsuch") != std::string::npos);
  CHECK(told[0].phase == WEFT_PHASE_CONNECT);
  CHECK(std::string(told[0].block) == "pick");
  CHECK(told[0].run == 1);
}

TEST_CASE("C: codes are data, and the data agree with the interface", "[capi]") {
  const nlohmann::json codes = nlohmann::json::parse(weft_codes_json());
  REQUIRE(codes["codes"].size() == WEFT_INTERNAL + 1);
  for (const auto& code : codes["codes"]) CHECK(code["name"] == weft_status_name(code["number"].get<weft_status>()));
  for (const auto& phase : codes["phases"]) {
    const auto number = static_cast<Phase>(phase["number"].get<int>());
    CHECK(phase["name"] == (number == Phase::kNone ? "none" : std::string(PhaseName(number))));
  }
  CHECK(codes["phases"].size() == WEFT_PHASE_RUN + 1);
  CHECK(codes["severities"].size() == WEFT_NOTE + 1);
  CHECK(codes["states"].size() == WEFT_PAUSED + 1);
  CHECK(codes["pause_reasons"].size() == WEFT_PAUSE_BREAK + 1);
  CHECK(codes["modes"].size() == WEFT_MODE_RUN + 1);
  CHECK(codes["event_kinds"].size() == WEFT_EVENT_KINDS);
  CHECK(codes["progress"].size() == WEFT_ENDED_CANCELLED + 1);
  CHECK(codes["case_verdicts"].size() == WEFT_CASE_SKIPPED + 1);
  for (const auto& [list, entries] : codes.items()) {
    INFO(list);
    for (size_t i = 0; i < entries.size(); ++i) {
      CHECK(entries[i]["number"] == i);
      CHECK_FALSE(entries[i]["means"].get<std::string>().empty());
    }
  }
  CHECK(kit::FileBytes(std::filesystem::path(WEFT_SOURCE_DIR) / "schemas/codes.json") == weft_codes_json());
  CHECK(kit::RunWeft({"codes", "--json"}).out == weft_codes_json());
  CHECK(kit::RunWeft({"codes"}).out.find("  1  invalid_argument: ") != std::string::npos);
}
