// Blocks of a page that none of its sessions reads: their shapes are checked all the same.
#pragma once

#include <vector>

#include "weft/block/services.h"
#include "weft/plan/partial_shapes.h"

namespace weft {

/// A request for all that the wanted blocks of the page make, and for what those with faults read. Sources (constants, variables) where
/// `sources` says so: they have no shapes that could be at fault.
PlanRequest RequestForBlocks(const Graph& graph, bool sources, FunctionRef<bool(int node)> wanted);

/// Finds faults of shapes of blocks that no session's plan has. Time in proportion to the plans, and to the blocks that none of them has.
class UnreadBlocks {
 public:
  explicit UnreadBlocks(const Graph& graph) : graph_(graph), read_(graph.nodes().size(), 0), reshaped_(graph.variables().size(), 0) {}

  /// Of a session of the page, its plan.
  void Note(const Plan& plan);
  /// To be called when all plans are noted; `shape_of` as in PlanRequest. These blocks are of no one run: nothing is told of a block whose
  /// inputs depend on a value that a session feeds with another shape, or on a variable that a block of the page gives another one.
  void Check(const std::function<std::optional<Shape>(int variable)>& shape_of, Diagnostics& diagnostics);

 private:
  void NoteUpdates(const Plan& plan);
  std::vector<char> ChangedByRuns(const Plan& plan, const PartialShapes& partial) const;
  std::vector<char> Told(const std::vector<char>& changed) const;

  const Graph& graph_;
  std::vector<char> read_;      // by node: a session's plan computes it
  std::vector<char> reshaped_;  // by variable: an update gives it another shape
};

}  // namespace weft
