// Draft: a graph in the making, as the passes of passes.h see it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/plan/in_part.h"
#include "runtime/plan/reuse.h"
#include "weft/plan/graph.h"

namespace weft {

/// Where the page has loops; all lists are empty where it has none.
struct LoopMarks {
  std::vector<int> home;           // by block: Graph::HomeFrame
  std::vector<char> is_back_edge;  // by item of Wires: whether it brings a Merge what the last iteration left
};

/// What the passes share. Each pass says in passes.h which of it must be there and which it fills in; what only one pass needs is its own.
/// A fault marks its block `broken` and is reported at its place; no pass stops at one.
struct Draft {
  /// `previous`: see Graph::Build. All must outlive the draft.
  Draft(Graph& graph, const Graph* previous, Diagnostics& diagnostics);

  const Graph& graph;        // answers for what is made so far
  Graph::Parts& parts;       // what it consists of
  std::vector<Node>& nodes;  // ... of those. Adding one may move them all
  const Page& page;
  Diagnostics& diagnostics;
  Reuse reuse;
  LoopMarks loops;
  std::map<std::string, int> shared_variables;  // container and shared name -> index into Graph::variables()
  std::vector<int> unknown_blocks;              // of types that the registry does not know
  TypesInPart types_in_part;                    // of broken blocks
  bool repeated_ids = false;                    // several blocks have one id
  int next_order = 0;                           // Node::order of the next node
  size_t list_values = 0;                       // that wires bring to list ports, and that blocks give at theirs
  std::vector<int> on_gradient_path;            // by node: scratch of AddGradients, -1 between its calls
  size_t names_compared = 0;                    // in search of suggestions

  static constexpr size_t kMostValues = size_t{1} << 20;      // of one port
  static constexpr size_t kMostListValues = size_t{1} << 22;  // of all list ports of a page

  const Registry& registry() const { return graph.registry(); }
  int blocks() const { return static_cast<int>(page.blocks.size()); }
  /// The block that an item's wire comes from; -1 for a literal, or where there is no such block.
  int ProducerOf(int block, const PageInput& input, size_t item) const {
    const size_t index = parts.wires.first_input[block] + static_cast<size_t>(&input - page.blocks[block].inputs.data());
    return parts.wires.producers[parts.wires.first_item[index] + item];
  }
  bool IsBackEdge(uint32_t item) const { return !loops.is_back_edge.empty() && loops.is_back_edge[item] != 0; }
  /// The input of the block that an item of Wires belongs to.
  const PageInput& InputOfItem(int block, uint32_t item) const;

  /// Adds the place of a block, its port and the item of a list to a status.
  Status At(Status status, int block, std::string_view port = {}, int item = -1) const;
  /// Reports the fault; the block is broken.
  void Error(Status status, int block, std::string_view port = {}, int item = -1);
  /// The same for an item of Wires.
  void ErrorAtItem(Status status, int block, uint32_t item);
  /// Leaves Graph::Parts::reference_roots of a block that has been connected, as what it reads has.
  void NoteReferences(int block);
  /// Counts what the node gives at list ports; resource_exhausted where the page has too many such values.
  Status CountListOutputs(const Node& node);
  /// Whether lists of the page's are still within what is taken, and one of them that has so many values.
  Status CheckListValues(size_t of_port) const;
  /// Whether to look for a suggestion among so many names: a page of nothing but misspelt names gets a bounded number of them.
  bool MayCompare(size_t names);
  /// not_found for a block of this id, with a suggestion.
  Status NoBlock(std::string_view id);

  /// A node that holds a value of the page's, or of a gradient. Its number is returned.
  int AddConstant(std::string id, int page_block, Tensor value);
};

}  // namespace weft
