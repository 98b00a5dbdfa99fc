// Each block with shapes, values and attributes of a grid (kit/shape_grid.h).
#include "tests/fuzz/run_page.h"
#include "tests/fuzz/targets.h"
#include "tests/kit/shape_grid.h"
#include "weft/page/writer.h"

namespace weft::fuzz {

void Shapes(std::string_view seed) {
  const Registry& registry = SharedRuntime().registry();
  const uint32_t number = SeedOf(seed), blocks = static_cast<uint32_t>(registry.blocks().size());
  const BlockDef& def = *registry.blocks()[number % blocks];
  Page page = GridPage(def, number / blocks);
  const Page kept = page;
  try {
    RunPage(std::move(page), {}, number % 2 == 0);
  } catch (const Finding& finding) {
    throw Finding(Cat(finding.what(), "\n", WritePage(kept).substr(0, 4000)));
  }
}

}  // namespace weft::fuzz
