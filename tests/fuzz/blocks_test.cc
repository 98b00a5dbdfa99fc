// Every block of the catalog with malformed and extreme inputs: it refuses them or computes something, and nothing else happens.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <map>

#include "tests/kit/block_tester.h"
#include "tests/kit/case_mutation.h"
#include "tests/kit/sanitized.h"
#include "tests/runtime/page_test.h"
#include "weft/cases/case_reader.h"
#include "weft/cases/session_executor.h"

namespace weft {
namespace {

constexpr int64_t kMemoryLimit = int64_t{16} << 20;
constexpr double kSlow = kit::kSanitized ? 100 : 10;  // seconds

std::map<std::string, std::vector<cases::TestCase>> CasesByBlock() {
  std::map<std::string, std::vector<cases::TestCase>> blocks;
  auto files = cases::FindCaseFiles(std::string(WEFT_SOURCE_DIR) + "/tests/blocks");
  REQUIRE(files.ok());
  for (const auto& path : *files) {
    cases::CaseFile file = cases::ReadCaseFile(path);
    for (cases::TestCase& test : file.cases) {
      if (!test.is_page() && test.fault.empty()) blocks[test.block].push_back(std::move(test));
    }
  }
  return blocks;
}

std::string Describe(const cases::TestCase& test) {
  std::string text = Cat(test.block, " (", cases::CaseTitle(test), ") '", test.attrs, "'");
  for (const auto& [port, input] : test.inputs) {
    for (const Tensor& value : input.values) text += Cat("\n  ", port, ": ", ToString(value));
  }
  return text;
}

TEST_CASE("Every block takes or refuses malformed inputs", "[fuzz][mutation]") {
  // WEFT_MUTATIONS=10000 looks longer; WEFT_BLOCK=BiasAdd at one block.
  const char* asked = std::getenv("WEFT_MUTATIONS");
  const char* only = std::getenv("WEFT_BLOCK");
  const int mutations = asked == nullptr ? 60 : std::atoi(asked);
  TempFolder folder;
  Runtime runtime(MakeCatalog(), {.threads = 2, .memory_limit = kMemoryLimit});
  cases::SessionExecutor session(runtime);
  int good = 0, refused = 0;
  for (const auto& [block, tests] : CasesByBlock()) {
    if (only != nullptr && block != only) continue;
    if (!kit::Catalog().Find(block)) continue;
    std::mt19937 random(1);
    for (int i = 0; i < mutations; ++i) {
      cases::TestCase test = fuzz::Mutated(tests[random() % tests.size()], random);
      cases::SetFolder(test, folder.path().string());
      kit::BlockTester tester(kit::Catalog(), block);
      tester.Attrs(test.attrs).Folder(folder.path()).Once(kMemoryLimit);
      for (const auto& [port, input] : test.inputs) tester.Inputs(port, input.values);
      const auto before = std::chrono::steady_clock::now();
      const Status status = !tester.WhySkipped().empty() || i % 4 == 0 ? session.RunBlock(test, folder.path()).status : tester.Run().status;
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
      if (status.code() == Code::kInternal) FAIL_CHECK(ToString(status) << "\n" << Describe(test));
      if (!status.ok() && status.message().empty()) FAIL_CHECK("no message\n" << Describe(test));
      if (taken.count() > kSlow) FAIL_CHECK(taken.count() << " s\n" << Describe(test));
      ++(status.ok() ? good : refused);
    }
  }
  INFO(good << " ran, " << refused << " were refused");
  CHECK(runtime.budget()->used() == 0);
  if (only == nullptr) {
    CHECK(good > 100);
    CHECK(refused > 100);
  }
}

}  // namespace
}  // namespace weft
