// What a page has at its inputs that is no value and no wire: it stays as it was written, and is an error until it is mended.
#include <catch2/catch.hpp>

#include "tests/runtime/page_test.h"
#include "tests/runtime/session_kit.h"
#include "weft/host/document.h"

namespace weft::test {
namespace {

using Catch::Matchers::Contains;

/// Of an Add block: what its input x is.
std::string AddWith(std::string_view x) {
  return PageWith(Cat(R"({"id": "a", "block": "Add", "inputs": {"x": )", x, R"(, "y": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}})"));
}

const std::vector<std::string> kUnread = {
    R"({"dtype": "DT_FLOAT", "values": [1, 2, 3]})",
    R"({"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2, 3]})",
    R"({"values": [1, 2], "shape": [2]})",
    R"({"dtype": "DT_FLOT", "shape": [2], "values": [1, 2]})",
    R"({"dtype": "DT_INT8", "shape": [1], "values": [2000]})",
    R"({"dtype": "DT_FLOAT", "shape": [-2], "values": [1, 2], "note": {"a": [1, {"b": 2}]}})",
    R"({"dtype": "DT_FLOAT", "shape": [1], "values": [1], "text": "1"})",
    R"({"dtype": "DT_FLOAT", "shape": [1], "file": "none.dat"})",
    R"("no wire")",
    "5",
    "null",
    "true",
    R"([{"dtype": "DT_FLOAT", "shape": [], "values": [1]}, {"dtype": "DT_FLOAT", "values": [1]}, [1, [2]], "no wire", 7])",
};

/// The text of input x on a page that was written.
std::string WrittenX(const std::string& page) {
  const size_t begin = page.find("\"x\": ") + 5;
  return page.substr(begin, page.find(", \"y\": ") - begin);
}

std::unique_ptr<Document> OpenFaulty(const std::string& page) {
  auto document = Document::Open(std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 0}), page, {.name = "p.json"});
  REQUIRE(document->diagnostics().has_errors());
  return document;
}

void EditFaulty(Document& document, std::string_view json) {
  Diagnostics found;
  const auto done = document.Apply(json, EditMode::kApply, found);
  INFO((done.ok() ? std::string("made") : ToString(done.status())));
  REQUIRE(done.ok());
}

TEST_CASE("What could not be read of an input is written as it was", "[page]") {
  for (const std::string& text : kUnread) {
    INFO(text);
    const ReadPageResult read = ReadText(AddWith(text));
    REQUIRE(read.diagnostics.has_errors());
    const std::string written = WritePage(read.page);
    CHECK(WrittenX(written) == text);
    const ReadPageResult again = ReadText(written);
    CHECK(Finding(again) == Finding(read));
    CHECK(WritePage(again.page) == written);
  }
}

TEST_CASE("A faulty input stays an error while the page is edited, where its block is now", "[page]") {
  for (const std::string& text : kUnread) {
    INFO(text);
    auto document = OpenFaulty(AddWith(text));
    const Status before = document->diagnostics().FirstError();
    EditFaulty(*document, R"({"op": "add", "place": 0, "block": {"id": "n", "block": "NoOp"}})");
    EditFaulty(*document, R"({"op": "rename", "block": "a", "to": "sum"})");
    const std::vector<Diagnostic> all = document->diagnostics().all();
    const auto now = std::ranges::find(all, before.message(), [](const Diagnostic& one) { return one.status.message(); });
    REQUIRE(now != all.end());
    CHECK(now->status.hint() == before.hint());
    CHECK(now->status.place().block == "sum");
    CHECK(now->status.place().port == "x");
    CHECK(now->status.place().page == "p.json");
    CHECK_THAT(now->status.place().pointer, Catch::StartsWith("/blocks/1/inputs/x"));
    CHECK(WrittenX(document->Write()) == text);
  }
}

TEST_CASE("A faulty input is mended by another value, and the fault comes back with it", "[page]") {
  auto document = OpenFaulty(AddWith(kUnread[0]));
  EditFaulty(*document, R"({"op": "set", "input": "a.x", "value": {"dtype": "DT_FLOAT", "shape": [], "values": [2]}})");
  CHECK(!document->diagnostics().has_errors());
  REQUIRE(document->Undo().ok());
  CHECK(document->diagnostics().has_errors());
  CHECK(WrittenX(document->Write()) == kUnread[0]);
  Diagnostics found;  // other edits are not refused for it
  CHECK(document->Apply(R"({"op": "add", "block": {"id": "n", "block": "NoOp"}})", EditMode::kStrict, found).ok());
}

TEST_CASE("Elements of a list that could not be read are mended one by one", "[page]") {
  const std::string good = R"({"dtype": "DT_FLOAT", "shape": [1], "values": [1]})", bad = R"({"dtype": "DT_FLOAT", "values": [1]})";
  auto document = OpenFaulty(PageWith(Cat(R"({"id": "a", "block": "AddN", "inputs": {"inputs": [)", good, ", ", bad, ", 5]}}")));
  EditFaulty(*document, Cat(R"({"op": "set", "input": "a.inputs[1]", "value": )", good, "}"));
  CHECK(document->diagnostics().has_errors());
  EditFaulty(*document, R"({"op": "disconnect", "to": "a.inputs[2]"})");
  CHECK(!document->diagnostics().has_errors());
  REQUIRE(document->Undo().ok());
  CHECK(document->diagnostics().has_errors());
  CHECK_THAT(document->Write(), Contains(Cat("[", good, ", ", good, ", 5]")));
  REQUIRE(document->Undo().ok());
  CHECK_THAT(document->Write(), Contains(Cat("[", good, ", ", bad, ", 5]")));
}

}  // namespace
}  // namespace weft::test
