// Random pages over all blocks, and the sample pages with slips in their text.
#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/fuzz/mutator.h"
#include "tests/fuzz/run_page.h"
#include "tests/fuzz/targets.h"
#include "tests/kit/random_page.h"
#include "weft/page/reader.h"
#include "weft/page/writer.h"

namespace weft::fuzz {
namespace {

const std::vector<std::string>& SamplePages() {
  static const std::vector<std::string> kPages = [] {
    std::vector<std::string> pages;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(WEFT_SOURCE_DIR) + "/graphs")) {
      if (!entry.path().string().ends_with(".page.json")) continue;
      std::ostringstream bytes;
      bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      pages.push_back(std::move(bytes).str());
    }
    std::ranges::sort(pages);
    return pages;
  }();
  return kPages;
}

}  // namespace

void Pages(std::string_view seed) {
  const uint32_t number = SeedOf(seed);
  std::string text;
  if (number % 4 != 0) {
    text = WritePage(RandomPage(SharedRuntime().registry(), number).Make());
  } else {
    std::mt19937 random(number);
    const auto& pages = SamplePages();
    static const Dictionary kNone;
    text = Mutator(pages, kNone).Changed(pages[random() % pages.size()], random);
  }
  try {
    ReadPageResult read = ReadPage(text, {.name = "p.json", .read_file = {}});
    RunPage(std::move(read.page), std::move(read.diagnostics), number % 2 == 0);
  } catch (const Finding& finding) {
    throw Finding(Cat(finding.what(), "\n", text));
  }
}

}  // namespace weft::fuzz
