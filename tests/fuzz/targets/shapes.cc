// Each block with shapes, values and attributes of a grid (kit/shape_grid.h).
#include "tests/fuzz/run_page.h"
#include "tests/fuzz/targets.h"
#include "tests/kit/shape_grid.h"

namespace weft::fuzz {

namespace {

Page PageOf(std::string_view seed) {
  const Registry& registry = SharedRuntime().registry();
  const uint32_t number = SeedOf(seed), blocks = static_cast<uint32_t>(registry.blocks().size());
  return GridPage(*registry.blocks()[number % blocks], number / blocks);
}

/// The page without its values, which may be long.
std::string Outline(const Page& page) {
  std::string text;
  for (const PageBlock& block : page.blocks) {
    text += Cat(block.id, ": ", block.type, " '", block.attrs, "'\n");
    for (const PageInput& input : block.inputs) {
      for (const InputItem& item : input.items) {
        const Literal* literal = LiteralOf(item);
        text += Cat("  ", input.port, ": ", literal == nullptr ? ToString(*WireOf(item)) : ToString(literal->tensor).substr(0, 200), "\n");
      }
    }
  }
  return text;
}

}  // namespace

void Shapes(std::string_view seed) { RunPage(PageOf(seed), {}, SeedOf(seed) % 2 == 0); }
std::string TellShapes(std::string_view seed) { return Outline(PageOf(seed)); }

}  // namespace weft::fuzz
