// Pages of many kinds: what is done with twice as many blocks, or twice as long names, takes at most 2.5 times the time. Compared are a page and
// one 16 times as large.
#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/kit/growth.h"
#include "tests/runtime/growth_families.h"
#include "tests/runtime/page_test.h"
#include "weft/host/document.h"
#include "weft/host/inspect.h"
#include "weft/host/page_run.h"
#include "weft/state/snapshot.h"

namespace weft::test {
namespace {

using Times = std::map<std::string, double>;  // by what is done: seconds

// ---- what is done with them ---------------------------------------------------------------------------------------------------------------

class Stopwatch {
 public:
  explicit Stopwatch(Times& times) : times_(times) {}
  template <class F>
  void operator()(const char* what, F&& f) {
    const double begin = kit::ProcessorSeconds();
    f();
    times_[what] = kit::ProcessorSeconds() - begin;
  }

 private:
  Times& times_;
};

void Show(Document& document, Stopwatch& time) {
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

void EditSteps(Document& document, Stopwatch& time) {
  Diagnostics found;
  const std::string add = Cat("{\"op\": \"add\", \"block\": ", Block("fresh", "Const", {{"value", Scalar(1)}}), "}");
  time("first edit", [&] { REQUIRE(document.Apply(add, EditMode::kApply, found).ok()); });
  time("edit", [&] { REQUIRE(document.Apply(R"({"op": "rename", "block": "fresh", "to": "renamed"})", EditMode::kApply, found).ok()); });
  time("refused edit", [&] { REQUIRE(!document.Apply(R"({"op": "connect", "from": "nothing.z", "to": "renamed.value"})", EditMode::kStrict, found).ok()); });
  time("undo", [&] { REQUIRE(document.Undo().ok()); });
}

void PlanAsked(Document& document, Stopwatch& time) {
  const std::shared_ptr<Scope>& scope = document.scope();
  time("plan of what is asked", [&] {
    Diagnostics found;
    for (const SessionSpec& spec : SessionsOf(scope->graph())) Session(scope, spec, Keep::kAsked).Prepare(found);
    REQUIRE(found.FirstError().ok());
  });
}

void Run(Document& document, Stopwatch& time, const std::filesystem::path& folder, growth::Kind kind) {
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

Times Measure(const std::shared_ptr<Runtime>& runtime, const std::string& text, growth::Kind kind) {
  Times times;
  Stopwatch time(times);
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
  return times;
}

void TakeBest(Times& best, const Times& times) {
  for (const auto& [what, seconds] : times) best[what] = best.contains(what) ? std::min(best[what], seconds) : seconds;
}

/// What takes too long on a page 16 times as large, which is twice as large four times; what is over within moments does not tell. A cache that
/// becomes too small on the way makes each block half as slow again.
std::vector<std::string> TooLong(const Times& once, const Times& more) {
  constexpr double kMoment = 300e-6, kCaches = 1.5;
  constexpr double kMost = kit::kMostForTwice * kit::kMostForTwice * kit::kMostForTwice * kit::kMostForTwice * kCaches;
  std::vector<std::string> too_long;
  for (const auto& [what, seconds] : more) {
    if (seconds > kMoment && seconds > kMost * once.at(what)) {
      too_long.push_back(Cat(what, ": ", 1e3 * once.at(what), " ms, 16 times as large ", 1e3 * seconds, " ms"));
    }
  }
  return too_long;
}

void CheckGrowth(const char* name, const std::string& small, const std::string& large, growth::Kind kind) {
  constexpr int kMostRounds = 8;  // the best of each counts: other programs may disturb
  const auto runtime = std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 0});
  Times once, more;
  std::vector<std::string> too_long;
  for (int round = 0; round < kMostRounds && (round == 0 || !too_long.empty()); ++round) {
    kit::WaitOutDisturbance(round);
    TakeBest(once, Measure(runtime, small, kind));
    TakeBest(more, Measure(runtime, large, kind));
    too_long = TooLong(once, more);
  }
  for (const std::string& fault : too_long) FAIL_CHECK(name << ": " << fault);
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(NDEBUG)
TEST_CASE("what is done with a page takes no more than 2.5 times the time where the page is twice as large", "[growth]") {
  const kit::KeptMemory memory;
  for (const growth::Family& family : growth::Families()) {
    INFO(family.name);
    CheckGrowth(family.name, PageOf(family.blocks(family.n)), PageOf(family.blocks(16 * family.n)), family.kind);
  }
  CheckGrowth("a page of enuSpace's editor", DesignPage(125), DesignPage(2000), growth::Kind::kRuns);
}
#endif

}  // namespace weft::test
