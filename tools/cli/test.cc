// weft test: runs case files.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "tools/cli/libraries.h"
#include "weft/capi/runtime.hpp"
#include "weft/cases/case_reader.h"
#include "weft/cases/session_executor.h"

namespace weft::cli {
namespace {

struct TestOptions {
  std::vector<std::string> paths, blocks, libraries;
  int threads = 0;
  int64_t memory = 0;
  bool json = false, quiet = false;
};

struct Totals {
  int passed = 0, failed = 0, skipped = 0;
};

bool Wanted(const cases::TestCase& test, const std::vector<std::string>& blocks) {
  if (blocks.empty()) return true;
  if (test.is_page()) return std::find(blocks.begin(), blocks.end(), "pages") != blocks.end();
  return std::find(blocks.begin(), blocks.end(), test.block) != blocks.end();
}

void RunFile(const std::filesystem::path& path, const TestOptions& options, cases::CaseExecutor& executor, Totals& totals,
             nlohmann::ordered_json& results) {
  cases::CaseFile file = cases::ReadCaseFile(path);
  if (!options.json) Report(file.diagnostics, false);
  if (file.diagnostics.has_errors() && file.cases.empty()) {
    ++totals.failed;
    results.push_back({{"file", path.string()}, {"pointer", ""}, {"name", ""}, {"verdict", "failed"}, {"message", ToString(file.diagnostics.FirstError())}});
  }
  for (const cases::TestCase& test : file.cases) {
    if (!Wanted(test, options.blocks)) continue;
    cases::CaseReport report = cases::RunCase(test, executor);
    const char* verdict = "passed";
    switch (report.verdict) {
      case cases::CaseReport::Verdict::kPassed: ++totals.passed; break;
      case cases::CaseReport::Verdict::kSkipped: ++totals.skipped, verdict = "skipped"; break;
      case cases::CaseReport::Verdict::kFailed: ++totals.failed, verdict = "failed"; break;
    }
    if (options.json) {
      results.push_back({{"file", test.file}, {"pointer", test.pointer}, {"name", test.name}, {"verdict", verdict}, {"message", report.message}});
    } else if (report.verdict == cases::CaseReport::Verdict::kFailed) {
      std::cout << Colored("failed", 31, 1) << " " << Visible(cases::CaseTitle(test)) << "\n  " << Visible(report.message) << "\n";
    }
  }
}

bool IsLibrary(const std::string& text) {
  return text.ends_with(".so") || text.ends_with(".dylib") || text.find(".so.") != std::string::npos;
}

bool Exists(const std::string& text) {
  std::error_code unknown;
  return std::filesystem::exists(text, unknown);
}

/// What stands after --blocks: names of blocks, libraries of them, and case files or folders that were meant as paths.
TestOptions Sorted(TestOptions options) {
  auto take = [&](auto is, std::vector<std::string>& to) {
    std::copy_if(options.blocks.begin(), options.blocks.end(), std::back_inserter(to), is);
    std::erase_if(options.blocks, is);
  };
  take(IsLibrary, options.libraries);
  take([](const std::string& text) { return text.ends_with(".json"); }, options.paths);
  if (options.paths.empty()) take(Exists, options.paths);
  return options;
}

int RunTest(const TestOptions& given) {
  TestOptions options = Sorted(given);
  if (options.paths.empty()) {
    std::cerr << "weft test: " << Colored("error:", 31) << " a case file, or a folder of them, is needed\nweft test --help tells more\n";
    return kWrongUse;
  }
  auto runtime = OpenRuntime(RuntimeOptions{.threads = options.threads, .memory_limit = options.memory}, options.libraries);
  if (!runtime.ok()) {
    Report(runtime.status(), options.json);
    return kFailed;
  }
  cases::SessionExecutor executor(**runtime);
  Totals totals;
  auto results = nlohmann::ordered_json::array();
  bool progress = IsTerminal(2) && !options.json;
  for (const std::string& path : options.paths) {
    auto files = cases::FindCaseFiles(path);
    if (!files.ok()) {
      Report(files.status(), options.json);
      return kFailed;
    }
    size_t done = 0;
    for (const auto& file : *files) {
      if (progress) std::cerr << "\r\033[K" << ++done << "/" << files->size() << " " << Visible(file.filename().string()) << std::flush;
      RunFile(file, options, executor, totals, results);
    }
    if (progress) std::cerr << "\r\033[K";
  }
  if (options.json) {
    std::cout << nlohmann::ordered_json{{"passed", totals.passed}, {"failed", totals.failed}, {"skipped", totals.skipped}, {"cases", results}}.dump(
                     1, ' ', false, nlohmann::json::error_handler_t::replace)
              << "\n";
  } else {
    std::cout << totals.passed << " passed, " << totals.failed << " failed";
    if (totals.skipped > 0) std::cout << ", " << totals.skipped << " skipped";
    std::cout << "\n";
  }
  if (totals.passed + totals.failed + totals.skipped == 0) {
    Report(NotFound("no case was found", options.blocks.empty() ? "" : " for these blocks"), options.json);
    return kFailed;
  }
  return totals.failed == 0 ? kOk : kFailed;
}

}  // namespace

void AddTest(Program& program) {
  auto options = std::make_shared<TestOptions>();
  Command command = program.Add("test", "Run case files: tests of blocks and pages, as data",
                                "  weft test tests/blocks\n  weft test my.cases.json\n  weft test tests/blocks --blocks MatMul BiasAdd\n"
                                "  weft test --library ./libmine.so mine.cases.json", options, RunTest);
  command.Add("paths", options->paths, "Case files (NAME.cases.json), or folders of them").Type("FILE-OR-FOLDER");
  AddMemoryOption(command, options->memory);
  command.Add("--blocks", options->blocks,
                   "Only cases of these blocks; 'pages' stands for page cases. Libraries among them are taken as by --library")
      .Type("NAME")
      .SplitAt(',');
  AddLibraryOption(command, options->libraries);
  command.Add("--threads", options->threads, "Threads that work at the same time (default and most: one a processor)").Between(1, 1024);
  command.AddFlag("--json", options->json, "Print the verdicts as JSON");
}

}  // namespace weft::cli
