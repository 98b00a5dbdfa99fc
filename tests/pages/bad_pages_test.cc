// Bad pages: each goes the whole way, and its report must be exactly the one that bad/expected.json asks for.
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/runtime/page_test.h"
#include "weft/exec/session.h"
#include "weft/host/document.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const fs::path& BadFolder() {
  static const fs::path kFolder = fs::path(WEFT_SOURCE_DIR) / "tests" / "pages" / "bad";
  return kFolder;
}

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return std::move(bytes).str();
}

std::string Repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// A design page with one binary value of [2][3] doubles, kept in the .dat file beside it.
std::string DesignWithDat(std::string_view position) {
  return Cat("<svg><use id=\"a\" type=\"tensorflow\" xlink:href=\"#Const\"><pg-set-pin variable=\"#value\" shape=\"[2][3]\" var-type=\"double\" "
             "save-type=\"binary\" binary-pos=\"", position, "\"/></use></svg>");
}

// Pages whose bytes no editor would keep.
std::map<std::string, std::string> MadeFiles() {
  const std::string good = PageWith("{\"id\": \"c\", \"block\": \"Const\", \"inputs\": {\"value\": {\"text\": \"1\"}}}");
  std::map<std::string, std::string> files;
  files["made_empty.json"] = "";
  files["made_blank.json"] = " \n\t ";
  files["made_zeros.json"] = std::string(4096, '\0');
  files["made_deep_arrays.json"] = Cat("{\"weft\": 1, \"blocks\": ", Repeated("[", 10000));
  files["made_deep_objects.json"] = Cat("{\"weft\": 1, \"blocks\": [], \"x\": ", Repeated("{\"a\": ", 10000), "1", Repeated("}", 10000), "}");
  files["made_deep_literal.json"] =
      ConstWith(Cat("{\"dtype\": \"DT_FLOAT\", \"shape\": [1], \"values\": ", Repeated("[", 10000), Repeated("]", 10000), "}"));
  files["made_deep_attrs.json"] = PageWith(
      Cat("{\"id\": \"p\", \"block\": \"Placeholder\", \"attrs\": \"dtype_ = DT_FLOAT; shape_ = ", Repeated("{", 10000), ";\"}"));
  files["made_deep_elements.svg"] = Repeated("<g>", 10000);
  files["made_utf8_broken.json"] = PageWith("{\"id\": \"c\xc3\x28\", \"block\": \"Const\"}");
  files["made_utf8_overlong.json"] = PageWith("{\"id\": \"c\xc0\xaf\", \"block\": \"Const\"}");
  files["made_utf8_surrogate.json"] = PageWith("{\"id\": \"c\xed\xa0\x80\", \"block\": \"Const\"}");
  files["made_utf8_cut.json"] = good + "\xe2\x82";
  files["made_utf16_odd.json"] = Utf16(good, false) + "x";
  files["made_utf16_lone_surrogate.json"] = Utf16("{\"page\": \"", false) + std::string("\x3d\xd8", 2) + Utf16("\"}", false, false);
  files["made_utf16_big_endian_cut.json"] = Utf16(good, true).substr(0, 60);
  files["made_dat_cut.svg"] = DesignWithDat("8");
  files["made_dat_cut.dat"] = std::string(24, '\1');
  files["made_dat_missing.svg"] = DesignWithDat("0");
  files["made_dat_position.svg"] = DesignWithDat("-8");
  files["made_dat_position.dat"] = std::string(64, '\1');
  files["made_dat_beyond.svg"] = DesignWithDat("9223372036854775800");
  files["made_dat_beyond.dat"] = std::string(64, '\1');
  return files;
}

// The report of a page that is read, opened, planned and, where nothing is wrong by then, run once.
Diagnostics FindFaults(Runtime& runtime, const fs::path& path) {
  ReadPageResult read = ReadPageFile(path);
  Diagnostics found = std::move(read.diagnostics);
  ScopeOptions options;
  options.files = std::make_shared<FileSandbox>(FolderRules::OfPage(path.parent_path()));
  options.stall_limit_ms = 200;
  std::shared_ptr<Scope> scope =
      Scope::Open(runtime, std::make_shared<Page>(std::move(read.page)), path.string(), std::move(options), found);
  CheckSessions(scope, found);
  const bool runnable = !found.has_errors();
  std::vector<SessionSpec> sessions = scope->graph().sessions();
  if (sessions.empty()) sessions.push_back(scope->graph().DefaultSession());
  for (SessionSpec& spec : sessions) {
    RunOptions run;
    run.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    // A page with errors is not meant to run, yet to try must do no harm.
    Status status = Session(scope, std::move(spec)).Run(run);
    if (runnable && !status.ok()) found.Error(std::move(status));
  }
  return found;
}

std::string Text(const Diagnostic& diagnostic) {
  const Place& place = diagnostic.status.place();
  return Cat(SeverityName(diagnostic.severity), " ", CodeName(diagnostic.status.code()), " ", place.pointer, " ", place.block, ".", place.port,
             ": ", diagnostic.status.message(), " (", diagnostic.status.hint(), ")");
}

bool Matches(const Diagnostic& found, const Json& expected) {
  const Status& status = found.status;
  const Place& place = status.place();
  const auto is = [&](const char* key, std::string_view text) { return expected.value(key, std::string()) == text; };
  const auto has = [&](const char* key, const std::string& text) { return text.find(expected.value(key, std::string())) != std::string::npos; };
  return is("code", CodeName(status.code())) && is("severity", SeverityName(found.severity)) && is("pointer", place.pointer) &&
         is("block", place.block) && is("port", place.port) && has("message", status.message()) && has("hint", status.hint());
}

void CheckReport(const Diagnostics& found, const Json& expected) {
  std::string report;
  for (const Diagnostic& diagnostic : found.all()) report += Text(diagnostic) + "\n";
  INFO(report);
  CHECK(found.all().size() == expected.size());
  for (size_t i = 0; i < std::min(found.all().size(), expected.size()); ++i) {
    INFO(expected[i].dump());
    CHECK(Matches(found.all()[i], expected[i]));
  }
}

TEST_CASE("Bad pages give exactly the reports that are expected", "[bad-pages]") {
  const Json expected = Json::parse(ReadAll(BadFolder() / "expected.json"));
  TempFolder made;
  for (const auto& [name, bytes] : MadeFiles()) made.Write(name, bytes);
  fs::create_directory(made.path() / "made_folder.json");
  Runtime runtime(MakeCatalog(), {.threads = 2, .memory_limit = int64_t{256} << 20});
  size_t pages = 0;
  for (const auto& [name, findings] : expected.items()) {
    INFO(name);
    const bool is_made = name.starts_with("made_");
    const fs::path path = (is_made ? made.path() : BadFolder()) / name;
    REQUIRE((fs::exists(path) || name.find("absent") != std::string::npos));
    CheckReport(FindFaults(runtime, path), findings);
    ++pages;
  }
  CHECK(pages >= 70);
}

TEST_CASE("Every bad page has its report", "[bad-pages]") {
  const Json expected = Json::parse(ReadAll(BadFolder() / "expected.json"));
  for (const fs::directory_entry& entry : fs::directory_iterator(BadFolder())) {
    const std::string name = entry.path().filename().string();
    INFO(name);
    CHECK((name == "expected.json" || name.ends_with(".dat") || expected.contains(name)));
  }
  for (const auto& [name, bytes] : MadeFiles()) {
    INFO(name);
    CHECK((name.ends_with(".dat") || expected.contains(name)));
  }
}

}  // namespace
}  // namespace weft
