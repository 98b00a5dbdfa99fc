// Wires of a page as integers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// What the inputs of a page's blocks lead to. Blocks in page order have inputs, as written; an input has items, each a wire or a literal.
struct Wires {
  std::vector<uint32_t> first_input;  // by block; the number of inputs at the end
  std::vector<uint32_t> first_item;   // by input; the number of items at the end
  std::vector<int> producers;         // by item: the block that a wire comes from; -1 for a literal, or where there is no such block

  struct Items {
    uint32_t begin, end;
  };
  Items ItemsOf(int block) const {
    const auto b = static_cast<size_t>(block);
    return {first_item[first_input[b]], first_item[first_input[b + 1]]};
  }
  std::span<const int> ProducersOf(int block) const {
    const Items items = ItemsOf(block);
    return std::span(producers).subspan(items.begin, items.end - items.begin);
  }
  /// Calls f(block, item, producer) for each wire.
  template <class F>
  void ForEach(F&& f) const {
    for (size_t block = 0; block + 1 < first_input.size(); ++block) {
      const Items items = ItemsOf(static_cast<int>(block));
      for (uint32_t item = items.begin; item < items.end; ++item) {
        if (producers[item] >= 0) f(static_cast<int>(block), item, producers[item]);
      }
    }
  }
};

}  // namespace weft
