// Whether the loops of a page can run.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "runtime/plan/frames.h"

namespace weft {
namespace {

/// What the NextIteration blocks of a page lead to.
struct Feedback {
  std::vector<char> feeds;    // by block: a NextIteration that something reads
  std::vector<char> goes_on;  // by frame: has such a block
};

Feedback CheckNextIterations(Draft& draft) {
  Feedback feedback{std::vector<char>(draft.page.blocks.size(), 0), std::vector<char>(draft.parts.frames.size(), 0)};
  draft.parts.wires.ForEach([&](int block, uint32_t item, int producer) {
    if (!Flows(draft.nodes[producer], Flow::kNextIteration)) return;
    int frame = draft.nodes[producer].frame;
    if (frame <= 0 || !HasFrame(draft.nodes[block])) return;
    feedback.goes_on[frame] = 1;
    feedback.feeds[producer] = 1;
    if (!draft.loops.is_back_edge[item]) {
      Status status = InvalidArgument("a value of the next iteration can go to a Merge only, found ", draft.nodes[block].def->name);
      draft.ErrorAtItem(std::move(status).WithHint("a Merge takes what enters the loop and what its last iteration left"), block, item);
    } else if (draft.nodes[block].frame != frame && draft.nodes[block].frame != kUnknownFrame) {
      draft.ErrorAtItem(OtherFrame(draft, frame, draft.nodes[block].frame), block, item);
    }
  });
  return feedback;
}

void CheckConditions(Draft& draft, const Feedback& feedback) {
  std::vector<int> condition(draft.parts.frames.size(), -1);
  for (int block = 0; block < draft.blocks(); ++block) {
    const Node& node = draft.nodes[block];
    if (node.frame <= 0) continue;
    const std::string& loop = draft.parts.frames[node.frame].name;
    if (Flows(node, Flow::kNextIteration) && !feedback.feeds[block] && !node.broken) {
      Status status = InvalidArgument("feeds no Merge, so the loop '", loop, "' has no next iteration");
      draft.Error(std::move(status).WithHint("wire its output to the Merge that takes what enters the loop"), block);
    }
    if (!IsLoopCondition(node)) continue;
    if (condition[node.frame] >= 0) {
      Status status = InvalidArgument("the loop '", loop, "' has a condition already: '", draft.page.blocks[condition[node.frame]].id, "'");
      draft.Error(std::move(status).WithHint("give each loop a frame_name of its own"), block);
    }
    condition[node.frame] = block;
  }
}

/// An Enter that is not constant has no value from the second iteration on.
void WarnOfSingleValues(Draft& draft, const Feedback& feedback) {
  std::vector<char> warned(draft.page.blocks.size(), 0);
  draft.parts.wires.ForEach([&](int block, uint32_t, int producer) {
    const Node& enter = draft.nodes[producer];
    if (!Flows(enter, Flow::kEnter) || enter.frame <= 0 || !feedback.goes_on[enter.frame] || warned[producer]) return;
    const auto* constant = AttrOf<bool>(enter, "is_constant");
    if (constant == nullptr || *constant || Flows(draft.nodes[block], Flow::kMerge) || !HasFrame(draft.nodes[block])) return;
    warned[producer] = 1;
    Status status = InvalidArgument("its value is there in the loop's first iteration only, and '", draft.page.blocks[block].id,
                                    "' reads it in each");
    draft.diagnostics.Warning(draft.At(std::move(status).WithHint("set is_constant_ = true"), producer, "is_constant"));
  });
}

using Edges = std::vector<std::pair<int, int>>;

/// What must come before what: vertices are the blocks, then the begin and the end of each frame.
Edges LoopEdges(const Draft& draft) {
  const std::vector<int>& home = draft.loops.home;
  const auto begin = [&](int frame) { return draft.blocks() + 2 * frame; };
  const auto end = [&](int frame) { return draft.blocks() + 2 * frame + 1; };
  Edges edges;
  draft.parts.wires.ForEach([&](int block, uint32_t item, int producer) {
    if (draft.IsBackEdge(item) || !HasFrame(draft.nodes[block])) return;
    bool leaves = Flows(draft.nodes[producer], Flow::kExit) && home[producer] > 0;
    bool enters = Flows(draft.nodes[block], Flow::kEnter) && home[block] > 0;
    edges.emplace_back(leaves ? end(home[producer]) : producer, enters ? begin(home[block]) : block);
  });
  for (int block = 0; block < draft.blocks(); ++block) {
    if (home[block] <= 0) continue;
    edges.emplace_back(begin(home[block]), block);
    edges.emplace_back(block, end(home[block]));
  }
  for (int frame = 1; frame < static_cast<int>(draft.parts.frames.size()); ++frame) {
    int parent = draft.parts.frames[frame].parent;
    if (parent == 0) continue;
    edges.emplace_back(begin(parent), begin(frame));
    edges.emplace_back(end(frame), end(parent));
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

/// By vertex: how many of those before it can never come; 0 where an order exists.
std::vector<int> CountMissing(const Edges& edges, size_t vertices) {
  std::vector<int> missing(vertices, 0), ready;
  for (auto [from, to] : edges) ++missing[to];
  for (size_t i = 0; i < vertices; ++i) {
    if (missing[i] == 0) ready.push_back(static_cast<int>(i));
  }
  while (!ready.empty()) {
    int from = ready.back();
    ready.pop_back();
    for (auto it = std::lower_bound(edges.begin(), edges.end(), std::pair(from, -1)); it != edges.end() && it->first == from; ++it) {
      if (--missing[it->second] == 0) ready.push_back(it->second);
    }
  }
  return missing;
}

}  // namespace

void CheckFrames(Draft& draft) {
  const Feedback feedback = CheckNextIterations(draft);
  CheckConditions(draft, feedback);
  WarnOfSingleValues(draft, feedback);
}

void CheckLoopOrder(Draft& draft) {
  const std::vector<int> missing = CountMissing(LoopEdges(draft), draft.page.blocks.size() + 2 * draft.parts.frames.size());
  bool reported = false;
  for (int block = 0; block < draft.blocks(); ++block) {
    if (missing[block] == 0) continue;
    std::span<const int> producers = draft.parts.wires.ProducersOf(block);
    const bool waits = std::any_of(producers.begin(), producers.end(), [&](int p) { return p >= 0 && missing[p] > 0; });
    if (Flows(draft.nodes[block], Flow::kEnter) && waits && !reported) {
      reported = true;
      Status status = InvalidArgument("the loop '", draft.parts.frames[draft.loops.home[block]].name,
                                      "' would have to end before it can begin: this value depends on its results");
      draft.Error(std::move(status).WithHint("let it enter another loop, with a frame_name of its own"), block, "data");
    }
    draft.nodes[block].broken = true;
  }
}

}  // namespace weft
