// Adjacency: which vertices the edges of a graph lead to, from each, in one array.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

class Adjacency {
 public:
  /// `for_each_edge` is called twice, and calls its argument as edge(from, to), from 0 up and below `vertices`: the same edges each time.
  template <class ForEachEdge>
  Adjacency(size_t vertices, const ForEachEdge& for_each_edge) : first_(vertices + 1, 0) {
    for_each_edge([&](int from, int) { ++first_[static_cast<size_t>(from) + 1]; });
    for (size_t v = 0; v < vertices; ++v) first_[v + 1] += first_[v];
    to_.resize(first_.back());
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    for_each_edge([&](int from, int to) { to_[next[static_cast<size_t>(from)]++] = to; });
  }

  /// In the order of the edges.
  std::span<const int> Of(int vertex) const {
    const auto v = static_cast<size_t>(vertex);
    return std::span(to_).subspan(first_[v], first_[v + 1] - first_[v]);
  }

 private:
  std::vector<uint32_t> first_;  // by vertex, and one more: into to_
  std::vector<int> to_;
};

}  // namespace weft
