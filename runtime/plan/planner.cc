// MakePlan: the phases of a plan in their order.
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/plan/faulty_blocks.h"
#include "runtime/plan/fusion.h"
#include "runtime/plan/lifetimes.h"
#include "runtime/plan/step_planner.h"
#include "weft/page/page.h"

namespace weft {
namespace {

void AddSteps(const NodesToRun& nodes, const StepPlanner::Context& context) {
  StepPlanner steps(context);
  constexpr size_t kManyOutputs = 1000;
  for (size_t i = 0; i < nodes.order.size(); ++i) {
    if (context.graph.node(nodes.order[i]).output_types.size() >= kManyOutputs) CallLimit::CheckNow();  // a million take 30 ms
    context.loops.Reach(i);
    steps.Add(nodes.order[i]);
  }
  context.loops.Reach(nodes.order.size());
  context.loops.CheckAssumptions();
  CheckFaultyBlocks(nodes.faulty, context);
}

enum class Phases : uint8_t { kAll, kShapes };

/// Makes a plan under the assumptions of `speculation`; void where they fail. Of kShapes it has no places of values.
Plan TryPlan(const Graph& graph, const PlanRequest& request, Phases phases, Diagnostics& diagnostics, ShapeSpeculation& speculation, PartialShapes& partial) {
  Plan plan;
  const FedValues fed(graph, request);
  const NodesToRun nodes = ChooseNodes(graph, request, fed);
  plan.keep = request.keep;
  plan.fetches = request.fetches;
  plan.has_dead_values = nodes.has_dead_values;
  PlanSlots slots(graph, plan);
  slots.AddAll(nodes, request);
  VariableShapes variables(graph, request);
  LoopPlanner loops(graph, nodes, fed, plan, slots, variables, speculation);
  AddSteps(nodes, {graph, request, fed, diagnostics, plan, slots, variables, loops, partial});
  if (speculation.failed || phases == Phases::kShapes) return plan;
  Lifetimes lifetimes(graph, plan, slots);
  lifetimes.KeepAcrossIterations();
  lifetimes.MarkKept(request);
  lifetimes.FindLastUses(request, fed);
  CallLimit::CheckNow();
  FuseSteps(graph, plan);
  CallLimit::CheckNow();
  PlanMemory(graph, plan);
  return plan;
}

Plan PlanInAttempts(const Graph& graph, const PlanRequest& request, Phases phases, Diagnostics& diagnostics, PartialShapes& partial) {
  constexpr int kMostAttempts = 8;
  ShapeSpeculation speculation;
  for (int attempt = 1;; ++attempt) {
    speculation.off = attempt == kMostAttempts;
    speculation.failed = false;
    Diagnostics found;
    partial.clear();
    Plan plan = TryPlan(graph, request, phases, found, speculation, partial);
    if (speculation.failed) continue;
    diagnostics.Append(std::move(found));
    return plan;
  }
}

}  // namespace

Plan MakePlan(const Graph& graph, const PlanRequest& request, Diagnostics& diagnostics) {
  PartialShapes partial;
  return MakePlan(graph, request, diagnostics, partial);
}

Plan MakePlan(const Graph& graph, const PlanRequest& request, Diagnostics& diagnostics, PartialShapes& partial) {
  return PlanInAttempts(graph, request, Phases::kAll, diagnostics, partial);
}

Plan PlanShapes(const Graph& graph, const PlanRequest& request, Diagnostics& diagnostics, PartialShapes& partial) {
  return PlanInAttempts(graph, request, Phases::kShapes, diagnostics, partial);
}

Result<PlannedBlock> PlanNode(const Node& node, std::span<const InputInfo> inputs, PlannedShapes& shapes) {
  BlockSignature signature{inputs, node.output_types, node.in_first.table(), node.out_first.table()};
  PlanContext ctx(*node.def, node.attrs, signature);
  WEFT_ASSIGN_OR_RETURN(PlannedBlock planned, node.def->plan(ctx));
  shapes = ctx.take_planned();
  return planned;
}

Status PlaceAtNode(const Graph& graph, int node, Status status) {
  const Node& n = graph.node(node);
  std::string pointer;
  const Page& page = graph.page();
  if (n.page_block >= 0) {
    pointer = BlockPointer(page, static_cast<size_t>(n.page_block));
    const std::string& port = status.place().port;
    if (!n.added && !port.empty() && page.blocks[n.page_block].pointer.empty()) {
      if (n.def->FindInput(port) >= 0) pointer += Cat("/inputs/", port);
      else if (n.def->FindAttr(port) >= 0) pointer += "/attrs";
    }
  }
  return std::move(status).WithPage(graph.name()).WithPointer(pointer).WithBlock(n.id);
}

PlanRequest RequestFor(const SessionSpec& session, Keep keep) {
  PlanRequest request;
  request.fetches.reserve(session.fetches.size());
  for (const auto& fetch : session.fetches) {
    CallLimit::Check();
    request.fetches.push_back(fetch.value);
  }
  request.run = session.run;
  for (const auto& feed : session.feeds) request.feeds.push_back({feed.value, feed.tensor.shape()});
  request.keep = keep;
  return request;
}

std::optional<Shape> ShapeAtStart(const Graph& graph, const PlanRequest& request, int variable) {
  if (request.shape_of) {
    if (std::optional<Shape> now = request.shape_of(variable)) return now;
  }
  const Tensor& initial = graph.node(graph.variables()[static_cast<size_t>(variable)]).constant;
  return initial.defined() ? initial.shape() : graph.variable_info(variable).declared.shape();
}

}  // namespace weft
