// Documents: a page with its faults, its files, its settings and the history of its edits.
#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <thread>

#include "tests/runtime/page_test.h"
#include "tests/runtime/session_kit.h"
#include "weft/host/document.h"

namespace weft::test {
namespace {

using Catch::Matchers::Contains;

std::shared_ptr<Runtime> SmallRuntime() { return std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 0}); }

/// sum.z is x + y, both of two elements.
std::string SumPage() {
  return Cat("{\"weft\": 1, \"page\": \"p\", \"blocks\": [", Block("x", "Const", {{"value", Vector({1, 2})}}), ",\n",
             Block("y", "Const", {{"value", Vector({10, 20})}}), ",\n", Block("sum", "Add", {{"x", "x.output"}, {"y", "y.output"}}), "]}");
}

Floats Sum(const Document& document) {
  const std::shared_ptr<Revision> revision = document.scope()->revision();
  SessionSpec spec;
  spec.fetches.push_back({"sum.z", revision->graph->FindValue("sum.z").value()});
  Session session(document.scope(), spec, Keep::kAll, revision);
  RunOk(session);
  return Get(session, "sum.z");
}

DocumentEdit Edited(Document& document, std::string_view json) {
  Diagnostics found;
  auto done = document.Apply(json, EditMode::kApply, found);
  INFO(ToString(done.status()));
  REQUIRE(done.ok());
  return *done;
}

TEST_CASE("Documents: all faults of reading, connecting and planning, as the page is now", "[document]") {
  auto document = Document::Open(SmallRuntime(), SumPage());
  CHECK(document->diagnostics().all().empty());
  const std::string before = document->Write();
  Edited(*document, R"({"op": "set", "input": "y.value", "value": {"dtype": "DT_FLOAT", "shape": [3], "values": [1, 2, 3]}})");
  CHECK(!document->faults().all().empty());
  CHECK_THAT(ToString(document->diagnostics().FirstError()), Contains("sum"));
  REQUIRE(document->Undo().ok());
  CHECK(document->diagnostics().all().empty());
  CHECK(document->Write() == before);

  // Shapes are looked at when they are asked for.
  std::string wrong = SumPage();
  wrong.replace(wrong.find("\"shape\": [2], \"values\": [10, 20]"), 32, "\"shape\": [3], \"values\": [1, 2, 3]");
  document = Document::Open(SmallRuntime(), wrong, {.name = "wrong.json"});
  CHECK(document->faults().all().empty());
  CHECK(document->diagnostics().errors() == 1);
  CHECK(document->diagnostics().errors() == 1);
  CHECK(document->diagnostics().FirstError().place().page == "wrong.json");
}

TEST_CASE("Documents: a page that cannot be read is open, too", "[document]") {
  const TempFolder folder;
  auto document = Document::OpenFile(SmallRuntime(), folder.path() / "none.json");
  CHECK(document->diagnostics().FirstError().code() == Code::kNotFound);
  CHECK(document->diagnostics().errors() == 1);
  document = Document::Open(SmallRuntime(), "{\"weft\": 1, \"blocks\": [");
  CHECK(document->diagnostics().has_errors());
  REQUIRE(document->scope() != nullptr);
}

TEST_CASE("Documents: a page may come out of a pipe, but its files may not", "[document]") {
  const TempFolder folder;
  const std::string pipe = (folder.path() / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(pipe) << SumPage(); });
  auto document = Document::OpenFile(SmallRuntime(), pipe);
  writer.join();
  CHECK(document->diagnostics().all().empty());
  CHECK(Sum(*document) == Floats{11, 22});
  Diagnostics found;
  auto edit = document->Apply(R"({"op": "set", "input": "x.value", "value": {"dtype": "DT_FLOAT", "shape": [2], "file": "pipe"}})", EditMode::kApply, found);
  CHECK(edit.status().code() == Code::kInvalidArgument);
}

TEST_CASE("Documents: settings stand over the page, and are no edits of it", "[document]") {
  auto document = Document::Open(SmallRuntime(), SumPage(), {.settings = {"y.value={30,40}"}});
  CHECK(document->diagnostics().all().empty());
  CHECK(Sum(*document) == Floats{31, 42});
  CHECK(document->history().undo == 0);
  document = Document::Open(SmallRuntime(), SumPage(), {.settings = {"yy.value=1", "y"}});
  CHECK(document->diagnostics().errors() == 2);
  CHECK(document->diagnostics().all()[0].status.hint() == "did you mean 'y'?");
}

TEST_CASE("Documents: values and blocks use the same files by the same rules", "[document]") {
  const TempFolder folder, data;
  const float values[] = {5, 6};
  const std::string bytes(reinterpret_cast<const char*>(values), sizeof values);
  std::filesystem::create_symlink(data.path() / "two.bin", folder.path() / "two.bin");
  data.Write("two.bin", bytes);
  std::string page = SumPage();
  page.replace(page.find("\"values\": [1, 2]"), 16, "\"file\": \"two.bin\"");
  const std::filesystem::path path = folder.Write("p.page.json", page);
  auto refused = Document::OpenFile(SmallRuntime(), path);
  CHECK(refused->diagnostics().FirstError().code() == Code::kPermissionDenied);
  CHECK(refused->diagnostics().FirstError().hint() == "a link on its way leads out of them: allow the folder that it leads to");
  CHECK(refused->files().Resolve("two.bin", Files::Access::kRead).status().hint() == refused->diagnostics().FirstError().hint());
  auto document = Document::OpenFile(SmallRuntime(), path, {.read_folders = {data.path()}});
  CHECK(document->diagnostics().all().empty());
  CHECK(Sum(*document) == Floats{15, 26});
  CHECK(*document->files().Read("two.bin") == bytes);
  CHECK(document->files().Write("two.bin", "1").code() == Code::kPermissionDenied);
  // A page of bytes has no folder.
  CHECK(Document::Open(SmallRuntime(), page)->diagnostics().FirstError().code() == Code::kFailedPrecondition);
  CHECK(Document::Open(SmallRuntime(), page, {.folder = data.path()})->diagnostics().all().empty());
}

TEST_CASE("Documents: edits are taken back and made again", "[document]") {
  auto document = Document::Open(SmallRuntime(), SumPage());
  const std::string before = document->Write();
  CHECK(document->Undo().status().code() == Code::kFailedPrecondition);
  CHECK(document->Redo().status().code() == Code::kFailedPrecondition);
  Edited(*document, R"({"op": "rename", "block": "x", "to": "left"})");
  Edited(*document, R"([{"op": "remove", "block": "left"}, {"op": "move", "block": "y", "layout": [1, 2]}])");
  const std::string after = document->Write();
  CHECK(document->history().undo == 2);
  CHECK(document->history().redo == 0);

  auto undone = document->Undo();
  REQUIRE(undone.ok());
  CHECK_THAT(WriteEdits(undone->made), Contains("\"id\": \"left\""));
  CHECK(Sum(*document) == Floats{11, 22});
  REQUIRE(document->Undo().ok());
  CHECK(document->Write() == before);
  CHECK(document->history().undo == 0);
  CHECK(document->history().redo == 2);
  REQUIRE(document->Redo().ok());
  auto redone = document->Redo();
  REQUIRE(redone.ok());
  CHECK_THAT(WriteEdits(redone->made), Contains("\"remove\""));
  CHECK(document->Write() == after);

  // An edit ends what could be made again.
  REQUIRE(document->Undo().ok());
  Edited(*document, R"({"op": "move", "block": "y", "layout": [7, 7]})");
  CHECK(document->history().redo == 0);
  CHECK(document->Redo().status().code() == Code::kFailedPrecondition);
}

TEST_CASE("Documents: what is refused or only tried is no step back", "[document]") {
  auto document = Document::Open(SmallRuntime(), SumPage());
  const std::string before = document->Write();
  Diagnostics found;
  const char* wrong = R"({"op": "disconnect", "to": "sum.x"})";
  CHECK(!document->Apply(wrong, EditMode::kStrict, found).ok());
  CHECK(found.has_errors());
  CHECK(document->Apply(R"({"op": "rename", "block": "x", "to": "z"})", EditMode::kTry, found).ok());
  CHECK(!document->Apply(R"({"op": "rename", "block": "none", "to": "z"})", EditMode::kApply, found).ok());
  CHECK(document->history().undo == 0);
  CHECK(document->diagnostics().all().empty());
  CHECK(document->Write() == before);
}

TEST_CASE("Documents: the oldest edits are forgotten", "[document]") {
  auto document = Document::Open(SmallRuntime(), SumPage());
  for (size_t i = 0; i < EditHistory::kMostSteps + 5; ++i) Edited(*document, Cat(R"({"op": "move", "block": "x", "layout": [)", i, ", 0]}"));
  CHECK(document->history().undo == EditHistory::kMostSteps);
  while (document->Undo().ok()) {
  }
  CHECK(document->history().redo == EditHistory::kMostSteps);
  CHECK_THAT(document->Write(), Contains("[4, 0]"));
}

}  // namespace
}  // namespace weft::test
