// LoopOnPath: a loop whose gradient is taken, as the page has it.
#pragma once

#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/plan/gradient_rewrite.h"

namespace weft {

/// A Merge that takes what enters and what the last iteration left; a value goes by its Switch to the next iteration, or out.
struct LoopVariable {
  int merge, enter, next;
  ValueRef leaves;  // where the Switch sends it at the end; invalid: there is no Switch
  std::vector<int> exits;
};

class LoopOnPath {
 public:
  /// `nodes`: those of the loop, and of loops in it, that lead to a y.
  LoopOnPath(const Rewrite& rewrite, int frame, std::vector<int> nodes) : rewrite_(rewrite), frame_(frame), nodes_(std::move(nodes)) {}

  /// Finds the variables on the path. Unsupported, with the block, for a loop of another form; failed_precondition for one with a fault,
  /// which is reported elsewhere.
  Status Read();

  int frame() const { return frame_; }
  /// The frame that the loop lies in.
  int parent() const { return graph().frames()[static_cast<size_t>(frame_)].parent; }
  const std::vector<int>& nodes() const { return nodes_; }
  /// Its LoopCond, or -1.
  int condition() const { return condition_; }
  /// Whether an iteration may leave blocks out.
  bool conditional() const { return conditional_; }
  std::vector<LoopVariable>& variables() { return variables_; }
  /// Whether the value is made in each iteration, not one from outside.
  bool Makes(ValueRef value) const;
  /// Whether the node lies in this loop, not in one within.
  bool Has(int node) const { return graph().HomeFrame(node) == frame_; }
  /// A Switch of the LoopCond.
  bool IsGate(int node) const;
  /// The blocks of an iteration, and those of loops within.
  std::vector<int> Body() const;
  /// Unsupported, with the block and why.
  Status Refuse(int node, std::string_view why) const;

 private:
  const Graph& graph() const { return rewrite_.graph(); }
  const Node& node(int i) const { return rewrite_.node(i); }
  bool IsConnected(int next, int merge) const;
  Status ReadVariable(int merge);
  Status ReadExit(int exit);

  const Rewrite& rewrite_;
  const int frame_;
  const std::vector<int> nodes_;
  int condition_ = -1;
  bool conditional_ = false;
  std::unordered_map<int, int> gates_;  // by what it takes: the first Switch of the LoopCond
  std::vector<LoopVariable> variables_;
  std::unordered_map<int, size_t> variable_of_;  // by Merge
};

}  // namespace weft
