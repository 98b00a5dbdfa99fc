// The shape of the source tree: includes point one way, files stay short, every test file is run.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "weft/base/text.h"

using namespace weft;
namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 9> kLayers = {"base", "block", "page", "plan", "state", "exec", "host", "cases", "capi"};
constexpr int kBlocks = 100, kTools = 101, kTests = 102, kOther = -1;

struct Source {
  std::string path;  // from the root of the tree
  std::vector<std::string> lines;
};

std::vector<std::string> LinesOf(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Files with one of these endings below a folder of the tree; what tools fetch or make is left out.
std::vector<Source> Sources(const std::string& folder, const std::vector<std::string>& endings) {
  const fs::path root = WEFT_SOURCE_DIR;
  std::vector<Source> sources;
  std::error_code error;
  for (fs::recursive_directory_iterator it(root / folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (it->is_directory() && (name == "node_modules" || name == "dist" || name == "build" || name == "out" || name.starts_with('.'))) {
      it.disable_recursion_pending();
    }
    bool wanted = std::ranges::any_of(endings, [&](const std::string& ending) { return name.ends_with(ending); });
    if (wanted && it->is_regular_file()) sources.push_back({fs::relative(it->path(), root).generic_string(), LinesOf(it->path())});
  }
  return sources;
}

/// The layer of a path in the tree or of an include's text.
int LayerOf(std::string_view path) {
  if (path == "weft.h" || path == "runtime/include/weft.h") return static_cast<int>(kLayers.size()) - 1;
  if (path.starts_with("blocks/")) return kBlocks;
  if (path.starts_with("tools/") || path.starts_with("runtime/mpi/")) return kTools;  // libraries of their own, over public headers
  if (path.starts_with("tests/")) return kTests;
  for (std::string_view prefix : {"runtime/include/weft/", "weft/", "runtime/"}) {
    if (!path.starts_with(prefix)) continue;
    std::string_view rest = path.substr(prefix.size());
    for (size_t i = 0; i < kLayers.size(); ++i) {
      if (rest.starts_with(kLayers[i]) && rest.size() > kLayers[i].size() && rest[kLayers[i].size()] == '/') return static_cast<int>(i);
    }
  }
  return kOther;
}

bool MayInclude(int from, int to) {
  if (from == kTools || from == kTests) return to != kTests || from == kTests;
  if (from == kBlocks) return to == 0 || to == 1 || to == kBlocks;
  return to <= from;
}

/// The command line sees of the engine what any program around it sees; what times kernels, the kernels, too.
bool ToolMayInclude(std::string_view tool, std::string_view include) {
  if (include.starts_with("runtime/")) return false;
  // The server is a host as any other.
  if (tool.starts_with("tools/serve/")) return include == "weft.h" || include.starts_with("tools/serve/") || include == "tools/cli/command.h";
  return !include.starts_with("blocks/") || tool.substr(tool.rfind('/') + 1).starts_with("bench");
}

/// Kernels know sizes and pointers, not blocks.
bool KernelMayInclude(std::string_view include) { return include.starts_with("blocks/kernels/") || LayerOf(include) == 0; }

/// The text between quotes of `#include "..."`; else empty.
std::string_view QuotedInclude(std::string_view line) {
  if (!line.starts_with("#include")) return {};
  size_t open = line.find('"'), close = line.rfind('"');
  return open == std::string_view::npos || close == open ? std::string_view() : line.substr(open + 1, close - open - 1);
}

}  // namespace

TEST_CASE("includes point one way", "[layers]") {
  for (const char* folder : {"runtime", "blocks", "tools"}) {
    for (const Source& source : Sources(folder, {".h", ".cc", ".c"})) {
      int from = LayerOf(source.path);
      INFO(source.path);
      CHECK(from != kOther);
      for (size_t i = 0; i < source.lines.size(); ++i) {
        std::string_view include = QuotedInclude(source.lines[i]);
        if (include.empty()) continue;
        int to = LayerOf(include);
        INFO("line " << i + 1 << ": " << source.lines[i]);
        CHECK(to != kOther);  // includes name the file from the root of the tree, or from runtime/include
        CHECK(MayInclude(from, to));
        if (from == kTools) CHECK(ToolMayInclude(source.path, include));
        if (source.path.starts_with("blocks/kernels/")) CHECK(KernelMayInclude(include));
      }
    }
  }
}

TEST_CASE("the layers rule tells right from wrong", "[layers]") {
  auto may = [](const char* from, const char* to) { return MayInclude(LayerOf(from), LayerOf(to)); };
  CHECK(may("runtime/block/def.cc", "weft/base/status.h"));
  CHECK(may("runtime/include/weft/plan/plan.h", "weft/page/page.h"));
  CHECK(!may("runtime/base/status.cc", "weft/block/def.h"));
  CHECK(!may("runtime/page/reader.cc", "weft/plan/plan.h"));
  CHECK(!may("runtime/page/reader.cc", "blocks/gradients.h"));
  CHECK(may("runtime/exec/executor.cc", "weft/state/scope.h"));
  CHECK(!may("runtime/state/scope.cc", "weft/exec/session.h"));
  CHECK(may("runtime/cases/case_runner.cc", "weft/host/runner.h"));
  CHECK(!may("runtime/exec/session.cc", "weft/host/runner.h"));
  CHECK(may("blocks/nn/relu.cc", "blocks/elementwise.h"));
  CHECK(may("blocks/nn/relu.cc", "weft/block/block.h"));
  CHECK(!may("blocks/nn/relu.cc", "weft/page/page.h"));
  CHECK(!may("blocks/nn/relu.cc", "runtime/page/page.cc"));
  CHECK(may("tools/cli/main.cc", "weft/exec/session.h"));
  CHECK(!may("tools/cli/main.cc", "tests/kit/block_tester.h"));
  CHECK(KernelMayInclude("weft/base/workers.h"));
  CHECK(!KernelMayInclude("weft/block/services.h"));
  CHECK(!KernelMayInclude("blocks/elementwise.h"));
  CHECK(ToolMayInclude("tools/cli/run.cc", "weft/host/page_run.h"));
  CHECK(ToolMayInclude("tools/cli/bench_cases.cc", "blocks/kernels/simd/vec.h"));
  CHECK(!ToolMayInclude("tools/cli/run.cc", "blocks/kernels/simd/vec.h"));
  CHECK(!ToolMayInclude("tools/cli/test.cc", "runtime/cases/case_reader.h"));
  CHECK(!ToolMayInclude("tools/cli/bench.cc", "runtime/capi/objects.h"));
  CHECK(ToolMayInclude("tools/serve/engine.h", "weft.h"));
  CHECK(!ToolMayInclude("tools/serve/document.cc", "weft/host/document.h"));
  CHECK(QuotedInclude("#include \"a/b.h\"  // why") == "a/b.h");
  CHECK(QuotedInclude("#include <vector>").empty());
}

TEST_CASE("no source file is over 500 lines", "[layers]") {
  for (const char* folder : {"runtime", "blocks", "tools", "tests"}) {
    for (const Source& source : Sources(folder, {".h", ".cc", ".c", ".py", ".js", ".mjs", ".ts", ".tsx", ".css", ".sh"})) {
      INFO(source.path);
      if (source.path != "blocks/catalog.cc") CHECK(source.lines.size() <= 500);  // (a list with a line for each block)
    }
  }
}

TEST_CASE("every test file is run", "[layers]") {
  // The build takes every *_test.cc below tests, and the case runner every *.cases.json below tests/blocks.
  for (const char* folder : {"runtime", "blocks", "tools", "graphs", "tests"}) {
    for (const Source& source : Sources(folder, {"_test.cc", "_test.cpp", "_test.cxx", "_tests.cc"})) {
      INFO(source.path);
      CHECK(source.path.starts_with("tests/"));
      CHECK(source.path.ends_with("_test.cc"));
      bool has_tests = std::ranges::any_of(source.lines, [](std::string_view line) { return line.starts_with("TEST_CASE") || line.starts_with("TEMPLATE_TEST_CASE"); });
      CHECK(has_tests);
    }
    for (const Source& source : Sources(folder, {"cases.json"})) {
      INFO(source.path);
      // Those of a host's blocks are run with its library.
      CHECK((source.path.starts_with("tests/blocks/") || source.path.starts_with("tests/capi/hosts/cases/")));
      CHECK(source.path.ends_with(".cases.json"));
    }
  }
}
