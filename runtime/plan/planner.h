// The planner: needed nodes -> order -> shapes -> slots -> steps.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "weft/plan/plan.h"

namespace weft {

class Planner {
 public:
  Planner(const Graph& graph, const PlanRequest& request, Diagnostics& diagnostics)
      : graph_(graph), request_(request), diagnostics_(diagnostics), needed_(graph.nodes().size(), 0), is_target_(graph.nodes().size(), 0),
        shape_now_(request.variable_shapes) {
    for (int node : request.run) is_target_[node] = 1;
    started_.resize(request.variable_shapes.size(), 0);
  }

  Plan Make();

 private:
  // planner.cc
  void FindNeeded();
  bool IsReplaced(int index) const;
  std::vector<int> Order() const;
  void AddSlots(const std::vector<int>& order);
  void MarkKept();
  void FindLastUses();

  // planner_steps.cc
  void AddStep(int node);
  void CheckFeeds(int node);
  void AddOperands(const Node& node, Step& step);
  uint32_t AddOwnSlot(ValueRef value);
  bool StaticInputs(const Node& node, const Step& step, std::vector<InputInfo>& inputs) const;
  void PlanStatic(const Node& node, Step& step, const std::vector<InputInfo>& inputs);
  void SetShapes(const Node& node, const Step& step, PlannedShapes& shapes);
  bool BindForward(const Step& step);
  void AddUpdates(const Node& node, Step& step, const PlannedShapes* shapes);
  void SetReferenceShapes(const Node& node, const Step& step);
  void ShareMemory(const Node& node, const Step& step);

  Slot& SlotOf(ValueRef value) { return plan_.slots[plan_.first_slot[value.node] + value.output]; }
  const Slot& SlotOf(ValueRef value) const { return plan_.slots[plan_.first_slot[value.node] + value.output]; }
  Slot& In(const Step& step, size_t v) { return plan_.slots[plan_.operands[step.first_input + v]]; }
  const Slot& In(const Step& step, size_t v) const { return plan_.slots[plan_.operands[step.first_input + v]]; }
  Slot& Out(const Step& step, size_t v) { return plan_.slots[plan_.operands[step.first_output + v]]; }
  bool IsFed(ValueRef value) const {
    return std::any_of(request_.feeds.begin(), request_.feeds.end(), [&](const auto& feed) { return feed.value == value; });
  }

  const Graph& graph_;
  const PlanRequest& request_;
  Diagnostics& diagnostics_;
  std::vector<char> needed_;
  std::vector<char> is_target_;            // nodes run for their effect
  std::vector<std::vector<int>> sources_;  // by slot: the slots whose memory it may share
  std::vector<std::optional<Shape>> shape_now_;  // by Graph::variables(): the shape after the updates planned so far
  std::vector<char> started_;              // by Graph::variables(): an update planned so far gives it a value
  int64_t total_bytes_ = 0;
  Plan plan_;
};

}  // namespace weft
