// weft_fuzz: runs fuzz targets without knowledge of coverage: their corpus, then changes of it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "tests/fuzz/driver.h"
#include "tests/fuzz/finding.h"
#include "tests/kit/test_services.h"

namespace weft::fuzz {
namespace {

struct Options {
  DriverOptions driver;
  std::string findings = "out/fuzz", input;
  std::vector<std::string> targets;
  bool list = false;
  uint64_t memory = static_cast<uint64_t>(MemoryLimit());
};

std::vector<const Target*> Chosen(const Options& options) {
  std::vector<const Target*> chosen;
  for (const Target& target : Targets()) {
    if (options.targets.empty() || std::ranges::find(options.targets, target.name) != options.targets.end()) chosen.push_back(&target);
  }
  return chosen;
}

/// Whether it found nothing.
bool RunOne(const Target& target, const DriverOptions& options) {
  const TargetReport report = RunTarget(target, options);
  std::printf("%-14s %10llu inputs %8.1f s, longest %.3f s  %zu findings\n", target.name, static_cast<unsigned long long>(report.inputs),
              report.seconds, report.longest, report.findings.size());
  for (const std::string& finding : report.findings) std::printf("  %s: %s\n", target.name, finding.c_str());
  std::fflush(stdout);
  return report.findings.empty();
}

int Run(Options options) {
  const std::vector<const Target*> chosen = Chosen(options);
  if (options.list) {
    for (const Target* target : chosen) std::cout << target->name << "  " << target->summary << "\n";
    return 0;
  }
  if (!options.input.empty()) {
    const bool file = std::filesystem::exists(options.input);
    const std::string input = file ? kit::FileBytes(options.input) : options.input;
    for (const Target* target : chosen) {
      if (target->by_seed()) std::cout << target->tell(input) << std::endl;
      RunInput(*target, input);
    }
    std::cout << "nothing found\n";
    return 0;
  }
  options.driver.findings = options.findings;
  options.driver.seconds /= static_cast<double>(std::max<size_t>(chosen.size(), 1));
  size_t failed = 0;
  for (const Target* target : chosen) failed += !RunOne(*target, options.driver);
  std::cout << "fuzz: " << chosen.size() << " targets, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Runs fuzz targets: the inputs of their corpus, and changes of them.");
  app.add_option("targets", options.targets, "Targets; all where none is named")->check([](const std::string& name) {
    return FindTarget(name) != nullptr ? std::string() : Cat("there is no target '", name, "'; --list names them");
  });
  app.add_flag("--list", options.list, "Name the targets");
  app.add_option("--seconds", options.driver.seconds, "Time for all of them together")->check(CLI::NonNegativeNumber);
  app.add_option("--inputs", options.driver.inputs, "Inputs for each besides its corpus");
  app.add_option("--seed", options.driver.seed, "Another seed gives other inputs")->check(CLI::PositiveNumber);
  app.add_option("--input", options.input, "Only this file, or this text, in this process");
  app.add_option("--memory", options.memory, "Bytes that pages may hold: what is found needs four times as many")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::PositiveNumber);
  app.add_option("--findings", options.findings, "Folder for inputs that found something");
  CLI11_PARSE(app, argc, argv);
  if (options.driver.seconds == 0 && options.driver.inputs == 0) options.driver.inputs = 1000;
  SetMemoryLimit(static_cast<int64_t>(options.memory));
  const std::filesystem::path scratch = MakeScratchFolder();
  if (scratch.empty()) return 2;
  int status = 1;
  try {
    status = Run(options);
  } catch (const std::exception& finding) {
    std::cout << "found: " << finding.what() << "\n";
  }
  std::cout.flush();
  std::error_code ignored;
  std::filesystem::remove_all(scratch, ignored);
  // Without the destructors of what the targets share.
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace
}  // namespace weft::fuzz

int main(int argc, char** argv) { return weft::fuzz::Main(argc, argv); }
