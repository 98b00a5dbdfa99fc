// The order of a page's blocks: what each reads, producers before consumers, cycles.
#include <algorithm>
#include <array>
#include <queue>

#include "runtime/plan/graph_builder.h"

namespace weft {

namespace {

/// Large pages repeat themselves: what the blocks of one type read lies as far apart as it did for the last two of them.
class ProducerGuess {
 public:
  explicit ProducerGuess(const Graph& graph) : graph_(graph), blocks_(graph.page().blocks) {}

  int Find(const BlockDef* reader, size_t input, const std::string& id) {
    Series& series = series_[(reinterpret_cast<uintptr_t>(reader) / 64 + input) % series_.size()];
    const int guess = series.last + series.stride;
    const bool block = guess >= 0 && static_cast<size_t>(guess) < blocks_.size();
    if (block && blocks_[static_cast<size_t>(guess)].id == id) return series.last = guess;
    const int found = graph_.IndexOf(id);
    series.stride = found - series.last;
    series.last = found;
    return found;
  }

 private:
  struct Series {
    int last = -1, stride = 0;
  };
  const Graph& graph_;
  const std::vector<PageBlock>& blocks_;
  std::array<Series, 128> series_;
};

}  // namespace

void GraphBuilder::FindProducers() {
  ProducerGuess guess(graph_);
  first_input_.assign(1, 0);
  first_item_.assign(1, 0);
  first_input_.reserve(page_.blocks.size() + 1);
  first_item_.reserve(page_.blocks.size() * 2);
  producers_.reserve(page_.blocks.size() * 2);
  for (size_t i = 0; i < page_.blocks.size(); ++i) {
    if (TakeProducers(static_cast<int>(i))) continue;
    for (size_t k = 0; k < page_.blocks[i].inputs.size(); ++k) {
      for (const InputItem& item : page_.blocks[i].inputs[k].items) {
        const Wire* wire = WireOf(item);
        if (wire == nullptr) producers_.push_back(-1);
        else producers_.push_back(same_ids_ ? graph_.IndexOf(wire->block) : guess.Find(graph_.nodes_[i].def, k, wire->block));
      }
      first_item_.push_back(static_cast<uint32_t>(producers_.size()));
    }
    first_input_.push_back(static_cast<uint32_t>(first_item_.size()) - 1);
  }
}

// Producers before consumers. Blocks on a cycle, and those that depend on one, come last, broken.
std::vector<int> GraphBuilder::Order() {
  FindFrames();
  std::vector<int> waiting;
  std::vector<int> order = Sort(waiting);
  if (order.size() == page_.blocks.size()) {
    if (!feeds_back_.empty()) CheckLoopOrder();
    return order;
  }
  ReportCycles(waiting);
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] > 0) order.push_back(static_cast<int>(i));
  }
  return order;
}

// Among blocks that are ready, page order. What a loop's last iteration left is not waited for. `waiting` is left with how many inputs
// each block lacks; those that lack any are left out.
std::vector<int> GraphBuilder::Sort(std::vector<int>& waiting) const {
  size_t count = page_.blocks.size();
  waiting.assign(count, 0);
  std::vector<uint32_t> first(count + 1, 0), readers;
  bool forward = true;  // all wires come from earlier blocks: page order it is
  ForEachItem([&](int block, uint32_t item, int producer) {
    if (FeedsBack(item)) return;
    ++first[producer + 1], ++waiting[block];
    forward &= producer < block;
  });
  std::vector<int> order;
  order.reserve(count);
  if (forward) {
    for (size_t i = 0; i < count; ++i) order.push_back(static_cast<int>(i));
    waiting.assign(count, 0);
    return order;
  }
  for (size_t i = 0; i < count; ++i) first[i + 1] += first[i];
  readers.resize(first.back());
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  ForEachItem([&](int block, uint32_t item, int producer) {
    if (!FeedsBack(item)) readers[next[producer]++] = static_cast<uint32_t>(block);
  });

  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t i = 0; i < count; ++i) {
    if (waiting[i] == 0) ready.push(static_cast<int>(i));
  }
  while (!ready.empty()) {
    int block = ready.top();
    ready.pop();
    order.push_back(block);
    for (uint32_t r = first[block]; r < first[block + 1]; ++r) {
      if (--waiting[readers[r]] == 0) ready.push(static_cast<int>(readers[r]));
    }
  }
  return order;
}

// Goes from each block to the producers it waits for, depth first. Each way back to a block that is still being followed is a cycle, and
// without the wires that close those ways there would be none.
void GraphBuilder::ReportCycles(const std::vector<int>& waiting) {
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
    visits.push_back({first_item_[first_input_[block]], first_item_[first_input_[block + 1]]});
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
      int producer = producers_[item];
      if (producer < 0 || FeedsBack(item) || waiting[producer] == 0 || place[producer] == kDone) continue;
      if (place[producer] == kNew) {
        enter(producer);
        continue;
      }
      std::span cycle = std::span(path).subspan(static_cast<size_t>(place[producer]));
      ReportCycle(cycle, PortOfItem(cycle[0], visits[static_cast<size_t>(place[producer])].next - 1));
      // Further wires between the same two blocks make no other cycle.
      while (visits.back().next < visits.back().end && producers_[visits.back().next] == producer) ++visits.back().next;
    }
  }
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] > 0) graph_.nodes_[i].broken = true;
  }
}

std::string_view GraphBuilder::PortOfItem(int block, uint32_t item) const {
  uint32_t input = first_input_[block];
  while (first_item_[input + 1] <= item) ++input;
  return page_.blocks[block].inputs[input - first_input_[block]].port;
}

// Each block reads the next, the last one the first.
void GraphBuilder::ReportCycle(std::span<const int> blocks, std::string_view port) {
  constexpr size_t kShown = 8;
  const std::string& first = page_.blocks[blocks[0]].id;
  std::string text = first;
  for (size_t i = blocks.size(); i-- > 1;) {
    size_t position = blocks.size() - i;
    if (blocks.size() <= kShown || position < kShown / 2 || i < kShown / 2) text += Cat(" -> ", page_.blocks[blocks[i]].id);
    else if (position == kShown / 2) text += Cat(" -> ... (", blocks.size(), " blocks in all)");
  }
  Status status = blocks.size() == 1 ? InvalidArgument("the block reads its own output: ", text, " -> ", first)
                                     : InvalidArgument("the wires make a cycle: ", text, " -> ", first);
  bool loop = std::any_of(blocks.begin(), blocks.end(), [&](int block) {
    const BlockDef* def = graph_.nodes_[block].def;
    return def != nullptr && def->flow == Flow::kNextIteration;
  });
  std::string_view hint = loop ? "values feed back in a loop's frame only, which Enter blocks bring them into"
                               : "only loop blocks may feed back; remove one of these wires";
  Error(std::move(status).WithHint(hint), blocks[0], port);
}

}  // namespace weft
