// GradientPath: the nodes that the gradients of some values go through.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/plan/node_adder.h"

namespace weft {

/// From the xs to the ys. Nodes that are added to the graph later are none of it.
class GradientPath {
 public:
  explicit GradientPath(NodeAdder& adder) : graph_(adder.graph()), place_(adder.Scratch()) {}
  ~GradientPath() {
    for (int node : leading_) place_[static_cast<size_t>(node)] = -1;
  }
  GradientPath(const GradientPath&) = delete;
  GradientPath& operator=(const GradientPath&) = delete;

  /// Once. An error names the port of AddSymbolicGradients that is at fault.
  Status Find(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs);

  /// Nodes that lead to a y and may read an x, producers first: the work is theirs, not the page's.
  const std::vector<int>& leading() const { return leading_; }
  /// Whether the node is one of those.
  bool Leads(ValueRef value) const { return static_cast<size_t>(value.node) < place_.size() && place_[static_cast<size_t>(value.node)] >= 0; }
  /// Whether the node leads to a y and reads, over some nodes, an x.
  bool Has(int node) const { return Leads({node, 0}) && on_path_[PlaceOf({node, 0})] != 0; }
  /// Whether the gradient of the value is used.
  bool Wants(ValueRef value) const { return Leads(value) && (on_path_[PlaceOf(value)] || wanted_[IndexOf(value)]); }
  /// Of a value of a node that leads to a y, below values().
  size_t IndexOf(ValueRef value) const { return first_value_[PlaceOf(value)] + static_cast<size_t>(value.output); }
  size_t values() const { return values_; }
  /// Whether some of leading() belong to a loop; and others to an if of the page.
  bool has_loops() const { return loops_; }
  bool conditional() const { return conditional_; }
  /// Whether a term of the value's gradient may come from a way that an if of the page leaves out. Of a value outside of loops.
  bool MayHaveDeadTerm(ValueRef value) const { return conditional_ && (loops_ || dead_terms_[PlaceOf(value)] != 0); }
  /// Nodes of a frame, and of the loops in it, last first: each entry is a node, or all those of a loop.
  std::vector<std::vector<int>> LastFirst(int frame, const std::vector<int>& nodes) const;

 private:
  const Node& node(int i) const { return graph_.nodes()[i]; }
  size_t PlaceOf(ValueRef value) const { return static_cast<size_t>(place_[static_cast<size_t>(value.node)]); }
  Status CheckEnds(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs) const;
  void FindLeading(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs);
  void FindPath(const std::vector<ValueRef>& xs);
  void FindDeadTerms();
  Status CheckFirstOrder() const;

  const Graph& graph_;
  std::vector<int>& place_;  // by node: in leading_, or -1
  std::vector<int> leading_;
  std::vector<char> on_path_;          // by place
  std::vector<uint32_t> first_value_;  // by place
  std::vector<char> wanted_;           // by value: one of the xs
  std::vector<char> dead_terms_;       // by place, where an if and no loop is on the path
  size_t values_ = 0;
  bool loops_ = false, conditional_ = false;
};

inline bool IsDifferentiable(DType type) { return IsFloating(type) || IsComplex(type); }

}  // namespace weft
