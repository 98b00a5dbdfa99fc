// Graph: a page with every name resolved and every type known. Nodes and values are integers; what the page said wrong is in the
// diagnostics. Made once when a page is loaded; sessions plan parts of it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weft/base/diagnostic.h"
#include "weft/block/registry.h"
#include "weft/page/page.h"

namespace weft {

/// One output value of a node; `output` counts values, list ports expanded.
struct ValueRef {
  int node = -1;
  int output = 0;
  bool valid() const { return node >= 0; }
  friend bool operator==(const ValueRef&, const ValueRef&) = default;
};

/// First value of each port, and the number of values at the end. Blocks without list ports share one table.
class PortTable {
 public:
  PortTable() = default;
  /// `ports` ports of one value each.
  static PortTable Single(size_t ports);
  static PortTable Of(std::vector<uint32_t> first);

  uint32_t operator[](size_t port) const { return table_[port]; }
  std::span<const uint32_t> table() const { return table_; }
  uint32_t values() const { return table_.empty() ? 0 : table_.back(); }
  /// The port that a value belongs to.
  int PortOf(uint32_t value) const;

 private:
  std::span<const uint32_t> table_;
  std::shared_ptr<const std::vector<uint32_t>> own_;
};

/// What lies between the Enter and Exit blocks of one frame_name: the blocks that a loop runs in each iteration. Frame 0 is the page.
struct Frame {
  std::string name;
  int parent = -1;
  int enter = -1;  // the first of the page's blocks that enter it from there
};

/// Nodes 0 ... blocks-1 are the page's blocks in page order; literals and gradient blocks follow.
struct Node {
  const BlockDef* def = nullptr;  // null: a literal on the page, or a block of an unknown type (then `broken`)
  std::string id;                 // the block's; for added nodes made up from the block that brought them ("g/Multiply_3")
  int page_block = -1;            // index into the page's blocks, or of the block that brought the node
  bool added = false;             // a literal or a gradient block: not a block of the page
  bool broken = false;            // has errors: cannot run
  std::vector<AttrValue> attrs;
  std::vector<ValueRef> inputs;  // values in port order; of structural blocks: what they stand for
  PortTable in_first, out_first;
  std::vector<DType> output_types;
  Tensor constant;            // literals and constant blocks
  int order = -1;             // place in an order in which producers precede consumers
  int variable = -1;          // of Variable, VarHandleOp and TemporaryVariable nodes: index into Graph::variables; nodes may share one
  ValueRef initial;           // of Variable nodes with a wired initial value
  int target = -1;            // of Operation and Output nodes: the node they stand for
  int frame = 0;              // of its outputs: index into Graph::frames(). Literals, constants and variables hold in every frame
};

/// Whether the node's output says whether its loop goes on.
inline bool IsLoopCondition(const Node& node) { return node.def != nullptr && node.def->name == "LoopCond"; }

/// A ClientSession block, or a default that a host makes.
struct SessionSpec {
  std::string id;
  int node = -1;  // its ClientSession, or -1
  struct Fetch {
    std::string name;  // as the page or host wrote it
    ValueRef value;
  };
  std::vector<Fetch> fetches;
  std::vector<int> run;  // nodes run for their effect
  struct Feed {
    ValueRef value;  // what is replaced
    Tensor tensor;
  };
  std::vector<Feed> feeds;
  bool loop = false;  // INFINITE_LOOP
  /// Whether a host asked for each fetch by its name: then one that a Switch left out fails the run. Else it keeps its last value.
  bool by_name = true;
};

class Graph {
 public:
  /// Resolves and checks a page. `diagnostics` gets every fault, placed; the graph holds what could be made of the page. The registry
  /// must outlive the graph; `name` is what diagnostics call the page.
  static std::unique_ptr<Graph> Build(std::shared_ptr<const Page> page, const Registry& registry, std::string_view name,
                                      Diagnostics& diagnostics);

  const Page& page() const { return *page_; }
  const std::string& name() const { return name_; }
  const Registry& registry() const { return registry_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(int i) const { return nodes_[i]; }
  /// By variable: its node; of several that share it the one whose initial value counts.
  const std::vector<int>& variables() const { return variables_; }
  /// What the page declares of each.
  const VariableInfo& variable_info(int variable) const { return variable_infos_[variable]; }
  /// The page, and the loops' frames.
  const std::vector<Frame>& frames() const { return frames_; }
  /// The frame whose steps the node runs among: of Enter the one it enters, of Exit the one it leaves.
  int HomeFrame(int node) const;
  /// The page's ClientSession blocks, in page order.
  const std::vector<SessionSpec>& sessions() const { return sessions_; }
  /// Fetches of every output that nobody reads, for pages without a session. Broken blocks are among those to run, so that a plan finds
  /// the faults of what they read.
  SessionSpec DefaultSession() const;

  /// "ID.port", "ID.port[2]": the value. not_found with a suggestion.
  Result<ValueRef> FindValue(std::string_view wire) const;
  /// The node of a block (`ID`, `ID.operation`, or any of its ports). not_found with a suggestion.
  Result<int> FindNode(std::string_view id) const;
  /// The page's block of this id, or -1.
  int IndexOf(std::string_view id) const {
    auto it = by_id_.find(id);
    return it == by_id_.end() ? -1 : it->second;
  }
  /// "ID.port" or "ID.port[2]" of a value.
  std::string ValueName(ValueRef value) const;
  DType TypeOf(ValueRef value) const { return nodes_[value.node].output_types[value.output]; }
  /// The Variable node that a reference value stands for, or -1 where only a run can tell (RefSelect).
  int VariableOf(ValueRef value) const;
  /// All Variable nodes that a reference value may stand for.
  std::vector<int> VariablesOf(ValueRef value) const;
  /// Where a reference value comes from: a Variable, or a RefSelect that chooses one. Invalid for other values.
  ValueRef ReferenceRoot(ValueRef value) const;
  /// Of an input value that is a reference; null for others.
  const VariableInfo* InfoOf(const Node& reader, uint32_t input) const;
  /// Reference values only: the input of the node whose variable this output is.
  ValueRef ReferenceSource(ValueRef value) const;

 private:
  friend class GraphBuilder;
  Graph(std::shared_ptr<const Page> page, const Registry& registry, std::string_view name)
      : page_(std::move(page)), registry_(registry), name_(name) {}

  /// What a named port of a node stands for; a whole list where the port is one and no element is named, up to `most` of it.
  /// One value of a broken node.
  Status Resolve(const Wire& wire, int node, size_t most, std::vector<ValueRef>& values) const;

  /// The declaration that the page knows a node by, also where another block does its work (Identity that of a wired Input). Not for nodes
  /// without a def.
  const BlockDef& DeclaredBy(const Node& node) const;

  std::shared_ptr<const Page> page_;
  const Registry& registry_;
  std::string name_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string_view, int> by_id_;
  std::vector<int> variables_;
  std::vector<Frame> frames_ = std::vector<Frame>(1);
  std::vector<VariableInfo> variable_infos_;
  std::vector<SessionSpec> sessions_;
};

}  // namespace weft
