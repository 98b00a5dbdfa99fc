#include "runtime/plan/wire_fit_links.h"

#include <utility>

#include "runtime/base/call_limit.h"

namespace weft {
namespace {

/// The blocks that are open and all that are reached from them.
template <class NextOf>
std::vector<char> Reached(std::vector<int> open, size_t count, NextOf&& next_of) {
  std::vector<char> found(count, 0);
  for (int block : open) found[static_cast<size_t>(block)] = 1;
  while (!open.empty()) {
    CallLimit::Check();
    const int at = open.back();
    open.pop_back();
    for (int next : next_of(at)) {
      if (!std::exchange(found[static_cast<size_t>(next)], 1)) open.push_back(next);
    }
  }
  return found;
}

}  // namespace

PageLinks::PageLinks(const Graph& graph) {
  const std::vector<PageBlock>& blocks = graph.page().blocks;
  first_producer_.reserve(blocks.size() + 1);
  first_producer_.push_back(0);
  for (size_t b = 0; b < blocks.size(); ++b) {
    CallLimit::Check();
    const Node& node = graph.node(static_cast<int>(b));
    size_t value = 0;  // of the node, where each item is one
    for (const PageInput& input : blocks[b].inputs) {
      for (const InputItem& item : input.items) {
        const Wire* wire = WireOf(item);
        const int likely = value < node.inputs.size() && node.inputs[value].valid() ? graph.node(node.inputs[value].node).page_block : -1;
        ++value;
        if (wire == nullptr) continue;
        const bool found = likely >= 0 && blocks[static_cast<size_t>(likely)].id == wire->block;
        const int producer = found ? likely : graph.IndexOf(wire->block);
        if (producer < 0) continue;
        const Node& from = graph.node(producer);
        const bool back = node.def != nullptr && from.def != nullptr && node.def->flow == Flow::kMerge && from.def->flow == Flow::kNextIteration && from.frame != 0;
        if (!back) producers_.push_back(producer);
      }
    }
    first_producer_.push_back(static_cast<uint32_t>(producers_.size()));
  }
}

std::span<const int> PageLinks::ReadersOf(int block) {
  if (!readers_) {
    const size_t count = first_producer_.size() - 1;
    readers_.emplace(count, [&](const auto& edge) {
      for (int reader = 0; reader < static_cast<int>(count); ++reader) {
        CallLimit::Check();
        for (int producer : ProducersOf(reader)) edge(producer, reader);
      }
    });
  }
  return readers_->Of(block);
}

std::vector<char> PageLinks::Ancestors(std::vector<int> blocks) const {
  return Reached(std::move(blocks), first_producer_.size() - 1, [&](int at) { return ProducersOf(at); });
}

std::vector<char> PageLinks::Descendants(std::vector<int> blocks) {
  return Reached(std::move(blocks), first_producer_.size() - 1, [&](int at) { return ReadersOf(at); });
}

}  // namespace weft
