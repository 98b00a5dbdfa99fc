// GraphBuilder: Page -> Graph, in passes that each go over all blocks and collect every fault.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/plan/graph_memo.h"
#include "weft/plan/graph.h"

namespace weft {

/// "did you mean 'x'?", or all that is known: "its inputs are 'x', 'y'".
std::string NamesHint(std::string_view name, const std::vector<std::string_view>& known, std::string_view what);

class GraphBuilder {
 public:
  /// `former`: see Graph::Build.
  GraphBuilder(Graph& graph, Diagnostics& diagnostics, const Graph* former)
      : graph_(graph), page_(*graph.page_), diagnostics_(diagnostics), memo_(*graph.memo_), former_(former) {}

  void Build();

  // Used by the gradient rewrite, too.
  Graph& graph() { return graph_; }
  /// Adds a node of a known block with its inputs connected; types are inferred. Fails where the block refuses them.
  /// `inputs` are in port order; `first` has the first one of each port, and their number.
  Result<int> AddNode(const BlockDef& def, std::string id, int page_block, std::span<const ValueRef> inputs, std::span<const uint32_t> first,
                      std::vector<std::pair<std::string_view, AttrValue>> attrs);
  int AddConstant(std::string id, int page_block, Tensor value);
  /// Adds a node that is like another one but for its id, its inputs and where it belongs.
  Result<int> AddLike(const Node& like, std::string id, int page_block, std::span<const ValueRef> inputs);
  int orders() const { return next_order_; }
  GraphMemo& memo() { return memo_; }
  /// All that type inference looks at of a value: its type, and what kind of reference it is.
  uint16_t Describe(ValueRef value) const;

 private:
  /// What a block says of its variable.
  struct Declared {
    std::optional<DType> dtype;
    PartialShape shape;
    Tensor initial;
    ValueRef wired;  // an initial value that a run computes
  };

  // graph_builder.cc
  void MakeNodes();
  void ReadAttrs(int block);
  bool TakePinAsAttr(int block, const PageInput& input);
  // graph_former.cc
  void FindFormer();
  bool KeepFormer(int block);
  bool TakeProducers(int block);
  bool Reconnect(int block);
  bool ReadsTheSame(int block) const;
  bool MapInputs(int block);
  void CompareWithFormer(int block);
  void NoteReported(size_t first);
  // graph_order.cc
  void FindProducers();
  /// The node that an item's wire comes from; -1 for a literal, or where there is no such block.
  int ProducerOf(int block, const PageInput& input, size_t item) const {
    size_t index = first_input_[block] + static_cast<size_t>(&input - page_.blocks[block].inputs.data());
    return producers_[first_item_[index] + item];
  }
  std::span<const int> ProducersOf(int block) const {
    uint32_t begin = first_item_[first_input_[block]], end = first_item_[first_input_[block + 1]];
    return std::span(producers_).subspan(begin, end - begin);
  }
  std::vector<int> Order();
  std::vector<int> Sort(std::vector<int>& waiting) const;
  void ReportCycles(const std::vector<int>& waiting);
  std::string_view PortOfItem(int block, uint32_t item) const;
  void ReportCycle(std::span<const int> blocks, std::string_view port);

  // graph_frames.cc
  void FindFrames();
  bool HoldsInEveryFrame(int block) const;
  void FindFrame(int block);
  void EnterFrame(int block, int parent);
  void ExitFrame(int block, int frame);
  std::string FrameName(int frame) const;
  void CheckFrames();
  void CheckLoopOrder();
  void TrustFeedback(const Node& merge);
  void CheckFeedback();
  /// Whether an item brings what a loop's last iteration left.
  bool FeedsBack(uint32_t item) const { return !feeds_back_.empty() && feeds_back_[item] != 0; }
  /// Calls f(block, item, producer) for each wire.
  template <class F>
  void ForEachItem(F&& f) const {
    for (size_t block = 0; block < page_.blocks.size(); ++block) {
      for (uint32_t item = first_item_[first_input_[block]]; item < first_item_[first_input_[block + 1]]; ++item) {
        if (producers_[item] >= 0) f(static_cast<int>(block), item, producers_[item]);
      }
    }
  }
  void ErrorAtItem(Status status, int block, uint32_t item);

  // graph_builder.cc again
  void Connect(int block);
  void Disconnect(int block);
  void ConnectInputs(int block);
  bool ConnectPort(int block, int port, const PageInput& input, std::vector<ValueRef>& values);
  bool ConnectItem(int block, int port, const PageInput& input, size_t item, std::vector<ValueRef>& values);
  Result<ValueRef> LiteralNode(int block, const PortSpec& spec, const std::string& suffix, const Literal& literal);
  Result<Tensor> LiteralTensor(const Literal& literal, std::optional<DType> dtype) const;
  std::optional<DType> TypeForText(const Node& node, const PortSpec& spec, const Literal& literal) const;
  void ReportUnknownBlocks();

  Status CheckRoom() const;
  AttrList AttrsWith(const BlockDef& def, std::span<const std::pair<std::string_view, AttrValue>> given);

  // graph_types.cc
  Status InferTypes(Node& node);
  void DescribeInputs(const Node& node, ShortList<uint16_t, 6>& inputs) const;
  Status InferAnew(Node& node);
  Status BindInputTypes(const Node& node);
  Status BindType(const Node& node, int port, DType type);
  Status SetOutputs(Node& node);

  // graph_variables.cc
  void ConnectVariable(int block);
  static PartialShape ShapeAttr(const Node& node);
  void DeclareVariable(int block, const PartialShape& shape);
  bool ReadInitialValue(int block, Declared& declared);
  Status JoinVariable(int block, const PartialShape& declared);

  // graph_structural.cc
  void ConnectStructural(int block);
  void CheckWires(int block);
  void ConnectConstant(int block);
  void ConnectOperation(int block);
  void ConnectFeed(int block);
  void ConnectSession(int block);
  void ConnectGradients(int block);
  void ConnectAlias(int block);
  const PageInput* InputOf(int block, std::string_view port) const;
  bool IsReported(int block, int port) const;
  /// The wires or literals of one port as values; false where one is in error (reported).
  bool ValuesOf(int block, std::string_view port, std::vector<ValueRef>& values);
  Result<int> OperationOf(const Wire& wire, int producer);
  /// The block's dtype where the page itself gives it; a default does not count.
  std::optional<DType> GivenType(int block) const;

  /// Adds the place of a port of a block (and of one item of a list) to a status.
  Status At(Status status, int block, std::string_view port = {}, int item = -1) const;
  void Error(Status status, int block, std::string_view port = {}, int item = -1);

  Graph& graph_;
  const Page& page_;
  Diagnostics& diagnostics_;
  GraphMemo& memo_;
  const Graph* former_;
  // Where a former graph is of use. By block: the same one there, or -1; by block there: the same one here, or -1.
  std::vector<int> before_, now_;
  std::vector<char> stays_;  // by block: was not edited
  std::vector<char> kept_;   // by block: is the former node, to be reconnected
  std::vector<char> wired_;  // by block: its wires come from the same blocks
  std::vector<char> same_;  // by block: once it is connected, offers what it did there
  std::vector<std::pair<int, uint32_t>> literals_;  // of the block at hand: former node, and input value
  static constexpr size_t kMostValues = size_t{1} << 20;      // of one port
  static constexpr size_t kMostListValues = size_t{1} << 24;  // of all list ports of a page
  /// Whether to compare a wrong name with so many others.
  bool MayCompare(size_t names);
  Status NoBlock(std::string_view id);

  std::map<std::string, int> shared_;  // container and name -> variable
  int next_order_ = 0;
  bool same_ids_ = false;  // of several blocks
  size_t compared_ = 0;
  size_t list_values_ = 0;
  std::vector<uint32_t>&first_input_ = graph_.producers_.first_input, &first_item_ = graph_.producers_.first_item;
  std::vector<int>& producers_ = graph_.producers_.nodes;
  std::vector<char> feeds_back_;               // by item; empty where there are no loops
  std::vector<int> home_;                      // by block: Graph::HomeFrame; empty where there are no loops
  std::map<std::string, int> frame_by_name_;
  bool settling_ = false, open_exits_ = false, parents_found_ = false;  // while frames are found
  std::vector<std::vector<ValueRef>> ports_;   // of the block at hand; kept for its memory
  std::vector<const PageInput*> written_;      // the same
  std::vector<ValueRef> resolved_;             // the same
  std::vector<DType> bound_;                   // of the node whose types are inferred, by attribute: the type it stands for
  std::vector<AttrValue> settings_;            // the same: its value so far
  std::vector<int> unknown_;  // blocks of types that the registry does not know
};

/// Adds the blocks that compute the gradients of the sum of `ys` with respect to each of `xs`; a value that nothing depends on gives an
/// invalid ValueRef. `id` names the AddSymbolicGradients block.
Result<std::vector<ValueRef>> AddGradients(GraphBuilder& builder, const std::string& id, int page_block, const std::vector<ValueRef>& ys,
                                           const std::vector<ValueRef>& xs);

}  // namespace weft
