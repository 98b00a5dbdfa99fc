// What the README shows works: its page, its case file, its lines of C++.
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "tests/kit/program.h"
#include "weft/cases/case_reader.h"
#include "weft/cases/case_runner.h"
#include "weft/cases/session_executor.h"
#include "weft/exec/session.h"
#include "weft/host/document.h"
#include "weft/page/reader.h"

namespace {

using weft::kit::FileBytes;
using weft::kit::kSourceFolder;

/// The fenced text that follows a mark "<!-- name -->".
std::string Fenced(const std::string& name) {
  std::string readme = FileBytes(kSourceFolder / "README.md");
  size_t mark = readme.find("<!-- " + name + " -->");
  REQUIRE(mark != std::string::npos);
  size_t open = readme.find("```", mark), begin = readme.find('\n', open) + 1, end = readme.find("```", begin);
  REQUIRE(end != std::string::npos);
  return readme.substr(begin, end - begin);
}

double FloatOf(const weft::Session& session, const char* name) {
  auto result = session.Get(name);
  REQUIRE(result.ok());
  return result->tensor.values<float>()[0];
}

// The lines between the marks are those of the README, but for the file's folder.
weft::Status Embedding() {
  // begin
  auto runtime = std::make_shared<weft::Runtime>(weft::MakeCatalog());
  auto document = weft::Document::OpenFile(runtime, kSourceFolder / "graphs/xor.page.json");
  WEFT_RETURN_IF_ERROR(document->diagnostics().FirstError());
  weft::Session session(document->scope(), document->scope()->graph().sessions().at(0));
  WEFT_RETURN_IF_ERROR(session.RunSteps(2000));
  WEFT_ASSIGN_OR_RETURN(weft::ResultValue loss, session.Get("loss.output"));
  std::cout << ToString(loss.tensor) << "\n";
  // end
  CHECK(loss.tensor.values<float>()[0] < 0.01f);
  return {};
}

}  // namespace

TEST_CASE("the README's page runs and is canonical", "[readme]") {
  std::string text = Fenced("page");
  weft::ReadPageResult read = weft::ReadPage(text, {.name = "line.page.json", .read_file = {}});
  weft::Runtime runtime(weft::MakeCatalog());
  auto scope = weft::Scope::Open(runtime, std::make_shared<weft::Page>(read.page), "line.page.json", {}, read.diagnostics);
  REQUIRE(read.diagnostics.all().empty());
  REQUIRE(scope != nullptr);
  weft::Session session(scope, scope->graph().sessions().at(0));
  REQUIRE(session.RunSteps(300).ok());
  CHECK(FloatOf(session, "w.ref") == Approx(2).margin(0.05));
  CHECK(FloatOf(session, "b.ref") == Approx(1).margin(0.05));
}

TEST_CASE("the README's case file passes", "[readme]") {
  weft::cases::CaseFile file = weft::cases::ReadCases(Fenced("case"), "bias.cases.json");
  CHECK(file.diagnostics.all().empty());
  REQUIRE(file.cases.size() == 2);
  weft::Runtime runtime(weft::MakeCatalog());
  weft::cases::SessionExecutor executor(runtime);
  for (const auto& test : file.cases) {
    weft::cases::CaseReport report = weft::cases::RunCase(test, executor);
    INFO(report.message);
    CHECK(report.verdict == weft::cases::CaseReport::Verdict::kPassed);
  }
}

TEST_CASE("the README's lines of C++ are those that are tested", "[readme]") {
  std::string source = FileBytes(__FILE__), lines, line;
  size_t begin = source.find("  // begin\n") + 11, end = source.find("  // end\n");
  std::istringstream in(source.substr(begin, end - begin));
  while (std::getline(in, line)) lines += line.substr(2) + "\n";
  const std::string folder = "kSourceFolder / ";
  if (size_t at = lines.find(folder); at != std::string::npos) lines.erase(at, folder.size());
  CHECK(Fenced("embedding") == lines);
  CHECK(Embedding().ok());
}
