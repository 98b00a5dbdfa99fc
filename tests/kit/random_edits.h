// Random edits of a page: most of them sensible, some refused, some that leave faults.
#pragma once

#include <random>

#include "weft/block/registry.h"
#include "weft/page/edit.h"

namespace weft::kit {

class RandomEdits {
 public:
  RandomEdits(const Registry& registry, uint32_t seed) : registry_(registry), random_(seed) {}

  /// One edit for the page as it is.
  Edit Next(const Page& page);

 private:
  uint32_t Below(size_t n) { return n == 0 ? 0 : random_() % static_cast<uint32_t>(n); }
  bool Chance(uint32_t percent) { return Below(100) < percent; }
  template <class Range>
  const auto& Any(const Range& range) { return range[Below(range.size())]; }

  const PageBlock& AnyBlock(const Page& page) { return Any(page.blocks); }
  std::string FreshId() { return "new" + std::to_string(++named_); }
  Wire AnyOutput(const Page& page);
  InputItem AnyItem(const Page& page);
  Wire AnyInput(const Page& page);
  weft::AddBlock Added(const Page& page);
  Edit Setting(const Page& page);

  const Registry& registry_;
  std::mt19937 random_;
  uint64_t named_ = 0;
};

}  // namespace weft::kit
