// The passes that make a graph of a page, in their order; build.cc runs them. Each goes over all blocks and reports every fault that it
// finds; a block with one is `broken`, what reads it is left out, and the rest continues. Of blocks that are left out only faults are reported
// that do not follow from others.
#pragma once

#include <optional>
#include <vector>

#include "runtime/plan/draft.h"

namespace weft {

// 1. make_nodes.cc

/// Needs nothing. Leaves a node for each block, with its declaration and attributes, and the index of ids.
void MakeNodes(Draft& draft);

// 2. producers.cc

/// Needs the nodes. Leaves Wires: where each wire comes from.
void FindProducers(Draft& draft);

// 3. frames.cc

/// Needs the wires. Leaves the frame of each node (its parent, where it leaves one), and Draft::loops: which wires lead back to a Merge.
/// Does nothing for a page without loop blocks.
void FindFrames(Draft& draft);

// 4. block_order.cc

/// Needs the frames. The blocks, producers before consumers; those on a cycle, or that depend on one, come last and are broken.
std::vector<int> OrderBlocks(Draft& draft);

// 5. connect.cc

/// Needs the order of blocks. Leaves the inputs, types and values of all nodes and their place in Node::order. One pass, since what a block
/// reads has its type, and a gradient the nodes before it, only when all before it are connected; each kind of block has its file (steps.h).
void ConnectBlocks(Draft& draft, const std::vector<int>& order);

// 6. feedback.cc

/// Needs connected blocks. Compares the types of what leads back to a Merge with those that were assumed for it; where they differ, all
/// that was connected after it is broken.
void CheckFeedback(Draft& draft);

// 7. sessions.cc

/// Needs all blocks connected. Leaves Graph::sessions.
void ConnectSessions(Draft& draft);

// 8. make_nodes.cc

/// Needs the wires. Reports blocks of unknown types: errors where something would run them, else warnings.
void ReportUnknownBlocks(Draft& draft);

// 9. make_nodes.cc

/// Needs the nodes. Reports blocks that the host refuses, also those that nothing runs. They stay connected: that they cannot be planned is
/// their only fault.
void ReportRefusedBlocks(Draft& draft);

}  // namespace weft
