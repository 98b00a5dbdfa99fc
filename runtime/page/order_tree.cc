#include "runtime/page/order_tree.h"

#include "weft/base/keyed_hash.h"

namespace weft::page {
namespace {

/// Keyed, so that no list of edits can make the tree deep.
uint32_t PriorityOf(int handle) { return static_cast<uint32_t>(KeyedHash({reinterpret_cast<const char*>(&handle), sizeof handle})); }

}  // namespace

OrderTree::OrderTree(int count) : nodes_(static_cast<size_t>(count)) {
  int last = -1;
  for (int handle = 0; handle < count; ++handle) {
    node(handle).priority = PriorityOf(handle);
    int below = -1, above = last;
    while (above >= 0 && node(above).priority < node(handle).priority) {
      Resize(above);
      below = above;
      above = node(above).parent;
    }
    node(handle).left = below;
    if (below >= 0) node(below).parent = handle;
    node(handle).parent = above;
    (above < 0 ? root_ : node(above).right) = handle;
    last = handle;
  }
  for (int at = last; at >= 0; at = node(at).parent) Resize(at);
}

int OrderTree::At(int place) const {
  int at = root_;
  for (int before = SizeOf(node(at).left); place != before; before = SizeOf(node(at).left)) {
    at = place < before ? node(at).left : node(at).right;
    if (place > before) place -= before + 1;
  }
  return at;
}

int OrderTree::PlaceOf(int handle) const {
  int place = SizeOf(node(handle).left);
  for (int at = handle, above = node(at).parent; above >= 0; at = above, above = node(at).parent) {
    if (node(above).right == at) place += SizeOf(node(above).left) + 1;
  }
  return place;
}

int OrderTree::Insert(int place) {
  const int handle = static_cast<int>(nodes_.size());
  nodes_.push_back({.priority = PriorityOf(handle)});
  int above = -1;
  int* link = &root_;
  while (*link >= 0) {
    above = *link;
    Node& at = node(above);
    ++at.size;
    const int before = SizeOf(at.left);
    link = place <= before ? &at.left : &at.right;
    if (place > before) place -= before + 1;
  }
  *link = handle;
  node(handle).parent = above;
  while (node(handle).parent >= 0 && node(handle).priority > node(node(handle).parent).priority) Raise(handle);
  return handle;
}

void OrderTree::Erase(int handle) {
  Node& erased = node(handle);
  while (erased.left >= 0 || erased.right >= 0) {
    const bool left = erased.right < 0 || (erased.left >= 0 && node(erased.left).priority > node(erased.right).priority);
    Raise(left ? erased.left : erased.right);
  }
  LinkTo(handle) = -1;
  for (int at = erased.parent; at >= 0; at = node(at).parent) --node(at).size;
  erased.size = 0;
}

std::vector<int> OrderTree::InOrder() const {
  std::vector<int> order, path;
  order.reserve(static_cast<size_t>(size()));
  for (int at = root_; at >= 0 || !path.empty(); at = node(order.back()).right) {
    for (; at >= 0; at = node(at).left) path.push_back(at);
    order.push_back(path.back());
    path.pop_back();
  }
  return order;
}

int& OrderTree::LinkTo(int handle) {
  const int above = node(handle).parent;
  if (above < 0) return root_;
  return node(above).left == handle ? node(above).left : node(above).right;
}

/// Above its parent.
void OrderTree::Raise(int handle) {
  Node& raised = node(handle);
  const int lowered = raised.parent;
  LinkTo(lowered) = handle;
  int& from = node(lowered).left == handle ? node(lowered).left : node(lowered).right;
  int& between = &from == &node(lowered).left ? raised.right : raised.left;
  from = between;
  if (between >= 0) node(between).parent = lowered;
  between = lowered;
  raised.parent = node(lowered).parent;
  node(lowered).parent = handle;
  Resize(lowered);
  Resize(handle);
}

}  // namespace weft::page
