// Graph::Build: the passes in their order.
#include <algorithm>
#include <tuple>

#include "runtime/plan/graph_memo.h"
#include "runtime/plan/passes.h"

namespace weft {
namespace {

// Leaves Graph::in_order: nodes by their place in the order.
void SortNodes(Draft& draft) {
  std::vector<int>& in_order = draft.parts.in_order;
  in_order.resize(draft.nodes.size());
  for (size_t i = 0; i < draft.nodes.size(); ++i) in_order[static_cast<size_t>(draft.nodes[i].order)] = static_cast<int>(i);
}

// Leaves Graph::gradients.
void ListGradients(Draft& draft) {
  std::vector<OfferedGradient>& gradients = draft.parts.gradients;
  for (int block = 0; block < draft.blocks(); ++block) {
    const Node& node = draft.nodes[block];
    if (node.broken || node.def->structural != Structural::kGradients) continue;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      if (node.inputs[k].valid()) gradients.push_back({node.inputs[k], block, static_cast<int>(k)});
    }
  }
  const auto key = [](const OfferedGradient& gradient) { return std::tuple(gradient.value.node, gradient.value.output, gradient.block, gradient.index); };
  std::ranges::sort(gradients, {}, key);
}

void RunPasses(Draft& draft) {
  const size_t reported = draft.diagnostics.all().size();
  MakeNodes(draft);
  FindProducers(draft);
  FindFrames(draft);
  const std::vector<int> order = OrderBlocks(draft);
  ConnectBlocks(draft, order);
  CheckFeedback(draft);
  SortNodes(draft);
  ListGradients(draft);
  ConnectSessions(draft);
  ReportUnknownBlocks(draft);
  ReportRefusedBlocks(draft);
  draft.reuse.NoteFaults(reported);
}

}  // namespace

std::unique_ptr<Graph> Graph::Build(std::shared_ptr<const Page> page, const Registry& registry, std::string_view name,
                                    Diagnostics& diagnostics, const Graph* previous) {
  std::shared_ptr<GraphMemo> memo = previous != nullptr ? previous->memo_ : std::make_shared<GraphMemo>();
  std::unique_ptr<Graph> graph(new Graph(std::move(page), registry, name, std::move(memo)));
  // What a document that breaks off leaves out would look like faults of what it does contain.
  Diagnostics ignored;
  Draft draft(*graph, previous, graph->page_->complete ? diagnostics : ignored);
  RunPasses(draft);
  return graph;
}

}  // namespace weft
