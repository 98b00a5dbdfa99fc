// Notes, names and layouts as edits, and what edits say that they changed.
#include <catch2/catch.hpp>

#include "tests/runtime/page_test.h"
#include "weft/page/edit.h"
#include "weft/page/edit_changes.h"

namespace weft {
namespace {

constexpr std::string_view kPage = R"({
  "weft": 1,
  "page": "p",
  "blocks": [
    {"id": "a", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2.5]}}, "note": "first", "x": {"k": [1, 2.50]}},
    {"id": "b", "block": "Negate", "inputs": {"x": "a.output"}},
    {"id": "c", "block": "Negate", "inputs": {"x": "b.y"}}
  ],
  "layout": {"a": [40, 80], "b": [0.5, -3]},
  "author": "someone"
}
)";

Page ChangedPage() {
  ReadPageResult read = ReadText(kPage);
  REQUIRE(WritePage(read.page) == kPage);
  return std::move(read.page);
}

Status Applied(Page& page, std::string_view json, std::vector<Edit>* inverse = nullptr) {
  auto edits = ReadEdits(json);
  if (!edits.ok()) return std::move(edits).status();
  auto undo = ApplyEdits(page, *edits);
  if (undo.ok() && inverse != nullptr) *inverse = std::move(*undo);
  return undo.status();
}

/// The page's text after edits, which are taken back by way of JSON.
std::string After(std::string_view json) {
  Page page = ChangedPage();
  std::vector<Edit> inverse;
  const Status status = Applied(page, json, &inverse);
  INFO(json << "\n" << ToString(status));
  REQUIRE(status.ok());
  const std::string after = WritePage(page);
  CHECK(WritePage(ReadText(after).page) == after);
  const std::string back = WriteEdits(inverse);
  INFO(back);
  REQUIRE(Applied(page, back).ok());
  CHECK(WritePage(page) == kPage);
  return after;
}

bool Has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// What edits change, as JSON.
std::string Changed(std::string_view json) {
  Page before = ChangedPage();
  REQUIRE(Applied(before, R"({"op": "move", "block": "a", "layout": [40, 80]})").ok());  // its blocks have numbers from now on
  Page after = before;
  const Status status = Applied(after, json);
  INFO(ToString(status));
  REQUIRE(status.ok());
  std::string text = WriteChanges(ChangesBetween(before, after), 3);
  for (const char* empty : {R"(, "added": [])", R"(, "removed": [])", R"(, "changed": [])", R"(, "renamed": [])", R"(, "moved": [])", R"(, "keys": [])"}) {
    if (const size_t at = text.find(empty); at != text.npos) text.erase(at, std::string_view(empty).size());
  }
  return text;
}

}  // namespace

TEST_CASE("notes, colours and unknown keys of blocks are set and taken away, and come back where they were", "[edit]") {
  CHECK(Has(After(R"({"op": "set", "block": "b", "key": "note", "value": "slow"})"), R"("inputs": {"x": "a.output"}, "note": "slow"})"));
  CHECK(Has(After(R"({"op": "set", "block": "a", "key": "note", "value": null})"), R"(, "x": {"k": [1, 2.50]}})"));
  CHECK(Has(After(R"({"op": "set", "block": "a", "key": "note", "value": {"de": "erste"}})"), R"("note": {"de": "erste"}, "x")"));
  CHECK(Has(After(R"({"op": "set", "block": "a", "key": "color", "value": "#f80", "place": 1})"), R"("note": "first", "color": "#f80", "x")"));
  CHECK(Has(After(R"([{"op": "set", "block": "a", "key": "x", "value": 1e3}, {"op": "remove", "block": "b"}])"), R"("x": 1e3})"));
}

TEST_CASE("the page's name, its layout as a whole and its unknown keys are set, and come back", "[edit]") {
  CHECK(Has(After(R"({"op": "set", "key": "page", "value": "a \"new\" name"})"), R"("page": "a \"new\" name",)"));
  CHECK(Has(After(R"({"op": "set", "key": "author", "value": ["x"]})"), R"("author": ["x"])"));
  CHECK(Has(After(R"({"op": "set", "key": "license", "value": "MIT", "place": 0})"), "\n  \"license\": \"MIT\",\n  \"author\": \"someone\"\n}"));
  CHECK(!Has(After(R"({"op": "set", "key": "author", "value": null})"), "author"));
  CHECK(Has(After(R"({"op": "set", "key": "layout", "value": {"c": [1, 2]}})"), R"("layout": {"c": [1, 2]},)"));
  CHECK(Has(After(R"({"op": "set", "key": "layout", "value": {"zoom": 2, "at": {"c": [1, 2]}}})"), R"("layout": {"zoom": 2, "at": {"c": [1, 2]}},)"));
  CHECK(Has(After(R"({"op": "set", "key": "layout", "value": {}})"), R"("layout": {},)"));
  CHECK(!Has(After(R"({"op": "set", "key": "layout", "value": null})"), "layout"));
}

TEST_CASE("keys that the engine reads are no keys to set, and values are JSON", "[edit]") {
  for (const char* refused : {R"({"op": "set", "block": "a", "key": "inputs", "value": {}})", R"({"op": "set", "block": "a", "key": "id", "value": "z"})",
                              R"({"op": "set", "block": "a", "key": "attrs", "value": ""})", R"({"op": "set", "block": "a", "key": "block", "value": "Add"})",
                              R"({"op": "set", "key": "blocks", "value": []})", R"({"op": "set", "key": "weft", "value": 2})",
                              R"({"op": "set", "key": "page", "value": 7})", R"({"op": "set", "key": "page", "value": "a\u0000b"})",
                              R"({"op": "set", "key": "page", "value": null})",
                              R"({"op": "set", "block": "", "key": "note", "value": 1})"}) {
    INFO(refused);
    Page page = ChangedPage();
    CHECK(Applied(page, refused).code() == Code::kInvalidArgument);
    CHECK(WritePage(page) == kPage);
  }
  Page page = ChangedPage();
  CHECK(Applied(page, R"({"op": "set", "block": "b", "key": "note", "value": null})").code() == Code::kNotFound);
  CHECK(Applied(page, R"({"op": "set", "block": "z", "key": "note", "value": 1})").code() == Code::kNotFound);
  CHECK(Applied(page, R"({"op": "set", "block": "a", "key": "color", "value": 1, "place": 3})").code() == Code::kOutOfRange);
  const std::vector<Edit> made = {SetKey{"a", "note", "[1, ", -1}};
  CHECK(ApplyEdits(page, made).status().code() == Code::kInvalidArgument);
}

TEST_CASE("edits say what they changed, by ids", "[edit]") {
  CHECK(Changed(R"({"op": "add", "block": {"id": "d", "block": "Negate", "inputs": {"x": "c.y"}}, "place": 0, "layout": [1, 2]})") ==
        "{\"edits\": 3, \"added\": [\"d\"], \"moved\": [\"d\"]}\n");
  CHECK(Changed(R"({"op": "remove", "block": "b"})") == "{\"edits\": 3, \"removed\": [\"b\"], \"changed\": [\"c\"]}\n");
  CHECK(Changed(R"({"op": "rename", "block": "b", "to": "z"})") == "{\"edits\": 3, \"changed\": [\"c\"], \"renamed\": [[\"b\", \"z\"]]}\n");
  CHECK(Changed(R"({"op": "connect", "from": "a.output", "to": "c.x"})") == "{\"edits\": 3, \"changed\": [\"c\"]}\n");
  CHECK(Changed(R"({"op": "set", "block": "a", "key": "note", "value": "n"})") == "{\"edits\": 3, \"changed\": [\"a\"]}\n");
  CHECK(Changed(R"([{"op": "move", "block": "a", "layout": [41, 80]}, {"op": "move", "block": "b", "layout": null}])") ==
        "{\"edits\": 3, \"moved\": [\"a\", \"b\"]}\n");
  CHECK(Changed(R"([{"op": "set", "key": "page", "value": "q"}, {"op": "set", "key": "author", "value": 1}, {"op": "set", "key": "n", "value": 1}])") ==
        "{\"edits\": 3, \"keys\": [\"page\", \"author\", \"n\"]}\n");
  CHECK(Changed(R"({"op": "set", "key": "layout", "value": {"zoom": 2}})") == "{\"edits\": 3, \"moved\": [\"a\", \"b\"], \"keys\": [\"layout\"]}\n");
  CHECK(Changed("[]") == "{\"edits\": 3}\n");
  CHECK(ChangesBetween(ChangedPage(), ChangedPage()).empty());
}

}  // namespace weft
