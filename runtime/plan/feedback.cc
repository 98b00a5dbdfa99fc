// Types of what leads back to the Merge of a loop: it is connected before its NextIteration.
#include <utility>
#include <vector>

#include "runtime/plan/connecting.h"
#include "runtime/plan/frames.h"
#include "runtime/plan/passes.h"

namespace weft {

void AssumeFeedbackTypes(Draft& draft, const Node& merge) {
  if (draft.loops.is_back_edge.empty() || merge.def->flow != Flow::kMerge) return;
  DType type = DType::kInvalid;
  for (ValueRef value : merge.inputs) {
    if (type == DType::kInvalid) type = draft.graph.TypeOf(value);
  }
  for (ValueRef value : merge.inputs) {
    DType& found = draft.nodes[value.node].output_types[value.output];
    if (found == DType::kInvalid) found = type;
  }
}

/// What is known once both ends of the wire are connected.
static Status CheckBack(const Draft& draft, const Node& next, const Node& merge) {
  if (next.frame == 0) return OtherFrame(draft, next.frame, merge.frame);
  if (next.output_types[0] == merge.output_types[0]) return {};
  return InvalidArgument("the input 'inputs' needs ", merge.output_types[0], ", the type of what enters the loop, found ", next.output_types[0])
      .WithHint("a Cast block converts");
}

void CheckFeedback(Draft& draft) {
  if (draft.loops.is_back_edge.empty()) return;
  std::vector<std::vector<int>> readers(draft.page.blocks.size());
  std::vector<int> broken;
  draft.parts.wires.ForEach([&](int block, uint32_t item, int producer) {
    readers[producer].push_back(block);
    if (!draft.loops.is_back_edge[item]) return;
    const Node& next = draft.nodes[producer];
    const Node& merge = draft.nodes[block];
    if (Status status = next.broken || merge.broken ? Status() : CheckBack(draft, next, merge); !status.ok()) {
      draft.ErrorAtItem(std::move(status), block, item);
      broken.push_back(block);
    }
    if (next.broken && !merge.broken) broken.push_back(producer);
  });
  // What was connected before the fault was found is broken, too.
  std::vector<char> visited(draft.page.blocks.size(), 0);
  while (!broken.empty()) {
    int block = broken.back();
    broken.pop_back();
    const BlockDef* def = draft.nodes[block].def;
    if (std::exchange(visited[block], 1) || (def != nullptr && def->structural == Structural::kSession)) continue;
    draft.nodes[block].broken = true;
    Disconnect(draft, block);
    broken.insert(broken.end(), readers[block].begin(), readers[block].end());
  }
}

}  // namespace weft
