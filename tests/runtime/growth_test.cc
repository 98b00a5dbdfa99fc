// Pages of many kinds: what is done with twice as many blocks, or twice as long names, takes at most 2.5 times the time. Compared are a page and
// one 16 times as large; where instructions are counted, one twice as large.
#include <filesystem>

#include "tests/kit/growth.h"
#include "tests/runtime/growth_families.h"
#include "tests/runtime/page_test.h"
#include "weft/host/document.h"
#include "weft/host/inspect.h"
#include "weft/host/page_run.h"
#include "weft/state/snapshot.h"

namespace weft::test {
namespace {

// ---- what is done with them ---------------------------------------------------------------------------------------------------------------

void Show(Document& document, kit::LeastCosts& time) {
  const std::shared_ptr<const Graph> graph = document.scope()->revision()->graph;
  time("write", [&] { document.Write(); });
  time("inspect", [&] {
    const Inspection inspection(*graph);
    TypesJson(*graph, inspection);
  });
  time("wires", [&] { WiresJson(graph->page()); });
  time("show", [&] {
    Drawing drawing = MakeDrawing(graph->page(), graph->registry(), {});
    LayOutInLayers(drawing);
  });
}

void EditSteps(Document& document, kit::LeastCosts& time) {
  Diagnostics found;
  const std::string add = Cat("{\"op\": \"add\", \"block\": ", Block("fresh", "Const", {{"value", Scalar(1)}}), "}");
  time("first edit", [&] { REQUIRE(document.Apply(add, EditMode::kApply, found).ok()); });
  time("edit", [&] { REQUIRE(document.Apply(R"({"op": "rename", "block": "fresh", "to": "renamed"})", EditMode::kApply, found).ok()); });
  time("refused edit", [&] { REQUIRE(!document.Apply(R"({"op": "connect", "from": "nothing.z", "to": "renamed.value"})", EditMode::kStrict, found).ok()); });
  time("undo", [&] { REQUIRE(document.Undo().ok()); });
}

void PlanAsked(Document& document, kit::LeastCosts& time) {
  const std::shared_ptr<Scope>& scope = document.scope();
  time("plan of what is asked", [&] {
    Diagnostics found;
    for (const SessionSpec& spec : SessionsOf(scope->graph())) Session(scope, spec, Keep::kAsked).Prepare(found);
    REQUIRE(found.FirstError().ok());
  });
}

void Run(Document& document, kit::LeastCosts& time, const std::filesystem::path& folder, growth::Kind kind) {
  const std::shared_ptr<Revision> revision = document.scope()->revision();
  Diagnostics found;
  std::vector<std::shared_ptr<Runner>> runners;
  time("plan", [&] { runners = OpenRunners(document.scope(), revision, SessionsOf(*revision->graph), Keep::kAll, nullptr, found); });
  REQUIRE(found.FirstError().ok());
  PageRun run(std::move(runners));
  for (const char* what : {"first run", "run"}) {
    if (kind == growth::Kind::kRunsOnce && what[0] == 'r') return;
    time(what, [&] {
      const Status status = run.Run({.steps = 1});
      INFO(ToString(status));
      REQUIRE(status.ok());
    });
  }
  time("results", [&] { run.Values(); });
  time("snapshot", [&] { REQUIRE(SaveSnapshot(*document.scope(), folder / "state").ok()); });
  time("restore", [&] { REQUIRE(RestoreSnapshot(*document.scope(), folder / "state", {}, found).ok()); });
  EditSteps(document, time);
  time("run after an edit", [&] { REQUIRE(run.Run({.steps = 1}).ok()); });
}

void Measure(const std::shared_ptr<Runtime>& runtime, const std::string& text, growth::Kind kind, kit::LeastCosts& time) {
  const TempFolder folder;
  std::unique_ptr<Document> document;
  DocumentOptions options;
  options.folder = folder.path() / "page";
  options.write_folders = {options.folder};
  std::filesystem::create_directory(options.folder);
  time("load", [&] { document = Document::Open(runtime, text, options); });
  time("check", [&] {
    const Diagnostics found = document->diagnostics();
    INFO(ToString(found.FirstError()));
    REQUIRE(found.has_errors() == (kind == growth::Kind::kFaulty));
  });
  Show(*document, time);
  if (kind != growth::Kind::kFaulty) PlanAsked(*document, time);
  if (kind == growth::Kind::kRuns || kind == growth::Kind::kRunsOnce) Run(*document, time, folder.path(), kind);
  else EditSteps(*document, time);
  time("close", [&] { document.reset(); });
}

/// `page(n)` is the text of a page of so many; the larger one that is compared has `most`.
void CheckGrowth(const char* name, const std::function<std::string(int)>& page, int most, growth::Kind kind) {
  const auto runtime = std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 0});
  const kit::Comparison by = kit::Compare(4, 1.5);
  const std::string small = page(most >> by.doublings), large = page(most);
  const std::vector<std::string> too_much = kit::CostsTooMuch(
      by, [&](kit::LeastCosts& time) { Measure(runtime, small, kind, time); }, [&](kit::LeastCosts& time) { Measure(runtime, large, kind, time); });
  for (const std::string& fault : too_much) FAIL_CHECK(name << ": " << fault);
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(NDEBUG)
TEST_CASE("what is done with a page takes no more than 2.5 times the time where the page is twice as large", "[growth]") {
  const kit::KeptMemory memory;
  for (const growth::Family& family : growth::Families()) {
    INFO(family.name);
    CheckGrowth(family.name, [&](int n) { return PageOf(family.blocks(n)); }, 16 * family.n, family.kind);
  }
  CheckGrowth("a page of enuSpace's editor", DesignPage, 2000, growth::Kind::kRuns);
}
#endif

}  // namespace weft::test
