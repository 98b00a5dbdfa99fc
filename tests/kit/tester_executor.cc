#include "tests/kit/tester_executor.h"

namespace weft::kit {

BlockTester TesterExecutor::TesterOf(const cases::TestCase& test) const {
  BlockTester tester(registry_, test.block);
  tester.Attrs(test.attrs);
  for (const auto& [port, input] : test.inputs) tester.Inputs(port, input.values);
  if (test.shape_only) tester.Random();
  return tester;
}

std::string TesterExecutor::Skips(const cases::TestCase& test) { return test.is_page() ? "a page needs sessions" : TesterOf(test).WhySkipped(); }

cases::RunOutcome TesterExecutor::RunBlock(const cases::TestCase& test, const std::filesystem::path& folder) {
  BlockTester tester = TesterOf(test);
  if (!folder.empty()) tester.Folder(folder);
  BlockResult result = tester.Run();
  return {std::move(result.status), std::move(result.outputs), std::move(result.variables)};
}

cases::PageOutcome TesterExecutor::RunPage(const cases::TestCase&, const std::filesystem::path&) {
  return {Unsupported("pages need sessions"), {}};
}

}  // namespace weft::kit
