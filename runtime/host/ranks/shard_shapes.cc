#include "runtime/host/ranks/shard_shapes.h"

#include <algorithm>

#include "runtime/host/ranks/shard_rows.h"
#include "runtime/state/variable_store.h"

namespace weft {

const Shape* KnownShape(const Plan& plan, ValueRef value) {
  const int slot = plan.SlotOf(value);
  return slot >= 0 && plan.slots[static_cast<size_t>(slot)].shape_known ? &plan.slots[static_cast<size_t>(slot)].shape : nullptr;
}

Status Retold(const Status& fault, std::string message, std::string_view hint) {
  const Place& place = fault.place();
  return Status(fault.code(), std::move(message)).WithHint(hint).WithPage(place.page).WithPointer(place.pointer).WithBlock(place.block).WithPort(place.port);
}

namespace {

// A block whose output keeps the rows of the whole batch, although it has the elements of a shard, has mixed up rows: a Reshape to [32,-1].
Status CheckBaked(const Graph& graph, const Plan& whole, const Plan& part, int shards) {
  for (const Step& step : part.steps) {
    const Node& node = graph.node(step.node);
    if (node.def == nullptr || node.def->shaped_by.empty() || node.output_types.empty()) continue;
    const Shape *all = KnownShape(whole, {step.node, 0}), *own = KnownShape(part, {step.node, 0});
    if (all == nullptr || own == nullptr || all->rank() == 0 || own->rank() == 0 || own->dim(0) != all->dim(0)) continue;
    if (own->count() * shards != all->count() || own->count() == all->count()) continue;
    for (int port : node.def->shaped_by) {
      const Node& shaping = graph.node(node.inputs[node.in_first[static_cast<size_t>(port)]].node);
      if (!shaping.constant.defined()) continue;
      Status status = InvalidArgument("has the size of the whole batch, ", all->dim(0), ", as a constant, and a shard has ",
                                      all->dim(0) / shards, " rows");
      status = std::move(status).WithPort(node.def->inputs[static_cast<size_t>(port)].name);
      return PlaceAtNode(graph, step.node, std::move(status).WithHint("write -1 for the rows: it stands for what there is"));
    }
  }
  return {};
}

// A shard of one row fits the whole batch's rows of something that is not cut: stretched over them, which nobody meant.
Status CheckStretched(const Graph& graph, const Plan& whole, const Plan& part, int shards) {
  for (const Step& step : part.steps) {
    const Node& node = graph.node(step.node);
    if (node.def == nullptr || node.output_types.empty()) continue;
    const Shape *all = KnownShape(whole, {step.node, 0}), *own = KnownShape(part, {step.node, 0});
    if (all == nullptr || own == nullptr || !(*all == *own) || own->rank() == 0 || own->dim(0) == 1) continue;
    const auto has_rows = [&](ValueRef input, bool cut) {
      const Shape *in_all = KnownShape(whole, input), *in_own = KnownShape(part, input);
      if (in_all == nullptr || in_own == nullptr || in_all->rank() != own->rank() || in_all->dim(0) != own->dim(0)) return false;
      return cut ? in_own->dim(0) == 1 && IsRows(*in_all, *in_own, shards) : *in_all == *in_own;
    };
    const auto one = std::ranges::find_if(node.inputs, [&](ValueRef input) { return input.valid() && has_rows(input, true); });
    const auto rest = std::ranges::find_if(node.inputs, [&](ValueRef input) { return input.valid() && has_rows(input, false); });
    if (one == node.inputs.end() || rest == node.inputs.end()) continue;
    const std::string name = graph.ValueName(*rest);
    Status status = InvalidArgument("has one row of a shard, '", graph.ValueName(*one), "', and the ", own->dim(0), " rows of the whole batch, '", name, "'");
    return PlaceAtNode(graph, step.node, std::move(status).WithHint(Cat("cut what brings those as well: --shard ", name)));
  }
  return {};
}

void Feed(PlanRequest& request, ValueRef value, const Shape& shape) {
  const auto known = std::ranges::find(request.feeds, value, &PlanRequest::Feed::value);
  if (known != request.feeds.end()) known->shape = shape;
  else request.feeds.push_back({value, shape});
}

}  // namespace

Result<ShardPlans> PlanShards(Scope& scope, const ShardParts& divided, const std::vector<Tensor>& sources, int shards) {
  PlanRequest whole = RequestFor(divided.shard, Keep::kAsked), part = whole;
  const std::shared_ptr<Revision> revision = scope.revision();
  const Graph& graph = *revision->graph;
  whole.shape_of = part.shape_of = ShapesNow(*revision, scope.variables());
  for (size_t s = 0; s < sources.size(); ++s) {
    const Shape& all = sources[s].shape();
    Feed(whole, divided.sources[s].value, all);
    Feed(part, divided.sources[s].value, divided.sources[s].whole ? all : WithRows(all, all.dim(0) / shards));
  }
  Diagnostics of_whole, of_part;
  ShardPlans plans;
  plans.whole = MakePlan(graph, whole, of_whole);
  if (of_whole.has_errors()) return of_whole.FirstError();  // the page has it without shards, too
  plans.part = MakePlan(graph, part, of_part);
  if (of_part.has_errors()) {
    const Status fault = of_part.FirstError();
    return Retold(fault, Cat("cannot work on a shard of the batch: ", fault.message()),
                  "a size of the whole batch must not be written down (-1 in a Reshape stands for what there is); name what else has rows: --shard ID.port");
  }
  WEFT_RETURN_IF_ERROR(CheckBaked(graph, plans.whole, plans.part, shards));
  WEFT_RETURN_IF_ERROR(CheckStretched(graph, plans.whole, plans.part, shards));
  return plans;
}

}  // namespace weft
