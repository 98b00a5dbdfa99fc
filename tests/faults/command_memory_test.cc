// No memory in the commands of `weft`, from the first of what they call on: an error and its exit status, or the work is done.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/faults/fault_kit.h"
#include "tests/faults/fresh_process.h"
#include "tests/kit/program.h"
#include "tests/kit/test_services.h"

namespace weft::faults {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

constexpr const char* kNoMemory = "no memory left";

/// Some of the allocations from 1 to `all`: the first ones, the last ones, and those between at a distance; or each, where that is asked for.
std::vector<uint64_t> Some(uint64_t all) {
  constexpr uint64_t kFirst = 8, kLast = 24, kBetween = 24;
  std::vector<uint64_t> numbers;
  for (uint64_t number = 1; number <= all; ++number) {
    if (TriesEach() || number <= kFirst || number + kLast > all || number % (all / kBetween + 1) == 0) numbers.push_back(number);
  }
  return numbers;
}

/// `file`: what the command writes, if anything.
void LacksMemory(const Arguments& arguments, const fs::path& file = {}) {
  const FreshEnd whole = RunFresh(arguments, 0);
  INFO("weft " << arguments[0] << ": " << whole.err);
  REQUIRE(whole.status == 0);
  REQUIRE(whole.seen > 100);
  const std::string written = file.empty() ? "" : kit::FileBytes(file);
  int failed = 0;
  for (const bool lasts : {false, true}) {
    for (const uint64_t number : Some(whole.seen)) {
      if (!file.empty()) fs::remove(file);
      const FreshEnd end = RunFresh(arguments, number, lasts);
      INFO("allocation " << number << " of " << whole.seen << (lasts ? " and those after it: " : ": ") << end.status << "\n" << end.err);
      CHECK((end.status == 0 || end.status == 1));
      failed += end.status != 0;
      if (end.status != 0) CHECK_THAT(end.err + end.out, Catch::Contains(kNoMemory));
      else CHECK(end.out == whole.out);
      if (!file.empty() && (end.status == 0 || fs::exists(file))) CHECK(kit::FileBytes(file) == written);
    }
  }
  CHECK(failed > 40);
}

std::string SamplePath(const std::string& name) { return std::string(WEFT_SOURCE_DIR "/graphs/") + name + ".page.json"; }

constexpr const char* kCases = R"({"block": "Negate", "cases": [
  {"name": "one", "inputs": {"x": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, -2.5]}}, "outputs": {"y": {"dtype": "DT_FLOAT", "shape": [2], "values": [-1, 2.5]}}},
  {"name": "refused", "inputs": {"x": {"dtype": "DT_STRING", "shape": [], "values": ["a"]}}, "error": {"code": "invalid_argument", "port": "x"}},
  {"name": "a page", "page": {"blocks": [
    {"id": "x", "block": "Const", "inputs": {"value": {"dtype": "DT_STRING", "shape": [], "values": ["some bytes for a file"]}}},
    {"id": "name", "block": "Const", "inputs": {"value": {"dtype": "DT_STRING", "shape": [], "values": ["$TMP/folder/file"]}}},
    {"id": "write", "block": "WriteFile", "inputs": {"filename": "name.output", "contents": "x.output"}}]},
   "steps": [{"fetch": ["x.output"], "run": ["write"], "outputs": {"x.output": {"dtype": "DT_STRING", "shape": [], "values": ["some bytes for a file"]}}}]}]}
)";

TEST_CASE("Commands that read a page lack memory without harm", "[memory]") {
  const kit::TemporaryFolder folder;
  const fs::path picture = folder.path() / "page.svg", results = folder.path() / "out.npz";
  LacksMemory({"check", SamplePath("softmax_regression")});
  LacksMemory({"show", SamplePath("bias_add_grad"), "-o", picture.string()}, picture);
  LacksMemory({"run", SamplePath("softmax_regression"), "--steps", "2"});
  LacksMemory({"run", SamplePath("softmax_regression"), "--json", "--results", results.string()}, results);
  const fs::path plot = folder.path() / "plot.svg";
  LacksMemory({"run", SamplePath("xor"), "--steps", "3", "--plot", "loss.output", "--plot-file", plot.string()}, plot);
  LacksMemory({"plan", SamplePath("softmax_regression")});
  LacksMemory({"sweep", WEFT_SOURCE_DIR "/graphs/xor.grid.json", "--list"});
}

TEST_CASE("Commands that list blocks lack memory without harm", "[memory]") {
  LacksMemory({"blocks"});
  LacksMemory({"blocks", "MatMul"});
  LacksMemory({"blocks", "--json"});
  LacksMemory({"--version"});
}

TEST_CASE("weft test lacks memory without harm", "[memory]") {
  const kit::TemporaryFolder folder;
  std::ofstream(folder.path() / "n.cases.json") << kCases;
  LacksMemory({"test", folder.path().string()});
  LacksMemory({"test", "--json", folder.path().string()});
}

TEST_CASE("Case files are read and run with all their memory, or say that they lack it", "[memory]") {
  const OwnedRuntime runtime = OpenRuntime();
  const kit::TemporaryFolder folder;
  std::ofstream(folder.path() / "n.cases.json") << kCases;
  const std::string path = folder.path().string();
  EveryAllocationFails("cases", [&](const FaultyCall& fault) {
    struct Told {
      int failed = 0, for_memory = 0;
    } told;
    weft_test_options options = WEFT_TEST_OPTIONS_INIT;
    options.user = &told;
    options.report = [](void* user, const weft_case* ended) {
      if (ended->verdict != WEFT_CASE_FAILED) return;
      ++static_cast<Told*>(user)->failed;
      static_cast<Told*>(user)->for_memory += std::string_view(ended->message).find("no memory") != std::string_view::npos;
    };
    weft_test_totals totals = WEFT_TEST_TOTALS_INIT;
    if (fault([&] { return weft_runtime_test(runtime, path.c_str(), &options, &totals, nullptr); }) == WEFT_OK) {
      CHECK(totals.passed + totals.failed == 3);
    }
    CHECK(told.failed == told.for_memory);
  }, {.others_keep = true});
}

TEST_CASE("A program that has no memory before main says so", "[memory]") {
  const kit::TemporaryFolder folder;
  const fs::path happened = folder.path() / "happened";
  int failed = 0;
  for (uint64_t number = 1; number < 100'000; number += number < 40 ? 1 : number / 3) {
    fs::remove(happened);
    kit::ProgramOptions options;
    options.environment = {"LD_PRELOAD=" WEFT_FAULT_LIBRARY, "WEFT_NEW_FAULT=" + std::to_string(number), "WEFT_FAULT_HAPPENED=" + happened.string()};
    const kit::ProgramResult end = kit::RunWeft({"--version"}, options);
    INFO(number << ": " << end.status << " " << end.err);
    if (!fs::exists(happened)) {
      CHECK(end.status == 0);
      break;
    }
    CHECK((end.status == 0 || end.status == 1));
    failed += end.status != 0;
    if (end.status != 0) CHECK_THAT(end.err, Catch::Contains(kNoMemory));
  }
  CHECK(failed > 20);
}

}  // namespace
}  // namespace weft::faults
