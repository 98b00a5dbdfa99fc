// Half-valid input of every kind: pages, attribute strings, case files. Whatever comes, there is a report or a result, and nothing else.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "weft/cases/case_reader.h"
#include "tests/kit/random_page.h"
#include "tests/runtime/page_test.h"
#include "weft/exec/session.h"
#include "weft/host/file_sandbox.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

struct Counts {
  size_t refused = 0, failed = 0, done = 0;
};

void NotInternal(const Status& status, const std::string& text) {
  if (status.code() != Code::kInternal && !status.message().empty()) return;
  FAIL_CHECK(ToString(status) << "\n" << text);
}

void RunPage(Runtime& runtime, const fs::path& folder, const std::string& text, Counts& counts) {
  ReadPageResult read = ReadText(text);
  ScopeOptions options;
  options.files = std::make_shared<FileSandbox>(FolderRules{folder, {}, {folder}});
  options.stall_limit_ms = 1;
  auto scope = Scope::Open(runtime, std::make_shared<Page>(std::move(read.page)), "fuzz", std::move(options), read.diagnostics);
  CheckSessions(scope, read.diagnostics);
  for (const Diagnostic& diagnostic : read.diagnostics.all()) NotInternal(diagnostic.status, text);
  if (read.diagnostics.has_errors()) {
    ++counts.refused;
    return;
  }
  std::vector<SessionSpec> sessions = scope->graph().sessions();
  if (sessions.empty()) sessions.push_back(scope->graph().DefaultSession());
  for (size_t s = 0; s < sessions.size(); ++s) {
    Session session(scope, sessions[s], text.size() % 2 ? Keep::kAll : Keep::kAsked);
    for (int run = 0; run < 2; ++run) {
      RunOptions limits;
      limits.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
      Status status = session.Run(limits);
      if (!status.ok()) {
        NotInternal(status, text);
        ++counts.failed;
        break;
      }
      for (const auto& [name, value] : session.Results()) {
        auto result = session.Get(value);
        if (result.ok()) (void)ToString(result->tensor);
      }
      ++counts.done;
    }
  }
}

TEST_CASE("Random pages over all blocks are refused, fail or run", "[fuzz]") {
  TempFolder folder;
  Runtime runtime(MakeCatalog(), {.threads = 2, .memory_limit = int64_t{64} << 20});
  Counts counts;
  // WEFT_FUZZ_PAGES=1000000 looks longer.
  const char* asked = std::getenv("WEFT_FUZZ_PAGES");
  const auto pages = static_cast<uint32_t>(asked == nullptr ? 10000 : std::strtoul(asked, nullptr, 10));
  for (uint32_t seed = 1; seed <= pages; ++seed) {
    const Page page = fuzz::RandomPage(runtime.registry(), seed).Make();
    const std::string text = WritePage(page);
    RunPage(runtime, folder.path(), text, counts);
  }
  INFO(counts.refused << " refused, " << counts.failed << " failed, " << counts.done << " runs done");
  CHECK(counts.refused > 100);
  CHECK(counts.failed > 20);
  CHECK(counts.done > 300);
  CHECK(runtime.budget()->used() == 0);
}

std::string Damaged(std::string text, std::mt19937& random, std::string_view pieces) {
  for (uint32_t i = 1 + random() % 4; i > 0 && !text.empty(); --i) {
    const size_t at = random() % text.size();
    switch (random() % 5) {
      case 0: text[at] = static_cast<char>(random()); break;
      case 1: text[at] = pieces[random() % pieces.size()]; break;
      case 2: text.erase(at, 1 + random() % 6); break;
      case 3: text.insert(at, 1, pieces[random() % pieces.size()]); break;
      case 4: text.insert(at, text.substr(random() % text.size(), random() % 30)); break;
    }
  }
  return text;
}

TEST_CASE("Damaged attribute strings give values or errors", "[fuzz]") {
  Registry registry = MakeCatalog();
  std::mt19937 random(7);
  size_t good = 0, bad = 0;
  for (int i = 0; i < 20000; ++i) {
    const BlockDef& def = *registry.blocks()[random() % registry.blocks().size()];
    if (def.attrs.empty()) continue;
    std::string text;
    for (const AttrSpec& spec : def.attrs) {
      if (spec.default_value) text += Cat(spec.name, "_ = ", AttrText(*spec.default_value), ";");
    }
    text = Damaged(text + " ", random, "{}[]\";=,_?.-+e0123456789fT \n");
    Diagnostics found;
    const std::vector<AttrValue> values = ParseAttrs(text, def.attrs, found);
    REQUIRE(values.size() == def.attrs.size());
    ++(found.has_errors() ? bad : good);
    for (size_t a = 0; a < values.size(); ++a) {
      if (values[a].index() == 0) continue;
      // What was read is written so that it reads back.
      auto again = ParseAttrValue(def.attrs[a].type, AttrText(values[a]));
      const bool nan = std::holds_alternative<float>(values[a]) && std::isnan(std::get<float>(values[a]));
      if (!again.ok() || (!nan && *again != values[a] && !std::holds_alternative<FloatList>(values[a]))) {
        FAIL_CHECK(def.name << "." << def.attrs[a].name << ": " << text << " gave " << AttrText(values[a]));
      }
    }
  }
  CHECK(bad > 1000);
  CHECK(good > 10);
}

TEST_CASE("Damaged case files are read or refused", "[fuzz]") {
  std::vector<std::string> documents;
  const fs::path folder = fs::path(WEFT_SOURCE_DIR) / "tests" / "blocks";
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.path().filename().string().ends_with(".cases.json") || entry.file_size() > 20000) continue;
    std::ostringstream bytes;
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    documents.push_back(std::move(bytes).str());
  }
  REQUIRE(!documents.empty());
  std::sort(documents.begin(), documents.end());
  std::mt19937 random(8);
  size_t faulty = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = Damaged(documents[random() % documents.size()], random, "{}[]\":,-.e0123456789nt\\ \xff");
    const cases::CaseFile file = cases::ReadCases(text, "damaged.json");
    faulty += file.diagnostics.has_errors();
    for (const Diagnostic& diagnostic : file.diagnostics.all()) NotInternal(diagnostic.status, text);
  }
  CHECK(faulty > 500);
}

}  // namespace
}  // namespace weft
