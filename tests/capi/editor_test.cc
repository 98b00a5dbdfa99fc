// What an editor meets: faults while a page is drawn, all of them at once, at the port that was wired.
#include "tests/capi/capi_kit.h"

#include <set>

using namespace weft;
using namespace weft::test;

namespace {

/// Two blocks in a row that read a constant, and one of integers.
std::vector<std::string> Blocks() {
  return {Block("x", "Const", {{"value", Vector({1, 2})}}), Block("w", "Const", {{"value", Vector({3, 4})}}), Block("i", "Const", {{"value", test::Ints({1, 2})}}),
          Block("m", "Const", {{"value", Vector({1, 2, 3})}}),
          Block("wx", "Multiply", {{"x", "x.output"}, {"y", "w.output"}}), Block("loss", "L2Loss", {{"t", "wx.z"}}),
          Block("run", "ClientSession", {{"fetch_outputs", "[\"loss.output\"]"}})};
}

size_t Count(const Problems& problems) {
  size_t count = 0;
  REQUIRE(weft_diagnostics_count(problems.list(), &count) == WEFT_OK);
  return count;
}

weft_status EditPage(weft_page* page, const char* edits, int32_t mode, Problems& problems) {
  return weft_page_edit(page, edits, mode, nullptr, problems.out());
}

/// All findings as "block.port: message"; causes, too.
std::vector<std::string> Said(const Problems& problems) {
  std::vector<std::string> said;
  for (size_t i = 0; i < Count(problems); ++i) {
    const weft_diagnostic one = problems.at(i);
    said.push_back(Cat(one.block, ".", one.port, ": ", one.message));
  }
  return said;
}

/// FusedBatchNormGrad of two channels, with a scale of so many.
std::vector<std::string> Norm(const std::string& attrs, const std::string& scale) {
  return {Block("x", "Const", {{"value", R"({"dtype": "DT_FLOAT", "shape": [1, 1, 1, 2], "values": [1, 2]})"}}), Block("s", "Const", {{"value", scale}}),
          Block("c", "Const", {{"value", Vector({1, 1})}}),
          Block("g", "FusedBatchNormGrad", {{"y_backprop", "x.output"}, {"x", "x.output"}, {"scale", "s.output"}, {"reserve_space_1", "c.output"}, {"reserve_space_2", "c.output"}}, attrs)};
}

}  // namespace

TEST_CASE("C: a refused edit is told once, with the phase in which it was found", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, Blocks());
  Problems problems;
  for (const char* edit : {R"({"op": "disconnect", "to": "loss.t"})", R"({"op": "connect", "from": "i.output", "to": "wx.y"})"}) {
    CHECK(EditPage(page, edit, WEFT_EDIT_STRICT, problems) == WEFT_INVALID_ARGUMENT);
    INFO(problems.text());
    CHECK(problems.at(0).phase == WEFT_PHASE_CONNECT);
    const std::vector<std::string> said = Said(problems);
    CHECK(std::set<std::string>(said.begin(), said.end()).size() == said.size());
    CHECK(said.size() == 1);
  }
}

TEST_CASE("C: a refused wire is told of the input that it was to go to", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, Blocks());
  Problems problems;
  for (const char* edit : {R"({"op": "connect", "from": "i.output", "to": "wx.x"})", R"({"op": "set", "input": "wx.x", "value": "i.output"})",
                           R"({"op": "set", "input": "wx.x", "value": {"dtype": "DT_INT32", "shape": [], "values": [1]}})"}) {
    CHECK(EditPage(page, edit, WEFT_EDIT_TRY, problems) == WEFT_INVALID_ARGUMENT);
    INFO(problems.text());
    const weft_diagnostic first = problems.at(0);
    CHECK(std::string(first.block) == "wx");
    CHECK(std::string(first.port) == "x");
    CHECK(std::string(first.pointer) == "/blocks/4/inputs/x");
    CHECK(std::string(first.message) == "the input 'x' needs DT_FLOAT, the type of 'y', found DT_INT32");
    CHECK(std::string(first.needed) == "DT_FLOAT");
    CHECK(std::string(first.found) == "DT_INT32");
    CHECK(first.causes == 1);  // as the page's own checks tell it
    CHECK(std::string(problems.at(1).port) == "y");
  }
  CHECK(weft_page_check_wire(page, "i.output", "wx.x", problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(std::string(problems.at(0).port) == "x");
  // Shapes that do not fit, whichever input the block tells of.
  for (const char* port : {"x", "y"}) {
    CHECK(EditPage(page, Cat(R"({"op": "connect", "from": "m.output", "to": "wx.)", port, "\"}").c_str(), WEFT_EDIT_STRICT, problems) == WEFT_INVALID_ARGUMENT);
    CHECK(std::string(problems.at(0).port) == port);
    CHECK(problems.at(0).phase == WEFT_PHASE_COMPILE);
  }
  // A fault behind the block stays where it is.
  CHECK(EditPage(page, R"([{"op": "connect", "from": "i.output", "to": "wx.x"}, {"op": "connect", "from": "i.output", "to": "wx.y"}])", WEFT_EDIT_STRICT, problems) != WEFT_OK);
  CHECK(std::string(problems.at(0).block) == "loss");
}

TEST_CASE("C: a page in the making may have inputs without a wire, and no other new fault", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  Problems problems;
  for (const char* edit : {R"({"op": "disconnect", "to": "loss.t"})", R"({"op": "remove", "block": "loss"})", R"({"op": "remove", "block": "wx"})",
                           R"({"op": "add", "block": {"id": "n", "block": "Add"}})", R"({"op": "add", "block": {"id": "n", "block": "AddSymbolicGradients"}})"}) {
    OwnedPage page = LoadPage(runtime, Blocks());
    C_OK(problems, EditPage(page, edit, WEFT_EDIT_OPEN_INPUTS, problems));
  }
  OwnedPage page = LoadPage(runtime, Blocks());
  CHECK(EditPage(page, R"({"op": "disconnect", "to": "loss.t"})", WEFT_EDIT_STRICT, problems) != WEFT_OK);
  for (const char* edit : {R"({"op": "connect", "from": "i.output", "to": "wx.x"})", R"({"op": "connect", "from": "m.output", "to": "wx.x"})",
                           R"({"op": "connect", "from": "nothing.z", "to": "wx.x"})",
                           R"({"op": "set", "block": "wx", "attr": "T", "value": "DT_INT32"})"}) {
    INFO(edit);
    CHECK(EditPage(page, edit, WEFT_EDIT_OPEN_INPUTS, problems) != WEFT_OK);
  }
  CHECK(EditPage(page, "[]", 4, problems) == WEFT_INVALID_ARGUMENT);
  // A block's types are checked once it has all inputs.
  C_OK(problems, EditPage(page, R"({"op": "disconnect", "to": "wx.y"})", WEFT_EDIT_OPEN_INPUTS, problems));
  C_OK(problems, EditPage(page, R"({"op": "connect", "from": "w.output", "to": "wx.y"})", WEFT_EDIT_OPEN_INPUTS, problems));
  C_OK(problems, EditPage(page, R"({"op": "add", "block": {"id": "n", "block": "Less"}})", WEFT_EDIT_OPEN_INPUTS, problems));
  C_OK(problems, EditPage(page, R"({"op": "connect", "from": "i.output", "to": "n.x"})", WEFT_EDIT_OPEN_INPUTS, problems));
  CHECK(EditPage(page, R"({"op": "connect", "from": "w.output", "to": "n.y"})", WEFT_EDIT_OPEN_INPUTS, problems) == WEFT_INVALID_ARGUMENT);
  CHECK(std::string(problems.at(0).port) == "y");
  uint64_t edits = 0;
  REQUIRE(weft_page_edits(page, &edits, nullptr) == WEFT_OK);
  CHECK(edits == 4);
}

TEST_CASE("C: a session that asks for what has no value is refused with the page's faults", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, Blocks());
  Problems problems;
  C_OK(problems, EditPage(page, R"({"op": "disconnect", "to": "wx.y"})", WEFT_EDIT_APPLY, problems));
  const char* const fetches[] = {"loss.output"};
  for (size_t count : {0, 1}) {
    weft_session_options options = WEFT_SESSION_OPTIONS_INIT;
    options.fetches = fetches;
    options.fetch_count = count;
    OwnedSession session;
    CHECK(weft_session_open(page, &options, session.out(), problems.out()) == WEFT_FAILED_PRECONDITION);
    CHECK(problems.text().find("wx.y: the input 'y' of Multiply needs a wire or a value, and has none") != std::string::npos);
  }
  const char* const others[] = {"wx.output"};
  weft_session_options options = WEFT_SESSION_OPTIONS_INIT;
  options.fetches = others;
  options.fetch_count = 1;
  OwnedSession session;
  CHECK(weft_session_open(page, &options, session.out(), problems.out()) == WEFT_NOT_FOUND);
  CHECK(Count(problems) == 1);
}

TEST_CASE("C: a session that was opened before the page had a fault names its results, and none of them before a run", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, Blocks());
  OwnedSession ran = OpenSession(page), fresh = OpenSession(page);
  Problems problems;
  C_OK(problems, weft_session_run(ran, nullptr, problems.out()));
  C_OK(problems, EditPage(page, R"({"op": "disconnect", "to": "wx.y"})", WEFT_EDIT_APPLY, problems));
  C_OK(problems, weft_session_run(ran, nullptr, problems.out()));  // of the last page that could run
  CHECK(InfoOf(ran).outdated_page != 0);
  CHECK(InfoOf(ViewOf(ran, "wx.z")).outdated_page != 0);
  CHECK(weft_session_run(fresh, nullptr, problems.out()) == WEFT_FAILED_PRECONDITION);
  for (weft_session* session : {static_cast<weft_session*>(ran), static_cast<weft_session*>(fresh)}) {
    OwnedStrings names;
    C_OK(problems, weft_session_results(session, names.out(), problems.out()));
    size_t count = 0;
    REQUIRE(weft_strings_count(names, &count) == WEFT_OK);
    CHECK(count == 4);
  }
  OwnedView view;
  CHECK(weft_session_view(fresh, "wx.z", view.out(), problems.out()) == WEFT_FAILED_PRECONDITION);
}

TEST_CASE("C: an error event of a page with a fault names block, port and place", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, Blocks());
  OwnedSession session = OpenSession(page);
  OwnedEvents events;
  Problems problems;
  C_OK(problems, weft_events_open(nullptr, events.out(), problems.out()));
  C_OK(problems, weft_events_add(events, session, WEFT_EVENT_BIT(WEFT_EVENT_ERROR), 1, problems.out()));
  C_OK(problems, EditPage(page, R"({"op": "disconnect", "to": "wx.y"})", WEFT_EDIT_APPLY, problems));
  CHECK(weft_session_run(session, nullptr, problems.out()) == WEFT_FAILED_PRECONDITION);
  weft_event event = WEFT_EVENT_INIT;
  size_t count = 0;
  C_OK(problems, weft_events_poll(events, &event, 1, &count, problems.out()));
  REQUIRE(count == 1);
  CHECK(std::string(event.block) == "wx");
  CHECK(std::string(event.port) == "y");
  CHECK(std::string(event.pointer) == "/blocks/4/inputs/y");
}

TEST_CASE("C: findings of nothing are an empty text", "[capi]") {
  const char* text = nullptr;
  CHECK(weft_diagnostics_text(nullptr, &text) == WEFT_INVALID_ARGUMENT);
  REQUIRE(text != nullptr);
  CHECK(*text == '\0');
}

TEST_CASE("C: what a port needs is types and a shape, without prose", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  Problems problems;
  OwnedPage page;
  const std::string clash = PageText({Block("x", "Const", {{"value", Vector({1})}}), Block("i", "Const", {{"value", test::Ints({1})}}), Block("sum", "Add", {{"x", "x.output"}, {"y", "i.output"}})});
  CHECK(weft_page_load(runtime, clash.data(), clash.size(), nullptr, page.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(std::string(problems.at(0).needed) == "DT_FLOAT");
  CHECK(std::string(problems.at(0).found) == "DT_INT32");
  const std::string shape = PageText(Norm("", Vector({1, 1, 1})));
  CHECK(weft_page_load(runtime, shape.data(), shape.size(), nullptr, page.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(std::string(problems.at(0).needed) == "DT_FLOAT [C]");
  CHECK(std::string(problems.at(0).found) == "DT_FLOAT [3]");
  // Also of a block that no session reads, and of both inputs.
  const std::string unread = PageText({Block("x", "Const", {{"value", Vector({1})}}), Block("m", "MatMul", {{"a", "x.output"}, {"b", "x.output"}}),
                                       Block("s", "ClientSession", {{"fetch_outputs", R"(["x.output"])"}})});
  CHECK(weft_page_load(runtime, unread.data(), unread.size(), nullptr, page.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  for (size_t i : {0, 1}) {
    CHECK(std::string(problems.at(i).port) == (i == 0 ? "a" : "b"));
    CHECK(std::string(problems.at(i).needed) == "DT_FLOAT [?,?]");
    CHECK(std::string(problems.at(i).found) == "DT_FLOAT [1]");
  }
}

TEST_CASE("C: operations are wired as ID.operation, and what is written otherwise is told", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  Problems problems;
  const auto page_with = [&](const char* runs) {
    auto blocks = Blocks();
    blocks.back() = Block("run", "ClientSession", {{"run_outputs", Cat("[\"", runs, "\"]")}});
    return LoadPage(runtime, blocks);
  };
  const auto found = [&](weft_page* page) {
    REQUIRE(weft_page_diagnostics(page, problems.out(), nullptr) == WEFT_OK);
    return Count(problems);
  };
  CHECK(found(page_with("loss.operation")) == 0);
  REQUIRE(found(page_with("loss.output")) == 1);
  CHECK(problems.at(0).severity == WEFT_WARNING);
  CHECK(std::string(problems.at(0).pointer) == "/blocks/6/inputs/run_outputs/0");
  CHECK(std::string(problems.at(0).hint) == "write loss.operation, or fetch the value by fetch_outputs");
  OwnedPage page = LoadPage(runtime, Blocks());
  CHECK(EditPage(page, R"({"op": "connect", "from": "wx.operation", "to": "loss.t"})", WEFT_EDIT_STRICT, problems) == WEFT_NOT_FOUND);
  CHECK(std::string(problems.at(0).hint).find("run_outputs") != std::string::npos);
}
