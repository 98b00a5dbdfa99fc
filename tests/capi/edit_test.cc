// Edits through the C interface: what they change, what takes them back, and what is refused.
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/capi/capi_kit.h"
#include "tests/runtime/page_test.h"

using namespace weft;
using namespace weft::test;

namespace {

std::string Written(weft_page* page) {
  OwnedStrings json;
  REQUIRE(weft_page_write(page, json.out(), nullptr) == WEFT_OK);
  return TextOf(json);
}

uint64_t Edits(weft_page* page) {
  uint64_t edits = 99;
  REQUIRE(weft_page_edits(page, &edits, nullptr) == WEFT_OK);
  return edits;
}

size_t Faults(weft_page* page) {
  OwnedProblems found;
  size_t count = 99;
  REQUIRE(weft_page_diagnostics(page, found.out(), nullptr) == WEFT_OK);
  REQUIRE(weft_diagnostics_count(found, &count) == WEFT_OK);
  return count;
}

/// What edits changed, of the texts that tell it second.
nlohmann::json ChangesIn(weft_strings* texts) {
  const char* text = nullptr;
  size_t bytes = 0;
  REQUIRE(weft_strings_get(texts, 1, &text, &bytes) == WEFT_OK);
  return nlohmann::json::parse(std::string(text, bytes));
}

float First(weft_session* session, const char* name) {
  OwnedView view = ViewOf(session, name);
  return *static_cast<const float*>(InfoOf(view).data);
}

/// y = relu(x), z = relu(y)
OwnedPage Chain(weft_runtime* runtime) {
  return LoadPage(runtime, {Block("x", "Const", {{"value", Vector({1, 2})}}), Block("y", "Relu", {{"features", "x.output"}}),
                            Block("z", "Relu", {{"features", "y.activations"}})});
}

}  // namespace

TEST_CASE("C: an edit takes effect at the next run, and its inverse gives the old bytes and results", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = Chain(runtime);
  OwnedSession session = OpenSession(page, {"z.activations"});
  Problems problems;
  const std::string before = Written(page);
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  CHECK(First(session, "z.activations") == 1);

  OwnedStrings inverse;
  const char* edits = R"([{"op": "set", "input": "x.value", "value": {"dtype": "DT_FLOAT", "shape": [2], "values": [5, 6]}},
                          {"op": "rename", "block": "y", "to": "middle"}])";
  C_OK(problems, weft_page_edit(page, edits, WEFT_EDIT_STRICT, inverse.out(), problems.out()));
  CHECK(Edits(page) == 1);
  CHECK(Written(page) != before);
  CHECK(First(session, "z.activations") == 1);
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  CHECK(First(session, "z.activations") == 5);

  C_OK(problems, weft_page_edit(page, TextOf(inverse).c_str(), WEFT_EDIT_APPLY, nullptr, problems.out()));
  CHECK(Edits(page) == 2);
  CHECK(Written(page) == before);
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  CHECK(First(session, "z.activations") == 1);
}

TEST_CASE("C: a page in the making has faults; strict edits bring none, and a try changes nothing", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = Chain(runtime);
  Problems problems;
  const std::string before = Written(page);
  const char* cut = R"({"op": "disconnect", "to": "z.features"})";
  for (int32_t mode : {WEFT_EDIT_STRICT, WEFT_EDIT_TRY}) {
    weft_strings* inverse = reinterpret_cast<weft_strings*>(1);
    CHECK(weft_page_edit(page, cut, mode, &inverse, problems.out()) != WEFT_OK);
    CHECK(inverse == nullptr);
    CHECK(std::string(problems.at(0).block) == "z");
    CHECK(std::string(problems.at(0).port) == "features");
  }
  CHECK(weft_page_edit(page, R"({"op": "move", "block": "x", "layout": [1, 2]})", WEFT_EDIT_TRY, nullptr, problems.out()) == WEFT_OK);
  CHECK(Written(page) == before);
  CHECK(Edits(page) == 0);
  CHECK(Faults(page) == 0);

  OwnedStrings inverse;
  C_OK(problems, weft_page_edit(page, cut, WEFT_EDIT_APPLY, inverse.out(), problems.out()));
  CHECK(Faults(page) > 0);
  C_OK(problems, weft_page_edit(page, TextOf(inverse).c_str(), WEFT_EDIT_APPLY, nullptr, problems.out()));
  CHECK(Faults(page) == 0);
  CHECK(Written(page) == before);
}

TEST_CASE("C: a page takes edits back and makes them again, and says what that changed", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = Chain(runtime);
  Problems problems;
  const std::string before = Written(page);
  size_t undo = 7, redo = 7;
  CHECK(weft_page_undo(page, nullptr, problems.out()) == WEFT_FAILED_PRECONDITION);
  C_OK(problems, weft_page_edit(page, R"({"op": "rename", "block": "y", "to": "why"})", WEFT_EDIT_APPLY, nullptr, problems.out()));
  C_OK(problems, weft_page_edit(page, R"({"op": "move", "block": "why", "layout": [1, 2]})", WEFT_EDIT_APPLY, nullptr, problems.out()));
  CHECK(weft_page_edit(page, R"({"op": "remove", "block": "none"})", WEFT_EDIT_APPLY, nullptr, problems.out()) == WEFT_NOT_FOUND);
  const std::string after = Written(page);
  OwnedStrings edits, again;
  C_OK(problems, weft_page_undo(page, nullptr, problems.out()));
  C_OK(problems, weft_page_undo(page, edits.out(), problems.out()));
  CHECK(TextOf(edits).find(R"({"op": "rename", "block": "why", "to": "y"})") != std::string::npos);
  CHECK(ChangesIn(edits)["renamed"] == nlohmann::json::parse(R"([["why", "y"]])"));
  CHECK(ChangesIn(edits)["changed"] == nlohmann::json::array({"z"}));
  CHECK(Written(page) == before);
  C_OK(problems, weft_page_history(page, &undo, &redo, problems.out()));
  CHECK(undo == 0);
  CHECK(redo == 2);
  CHECK(Edits(page) == 4);
  C_OK(problems, weft_page_redo(page, again.out(), problems.out()));
  CHECK(TextOf(again).find(R"({"op": "rename", "block": "y", "to": "why"})") != std::string::npos);
  CHECK(ChangesIn(again)["renamed"] == nlohmann::json::parse(R"([["y", "why"]])"));
  CHECK(ChangesIn(again)["changed"] == nlohmann::json::array({"z"}));
  C_OK(problems, weft_page_redo(page, nullptr, problems.out()));
  CHECK(Written(page) == after);
  CHECK(weft_page_redo(page, again.out(), problems.out()) == WEFT_FAILED_PRECONDITION);
  C_OK(problems, weft_page_history(page, nullptr, nullptr, problems.out()));
}

TEST_CASE("C: an edit may bring a value that lies in a file beside the page, and none from elsewhere", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  TempFolder folder;
  const float values[] = {7, 8};
  folder.Write("two.bin", std::string(reinterpret_cast<const char*>(values), sizeof values));
  folder.Write("page.json", PageText({Block("x", "Const", {{"value", Vector({1, 2})}})}));
  OwnedPage page;
  Problems problems;
  C_OK(problems, weft_page_load_file(runtime, (folder.path() / "page.json").c_str(), nullptr, page.out(), problems.out()));
  auto from = [](const char* file) {
    return Cat(R"({"op": "set", "input": "x.value", "value": {"dtype": "DT_FLOAT", "shape": [2], "file": ")", file, R"("}})");
  };
  C_OK(problems, weft_page_edit(page, from("two.bin").c_str(), WEFT_EDIT_STRICT, nullptr, problems.out()));
  OwnedSession session = OpenSession(page, {"x.output"});
  C_OK(problems, weft_session_run(session, nullptr, problems.out()));
  CHECK(First(session, "x.output") == 7);
  CHECK(weft_page_edit(page, from("../two.bin").c_str(), WEFT_EDIT_STRICT, nullptr, problems.out()) == WEFT_PERMISSION_DENIED);
  CHECK(weft_page_edit(page, from("none.bin").c_str(), WEFT_EDIT_STRICT, nullptr, problems.out()) == WEFT_NOT_FOUND);
}

TEST_CASE("C: edits that cannot be are refused, each with its place in the list, and none of the list is made", "[capi]") {
  OwnedRuntime runtime = OpenRuntime();
  OwnedPage page = Chain(runtime);
  Problems problems;
  const std::string before = Written(page);
  struct Refused {
    const char* edit;
    weft_status code;
  };
  for (const Refused& refused : {Refused{R"({"op": "remove", "block": "none"})", WEFT_NOT_FOUND},
                                 Refused{R"({"op": "rename", "block": "y", "to": "z"})", WEFT_ALREADY_EXISTS},
                                 Refused{R"({"op": "turn", "block": "y"})", WEFT_INVALID_ARGUMENT},
                                 Refused{R"({"op": "remove"})", WEFT_INVALID_ARGUMENT},
                                 Refused{R"({"op": "add", "block": {"id": "n", "block": "Relu"}, "place": 99})", WEFT_OUT_OF_RANGE}}) {
    INFO(refused.edit);
    std::string list = Cat(R"([{"op": "move", "block": "x", "layout": [1, 2]}, )", refused.edit, "]");
    CHECK(weft_page_edit(page, list.c_str(), WEFT_EDIT_APPLY, nullptr, problems.out()) == refused.code);
    CHECK(std::string(problems.at(0).pointer).starts_with("/1"));
    CHECK(Written(page) == before);
  }
  for (const char* text : {"", "[", "7", "[[]]", "{\"op\": 1}"}) {
    INFO(text);
    CHECK(weft_page_edit(page, text, WEFT_EDIT_APPLY, nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
  }
  CHECK(weft_page_edit(page, nullptr, WEFT_EDIT_APPLY, nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_page_edit(page, "[]", 4, nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_page_edit(page, "[]", -1, nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(weft_page_edits(page, nullptr, problems.out()) == WEFT_INVALID_ARGUMENT);
  CHECK(Edits(page) == 0);
}
