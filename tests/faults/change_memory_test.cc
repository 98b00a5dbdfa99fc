// No memory while a page is edited, saved, restored or watched: the change is made as a whole or not at all.
#include <fstream>
#include <iterator>

#include "tests/faults/fault_kit.h"
#include "tests/kit/test_services.h"
#include "weft/host/events.h"

namespace weft::faults {
namespace {

namespace fs = std::filesystem;

std::string Written(weft_page* page) {
  OwnedStrings json;
  const char* text = "";
  REQUIRE(weft_page_write(page, json.out(), nullptr) == WEFT_OK);
  REQUIRE(weft_strings_get(json, 0, &text, nullptr) == WEFT_OK);
  return text;
}

std::string Faults(weft_page* page) {
  OwnedProblems found;
  const char* text = "";
  REQUIRE(weft_page_diagnostics(page, found.out(), nullptr) == WEFT_OK);
  REQUIRE(weft_diagnostics_text(found, &text) == WEFT_OK);
  return text;
}

std::pair<size_t, size_t> History(weft_page* page) {
  size_t undo = 0, redo = 0;
  REQUIRE(weft_page_history(page, &undo, &redo, nullptr) == WEFT_OK);
  return {undo, redo};
}

TEST_CASE("An edit that lacks memory is not made; the next one is", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  const kit::TemporaryFolder folder;
  const std::string edit = R"([{"op": "rename", "block": "loss", "to": "a_loss_with_a_name_that_is_long"},
    {"op": "add", "block": {"id": "another_constant_of_the_page", "block": "Const",
     "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [3], "values": [1, 2, 3]}}}}])";
  Sample sample(runtime, "softmax_regression", folder.path().string());
  REQUIRE((sample.Load() == WEFT_OK && sample.Open() == WEFT_OK && sample.Run() == WEFT_OK));
  OwnedEvents events;
  REQUIRE(weft_events_open(nullptr, events.out(), nullptr) == WEFT_OK);
  REQUIRE(weft_events_add_page(events, sample.page, 0, nullptr) == WEFT_OK);
  for (const int32_t mode : {WEFT_EDIT_APPLY, WEFT_EDIT_STRICT}) {
    EveryAllocationFails("edit", [&](const FaultyCall& fault) {
      Sample own(runtime, "softmax_regression", folder.path().string());
      REQUIRE((own.Load() == WEFT_OK && own.Open() == WEFT_OK));
      REQUIRE(weft_events_add_page(events, own.page, 0, nullptr) == WEFT_OK);
      const std::string before = Written(own.page), faults = Faults(own.page);
      OwnedStrings inverse;
      uint64_t edits = 0;
      const weft_status status = fault([&] { return weft_page_edit(own.page, edit.c_str(), mode, inverse.out(), nullptr); });
      REQUIRE(weft_page_edits(own.page, &edits, nullptr) == WEFT_OK);
      CHECK((inverse != nullptr) == (status == WEFT_OK));
      CHECK(edits == (status == WEFT_OK ? 1 : 0));
      CHECK(History(own.page) == std::pair<size_t, size_t>(edits, 0));
      if (status != WEFT_OK) {
        CHECK(Written(own.page) == before);
        CHECK(Faults(own.page) == faults);
        REQUIRE(weft_page_edit(own.page, edit.c_str(), mode, inverse.out(), nullptr) == WEFT_OK);
      }
      const std::string after = Written(own.page);
      CHECK(after != before);
      for (weft_status (*step)(weft_page*, weft_strings**, weft_diagnostics**) : {weft_page_undo, weft_page_redo}) {
        OwnedStrings texts;
        REQUIRE(step(own.page, texts.out(), nullptr) == WEFT_OK);
        CHECK(Written(own.page) == (step == weft_page_undo ? before : after));
      }
      const weft_status ran = own.Run();
      CHECK(ran == WEFT_OK);
      std::vector<weft_event> polled(16, weft_event WEFT_EVENT_INIT);
      size_t count = 0;
      REQUIRE(weft_events_poll(events, polled.data(), polled.size(), &count, nullptr) == WEFT_OK);
      CHECK(count > 0);
      REQUIRE(weft_events_remove_page(events, own.page, nullptr) == WEFT_OK);
    }, {.others_keep = true});
  }
}

TEST_CASE("What is taken back for lack of memory stays, and is taken back by the next call", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  const kit::TemporaryFolder folder;
  const std::string edit = R"([{"op": "rename", "block": "loss", "to": "a_loss_with_a_name_that_is_long"}])";
  Sample sample(runtime, "softmax_regression", folder.path().string());
  REQUIRE(sample.Load() == WEFT_OK);
  const std::string before = Written(sample.page);
  REQUIRE(weft_page_edit(sample.page, edit.c_str(), WEFT_EDIT_APPLY, nullptr, nullptr) == WEFT_OK);
  const std::string after = Written(sample.page);
  EveryAllocationFails("undo", [&](const FaultyCall& fault) {
    OwnedStrings texts;
    const weft_status status = fault([&] { return weft_page_undo(sample.page, texts.out(), nullptr); });
    CHECK(Written(sample.page) == (status == WEFT_OK ? before : after));
    CHECK(History(sample.page) == (status == WEFT_OK ? std::pair<size_t, size_t>(0, 1) : std::pair<size_t, size_t>(1, 0)));
    if (status == WEFT_OK) REQUIRE(weft_page_redo(sample.page, nullptr, nullptr) == WEFT_OK);
  }, {.others_keep = true});
}

TEST_CASE("A session that lacks memory to follow an edit follows it in its next run", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  const kit::TemporaryFolder folder;
  const std::string edit = R"([{"op": "set", "input": "dy.value", "value": {"dtype": "DT_FLOAT", "shape": [1, 2, 2], "values": [10, 20, 30, 40]}}])";
  const std::string page = R"({"weft": 1, "page": "p", "blocks": [
    {"id": "dy", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [1, 2, 2], "values": [1, 2, 3, 4]}}},
    {"id": "db", "block": "BiasAddGrad", "inputs": {"out_backprop": "dy.output"}}]})";
  EveryAllocationFails("follow", [&](const FaultyCall& fault) {
    OwnedPage own;
    OwnedSession session;
    REQUIRE(weft_page_load(runtime, page.data(), page.size(), nullptr, own.out(), nullptr) == WEFT_OK);
    REQUIRE(weft_session_open(own, nullptr, session.out(), nullptr) == WEFT_OK);
    REQUIRE(weft_session_run(session, nullptr, nullptr) == WEFT_OK);
    REQUIRE(weft_page_edit(own, edit.c_str(), WEFT_EDIT_APPLY, nullptr, nullptr) == WEFT_OK);
    const weft_status status = fault([&] { return weft_session_run(session, nullptr, nullptr); });
    if (status != WEFT_OK) REQUIRE(weft_session_run(session, nullptr, nullptr) == WEFT_OK);
    OwnedView view;
    REQUIRE(weft_session_view(session, "db.output", view.out(), nullptr) == WEFT_OK);
    weft_view_info info = WEFT_VIEW_INFO_INIT;
    REQUIRE(weft_view_get_info(view, &info) == WEFT_OK);
    REQUIRE(info.count == 2);
    CHECK(static_cast<const float*>(info.data)[0] == 40);
    CHECK(static_cast<const float*>(info.data)[1] == 60);
  });
}

TEST_CASE("A snapshot that lacks memory leaves the file before and the page as they were", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  const kit::TemporaryFolder folder;
  const std::string path = (folder.path() / "state").string();
  Sample sample(runtime, "softmax_regression", folder.path().string());
  REQUIRE((sample.Load() == WEFT_OK && sample.Open() == WEFT_OK && sample.Run() == WEFT_OK));
  const auto bytes = [&] {
    std::ifstream in(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  REQUIRE(weft_page_save_state(sample.page, path.c_str(), nullptr, nullptr, nullptr) == WEFT_OK);
  const std::string first = bytes();
  EveryAllocationFails("save", [&](const FaultyCall& fault) {
    fault([&] { return weft_page_save_state(sample.page, path.c_str(), nullptr, nullptr, nullptr); });
    CHECK(bytes() == first);
    CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
  });
  REQUIRE(sample.Run() == WEFT_OK);
  const std::string second = (folder.path() / "second").string(), third = (folder.path() / "third").string();
  REQUIRE(weft_page_save_state(sample.page, second.c_str(), nullptr, nullptr, nullptr) == WEFT_OK);
  EveryAllocationFails("restore", [&](const FaultyCall& fault) {
    REQUIRE(weft_page_restore_state(sample.page, second.c_str(), nullptr, nullptr, nullptr) == WEFT_OK);
    const weft_status status = fault([&] { return weft_page_restore_state(sample.page, path.c_str(), nullptr, nullptr, nullptr); });
    REQUIRE(weft_page_save_state(sample.page, third.c_str(), nullptr, nullptr, nullptr) == WEFT_OK);
    std::ifstream now(third, std::ios::binary), then(status == WEFT_OK ? path : second, std::ios::binary);
    CHECK(std::equal(std::istreambuf_iterator<char>(now), {}, std::istreambuf_iterator<char>(then), {}));
  }, {.others_keep = true});
}

TEST_CASE("A session that lacks memory to start is idle, and starts when there is some", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  const kit::TemporaryFolder folder;
  Sample sample(runtime, "softmax_regression", folder.path().string());
  REQUIRE(sample.Load() == WEFT_OK);
  EveryAllocationFails("start", [&](const FaultyCall& fault) {
    OwnedSession session;
    REQUIRE(weft_session_open(sample.page, nullptr, session.out(), nullptr) == WEFT_OK);
    weft_run_options options = WEFT_RUN_OPTIONS_INIT;
    options.until_block = "loss";
    const weft_status status = fault([&] {
      weft_status started = weft_session_start(session, &options, nullptr);
      if (started == WEFT_OK) started = weft_session_wait(session, -1, nullptr, nullptr);
      const weft_status resumed = weft_session_resume(session, WEFT_GO_ON, nullptr);
      if (started == WEFT_OK && resumed == WEFT_OK) started = weft_session_wait(session, -1, nullptr, nullptr);
      return started;
    });
    if (status == WEFT_OK) {
      REQUIRE(weft_session_cancel(session, nullptr) == WEFT_OK);
      (void)weft_session_wait(session, -1, nullptr, nullptr);
    }
    IsIdleAndStarts(session);
  });
}

TEST_CASE("Events for which there is no memory count as dropped", "[memory]") {
  EveryAllocationFails("events", [](const FaultyCall& fault) {
    EventQueue queue({4, size_t{1} << 20, 4});
    std::vector<Event> polled;
    const auto push = [&](int count) {
      for (int i = 0; i < count; ++i) {
        Event event;
        event.kind = i % 2 == 0 ? EventKind::kState : EventKind::kPrint;
        queue.Push(std::move(event));
      }
    };
    fault([&] {
      push(8);
      try {
        polled = queue.Poll();
      } catch (const std::bad_alloc&) {
        return WEFT_RESOURCE_EXHAUSTED;
      }
      return WEFT_OK;
    });
    push(3);
    std::vector<Event> rest = queue.Poll();
    polled.insert(polled.end(), rest.begin(), rest.end());
    uint64_t events = 0, last = 0;
    for (const Event& event : polled) {
      CHECK(event.seq > last);
      last = event.seq;
      if (event.kind != EventKind::kGap) ++events;
      for (const uint64_t dropped : event.dropped) events += dropped;
    }
    CHECK(events == 11);
    CHECK(last == 11);
  });
}

TEST_CASE("A session that is watched runs without memory for its events", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  const kit::TemporaryFolder folder;
  Sample sample(runtime, "softmax_regression", folder.path().string());
  REQUIRE(sample.Load() == WEFT_OK);
  EveryAllocationFails("watch", [&](const FaultyCall& fault) {
    OwnedSession session;
    OwnedEvents events;
    REQUIRE(weft_session_open(sample.page, nullptr, session.out(), nullptr) == WEFT_OK);
    REQUIRE(weft_events_open(nullptr, events.out(), nullptr) == WEFT_OK);
    std::vector<weft_event> polled(64, weft_event WEFT_EVENT_INIT);
    bool added = false;
    fault([&] {
      weft_status status = weft_events_add(events, session, WEFT_ALL_EVENTS, 7, nullptr);
      added = status == WEFT_OK;
      if (status == WEFT_OK) status = weft_session_run(session, nullptr, nullptr);
      size_t count = 0;
      const weft_status polling = weft_events_poll(events, polled.data(), polled.size(), &count, nullptr);
      return status == WEFT_OK ? polling : status;
    });
    CHECK(weft_events_remove(events, session, nullptr) == (added ? WEFT_OK : WEFT_NOT_FOUND));
    CHECK(weft_events_add(events, session, WEFT_ALL_EVENTS, 7, nullptr) == WEFT_OK);
    CHECK(weft_session_run(session, nullptr, nullptr) == WEFT_OK);
    size_t count = 0;
    CHECK(weft_events_poll(events, polled.data(), polled.size(), &count, nullptr) == WEFT_OK);
    CHECK(count > 0);
  });
}

}  // namespace
}  // namespace weft::faults
