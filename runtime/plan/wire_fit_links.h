// Which blocks of a page wait for which, by their wires.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/plan/adjacency.h"
#include "weft/plan/graph.h"

namespace weft {

/// Blocks by their index on the page. Of loops without the wires that feed back.
class PageLinks {
 public:
  explicit PageLinks(const Graph& graph);

  std::span<const int> ProducersOf(int block) const {
    const auto b = static_cast<size_t>(block);
    return std::span(producers_).subspan(first_producer_[b], first_producer_[b + 1] - first_producer_[b]);
  }
  std::span<const int> ReadersOf(int block);
  /// By block: whether it is one of these, or one of these depends on it.
  std::vector<char> Ancestors(std::vector<int> blocks) const;
  /// By block: whether it is one of these, or depends on one.
  std::vector<char> Descendants(std::vector<int> blocks);

 private:
  std::vector<uint32_t> first_producer_;  // by block
  std::vector<int> producers_;
  std::optional<Adjacency> readers_;  // once needed
};

}  // namespace weft
