// Rewrite: one rewrite of a graph that adds the blocks of gradients. Its loops are in loop_gradients.h.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/plan/gradient_path.h"
#include "runtime/plan/gradient_record.h"
#include "runtime/plan/node_adder.h"

namespace weft {

class LoopGradient;

/// Reverse mode over the nodes that lead from the xs to the ys. At any time it works in one frame: the page's, or while loop() is not null,
/// that of a loop's gradient, to which forward values are brought as they are used.
class Rewrite {
 public:
  explicit Rewrite(NodeAdder& adder) : adder_(adder), path_(adder) {}
  Rewrite(const Rewrite&) = delete;
  Rewrite& operator=(const Rewrite&) = delete;

  Result<std::vector<ValueRef>> Run(const std::vector<ValueRef>& ys, const std::vector<ValueRef>& xs);

  const Graph& graph() const { return adder_.graph(); }
  const Node& node(int i) const { return adder_.graph().nodes()[i]; }
  int nodes() const { return static_cast<int>(adder_.graph().nodes().size()); }
  NodeAdder& adder() { return adder_; }
  /// `inputs` are in port order; `first` has the first one of each port, and their number.
  Result<ValueRef> Add(std::string_view block, const BlockDef& def, std::span<const ValueRef> inputs, std::span<const uint32_t> first,
                       Reuse::GivenAttrs attrs);
  /// A block that has one input port.
  Result<ValueRef> Add(std::string_view block, std::span<const ValueRef> inputs);
  ValueRef AddConstant(Tensor tensor) { return {adder_.AddConstant(std::move(tensor)), 0}; }
  const GradientPath& path() const { return path_; }
  /// One more term of the value's gradient; of what comes from outside of the loop at hand, of that loop's part in it.
  void Contribute(ValueRef value, ValueRef gradient);
  /// The sum of all that was contributed, which becomes the only term; invalid where there is none.
  Result<ValueRef> GradientOf(ValueRef value);
  /// In the frame at hand. Where an if may have left out what a term comes from (`may_be_dead`), a dead one counts as zero; where all are
  /// dead, the sum is.
  Result<ValueRef> Sum(const std::vector<ValueRef>& terms, bool may_be_dead);
  /// Whether blocks of the frame at hand, of whose loops gradients are taken, may be left out.
  bool conditional() const;
  /// Adds the gradient of a node that all readers have contributed to.
  Status Differentiate(int node);
  /// A block's own value, or what its gradient added from node `base` on, as one like it has them; false for any other value.
  bool Locate(ValueRef value, int base, GradientRecord::Value& found) const;
  const Registry& registry() const { return adder_.graph().registry(); }
  /// The id of the block that asks for the gradients.
  const std::string& source() const { return adder_.id(); }
  /// The variables that blocks of loops update.
  const std::set<int>& updated_in_loops();

  LoopGradient* loop() const { return loop_; }
  void set_loop(LoopGradient* loop) { loop_ = loop; }

  // Of the block that a builder adds; kept for their memory.
  std::vector<ValueRef> inputs;
  std::vector<uint32_t> first;
  std::vector<int> ports;  // by connected input

 private:
  /// A term of the sum that is the gradient of a value, and the one before it.
  struct Term {
    ValueRef gradient;
    int before;
  };

  Status DifferentiateAll();
  Status DifferentiateWithLoops();
  bool Describe(int node, ShortList<uint16_t, 12>& values);
  Status Ask(int node);
  Status Add(int node, const GradientRecord& known);

  NodeAdder& adder_;
  GradientPath path_;
  std::vector<int> last_term_;       // by value of the path: index into terms_, or -1
  std::vector<Term> terms_;
  std::vector<ValueRef> gradients_;  // of the outputs of the node at hand
  std::vector<uint8_t> asked_;       // by a node's first value: whether the node added its gradient
  std::vector<ValueRef> own_;        // its inputs and outputs, and those gradients
  LoopGradient* loop_ = nullptr;
  std::optional<std::set<int>> updated_in_loops_;
};

}  // namespace weft
