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

std::string TextOf(std::string_view seed) {
  const uint32_t number = SeedOf(seed);
  if (number % 4 != 0) return WritePage(RandomPage(SharedRuntime().registry(), number).Make());
  std::mt19937 random(number);
  const auto& pages = SamplePages();
  static const Dictionary kNone;
  return Mutator(pages, kNone).Changed(pages[random() % pages.size()], random);
}

}  // namespace

void Pages(std::string_view seed) {
  ReadPageResult read = ReadPage(TextOf(seed), {.name = "p.json", .read_file = {}});
  RunPage(std::move(read.page), std::move(read.diagnostics), SeedOf(seed) % 2 == 0);
}

std::string TellPage(std::string_view seed) { return TextOf(seed); }

}  // namespace weft::fuzz
