// Phase 1 of a plan: which nodes it runs, and in which order.
#pragma once

#include <set>
#include <vector>

#include "runtime/plan/fed_values.h"

namespace weft {

struct NodesToRun {
  struct Loop {
    int frame = 0;    // index into Graph::frames()
    int parent = -1;  // index into `loops`
    size_t first = 0, end = 0;        // its nodes in `order`, without the Enter blocks
    std::vector<int> entering, next;  // its Enter and NextIteration nodes
    int condition = -1;               // its LoopCond node
    std::set<int> updated;            // variables, indices into Graph::variables()
  };
  std::vector<int> order;      // producers first; updates of variables, and what depends on them, after all reads of the old values
  std::vector<Loop> loops;     // those outside come before those that they contain
  std::vector<int> faulty;     // blocks with faults, that cannot run; what they read is among `order`
  size_t outputs = 0, inputs = 0;  // values of the nodes to run
  size_t updates = 0;              // update ports of theirs
  bool has_dead_values = false;    // there is a Switch, or a loop
};

/// The nodes that the request's fetches and operations depend on, up to fed values and variables. A loop's nodes are one after another.
NodesToRun ChooseNodes(const Graph& graph, const PlanRequest& request, const FedValues& fed);

}  // namespace weft
