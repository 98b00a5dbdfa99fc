// The sample pages in graphs/: each loads without a finding, runs, gives what NAME.expected.json says, and is written back unchanged.
#include <stdlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/kit/program.h"
#include "weft/cases/compare.h"
#include "weft/exec/session.h"
#include "weft/host/document.h"
#include "weft/page/reader.h"
#include "weft/page/writer.h"

using namespace weft;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

const fs::path kGraphs = fs::path(WEFT_SOURCE_DIR) / "graphs";

std::string Findings(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics.all()) text += ToString(d) + "\n";
  return text;
}

std::vector<fs::path> Pages() {
  std::vector<fs::path> pages;
  for (const auto& entry : fs::directory_iterator(kGraphs)) {
    if (entry.path().filename().string().ends_with(".page.json")) pages.push_back(entry.path());
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

/// A folder of its own for pages that write files.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "weft_graphs_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct OpenPage {
  std::unique_ptr<Runtime> runtime;
  std::shared_ptr<Scope> scope;
  std::map<std::string, std::unique_ptr<Session>> sessions;
};

OpenPage Open(const fs::path& path, const fs::path& folder, int threads) {
  OpenPage open;
  open.runtime = std::make_unique<Runtime>(MakeCatalog(), RuntimeOptions{.threads = threads, .memory_limit = 0, .processors = threads});
  ReadPageResult read = ReadPageFile(path);
  Diagnostics diagnostics = std::move(read.diagnostics);
  ScopeOptions options;
  options.files = std::make_shared<FileSandbox>(FolderRules{folder, {}, {folder}});  // save_restore writes
  open.scope = Scope::Open(*open.runtime, std::make_shared<Page>(std::move(read.page)), path.filename().string(), options, diagnostics);
  REQUIRE(Findings(diagnostics) == "");
  REQUIRE(open.scope != nullptr);
  for (const SessionSpec& spec : open.scope->graph().sessions()) open.sessions[spec.id] = std::make_unique<Session>(open.scope, spec);
  for (auto& [id, session] : open.sessions) session->Prepare(diagnostics);
  REQUIRE(Findings(diagnostics) == "");
  return open;
}

void CheckRun(OpenPage& open, const json& run, const cases::Tolerance& tolerance) {
  INFO("run " << run.dump());
  auto found = open.sessions.find(run.at("session").get<std::string>());
  REQUIRE(found != open.sessions.end());
  Session& session = *found->second;
  weft::Status status = session.RunSteps(run.at("times").get<int64_t>());
  INFO(status.message());
  REQUIRE(status.ok());
  if (!run.contains("results")) return;
  for (const auto& [name, value] : run["results"].items()) {
    INFO(name);
    auto result = session.Get(name);
    REQUIRE(result.ok());
    CHECK(!result->stale);
    cases::ExpectedValue expected;
    auto tensor = ReadTensor(value.dump());
    REQUIRE(tensor.ok());
    expected.tensor = *tensor;
    expected.dtype = expected.tensor.dtype();
    expected.shape = expected.tensor.shape();
    CHECK(cases::Difference(result->tensor, expected, tolerance) == "");
  }
}

}  // namespace

TEST_CASE("sample pages give their expected results", "[graphs]") {
  REQUIRE(Pages().size() >= 10);
  for (const fs::path& path : Pages()) {
    INFO(path.filename().string());
    fs::path expected_path = path.string().substr(0, path.string().size() - std::string(".page.json").size()) + ".expected.json";
    json expected = json::parse(kit::FileBytes(expected_path), nullptr, false);
    REQUIRE(expected.is_object());
    CHECK(expected.at("page") == path.filename().string());
    cases::Tolerance tolerance;
    if (expected.contains("tolerance")) {
      tolerance = {expected["tolerance"].at("relative").get<double>(), expected["tolerance"].at("absolute").get<double>()};
    }
    for (int threads : {1, 2}) {
      TemporaryFolder folder;
      OpenPage open = Open(path, folder.path(), threads);
      CHECK(!open.sessions.empty());
      for (const json& run : expected.at("runs")) CheckRun(open, run, tolerance);
    }
  }
}

TEST_CASE("sample pages are written back unchanged", "[graphs]") {
  for (const fs::path& path : Pages()) {
    INFO(path.filename().string());
    ReadPageResult read = ReadPageFile(path);
    CHECK(Findings(read.diagnostics) == "");
    CHECK(WritePage(read.page) == kit::FileBytes(path));
  }
}
