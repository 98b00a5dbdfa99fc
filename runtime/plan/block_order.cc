// The order of a page's blocks: producers before consumers; cycles.
#include <algorithm>
#include <functional>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "runtime/plan/adjacency.h"
#include "runtime/plan/frames.h"
#include "runtime/plan/passes.h"

namespace weft {
namespace {

// Each block reads the next, the last one the first.
void ReportCycle(Draft& draft, std::span<const int> blocks, std::string_view port) {
  constexpr size_t kShown = 8;
  const std::string& first = draft.page.blocks[blocks[0]].id;
  std::string text = first;
  for (size_t i = blocks.size(); i-- > 1;) {
    size_t position = blocks.size() - i;
    if (blocks.size() <= kShown || position < kShown / 2 || i < kShown / 2) text += Cat(" -> ", draft.page.blocks[blocks[i]].id);
    else if (position == kShown / 2) text += Cat(" -> ... (", blocks.size(), " blocks in all)");
  }
  Status status = blocks.size() == 1 ? InvalidArgument("the block reads its own output: ", text, " -> ", first)
                                     : InvalidArgument("the wires make a cycle: ", text, " -> ", first);
  bool loop = std::any_of(blocks.begin(), blocks.end(), [&](int block) {
    const BlockDef* def = draft.nodes[block].def;
    return def != nullptr && def->flow == Flow::kNextIteration;
  });
  std::string_view hint = loop ? "values feed back in a loop's frame only, which Enter blocks bring them into"
                               : "only loop blocks may feed back; remove one of these wires";
  draft.Error(std::move(status).WithHint(hint), blocks[0], port);
}

// Goes from each block to the producers it waits for, depth first. Each way back to a block that is still being followed is a cycle, and
// without the wires that close those ways there would be none.
void ReportCycles(Draft& draft, const std::vector<int>& waiting) {
  const Wires& wires = draft.parts.wires;
  constexpr int kNew = -1, kDone = -2;
  struct Visit {
    uint32_t next, end;  // items whose producers are still to be followed
  };
  std::vector<int> place(waiting.size(), kNew);  // on the path, or one of the above
  std::vector<int> path;
  std::vector<Visit> visits;
  auto enter = [&](int block) {
    place[block] = static_cast<int>(path.size());
    path.push_back(block);
    const Wires::Items items = wires.ItemsOf(block);
    visits.push_back({items.begin, items.end});
  };
  for (size_t start = 0; start < waiting.size(); ++start) {
    if (waiting[start] == 0 || place[start] != kNew) continue;
    enter(static_cast<int>(start));
    while (!path.empty()) {
      if (visits.back().next == visits.back().end) {
        place[path.back()] = kDone;
        path.pop_back();
        visits.pop_back();
        continue;
      }
      const uint32_t item = visits.back().next++;
      int producer = wires.producers[item];
      if (producer < 0 || draft.IsBackEdge(item) || waiting[producer] == 0 || place[producer] == kDone) continue;
      if (place[producer] == kNew) {
        enter(producer);
        continue;
      }
      std::span cycle = std::span(path).subspan(static_cast<size_t>(place[producer]));
      ReportCycle(draft, cycle, draft.InputOfItem(cycle[0], visits[static_cast<size_t>(place[producer])].next - 1).port);
      // Further wires between the same two blocks make no other cycle.
      while (visits.back().next < visits.back().end && wires.producers[visits.back().next] == producer) ++visits.back().next;
    }
  }
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] > 0) draft.nodes[i].broken = true;
  }
}

// Calls edge(from, to) for each wire between blocks; where loops stay whole, also from the ends of their iterations to a vertex behind the
// blocks, the loop's end, and from there to its exits.
template <class Edge>
void ForEachEdge(const Draft& draft, bool loops_whole, const Edge& edge) {
  draft.parts.wires.ForEach([&](int block, uint32_t item, int producer) {
    if (!draft.IsBackEdge(item)) edge(producer, block);
  });
  for (int block = 0; loops_whole && block < draft.blocks(); ++block) {
    const int end = draft.blocks() + std::max(draft.loops.home[block], 0);
    if (Flows(draft.nodes[block], Flow::kNextIteration)) edge(block, end);
    if (Flows(draft.nodes[block], Flow::kExit)) edge(end, block);
  }
}

}  // namespace

std::vector<int> SortBlocks(const Draft& draft, std::vector<int>& waiting, bool loops_whole) {
  const int count = draft.blocks();
  const size_t vertices = draft.page.blocks.size() + (loops_whole ? draft.parts.frames.size() : 0);
  waiting.assign(vertices, 0);
  bool forward = !loops_whole;  // all wires come from earlier blocks: page order it is
  ForEachEdge(draft, loops_whole, [&](int from, int to) {
    ++waiting[to];
    forward &= from < to;
  });
  std::vector<int> order;
  order.reserve(draft.page.blocks.size());
  if (forward) {
    for (int i = 0; i < count; ++i) order.push_back(i);
    waiting.assign(draft.page.blocks.size(), 0);
    return order;
  }
  const Adjacency readers(vertices, [&](const auto& edge) { ForEachEdge(draft, loops_whole, edge); });
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;  // the earliest on the page first
  std::vector<int> ended;  // loops, whose exits come before other blocks
  const auto make_ready = [&](int vertex) {
    if (vertex < count) ready.push(vertex);
    else ended.push_back(vertex);
  };
  for (int i = 0; i < static_cast<int>(vertices); ++i) {
    if (waiting[i] == 0) make_ready(i);
  }
  while (!ready.empty() || !ended.empty()) {
    int vertex;
    if (!ended.empty()) {
      vertex = ended.back();
      ended.pop_back();
    } else {
      vertex = ready.top();
      ready.pop();
      order.push_back(vertex);
    }
    for (const int reader : readers.Of(vertex)) {
      if (--waiting[reader] == 0) make_ready(reader);
    }
  }
  waiting.resize(draft.page.blocks.size());
  return order;
}

std::vector<int> OrderBlocks(Draft& draft) {
  std::vector<int> waiting;
  std::vector<int> order = SortBlocks(draft, waiting);
  if (order.size() == draft.page.blocks.size()) {
    if (draft.loops.is_back_edge.empty()) return order;
    CheckLoopOrder(draft);
    // A gradient needs all of the loops before it.
    const auto asks = [](const Node& node) { return node.def != nullptr && node.def->structural == Structural::kGradients; };
    if (std::ranges::none_of(draft.nodes, asks)) return order;
    std::vector<int> whole = SortBlocks(draft, waiting, true);
    return whole.size() == order.size() ? whole : order;
  }
  ReportCycles(draft, waiting);
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] > 0) order.push_back(static_cast<int>(i));
  }
  return order;
}

}  // namespace weft
