// OrderTree: things in order, each found by its place, and its place by the thing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::page {

/// A treap: looking up, inserting and erasing takes the logarithm of the size. Each thing is a number that stays, its handle.
class OrderTree {
 public:
  /// 0 to count - 1, in that order.
  explicit OrderTree(int count);

  int size() const { return SizeOf(root_); }
  bool Has(int handle) const { return nodes_[static_cast<size_t>(handle)].size > 0; }
  int At(int place) const;
  int PlaceOf(int handle) const;
  /// At a place from 0 to size(): the next number.
  int Insert(int place);
  void Erase(int handle);
  std::vector<int> InOrder() const;

 private:
  struct Node {
    uint32_t priority = 0;  // no less than those of the nodes below
    int left = -1, right = -1, parent = -1;
    int size = 1;  // of the subtree; 0 once erased
  };

  Node& node(int handle) { return nodes_[static_cast<size_t>(handle)]; }
  const Node& node(int handle) const { return nodes_[static_cast<size_t>(handle)]; }
  int SizeOf(int handle) const { return handle < 0 ? 0 : node(handle).size; }
  void Resize(int handle) { node(handle).size = SizeOf(node(handle).left) + SizeOf(node(handle).right) + 1; }
  int& LinkTo(int handle);
  void Raise(int handle);

  std::vector<Node> nodes_;
  int root_ = -1;
};

}  // namespace weft::page
