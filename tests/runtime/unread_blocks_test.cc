// What a page has in place of a block's id, type, attributes or inputs and is none: it stays as it was written, and is an error until it is mended.
#include <catch2/catch.hpp>

#include "tests/runtime/page_test.h"
#include "tests/runtime/session_kit.h"
#include "weft/host/document.h"

namespace weft::test {
namespace {

using Catch::Matchers::Contains;

const std::string kOne = R"({"dtype": "DT_FLOAT", "shape": [], "values": [1]})";
const std::string kSource = Cat(R"({"id": "c", "block": "Const", "inputs": {"value": )", kOne, "}}");

/// Blocks at fault, of which the second one on the page is.
const std::vector<std::string> kFaulty = {
    R"({"id": "a", "block": "Cast", "attrs": 5, "inputs": {"x": "c.output"}})",
    R"({"id": "a", "block": "Cast", "attrs": null, "inputs": {"x": "c.output"}})",
    R"({"id": "a", "block": "Cast", "attrs": ["DstT_", {"a": 1}], "inputs": {"x": "c.output"}})",
    R"({"id": "a", "block": "Cast", "attrs": {"DstT": {"type": "DT_INT32"}}, "inputs": {"x": "c.output"}})",
    R"({"id": "a", "block": "Cast", "attrs": {"DstT": [[[1]]]}, "inputs": {"x": "c.output"}})",
    R"({"id": "a", "block": "Add", "inputs": ["c.output", "c.output"]})",
    R"({"id": "a", "block": "Add", "inputs": "c.output"})",
    R"({"id": "a", "block": "Add", "inputs": 7, "note": 1})",
    R"({"id": "a", "block": 7})",
    R"({"id": "a", "block": ["Add"], "attrs": "T_ = DT_FLOAT;"})",
    R"({"id": 5, "block": "Add"})",
    R"({"id": {"name": "a"}, "block": "Add", "attrs": [1], "inputs": [2]})",
    R"({"id": "a b", "block": "NoOp"})",
    R"({"id": "c", "block": "NoOp"})",
};

std::unique_ptr<Document> OpenText(const std::string& page) {
  auto document = Document::Open(std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 0}), page, {.name = "p.json"});
  REQUIRE(document->diagnostics().has_errors());
  return document;
}
std::unique_ptr<Document> OpenPage(const std::string& block) { return OpenText(PageWith(Cat(kSource, ", ", block))); }

void MakeEdit(Document& document, std::string_view json) {
  Diagnostics found;
  const auto done = document.Apply(json, EditMode::kApply, found);
  INFO((done.ok() ? std::string("made") : ToString(done.status())));
  REQUIRE(done.ok());
}

constexpr std::string_view kOther = R"({"op": "add", "place": 0, "block": {"id": "n", "block": "NoOp"}})";

/// Code, place and text of each error, sorted.
std::vector<std::string> ErrorsOf(const Document& document) {
  std::vector<std::string> errors;
  const Diagnostics found = document.diagnostics();
  for (const Diagnostic& one : found.all()) {
    if (one.severity == Severity::kError) errors.push_back(ToString(one.status));
  }
  std::ranges::sort(errors);
  return errors;
}

TEST_CASE("What could not be read of a block is written as it was", "[page]") {
  for (const std::string& block : kFaulty) {
    INFO(block);
    const ReadPageResult read = ReadText(PageWith(Cat(kSource, ", ", block)));
    REQUIRE(read.diagnostics.has_errors());
    const std::string written = WritePage(read.page);
    CHECK_THAT(written, Contains(Cat("    ", block, "\n")));
    CHECK(Finding(ReadText(written)) == Finding(read));
  }
}

TEST_CASE("A faulty block stays an error while the page is edited, where it is now", "[page]") {
  for (const std::string& block : kFaulty) {
    INFO(block);
    auto document = OpenPage(block);
    MakeEdit(*document, kOther);
    const std::vector<std::string> now = ErrorsOf(*document);
    CHECK_THAT(document->Write(), Contains(Cat("    ", block, "\n")));
    CHECK(now == ErrorsOf(*OpenText(document->Write())));
  }
}

TEST_CASE("A faulty block without an id stays an error, each of several", "[page]") {
  auto document = OpenPage(R"({"block": "NoOp"}, {"block": "NoOp"})");
  const size_t before = ErrorsOf(*document).size();
  CHECK(before >= 2);
  MakeEdit(*document, kOther);
  CHECK(ErrorsOf(*document).size() == before);
}

TEST_CASE("Attributes that could not be read are mended by others, and come back", "[page]") {
  for (size_t i = 0; i < 5; ++i) {
    INFO(kFaulty[i]);
    auto document = OpenPage(kFaulty[i]);
    MakeEdit(*document, R"({"op": "set", "block": "a", "attrs": "DstT_ = DT_INT32;"})");
    CHECK(ErrorsOf(*document).empty());
    REQUIRE(document->Undo().ok());
    CHECK(ErrorsOf(*document).size() == 1);
    CHECK_THAT(document->Write(), Contains(kFaulty[i]));
  }
}

TEST_CASE("One attribute is set where none could be read", "[page]") {
  auto document = OpenPage(kFaulty[0]);
  MakeEdit(*document, R"({"op": "set", "block": "a", "attr": "DstT", "text": "DT_INT32"})");
  CHECK(ErrorsOf(*document).empty());
  REQUIRE(document->Undo().ok());
  CHECK_THAT(document->Write(), Contains(kFaulty[0]));
}

TEST_CASE("Inputs that could not be read are mended one by one, and come back", "[page]") {
  for (size_t i = 5; i < 8; ++i) {
    INFO(kFaulty[i]);
    auto document = OpenPage(kFaulty[i]);
    CHECK(ErrorsOf(*document).size() == 1);  // not also that x and y have no wire
    MakeEdit(*document, R"({"op": "connect", "from": "c.output", "to": "a.x"})");
    CHECK_THAT(ErrorsOf(*document).at(0), Contains("'y'"));
    MakeEdit(*document, R"({"op": "connect", "from": "c.output", "to": "a.y"})");
    CHECK(ErrorsOf(*document).empty());
    REQUIRE((document->Undo().ok() && document->Undo().ok()));
    CHECK(ErrorsOf(*document).size() == 1);
    CHECK_THAT(document->Write(), Contains(kFaulty[i]));
  }
}

TEST_CASE("Two blocks of one id stay an error until one is renamed", "[page]") {
  auto document = OpenPage(R"({"id": "c", "block": "NoOp"})");
  MakeEdit(*document, kOther);
  REQUIRE(ErrorsOf(*document).size() == 1);
  CHECK_THAT(ErrorsOf(*document)[0], Contains("/blocks/2/id"));
  MakeEdit(*document, R"({"op": "rename", "block": "c", "to": "d"})");
  CHECK(ErrorsOf(*document).empty());
  const Status undone = document->Undo().status();
  INFO(ToString(undone));
  REQUIRE(undone.ok());
  CHECK(ErrorsOf(*document).size() == 1);
}

TEST_CASE("An id that is none stays an error until the block is renamed", "[page]") {
  auto document = OpenPage(R"({"id": "a b", "block": "NoOp"})");
  MakeEdit(*document, kOther);
  CHECK(ErrorsOf(*document).size() == 1);
  MakeEdit(*document, R"({"op": "rename", "block": "a b", "to": "ab"})");
  CHECK(ErrorsOf(*document).empty());
  const Status undone = document->Undo().status();
  INFO(ToString(undone));
  REQUIRE(undone.ok());
  CHECK(ErrorsOf(*document).size() == 1);
}

}  // namespace
}  // namespace weft::test
