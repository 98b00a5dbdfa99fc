// Graph: a page with every name resolved and every type known. Nodes and values are integers; faults of the page are in the diagnostics.
// Made once for each revision of a page, then never changed: any number of threads may read it. Sessions plan parts of it.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "weft/base/diagnostic.h"
#include "weft/block/registry.h"
#include "weft/page/id_index.h"
#include "weft/page/page.h"
#include "weft/plan/short_list.h"
#include "weft/plan/wires.h"

namespace weft {

/// One output value of a node; `output` counts values, list ports expanded.
struct ValueRef {
  int node = -1;
  int output = 0;
  bool valid() const { return node >= 0; }
  friend bool operator==(const ValueRef&, const ValueRef&) = default;
};

/// First value of each port, and the number of values at the end. Blocks without list ports share tables. As large as a pointer, since
/// every node has two.
class PortTable {
 public:
  PortTable() = default;
  PortTable(const PortTable& other) : rows_(other.rows_) {
    if (rows_ != nullptr && rows_->own) rows_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  PortTable(PortTable&& other) noexcept : rows_(std::exchange(other.rows_, nullptr)) {}
  PortTable& operator=(PortTable other) noexcept {
    std::swap(rows_, other.rows_);
    return *this;
  }
  ~PortTable() {
    if (rows_ != nullptr && rows_->own && rows_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete rows_;
  }
  /// `ports` ports of one value each.
  static PortTable Single(size_t ports);
  static PortTable Of(std::vector<uint32_t> first);

  uint32_t operator[](size_t port) const { return rows_->first[port]; }
  std::span<const uint32_t> table() const { return rows_ == nullptr ? std::span<const uint32_t>() : std::span(rows_->first, rows_->size); }
  uint32_t values() const { return rows_ == nullptr || rows_->size == 0 ? 0 : rows_->first[rows_->size - 1]; }
  /// The port that a value belongs to.
  int PortOf(uint32_t value) const;

 private:
  struct Rows {
    const uint32_t* first = nullptr;
    size_t size = 0;
    bool own = false;  // else one of those that are always there
    mutable std::atomic<uint32_t> owners{1};
    std::vector<uint32_t> values;
  };
  static const Rows* SharedRows(size_t ports);
  const Rows* rows_ = nullptr;
};

/// What lies between the Enter and Exit blocks of one frame_name: the blocks that a loop runs in each iteration. Frame 0 is the page.
struct Frame {
  std::string name;
  int parent = -1;
  int enter = -1;  // the first of the page's blocks that enter it from there
};

/// A tensor that few of its many owners have: for the others it takes the place of a pointer.
class RareTensor {
 public:
  RareTensor& operator=(Tensor tensor) {
    value_ = tensor.defined() ? Copied<Tensor>(std::move(tensor)) : Copied<Tensor>();
    return *this;
  }
  const Tensor& get() const { return defined() ? *value_.get() : kNone; }
  operator const Tensor&() const { return get(); }

  bool defined() const { return value_.get() != nullptr; }
  DType dtype() const { return get().dtype(); }
  const Shape& shape() const { return get().shape(); }
  int64_t count() const { return get().count(); }
  const void* data() const { return get().data(); }
  const std::shared_ptr<const void>& owner() const { return get().owner(); }

 private:
  static const Tensor kNone;
  Copied<Tensor> value_;
};

/// Nodes 0 ... blocks-1 are the page's blocks in page order; literals and gradient blocks follow. Every pass over a page goes through all
/// of them, so they are small, and begin with what most passes look at.
struct Node {
  const BlockDef* def = nullptr;  // null: a literal on the page, or a block of an unknown type (then `broken`)
  ShortList<ValueRef, 3> inputs;  // values in port order; of structural blocks: what they stand for
  ShortList<DType, 8> output_types;
  bool added = false;         // a literal or a gradient block: not a block of the page
  bool broken = false;        // has errors: cannot run
  int variable = -1;          // of Variable, VarHandleOp and TemporaryVariable nodes: index into Graph::variables; nodes may share one
  PortTable in_first, out_first;
  RareTensor constant;        // literals and constant blocks
  AttrList attrs;
  int frame = 0;              // of its outputs: index into Graph::frames(). Literals, constants and variables hold in every frame
  int order = -1;             // place in an order in which producers precede consumers
  int page_block = -1;        // index into the page's blocks, or of the block that brought the node
  int target = -1;            // of Operation and Output nodes: the node they stand for
  ValueRef initial;           // of Variable nodes with a wired initial value
  std::string id;             // the block's; for added nodes made up from the block that brought them ("g/Multiply_3")
};

/// Whether the node's output says whether its loop continues.
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

/// A value that an AddSymbolicGradients block offers.
struct OfferedGradient {
  ValueRef value;
  int block = -1, index = 0;  // the block, and which of its outputs
};

class GraphMemo;

class Graph {
 public:
  /// Resolves and checks a page. `diagnostics` gets every fault, placed; the graph holds what could be made of the page. The registry
  /// must outlive the graph; `name` is what diagnostics call the page. `previous` may be the graph of the page before an edit: it saves
  /// time and changes nothing in the result. It is needed during the call only. Graphs of one page's revisions are built one at a time.
  static std::unique_ptr<Graph> Build(std::shared_ptr<const Page> page, const Registry& registry, std::string_view name,
                                      Diagnostics& diagnostics, const Graph* previous = nullptr);

  const Page& page() const { return *page_; }
  const std::string& name() const { return name_; }
  const Registry& registry() const { return registry_; }
  const std::vector<Node>& nodes() const { return parts_.nodes; }
  const Node& node(int i) const { return parts_.nodes[i]; }
  /// The page's wires, by its blocks.
  const Wires& wires() const { return parts_.wires; }
  /// For the plan layer: results kept for blocks like those seen before, shared by the revisions of the page.
  GraphMemo& memo() const { return *memo_; }
  /// About how much memory the page and the graph take, without the elements of tensors.
  int64_t bytes() const;
  /// All nodes by Node::order.
  const std::vector<int>& in_order() const { return parts_.in_order; }
  /// By variable: its node; of several that share it the one whose initial value counts.
  const std::vector<int>& variables() const { return parts_.variables; }
  /// What the page declares of each.
  const VariableInfo& variable_info(int variable) const { return parts_.variable_infos[variable]; }
  /// What the page's gradients are, by value (node, then output); of one value that several offer, in page order.
  const std::vector<OfferedGradient>& gradients() const { return parts_.gradients; }
  /// The first of those that are this value, and their end.
  std::span<const OfferedGradient> GradientsOf(ValueRef value) const;
  /// Frame 0 is the page; the others are those of loops.
  const std::vector<Frame>& frames() const { return parts_.frames; }
  /// The frame whose steps the node runs among: of Enter the one it enters, of Exit the one it leaves.
  int HomeFrame(int node) const;
  /// The page's ClientSession blocks, in page order.
  const std::vector<SessionSpec>& sessions() const { return parts_.sessions; }
  /// Of the errors that were found when it was built, those of inputs that have neither a wire nor a value; also of those not kept.
  size_t open_inputs() const { return parts_.open_inputs; }
  /// Fetches of every output that nobody reads, for pages without a session. Broken blocks are among those to run, so that a plan finds
  /// the faults of what they read.
  SessionSpec DefaultSession() const;

  /// "ID.port", "ID.port[2]": the value. not_found with a suggestion.
  Result<ValueRef> FindValue(std::string_view wire) const;
  /// The node of a block (`ID`, `ID.operation`, or any of its ports). not_found with a suggestion.
  Result<int> FindNode(std::string_view id) const;
  /// The page's block of this id, or -1.
  int IndexOf(std::string_view id) const { return parts_.by_id.Find(page_->blocks, id); }
  /// "ID.port" or "ID.port[2]" of a value.
  std::string ValueName(ValueRef value) const;
  DType TypeOf(ValueRef value) const { return parts_.nodes[value.node].output_types[value.output]; }
  /// The Variable node that a reference value stands for, or -1 where only a run can tell (RefSelect).
  int VariableOf(ValueRef value) const;
  /// All Variable nodes that a reference value may stand for.
  std::vector<int> VariablesOf(ValueRef value) const;
  /// Where a reference value comes from: a Variable, or a RefSelect that chooses one. Invalid for other values.
  ValueRef ReferenceRoot(ValueRef value) const;
  /// Of an input value that is a reference; null for others.
  const VariableInfo* InfoOf(const Node& reader, uint32_t input) const;

 private:
  friend struct Draft;  // fills in the parts
  Graph(std::shared_ptr<const Page> page, const Registry& registry, std::string_view name, std::shared_ptr<GraphMemo> memo)
      : page_(std::move(page)), registry_(registry), name_(name), memo_(std::move(memo)) {}

  struct Parts {
    Wires wires;
    std::vector<Node> nodes;
    std::vector<int> in_order;
    IdIndex by_id;
    std::vector<int> variables;
    std::vector<VariableInfo> variable_infos;
    std::vector<Frame> frames = std::vector<Frame>(1);
    std::vector<SessionSpec> sessions;
    std::vector<OfferedGradient> gradients;
    /// What Graph::ReferenceRoot says of the outputs of blocks whose own input is not a root: chains of updates may be long.
    std::unordered_map<uint64_t, ValueRef> reference_roots;
    int64_t page_bytes = 0;
    size_t open_inputs = 0;

    static constexpr int64_t kReferenceBytes = sizeof(uint64_t) + sizeof(ValueRef) + 3 * sizeof(void*);  // of each of those, about
    static uint64_t KeyOf(ValueRef value) { return static_cast<uint64_t>(value.node) << 32 | static_cast<uint32_t>(value.output); }
  };

  std::shared_ptr<const Page> page_;
  const Registry& registry_;
  std::string name_;
  std::shared_ptr<GraphMemo> memo_;
  Parts parts_;
};

}  // namespace weft
