// Where the wires of a page come from.
#include <array>
#include <string>

#include "runtime/base/call_limit.h"
#include "runtime/plan/passes.h"

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

void FindProducers(Draft& draft) {
  ProducerGuess guess(draft.graph);
  Wires& wires = draft.parts.wires;
  const std::vector<PageBlock>& blocks = draft.page.blocks;
  wires.first_input.assign(1, 0);
  wires.first_item.assign(1, 0);
  wires.first_input.reserve(blocks.size() + 1);
  wires.first_item.reserve(blocks.size() * 2);
  wires.producers.reserve(blocks.size() * 2);
  for (size_t i = 0; i < blocks.size(); ++i) {
    CallLimit::Check();
    if (draft.reuse.TakeWires(static_cast<int>(i))) continue;
    for (size_t k = 0; k < blocks[i].inputs.size(); ++k) {
      for (const InputItem& item : blocks[i].inputs[k].items) {
        const Wire* wire = WireOf(item);
        if (wire == nullptr) wires.producers.push_back(-1);
        else if (draft.repeated_ids) wires.producers.push_back(draft.graph.IndexOf(wire->block));
        else wires.producers.push_back(guess.Find(draft.nodes[i].def, k, wire->block));
      }
      wires.first_item.push_back(static_cast<uint32_t>(wires.producers.size()));
    }
    wires.first_input.push_back(static_cast<uint32_t>(wires.first_item.size()) - 1);
  }
}

}  // namespace weft
