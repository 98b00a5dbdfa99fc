// Which blocks of a page wait for which, by their wires.
#pragma once

#include <span>
#include <vector>

#include "weft/plan/graph.h"

namespace weft {

/// Blocks by their index on the page. Of loops without the wires that feed back.
class PageLinks {
 public:
  explicit PageLinks(const Graph& graph);

  std::span<const int> ProducersOf(int block) const { return Of(block, first_producer_, producers_); }
  std::span<const int> ReadersOf(int block);
  /// By block: whether it is this one, or this one depends on it.
  std::vector<char> Ancestors(int block) const;
  /// By block: whether it is this one, or depends on it.
  std::vector<char> Descendants(int block);

 private:
  static std::span<const int> Of(int block, const std::vector<uint32_t>& first, const std::vector<int>& links) {
    const auto b = static_cast<size_t>(block);
    return std::span(links).subspan(first[b], first[b + 1] - first[b]);
  }
  void FindReaders();

  std::vector<uint32_t> first_producer_;  // by block
  std::vector<int> producers_;
  std::vector<uint32_t> first_reader_;  // empty until needed
  std::vector<int> readers_;
};

}  // namespace weft
