// The planner: needed nodes -> order -> shapes -> slots -> steps.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "runtime/plan/reuse.h"
#include "runtime/plan/step_order.h"
#include "weft/plan/plan.h"

namespace weft {

/// What a plan takes on trust, until it finds that it is not so: that a value of a loop, and a variable that a loop updates, has the same
/// shape in each iteration.
struct LoopTrust {
  std::set<int> merges;     // nodes that have other shapes in later iterations
  std::set<int> variables;  // indices into Graph::variables(), the same
  bool none = false;        // trust nothing
};

class Planner {
 public:
  Planner(const Graph& graph, const PlanRequest& request, Diagnostics& diagnostics, LoopTrust& trust)
      : graph_(graph), memo_(graph), request_(request), diagnostics_(diagnostics), trust_(trust), needed_(graph.nodes().size(), 0), is_target_(graph.nodes().size(), 0),
        shape_now_(request.variable_shapes) {
    for (int node : request.run) is_target_[node] = 1;
    started_.resize(request.variable_shapes.size(), 0);
  }

  Plan Make();
  /// Whether Make found that it trusted wrongly: then its plan and diagnostics are void, and another planner is to make them.
  bool misled() const { return misled_; }

 private:
  // planner.cc
  void FindNeeded();
  bool IsReplaced(int index) const;
  std::vector<int> Order();
  std::vector<int> Arrange(const std::vector<int>& nodes, const Clusters& clusters);
  void AddSlots(const std::vector<int>& order);
  void MarkKept();
  void FindLastUses();

  // planner_loops.cc
  /// A loop on its way to Plan::loops.
  struct LoopParts {
    size_t first = 0, end = 0;  // its nodes, without the Enter blocks, in the order of all
    std::vector<int> entering, next;  // nodes
    int condition = -1;               // the same
    std::set<int> updated;  // variables, indices into Graph::variables()
    std::vector<std::optional<Shape>> before;  // of those, when it begins
  };
  void OrderFrame(int frame, int loop, const std::vector<int>& nodes, std::vector<int>& order);
  void AddSteps(const std::vector<int>& order);
  void BeginLoop(int loop);
  void EndLoop(int loop);
  void TrustShape(const Node& merge);
  void AddReads(const Node& node, Step& step);
  void CheckTrust();
  void FindCarried();
  int LastUse(int step, int slot) const;
  std::set<int> UpdatedBy(const std::vector<int>& nodes) const;

  // planner_steps.cc
  void AddStep(int node);
  void CheckTemporary(int node);
  void CheckFeeds(int node);
  void AddOperands(const Node& node, Step& step);
  uint32_t AddOwnSlot(ValueRef value);
  bool StaticInputs(const Node& node, const Step& step, std::vector<InputInfo>& inputs) const;
  void PlanStatic(const Node& node, Step& step, const std::vector<InputInfo>& inputs);
  void SetShapes(const Node& node, const Step& step, const PlannedShapes& shapes);
  bool BindForward(const Step& step);
  void AddUpdates(const Node& node, Step& step, const PlannedShapes* shapes);
  void SetReferenceShapes(const Node& node, const Step& step);
  void SetShapesNow(const Step::Update& update, const std::optional<Shape>& after);
  void SetVariableShape(uint32_t slot, ValueRef reference);
  std::optional<Shape> ShapeNow(const std::vector<int>& variable_nodes) const;
  void MakeDynamic(const Node& node, Step& step);
  const Tensor* ConstantOf(const Slot& slot) const;
  void ShareMemory(const Node& node, const Step& step);

  Slot& SlotOf(ValueRef value) { return plan_.slots[plan_.first_slot[value.node] + value.output]; }
  const Slot& SlotOf(ValueRef value) const { return plan_.slots[plan_.first_slot[value.node] + value.output]; }
  Slot& In(const Step& step, size_t v) { return plan_.slots[plan_.operands[step.first_input + v]]; }
  const Slot& In(const Step& step, size_t v) const { return plan_.slots[plan_.operands[step.first_input + v]]; }
  Slot& Out(const Step& step, size_t v) { return plan_.slots[plan_.operands[step.first_output + v]]; }
  bool IsFed(ValueRef value) const {
    return std::any_of(request_.feeds.begin(), request_.feeds.end(), [&](const auto& feed) { return feed.value == value; });
  }

  template <class F>
  void ForSources(uint32_t slot, F&& each) const {
    for (int s = first_source_[slot]; s >= 0; s = sources_[static_cast<size_t>(s)].next) each(sources_[static_cast<size_t>(s)].slot);
  }

  const Graph& graph_;
  PlanReuse memo_;
  const PlanRequest& request_;
  Diagnostics& diagnostics_;
  LoopTrust& trust_;
  bool misled_ = false;
  std::vector<char> needed_;
  std::vector<char> is_target_;            // nodes run for their effect
  struct Source {
    int slot, next;  // the next is an index into sources_, or -1
  };
  std::vector<Source> sources_;            // slots whose memory others may share
  std::vector<int> first_source_;          // by slot: index into sources_, or -1
  size_t slots_ = 0, inputs_and_outputs_ = 0;  // how many the nodes to plan have
  std::vector<int> gradients_;             // AddSymbolicGradients nodes
  std::vector<std::optional<Shape>> shape_now_;  // by Graph::variables(): the shape after the updates planned so far
  std::vector<char> started_;              // by Graph::variables(): an update planned so far gives it a value
  std::map<std::string_view, int> temporaries_;  // name -> node
  std::vector<char> is_late_;              // by node: updates a variable, or depends on what does; while nodes are arranged
  std::vector<LoopParts> loops_;           // by Plan::loops
  int loop_ = -1;                          // the innermost loop of the steps that are added now
  struct Trusted {
    int merge;
    uint32_t next;  // slot of what comes back
    Shape shape;
  };
  std::vector<Trusted> trusted_;
  std::set<uint32_t> faulty_;    // slots in loops whose block does not fit its inputs, or reads one of these
  std::vector<int> slot_loop_;   // by slot: the loop whose steps make it; only where there are loops
  int64_t total_bytes_ = 0;
  std::vector<InputInfo> inputs_;  // of the step at hand; kept for its memory
  Plan plan_;
};

}  // namespace weft
