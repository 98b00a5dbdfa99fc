#include "tests/faults/fault_kit.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace weft::faults {
namespace fs = std::filesystem;

std::vector<std::string> SamplePages() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(WEFT_SOURCE_DIR) / "graphs")) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view kEnd = ".page.json";
    if (name.ends_with(kEnd)) names.push_back(name.substr(0, name.size() - kEnd.size()));
  }
  std::sort(names.begin(), names.end());
  REQUIRE(names.size() > 5);
  return names;
}

std::string PageText(const std::string& name) {
  std::ifstream in(fs::path(WEFT_SOURCE_DIR) / "graphs" / (name + ".page.json"), std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  REQUIRE(!text.empty());
  return text;
}

Sample::Sample(weft_runtime* of, const std::string& name, std::string where) : text(PageText(name)), folder(std::move(where)), runtime(of) {}

weft_status Sample::Load(weft_diagnostics** problems) {
  weft_page_options options = WEFT_PAGE_OPTIONS_INIT;
  const char* folders[] = {folder.c_str()};
  options.folder = folder.c_str();
  options.write_folders = folders;
  options.write_count = 1;
  return weft_page_load(runtime, text.data(), text.size(), &options, page.out(), problems);
}

weft_status Sample::Run(weft_diagnostics** problems) {
  weft_run_options options = WEFT_RUN_OPTIONS_INIT;
  options.steps = 2;
  return weft_page_run_all(run, &options, problems);
}

std::map<std::string, std::string> Sample::Results() const {
  std::map<std::string, std::string> results;
  OwnedStrings names;
  REQUIRE(weft_page_run_results(run, names.out(), nullptr) == WEFT_OK);
  size_t count = 0;
  REQUIRE(weft_strings_count(names, &count) == WEFT_OK);
  for (size_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    REQUIRE(weft_strings_get(names, i, &name, nullptr) == WEFT_OK);
    OwnedView view;
    OwnedStrings value;
    const char* shown = "";
    if (weft_page_run_view(run, name, view.out(), nullptr) != WEFT_OK) continue;  // a Switch left it out
    REQUIRE(weft_view_text(view, 100000, value.out(), nullptr) == WEFT_OK);
    REQUIRE(weft_strings_get(value, 0, &shown, nullptr) == WEFT_OK);
    results[name] = shown;
  }
  return results;
}

namespace {

constexpr const char* kLoops = R"({"weft": 1, "page": "loops", "blocks": [
  {"id": "queue", "block": "FIFOQueue", "attrs": "component_types_ = {DT_FLOAT};capacity_ = 2;"},
  {"id": "x", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2]}}},
  {"id": "put", "block": "QueueEnqueue", "inputs": {"handle": "queue.handle", "components": ["x.output"]}},
  {"id": "take", "block": "QueueDequeue", "attrs": "component_types_ = {DT_FLOAT};", "inputs": {"handle": "queue.handle"}},
  {"id": "fill", "block": "ClientSession", "attrs": "INFINITE_LOOP = true;", "inputs": {"run_outputs": ["put.operation"]}},
  {"id": "empty", "block": "ClientSession", "attrs": "INFINITE_LOOP = true;", "inputs": {"fetch_outputs": ["take.components[0]"]}},
  {"id": "once", "block": "ClientSession", "inputs": {"fetch_outputs": ["x.output"]}}
]})";

}  // namespace

OwnedPage LoadLoops(weft_runtime* runtime) {
  OwnedPage page;
  OwnedProblems problems;
  const weft_status status = weft_page_load(runtime, kLoops, std::char_traits<char>::length(kLoops), nullptr, page.out(), problems.out());
  const char* text = "";
  if (status != WEFT_OK) (void)weft_diagnostics_text(problems, &text);
  INFO(text);
  REQUIRE(status == WEFT_OK);
  return page;
}

void IsIdleAndStarts(weft_session* session) {
  weft_session_info info = WEFT_SESSION_INFO_INIT;
  REQUIRE(weft_session_get_info(session, &info, nullptr) == WEFT_OK);
  CHECK(info.state == WEFT_IDLE);
  REQUIRE(weft_session_start(session, nullptr, nullptr) == WEFT_OK);
  CHECK(weft_session_wait(session, -1, nullptr, nullptr) == WEFT_OK);
}

int Held::OpenDescriptors() {
  std::error_code error;
  const fs::directory_iterator all("/proc/self/fd", error);
  return static_cast<int>(std::distance(begin(all), end(all)));
}

std::ostream& operator<<(std::ostream& out, const Held& held) {
  return out << held.handles << " handles, " << held.descriptors << " descriptors";
}

std::vector<std::string> Names(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) names.push_back(fs::relative(entry.path(), folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

bool IsHidden(const std::string& name) { return fs::path(name).filename().string().starts_with('.'); }

namespace {

using Clock = std::chrono::steady_clock;

/// The number of the next trial: each of the first ones, then some of the rest.
uint64_t Next(uint64_t number, const TrialOptions& options, Clock::time_point begin) {
  const bool each = TriesEach() || number < options.at_least || (number < kEachAllocation && Clock::now() - begin < options.time);
  return each ? number + 1 : number + std::max<uint64_t>(number / 12, 1);
}

}  // namespace

bool TriesEach() {
  const char* asked = std::getenv("WEFT_EVERY_ALLOCATION");
  return asked != nullptr && std::string_view(asked) == "1";
}

uint64_t EveryAllocationFails(const std::string& what, const std::function<void(const FaultyCall& fault)>& trial, TrialOptions options) {
  const auto none = [](const std::function<weft_status()>& call) { return call(); };
  trial(none);  // what is made once
  trial(none);
  uint64_t failed = 0, most = 0;
  for (const bool lasts : {false, true}) {
    bool happens = true;
    const Clock::time_point begin = Clock::now();
    for (uint64_t number = 1; happens; number = Next(number, options, begin)) {
      const Watchdog watchdog(what.c_str(), number);
      INFO(what << ": allocation " << number << (lasts ? " and those after it" : ""));
      const Held before;
      const FaultyCall fault = [&](const std::function<weft_status()>& call) {
        weft_status status = WEFT_OK;
        {
          MemoryFault armed(number, lasts);
          status = call();
          happens = armed.happened();
        }
        if (!happens) CHECK(status == WEFT_OK);
        else if (status != WEFT_OK) CHECK(status == WEFT_RESOURCE_EXHAUSTED);
        failed += status != WEFT_OK;
        return status;
      };
      trial(fault);
      most = std::max(most, number);
      CHECK(Held() == before);
      if (!options.others_keep) CHECK(Kept() == 0);
    }
  }
  CHECK(failed > 0);
  return most;
}

}  // namespace weft::faults
