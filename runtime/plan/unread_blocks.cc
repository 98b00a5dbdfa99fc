#include "runtime/plan/unread_blocks.h"

#include <string_view>
#include <unordered_set>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/base/failure.h"

namespace weft {
namespace {

/// What an AddSymbolicGradients block stands for.
void FetchGradients(const Node& node, FunctionRef<bool(int node)> wanted, PlanRequest& request) {
  for (ValueRef value : node.inputs) {
    if (value.valid() && wanted(value.node)) request.fetches.push_back(value);
  }
}

bool IsSource(const Node& node) { return node.variable >= 0 || (node.def != nullptr && node.def->structural == Structural::kConstant); }

}  // namespace

PlanRequest RequestForBlocks(const Graph& graph, bool sources, FunctionRef<bool(int node)> wanted) {
  PlanRequest request;
  for (int b = 0; std::cmp_less(b, graph.page().blocks.size()); ++b) {
    const Node& node = graph.node(b);
    if (node.broken) {
      if (wanted(b)) request.run.push_back(b);
      continue;
    }
    if (node.def == nullptr || (!sources && IsSource(node))) continue;
    if (node.def->structural == Structural::kGradients) FetchGradients(node, wanted, request);
    else if (!wanted(b)) continue;
    else if (node.def->structural == Structural::kNone && node.output_types.empty()) request.run.push_back(b);
    for (size_t o = 0; o < node.output_types.size(); ++o) request.fetches.push_back({b, static_cast<int>(o)});
  }
  return request;
}

void UnreadBlocks::Note(const Plan& plan) {
  for (const Step& step : plan.steps) read_[static_cast<size_t>(step.node)] = 1;
  // Forwards that are bound before the run have no steps. What is fed is not computed.
  for (const Slot& slot : plan.slots) {
    if (slot.value.valid() && slot.storage != Slot::Storage::kFeed) read_[static_cast<size_t>(slot.value.node)] = 1;
  }
  NoteUpdates(plan);
}

void UnreadBlocks::NoteUpdates(const Plan& plan) {
  if (!plan.updates_variables) return;
  for (const Step& step : plan.steps) {
    for (const Step::Update& update : step.updates) {
      if (step.kind != Step::Kind::kDynamic && update.before && *update.before == update.shape) continue;
      if (update.variable >= 0) reshaped_[static_cast<size_t>(update.variable)] = 1;
      for (int variable : update.choices) reshaped_[static_cast<size_t>(variable)] = 1;
    }
  }
}

// By node: some run may have what it makes in another shape than the plan of the unread blocks.
std::vector<char> UnreadBlocks::ChangedByRuns(const Plan& plan, const PartialShapes& partial) const {
  std::vector<char> changed(graph_.nodes().size(), 0);
  for (size_t n = 0; n < changed.size(); ++n) {
    const int variable = graph_.node(static_cast<int>(n)).variable;
    changed[n] = variable >= 0 && reshaped_[static_cast<size_t>(variable)] != 0;
  }
  for (const SessionSpec& session : graph_.sessions()) {
    for (const SessionSpec::Feed& feed : session.feeds) {
      const int index = plan.SlotOf(feed.value);
      if (index < 0) continue;
      const Slot& slot = plan.slots[static_cast<size_t>(index)];
      const auto known = partial.find(static_cast<uint32_t>(index));
      const Shape& fed = feed.tensor.shape();
      if (slot.shape_known ? !(slot.shape == fed) : known != partial.end() && !known->second.Accepts(fed)) changed[static_cast<size_t>(feed.value.node)] = 1;
    }
  }
  return changed;
}

// By node: its faults are those of the page, whatever runs.
std::vector<char> UnreadBlocks::Told(const std::vector<char>& changed) const {
  std::vector<char> told(changed.size(), 0), behind = changed;
  for (bool more = true; std::exchange(more, false);) {  // again where a loop leads back
    for (int n : graph_.in_order()) {
      CallLimit::Check();
      const Node& node = graph_.node(n);
      bool depends = false;
      for (ValueRef input : node.inputs) depends |= input.valid() && behind[static_cast<size_t>(input.node)] != 0;
      more |= depends && behind[static_cast<size_t>(n)] == 0 && graph_.frames().size() > 1;
      behind[static_cast<size_t>(n)] |= static_cast<char>(depends);
      // A variable has but the fault that a block of the same run has its name.
      told[static_cast<size_t>(n)] = !depends && read_[static_cast<size_t>(n)] == 0 && node.variable < 0;
    }
  }
  return told;
}

void UnreadBlocks::Check(const std::function<std::optional<Shape>(int variable)>& shape_of, Diagnostics& diagnostics) {
  PlanRequest request = RequestForBlocks(graph_, false, [&](int node) { return read_[static_cast<size_t>(node)] == 0; });
  if (request.fetches.empty() && request.run.empty()) return;
  request.keep = Keep::kAsked;
  request.shape_of = shape_of;
  Diagnostics found;
  PartialShapes partial;
  const Plan plan = PlanShapes(graph_, request, found, partial);
  if (found.all().empty()) return;
  NoteUpdates(plan);
  const std::vector<char> told = Told(ChangedByRuns(plan, partial));
  std::unordered_set<std::string_view> blocks;
  for (size_t n = 0; n < told.size(); ++n) {
    const Node& node = graph_.node(static_cast<int>(n));
    if (told[n] != 0 && node.def != nullptr) blocks.insert(node.id);
  }
  for (const Diagnostic& one : found.all()) {
    // What the machine lacked is no fault of any block.
    if (IsNoMemory(one.status) || blocks.contains(one.status.place().block)) diagnostics.Add(one.severity, one.status);
  }
}

}  // namespace weft
