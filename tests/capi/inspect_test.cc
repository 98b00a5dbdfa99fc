// What the C interface tells an editor: blocks, wires, layout, types, plans, wires that would fit, all results of a run.
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/capi/capi_kit.h"

using namespace weft;
using namespace weft::test;
using nlohmann::json;

namespace {

std::string First(weft_strings* strings, size_t index = 0) {
  const char* text = "";
  REQUIRE(weft_strings_get(strings, index, &text, nullptr) == WEFT_OK);
  return text;
}

std::vector<std::string> All(weft_strings* strings) {
  const char* const* texts = nullptr;
  size_t count = 0;
  REQUIRE(weft_strings_all(strings, &texts, &count) == WEFT_OK);
  return {texts, texts + count};
}

/// The text that a function of a page gives, read as JSON.
template <class Call>
json Told(Call&& call) {
  OwnedStrings text;
  Problems problems;
  C_OK(problems, call(text.out(), problems.out()));
  return json::parse(First(text));
}

/// y = x + 1, z = -y; lost reads what is not there
OwnedPage Small(weft_runtime* runtime) {
  OwnedPage page;
  Problems problems;
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  options.keep_faulty = 1;
  const std::string text = PageText({Block("x", "Const", {{"value", Vector({1, 2})}}), Block("y", "Add", {{"x", "x.output"}, {"y", Scalar(1)}}),
                                         Block("z", "Negate", {{"x", "y.z"}}), Block("text", "Const", {{"value", R"({"dtype": "DT_STRING", "shape": [], "values": ["a"]})"}}),
                                         Block("lost", "Negate", {{"x", "gone.y"}}), Block("after", "Negate", {{"x", "lost.y"}})});
  std::string with_layout = text.substr(0, text.size() - 1) + R"(, "layout": {"x": [1, 2.5]}})";
  C_OK(problems, weft_page_load(runtime, with_layout.data(), with_layout.size(), &options, page.out(), problems.out()));
  return page;
}

}  // namespace

TEST_CASE("C: blocks, wires and layout as JSON", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = Small(runtime);
  CHECK(Told([&](auto out, auto problems) { return weft_page_block_json(page, "z", out, problems); }) ==
        json::parse(R"({"id": "z", "block": "Negate", "inputs": {"x": "y.z"}})"));
  CHECK(Told([&](auto out, auto problems) { return weft_page_wires_json(page, out, problems); }) ==
        json::parse(R"([["x.output", "y.x"], ["y.z", "z.x"], ["gone.y", "lost.x"], ["lost.y", "after.x"]])"));
  CHECK(Told([&](auto out, auto problems) { return weft_page_layout_json(page, WEFT_LAYOUT_PAGE, out, problems); }) == json::parse(R"({"x": [1, 2.5]})"));
  const json layout = Told([&](auto out, auto problems) { return weft_page_layout_json(page, WEFT_LAYOUT_AUTO, out, problems); });
  CHECK(layout.size() == 6);
  CHECK(layout["x"][0] < layout["y"][0]);
  CHECK(layout["y"][0] < layout["z"][0]);
  // It becomes the page's by an edit.
  Problems problems;
  const std::string edit = json{{"op", "set"}, {"key", "layout"}, {"value", layout}}.dump();
  C_OK(problems, weft_page_edit(page, edit.c_str(), WEFT_EDIT_APPLY, nullptr, problems.out()));
  CHECK(Told([&](auto out, auto found) { return weft_page_layout_json(page, WEFT_LAYOUT_PAGE, out, found); }) == layout);

  OwnedStrings none;
  CHECK(weft_page_block_json(page, "zz", none.out(), problems.out()) == WEFT_NOT_FOUND);
  CHECK(weft_page_block_json(page, "z.y", none.out(), problems.out()) == WEFT_NOT_FOUND);
  CHECK(weft_page_block_json(page, nullptr, none.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_page_layout_json(page, 2, none.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  C_OK(problems, weft_page_edit(page, R"({"op": "set", "key": "layout", "value": {"zoom": 1}})", WEFT_EDIT_APPLY, nullptr, problems.out()));
  CHECK(weft_page_layout_json(page, WEFT_LAYOUT_PAGE, none.out(), problems.out()) == WEFT_FAILED_PRECONDITION);
}

TEST_CASE("C: a page as a picture, with its faults", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = Small(runtime);
  Problems problems;
  OwnedStrings placed, automatic;
  C_OK(problems, weft_page_picture(page, WEFT_LAYOUT_PAGE, placed.out(), problems.out()));
  C_OK(problems, weft_page_picture(page, WEFT_LAYOUT_AUTO, automatic.out(), problems.out()));
  CHECK(First(placed).find("<svg") == 0);
  CHECK(First(placed).find(">lost<") != std::string::npos);
  CHECK(First(placed) != First(automatic));
  CHECK(weft_page_picture(page, 7, placed.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(problems.at(0).port == std::string("how"));
}

TEST_CASE("C: types and shapes of ports before a run, also of a page with faults", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = Small(runtime);
  Problems problems;
  int64_t shape[4] = {-7, -7, -7, -7};
  weft_port_type type = WEFT_PORT_TYPE_INIT;
  type.shape = shape;
  type.capacity = 4;
  C_OK(problems, weft_page_port_type(page, "z.y", &type, problems.out()));
  CHECK(type.dtype == WEFT_FLOAT);
  CHECK(type.rank == 1);
  CHECK(shape[0] == 2);
  CHECK(shape[1] == -7);
  type.capacity = 0;
  shape[0] = -7;
  C_OK(problems, weft_page_port_type(page, "z.x", &type, problems.out()));
  CHECK(type.rank == 1);
  CHECK(shape[0] == -7);
  C_OK(problems, weft_page_port_type(page, "after.y", &type, problems.out()));
  CHECK(type.dtype == 0);
  CHECK(type.rank == -1);
  CHECK(weft_page_port_type(page, "z.q", &type, problems.out()) == WEFT_NOT_FOUND);
  CHECK(weft_page_port_type(page, "z", &type, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_page_port_type(page, "z.y", nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
  const json types = Told([&](auto out, auto found) { return weft_page_types_json(page, out, found); });
  CHECK(types["z.y"] == json::parse(R"({"dtype": "DT_FLOAT", "shape": [2]})"));
  CHECK(types["after.y"] == json::object());
  C_OK(problems, weft_page_edit(page, R"({"op": "set", "input": "x.value", "value": {"dtype": "DT_DOUBLE", "shape": [3], "values": [1, 2, 3]}})",
                                WEFT_EDIT_APPLY, nullptr, problems.out()));
  C_OK(problems, weft_page_port_type(page, "x.output", &type, problems.out()));
  CHECK(type.dtype == WEFT_DOUBLE);
}

TEST_CASE("C: of a block with many outputs the types of the first are told together", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = Small(runtime);
  Problems problems;
  C_OK(problems, weft_page_edit(page, R"({"op": "add", "block": {"id": "many", "block": "Unstack", "attrs": "num_ = 2000;", "inputs": {"value":
      {"dtype": "DT_FLOAT", "shape": [2000, 0], "values": []}}}})", WEFT_EDIT_APPLY, nullptr, problems.out()));
  const json types = Told([&](auto out, auto found) { return weft_page_types_json(page, out, found); });
  CHECK(types.contains("many.output[999]"));
  CHECK(!types.contains("many.output[1000]"));
  weft_port_type type = WEFT_PORT_TYPE_INIT;
  C_OK(problems, weft_page_port_type(page, "many.output[1999]", &type, problems.out()));
  CHECK(type.dtype == WEFT_FLOAT);
}

TEST_CASE("C: why a block is not planned, and the plan of a page as JSON", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = Small(runtime);
  Problems problems;
  OwnedProblems reasons;
  C_OK(problems, weft_page_why_not(page, "after", reasons.out(), problems.out()));
  weft_diagnostic first = WEFT_DIAGNOSTIC_INIT;
  REQUIRE(weft_diagnostics_get(reasons, 0, &first) == WEFT_OK);
  CHECK(first.block == std::string("lost"));
  CHECK(first.port == std::string("x"));
  OwnedProblems none;
  size_t count = 9;
  C_OK(problems, weft_page_why_not(page, "z", none.out(), problems.out()));
  REQUIRE(weft_diagnostics_count(none, &count) == WEFT_OK);
  CHECK(count == 0);
  CHECK(weft_page_why_not(page, "nothing", none.out(), problems.out()) == WEFT_NOT_FOUND);

  const json plan = Told([&](auto out, auto found) { return weft_page_plan_json(page, nullptr, out, found); });
  CHECK(plan["steps"].size() == 2);
  OwnedStrings text;
  CHECK(weft_page_plan_json(page, "main", text.out(), problems.out()) == WEFT_NOT_FOUND);
  C_OK(problems, weft_page_edit(page, R"({"op": "set", "input": "y.y", "value": {"dtype": "DT_FLOAT", "shape": [3], "values": [1, 2, 3]}})",
                                WEFT_EDIT_APPLY, nullptr, problems.out()));
  CHECK(weft_page_plan_json(page, nullptr, text.out(), problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(text == nullptr);
  CHECK(problems.at(0).block == std::string("y"));
}

TEST_CASE("C: a wire is judged as an edit judges it, and all inputs that it may go to are told", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = Small(runtime);
  Problems problems, tried;
  C_OK(problems, weft_page_check_wire(page, "x.output", "z.x", problems.out()));
  const weft_status refused = weft_page_check_wire(page, "text.output", "z.x", problems.out());
  CHECK(refused == weft_page_edit(page, R"({"op": "connect", "from": "text.output", "to": "z.x"})", WEFT_EDIT_TRY, nullptr, tried.out()));
  CHECK(refused == WEFT_INVALID_ARGUMENT);
  CHECK(std::string(problems.at(0).message) == tried.at(0).message);
  CHECK(std::string(problems.at(0).block) == "z");
  CHECK(weft_page_check_wire(page, "z.y", "y.x", problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_page_check_wire(page, "q.y", "y.x", problems.out()) == WEFT_NOT_FOUND);
  CHECK(weft_page_check_wire(page, "z", "y.x", problems.out()) == WEFT_INVALID_ARGUMENT);
  OwnedStrings inputs, outputs, none;
  C_OK(problems, weft_page_inputs_for(page, "y.z", inputs.out(), problems.out()));
  const std::vector<std::string> named = All(inputs);
  CHECK(std::ranges::find(named, "z.x") != named.end());
  CHECK(std::ranges::find(named, "lost.x") != named.end());
  CHECK(std::ranges::find(named, "y.x") == named.end());
  C_OK(problems, weft_page_outputs_for(page, "z.x", outputs.out(), problems.out()));
  CHECK(All(outputs) == std::vector<std::string>{"x.output", "y.z", "lost.y", "after.y"});
  CHECK(weft_page_inputs_for(page, "q.y", none.out(), problems.out()) == WEFT_NOT_FOUND);
  CHECK(weft_page_outputs_for(page, "z.q", none.out(), problems.out()) == WEFT_NOT_FOUND);
}

TEST_CASE("C: edits say what they changed", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = Small(runtime);
  Problems problems;
  OwnedStrings told;
  C_OK(problems, weft_page_edit(page, R"([{"op": "rename", "block": "y", "to": "sum"}, {"op": "set", "block": "x", "key": "note", "value": "n"}])",
                                WEFT_EDIT_APPLY, told.out(), problems.out()));
  REQUIRE(All(told).size() == 2);
  CHECK(json::parse(First(told, 1)) ==
        json::parse(R"({"edits": 1, "added": [], "removed": [], "changed": ["x", "z"], "renamed": [["y", "sum"]], "moved": [], "keys": []})"));
}

TEST_CASE("C: all results of a run come in one call, and stay", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, {Block("x", "Const", {{"value", test::Literal("DT_FLOAT", {2, 2}, {1, 2, 3, 4})}}), Block("y", "Negate", {{"x", "x.output"}}),
                                      Block("t", "Const", {{"value", R"({"dtype": "DT_STRING", "shape": [2], "values": ["a", "bc"]})"}}),
                                      Block("s", "Identity", {{"input", "t.output"}})});
  OwnedSession session = OpenSession(page);
  Problems problems;
  OwnedResults before, after, some;
  C_OK(problems, weft_session_read_results(session, nullptr, 0, before.out(), problems.out()));
  const weft_result* results = nullptr;
  size_t count = 9;
  REQUIRE(weft_results_all(before, &results, &count) == WEFT_OK);
  CHECK(count == 0);
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  C_OK(problems, weft_session_read_results(session, nullptr, 0, after.out(), problems.out()));
  REQUIRE(weft_results_all(after, &results, &count) == WEFT_OK);
  bool found = false;
  for (size_t i = 0; i < count; ++i) {
    if (results[i].name != std::string("y.y")) continue;
    found = true;
    CHECK(results[i].code == WEFT_OK);
    CHECK(results[i].dtype == WEFT_FLOAT);
    REQUIRE(results[i].rank == 2);
    CHECK(results[i].shape[1] == 2);
    CHECK(results[i].strides[0] == 8);
    CHECK(results[i].strides[1] == 4);
    CHECK(results[i].bytes == 16);
    CHECK(static_cast<const float*>(results[i].data)[3] == -4);
    CHECK(results[i].generation == 1);
  }
  CHECK(found);
  const char* names[] = {"y.y", "nothing.y", "s.output"};
  C_OK(problems, weft_session_read_results(session, names, 3, some.out(), problems.out()));
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  REQUIRE(weft_results_all(some, &results, &count) == WEFT_OK);
  REQUIRE(count == 3);
  CHECK(results[0].generation == 1);
  CHECK(results[1].code == WEFT_NOT_FOUND);
  CHECK(results[1].data == nullptr);
  CHECK(results[2].dtype == WEFT_STRING);
  CHECK(results[2].data == nullptr);
  OwnedView view, none;
  C_OK(problems, weft_results_view(some, 2, view.out(), problems.out()));
  some = OwnedResults();
  weft_bytes text = {nullptr, 0};
  REQUIRE(weft_view_string(view, 1, &text) == WEFT_OK);
  CHECK(std::string(text.data, text.size) == "bc");
  CHECK(weft_results_view(after, 99, none.out(), problems.out()) == WEFT_OUT_OF_RANGE);
}

TEST_CASE("C: values read in one call are those of a paused run, as far as it has come", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = LoadPage(runtime, {Block("x", "Const", {{"value", test::Literal("DT_FLOAT", {}, {2})}}), Block("y", "Negate", {{"x", "x.output"}}),
                                      Block("z", "Negate", {{"x", "y.y"}})});
  OwnedSession session = OpenSession(page);
  Problems problems;
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.until_block = "z";
  C_OK(problems, weft_session_start(session, &options, problems.out()));
  int32_t state = WEFT_RUNNING;
  C_OK(problems, weft_session_wait(session, -1, &state, problems.out()));
  REQUIRE(state == WEFT_PAUSED);
  const char* names[] = {"y.y", "z.y"};
  OwnedResults read;
  C_OK(problems, weft_session_read_results(session, names, 2, read.out(), problems.out()));
  const weft_result* results = nullptr;
  size_t count = 0;
  REQUIRE(weft_results_all(read, &results, &count) == WEFT_OK);
  REQUIRE(count == 2);
  REQUIRE(results[0].code == WEFT_OK);
  CHECK(*static_cast<const float*>(results[0].data) == -2);
  CHECK(results[1].code == WEFT_FAILED_PRECONDITION);
  OwnedView view;
  C_OK(problems, weft_results_view(read, 0, view.out(), problems.out()));
  weft_view_info info = WEFT_VIEW_INFO_INIT;
  REQUIRE(weft_view_get_info(view, &info) == WEFT_OK);
  CHECK(info.in_progress != 0);
}
