// What a host of the C interface sees of a page that is edited: events of edits, runs of an earlier page, names that follow.
#include <nlohmann/json.hpp>

#include "tests/capi/watch_kit.h"

using namespace weft;
using namespace weft::test;

namespace {

constexpr const char* kCut = R"({"op": "disconnect", "to": "half.x"})";
constexpr const char* kJoin = R"({"op": "connect", "from": "seen.z", "to": "half.x"})";

void EditPage(weft_page* page, const char* edits) {
  Problems problems;
  C_OK(problems, weft_page_edit(page, edits, WEFT_EDIT_APPLY, nullptr, problems.out()));
}

size_t CountOf(weft_session* session) {
  OwnedStrings names;
  Problems problems;
  C_OK(problems, weft_session_results(session, names.out(), problems.out()));
  size_t count = 0;
  REQUIRE(weft_strings_count(names, &count) == WEFT_OK);
  return count;
}

}  // namespace

TEST_CASE("C: runs of a page with faults are of the last that could be planned, and say so everywhere", "[capi][watch]") {
  WatchingHost host;
  host.Run(1);
  const size_t names = CountOf(host.session);
  CHECK(names > 1);
  OwnedEvents events = host.Events(WEFT_EVENT_BIT(WEFT_EVENT_RUN));
  EditPage(host.page, kCut);
  CHECK(InfoOf(host.session).outdated_page == 0);  // no run has found it yet
  host.Run(1);
  CHECK(InfoOf(host.session).outdated_page != 0);
  CHECK(InfoOf(host.session).runs == 2);
  CHECK(CountOf(host.session) == names);
  OwnedView view = ViewOf(host.session, "half.z");
  CHECK(InfoOf(view).outdated_page != 0);
  CHECK(InfoOf(view).stale == 0);
  CHECK(InfoOf(view).generation == 2);
  std::vector<weft_event> told = Poll(events);
  REQUIRE(told.size() == 1);
  CHECK(told[0].outdated_page != 0);
  CHECK(told[0].code == WEFT_OK);
  Problems faults;
  C_OK(host.problems, weft_session_faults(host.session, faults.out(), host.problems.out()));
  CHECK(faults.at(0).code == WEFT_FAILED_PRECONDITION);
  REQUIRE(faults.at(0).causes >= 1);
  CHECK(faults.at(1).block == std::string("half"));
  CHECK(faults.at(1).port == std::string("x"));
  EditPage(host.page, kJoin);
  host.Run(1);
  CHECK(InfoOf(host.session).outdated_page == 0);
  CHECK(InfoOf(ViewOf(host.session, "half.z")).outdated_page == 0);
  CHECK(Poll(events).at(0).outdated_page == 0);
  C_OK(host.problems, weft_session_faults(host.session, faults.out(), host.problems.out()));
  size_t count = 1;
  REQUIRE(weft_diagnostics_count(faults.list(), &count) == WEFT_OK);
  CHECK(count == 0);
}

TEST_CASE("C: a session of a page with faults is not opened, and all faults are told", "[capi]") {
  WatchingHost host;
  EditPage(host.page, kCut);
  EditPage(host.page, R"({"op": "set", "block": "seen", "attr": "nonsuch", "value": 1})");
  OwnedSession session;
  CHECK(weft_session_open(host.page, nullptr, session.out(), host.problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(static_cast<weft_session*>(session) == nullptr);
  CHECK(host.problems.text().find("half.x") != std::string::npos);
  CHECK(host.problems.text().find("nonsuch") != std::string::npos);
  // One that was opened before, and has not run, has nothing to go on with.
  CHECK(weft_session_run(host.session, nullptr, host.problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(InfoOf(host.session).outdated_page == 0);
}

TEST_CASE("C: a session whose shapes do not fit is not opened, and the fault's own code is given", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  options.keep_faulty = 1;
  OwnedPage page = LoadPage(runtime, {Block("sum", "Add", {{"x", Vector({1, 2})}, {"y", Vector({1, 2, 3})}})}, &options);
  const char* fetches[] = {"sum.z"};
  weft_session_options asked = WEFT_SESSION_OPTIONS_INIT;
  asked.fetches = fetches, asked.fetch_count = 1;
  for (const weft_session_options* each : {&asked, static_cast<weft_session_options*>(nullptr)}) {
    Problems problems;
    weft_session* session = reinterpret_cast<weft_session*>(1);
    CHECK(weft_session_open(page, each, &session, problems.out()) == WEFT_INVALID_ARGUMENT);
    CHECK(session == nullptr);
    CHECK(std::string(problems.at(0).block) == "sum");
  }
}

TEST_CASE("C: a session has no results while what is fed to it leaves it without a plan", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, {Block("x", "Const", {{"value", Vector({1, 2})}}),
                                      Block("sum", "Add", {{"x", "x.output"}, {"y", Vector({1, 2})}})});
  OwnedSession session = OpenSession(page, {"sum.z"});
  Problems problems;
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  const size_t names = CountOf(session);
  FloatBuffer three({1, 2, 3});
  const weft_buffer value = three.get();
  C_OK(problems, weft_session_feed(session, "x.output", &value, problems.out()));
  CHECK(weft_session_run(session, nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
  OwnedStrings none;
  CHECK(weft_session_results(session, none.out(), problems.out()) == WEFT_FAILED_PRECONDITION);
  CHECK(std::string(problems.at(0).hint) == "run it: that says why");
  CHECK(none == nullptr);
  C_OK(problems, weft_session_unbind(session, "x.output", problems.out()));
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  CHECK(CountOf(session) == names);
}

TEST_CASE("C: edits of a page are events of its queues and of its callback", "[capi][watch]") {
  WatchingHost host;
  OwnedEvents events;
  C_OK(host.problems, weft_events_open(nullptr, events.out(), host.problems.out()));
  C_OK(host.problems, weft_events_add_page(events, host.page, 7, host.problems.out()));
  CHECK(weft_events_add_page(events, host.page, 8, host.problems.out()) == WEFT_ALREADY_EXISTS);
  C_OK(host.problems, weft_events_add(events, host.session, WEFT_EVENT_BIT(WEFT_EVENT_STATE), 1, host.problems.out()));
  Poll(events);
  struct Told {
    weft_page* page;
    uint64_t revision = 0, edits = 0;
    int calls = 0;
  } told{host.page};
  const auto callback = [](void* user, const weft_event* event) {
    auto& t = *static_cast<Told*>(user);
    ++t.calls;
    t.revision = event->revision;
    if (event->kind != WEFT_EVENT_EDITED || weft_page_edits(t.page, &t.edits, nullptr) != WEFT_OK) t.calls = -1000;
  };
  C_OK(host.problems, weft_page_on_event(host.page, callback, &told, host.problems.out()));
  EditPage(host.page, kCut);
  EditPage(host.page, kJoin);
  CHECK(told.calls == 2);
  CHECK(told.revision == 2);
  CHECK(told.edits == 2);
  std::vector<weft_event> polled = Poll(events);
  REQUIRE(polled.size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    CHECK(polled[i].kind == WEFT_EVENT_EDITED);
    CHECK(polled[i].source == 7);
    CHECK(polled[i].revision == i + 1);
    CHECK(std::string(polled[i].page) == "page");
    CHECK(nlohmann::json::parse(polled[i].text)["changed"] == nlohmann::json::array({"half"}));
  }
  // What is refused, or only tried, is no edit.
  CHECK(weft_page_edit(host.page, kCut, WEFT_EDIT_STRICT, nullptr, nullptr) != WEFT_OK);
  CHECK(weft_page_edit(host.page, R"({"op": "move", "block": "half", "layout": [1, 2]})", WEFT_EDIT_TRY, nullptr, nullptr) == WEFT_OK);
  CHECK(Poll(events).empty());
  C_OK(host.problems, weft_events_remove_page(events, host.page, host.problems.out()));
  CHECK(weft_events_remove_page(events, host.page, host.problems.out()) == WEFT_NOT_FOUND);
  C_OK(host.problems, weft_page_on_event(host.page, nullptr, nullptr, host.problems.out()));
  EditPage(host.page, kCut);
  CHECK(Poll(events).empty());
  CHECK(told.calls == 2);
}

TEST_CASE("C: a subscription has the name that the page gives its value now", "[capi][watch]") {
  WatchingHost host;
  OwnedSubscription subscription;
  C_OK(host.problems, weft_session_subscribe(host.session, "seen.z", nullptr, subscription.out(), host.problems.out()));
  EditPage(host.page, R"({"op": "rename", "block": "seen", "to": "counted"})");
  OwnedStrings name;
  C_OK(host.problems, weft_subscription_name(subscription, name.out(), host.problems.out()));
  CHECK(TextOf(name) == "counted.z");
  host.Run(1);
  weft_sample sample = WEFT_SAMPLE_INIT;
  size_t count = 0;
  C_OK(host.problems, weft_subscription_samples(subscription, &sample, 1, &count, host.problems.out()));
  REQUIRE(count == 1);
  CHECK(sample.code == WEFT_OK);
  OwnedView value(sample.value);
  CHECK(FloatsOf(value) == std::vector<float>{1});
}

TEST_CASE("C: while a run is paused, values are read as always: of the run, or of the last one", "[capi][watch]") {
  WatchingHost host;
  host.Run(1);
  weft_run_options until = WEFT_RUN_OPTIONS_INIT;
  until.until_block = "half";
  C_OK(host.problems, weft_session_start(host.session, &until, host.problems.out()));
  REQUIRE(host.Wait() == WEFT_PAUSED);
  const char* names[] = {"seen.z", "half.z"};
  weft_view* views[2] = {};
  C_OK(host.problems, weft_session_views(host.session, names, 2, views, host.problems.out()));
  OwnedView seen(views[0]), half(views[1]);
  CHECK(InfoOf(seen).in_progress != 0);
  CHECK(InfoOf(seen).generation == 2);
  CHECK(FloatsOf(seen) == std::vector<float>{2});
  CHECK(InfoOf(half).in_progress == 0);
  CHECK(InfoOf(half).generation == 1);
  CHECK(FloatsOf(half) == std::vector<float>{0.5F});
  C_OK(host.problems, weft_session_resume(host.session, WEFT_GO_ON, host.problems.out()));
  REQUIRE(host.Wait() == WEFT_IDLE);
  CHECK(InfoOf(ViewOf(host.session, "seen.z")).in_progress == 0);
  CHECK(FloatsOf(seen) == std::vector<float>{2});
}
