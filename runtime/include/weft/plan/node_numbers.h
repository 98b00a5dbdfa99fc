// Numbers for some nodes of a graph.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace weft {

/// By node a number, 0 or more. Plans of many small sessions are as many on a large page: a table of all its nodes would be too much for each.
class NodeNumbers {
 public:
  NodeNumbers() = default;
  /// For a graph of so many nodes, about `some` of which get a number.
  NodeNumbers(size_t nodes, size_t some) {
    if (some >= nodes / kSparse) table_.assign(nodes, -1);
    else some_.reserve(some);
  }

  /// -1 where the node has none.
  int operator[](int node) const {
    if (static_cast<size_t>(node) < table_.size()) return table_[static_cast<size_t>(node)];
    if (some_.empty()) return -1;
    const auto found = some_.find(node);
    return found == some_.end() ? -1 : found->second;
  }
  void Set(int node, int number) {
    if (table_.empty()) some_[node] = number;
    else table_[static_cast<size_t>(node)] = number;
  }
  size_t bytes() const { return table_.size() * sizeof(int) + some_.size() * (sizeof(std::pair<int, int>) + 3 * sizeof(void*)); }

 private:
  static constexpr size_t kSparse = 16;
  std::vector<int> table_;  // by node; empty where few have a number
  std::unordered_map<int, int> some_;
};

}  // namespace weft
