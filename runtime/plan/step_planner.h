// Phase 3 of a plan: steps, with the shapes and the storage of what they make.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/plan/loop_planner.h"
#include "runtime/plan/partial_shapes.h"
#include "runtime/plan/reuse.h"

namespace weft {

/// Adds steps node by node. A block that refuses its inputs is reported; what depends on it is planned as if its shapes were open, so that
/// all faults are found in one go.
class StepPlanner {
 public:
  /// What the steps are added to; all must outlive the planner.
  struct Context {
    const Graph& graph;
    const PlanRequest& request;
    const FedValues& fed;
    Diagnostics& diagnostics;
    Plan& plan;
    PlanSlots& slots;
    VariableShapes& variables;
    LoopPlanner& loops;
    PartialShapes& partial;
  };
  explicit StepPlanner(const Context& context)
      : graph_(context.graph), request_(context.request), fed_(context.fed), diagnostics_(context.diagnostics), plan_(context.plan),
        slots_(context.slots), variables_(context.variables), loops_(context.loops), partial_(context.partial), reuse_(context.graph) {}

  /// A step for the node, unless it needs none: constants, variables, fed values, forwards of memory that is known before the run.
  void Add(int node);

 private:
  bool SetSource(int node);
  void CheckTemporary(int node);
  void CheckFeeds(int node);
  void AddOperands(const Node& node, Step& step);
  bool StaticInputs(const Node& node, const Step& step);
  const Tensor* ConstantOf(const Slot& slot) const;
  void PlanStatic(const Node& node, Step& step);
  void ReportRefusals(const Node& node, int index, Status refused);
  void MakeDynamic(const Node& node, Step& step);
  void CheckInPart(const Node& node, const Step& step);
  bool InputsInPart(const Node& node, const Step& step);
  void NotePartial(const Node& node, uint32_t slot, PartialShape shape);
  void SetShapes(const Node& node, const Step& step, const PlannedShapes& shapes);
  void AddUpdates(const Node& node, Step& step, const PlannedShapes* shapes);
  void AddUpdate(const Node& node, Step& step, int port, uint32_t input, const PlannedShapes* shapes);
  std::span<const int> ChoicesOf(int select, std::span<const int> variables);
  void SetReferenceShapes(const Node& node, const Step& step);
  void ShareMemory(const Node& node, const Step& step);
  bool BindForward(const Step& step);
  void Error(int node, Status status) { diagnostics_.Error(PlaceAtNode(graph_, node, std::move(status))); }

  const Graph& graph_;
  const PlanRequest& request_;
  const FedValues& fed_;
  Diagnostics& diagnostics_;
  Plan& plan_;
  PlanSlots& slots_;
  VariableShapes& variables_;
  LoopPlanner& loops_;
  PartialShapes& partial_;
  PlanReuse reuse_;
  std::map<std::string_view, int> temporaries_;  // name -> node
  std::unordered_map<int, size_t> choices_;      // by RefSelect node: index into Plan::choices
  int64_t total_bytes_ = 0;
  std::vector<InputInfo> inputs_;  // of the step at hand; kept for its memory
  std::vector<PartialInput> partial_inputs_;
};

}  // namespace weft
