// The case files of the blocks, each case with one to three slips: a block refuses it or computes something.
#include <limits>
#include <map>
#include <optional>

#include "tests/fuzz/run_block.h"
#include "tests/fuzz/run_page.h"
#include "tests/fuzz/targets.h"
#include "tests/kit/block_tester.h"
#include "tests/kit/case_mutation.h"
#include "tests/kit/case_page.h"
#include "weft/cases/case_reader.h"
#include "weft/cases/case_runner.h"

namespace weft::fuzz {
namespace {

using CaseLists = std::vector<std::vector<cases::TestCase>>;

/// The cases of each block that the catalog has.
const CaseLists& CasesByBlock() {
  static const CaseLists kCases = [] {
    std::map<std::string, std::vector<cases::TestCase>> blocks;
    const auto files = cases::FindCaseFiles(std::string(WEFT_SOURCE_DIR) + "/tests/blocks");
    Require(files.ok(), ToString(files.status()));
    for (const auto& path : *files) {
      for (cases::TestCase& test : cases::ReadCaseFile(path).cases) {
        if (!test.is_page() && test.fault.empty() && kit::Catalog().Find(test.block) != nullptr) blocks[test.block].push_back(std::move(test));
      }
    }
    CaseLists lists;
    for (auto& [block, tests] : blocks) lists.push_back(std::move(tests));
    return lists;
  }();
  return kCases;
}

std::string Describe(const cases::TestCase& test) {
  std::string text = Cat(test.block, " (", cases::CaseTitle(test), ") '", test.attrs, "'");
  for (const auto& [port, input] : test.inputs) {
    for (const Tensor& value : input.values) text += Cat("\n  ", port, ": ", ToString(value).substr(0, 400));
  }
  return text;
}

/// Strings that nothing else has: what counts their bytes does until the last copy ends.
void CopyStrings(cases::TestCase& test) {
  for (auto& [port, input] : test.inputs) {
    for (Tensor& value : input.values) {
      if (value.dtype() != DType::kString) continue;
      Tensor copy = Tensor::Allocate(DType::kString, value.shape()).value();
      const auto from = value.values<String>();
      const auto to = copy.values<String>();
      for (size_t i = 0; i < to.size(); ++i) to[i] = String(std::string(from[i]));
      value = std::move(copy);
    }
  }
}

struct SeededCase {
  cases::TestCase test;
  bool alone;
};

SeededCase CaseOf(std::string_view seed) {
  const CaseLists& blocks = CasesByBlock();
  const uint32_t number = SeedOf(seed);
  const auto& tests = blocks[number % blocks.size()];
  std::mt19937 random(number);
  cases::TestCase test = Mutated(tests[random() % tests.size()], random);
  cases::SetFolder(test, ScratchFolder().string());
  CopyStrings(test);
  return {std::move(test), random() % 4 != 0};
}

void RunSeeded(std::string_view seed) {
  std::optional<SeededCase> made = CaseOf(seed);
  if (const std::optional<Status> status = made->alone ? RunAlone(made->test) : std::nullopt) return CheckStatus(*status);
  Page page = kit::PageOfCase(made->test, SharedRuntime().registry(), std::numeric_limits<int64_t>::max()).page;
  made.reset();  // the strings that the run has counted are to end with it
  RunPage(std::move(page), {}, SeedOf(seed) % 2 == 0);
}

}  // namespace

void Cases(std::string_view seed) {
  RunSeeded(seed);
  CheckMemoryReturned();
}

std::string TellCase(std::string_view seed) {
  const SeededCase made = CaseOf(seed);
  return Cat(made.alone ? "alone: " : "in a session: ", Describe(made.test));
}

}  // namespace weft::fuzz
