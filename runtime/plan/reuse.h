// Reuse: what need not be worked out again, since it was for another block or for the page before an edit.
//
// The promise: a graph and its plans are the same, node by node and step by step, as those made from the page alone. It is kept since
// - a node of the previous revision is taken over only where its block was not edited, no revision ever reported anything of it (its faults
//   are found by looking at it again), and all that its wires lead to offers what it did;
// - what is kept for blocks of a kind is found by everything that it depends on, compared to the bit.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/plan/plan.h"

namespace weft {

struct Draft;
struct GradientRecord;
class PlanMemo;

/// Whether settings are the same to the bit: -0 is not 0, though they are equal.
bool SameSetting(const AttrValue& a, const AttrValue& b);
bool SameSettings(const AttrList& a, const AttrList& b);

/// For the passes that make a graph: nodes of the previous revision's graph, then settings, types and gradients of blocks like others.
class Reuse {
 public:
  using GivenAttrs = std::span<const std::pair<std::string_view, AttrValue>>;
  using TypeKeys = ShortList<uint16_t, 6>;  // by input value: its type, and what kind of reference it is

  /// `previous`: see Graph::Build. Only the page of the draft is looked at.
  Reuse(Draft& draft, const Graph* previous);

  /// How many nodes the previous graph has.
  size_t previous_nodes() const { return previous_ == nullptr ? 0 : previous_->nodes().size(); }
  /// The block's node becomes what it was, with its attributes and types; inputs are still those of the previous graph, until TakeInputs.
  /// False where it has to be made from the page.
  bool TakeNode(int block);
  bool HasTaken(int block) const { return !taken_.empty() && taken_[block] != 0; }
  /// Of a node that was taken: adds its wires to the draft's, where they lead where they did. False: they are looked up by name.
  bool TakeWires(int block);
  /// Of a node that was taken, when its producers are connected: connects it, and adds the literals that it reads. False where something
  /// that it reads has changed: then the node is to be connected from the page.
  bool TakeInputs(int block);
  /// To be called for each block once it is connected: notes whether its readers find what they found before.
  void Compare(int block);
  /// Notes which blocks the diagnostics from number `first` on are about.
  void NoteFaults(size_t first);

  /// Settings as a page writes them, without a fault in them; null where they were not seen lately.
  const AttrList* FindWritten(const BlockDef& def, const std::string& text);
  void KeepWritten(const BlockDef& def, const std::string& text, const AttrList& attrs);
  /// Settings that are given by value, the rest left to defaults.
  const AttrList* FindGiven(const BlockDef& def, GivenAttrs given);
  void KeepGiven(const BlockDef& def, GivenAttrs given, const AttrList& attrs);
  /// Fills in the types of a node whose inputs are connected; `keys` describe those. False where they have to be inferred.
  bool TakeTypes(Node& node, const TypeKeys& keys);
  /// `given`: the settings before types were inferred.
  void KeepTypes(const Node& node, const AttrList& given, const TypeKeys& keys);
  /// What the gradient of such a node added, for values that are there and wanted as `values` says; valid until the next call.
  const GradientRecord* FindGradient(const Node& node, const ShortList<uint16_t, 12>& values);
  void KeepGradient(const Node& node, GradientRecord record);

 private:
  void MatchBlocks();
  bool ReadsTheSame(int block) const;

  Draft& draft_;
  const Graph* previous_;
  // Empty where the previous graph is of no use.
  std::vector<int> before_;      // by block: the same one of the previous page, or -1
  std::vector<int> now_;         // by block of the previous page: the same one here, or -1
  std::vector<char> unedited_;   // by block
  std::vector<char> taken_;      // by block: its node is the previous one
  std::vector<char> rewired_;    // by block: its wires were taken, too
  std::vector<char> unchanged_;  // by block, once it is connected: offers its readers what it did
  std::vector<std::pair<int, uint32_t>> literals_;  // of the block at hand: previous node and input value; kept for its memory
};

/// For a planner: plans of blocks by all that they depend on. Blocks that keep state, or wait, have plans of their own.
class PlanReuse {
 public:
  /// Shares the plans of the page's revisions; while another planner has them, those of its own only.
  explicit PlanReuse(const Graph& graph);
  ~PlanReuse();
  struct Made {
    PlannedBlock block;
    const PlannedShapes* shapes;  // until the next call
  };
  /// As PlanNode does.
  Result<Made> Plan(const Node& node, std::span<const InputInfo> inputs);

 private:
  std::unique_ptr<PlanMemo> own_;
  std::unique_lock<std::mutex> lock_;
  PlanMemo& memo_;
  PlannedShapes shapes_;
};

}  // namespace weft
