#include "runtime/state/kept_blocks.h"

#include <algorithm>
#include <new>

#include "runtime/plan/id_map.h"

namespace weft {

// Called with the lock held, as Follow.
int KeptBlock::State::Find(const Graph& graph) {
  int block = BlockOfSerial(graph, named, place, id);
  if (block < 0 && now != named) block = BlockOfSerial(graph, now, place, id);
  if (block < 0) block = graph.IndexOf(id);
  if (block >= 0) place = block;
  return block;
}

void KeptBlock::State::Follow(const Graph& graph) noexcept {
  const int block = Find(graph);
  if (block < 0) return;
  now = SerialOf(graph.page(), static_cast<size_t>(block));
  const std::string& called = graph.page().blocks[static_cast<size_t>(block)].id;
  if (called == id) return;
  try {
    id = called;
  } catch (const std::bad_alloc&) {
  }
}

int KeptBlock::In(const Graph& graph) const {
  std::lock_guard lock(state_->mutex);
  return state_->Find(graph);
}

std::string KeptBlock::id() const {
  std::lock_guard lock(state_->mutex);
  return state_->id;
}

KeptBlock KeptBlocks::Keep(const Graph& graph, int block) {
  auto state = std::make_shared<KeptBlock::State>();
  state->named = state->now = SerialOf(graph.page(), static_cast<size_t>(block));
  state->place = block;
  state->id = graph.page().blocks[static_cast<size_t>(block)].id;
  std::lock_guard lock(mutex_);
  if (kept_.size() >= tidy_at_) {
    std::erase_if(kept_, [](const auto& kept) { return kept.expired(); });
    tidy_at_ = std::max<size_t>(64, 2 * kept_.size());
  }
  kept_.push_back(state);
  state->Follow(*history_.present()->graph);  // nobody else has it yet
  return KeptBlock(std::move(state));
}

void KeptBlocks::Follow(const Graph& graph) noexcept {
  std::lock_guard lock(mutex_);
  for (const auto& kept : kept_) {
    const std::shared_ptr<KeptBlock::State> state = kept.lock();
    if (state == nullptr) continue;
    std::lock_guard one(state->mutex);
    state->Follow(graph);
  }
}

}  // namespace weft
