#include "runtime/state/kept_blocks.h"

#include <cstdint>
#include <new>

#include "runtime/plan/id_map.h"

namespace weft {

struct KeptBlock::State {
  explicit State(std::shared_ptr<KeptBlocks::List> of) : list(std::move(of)) {}
  ~State();
  int Find(const Graph& graph);
  void Follow(const Graph& graph) noexcept;

  const std::shared_ptr<KeptBlocks::List> list;
  State *before = nullptr, *after = nullptr;  // in the list; with its lock
  bool listed = false;
  std::mutex mutex;             // of what follows; taken after the list's
  uint64_t named = 0, now = 0;  // serial numbers: of the block that was named, and of the one that has taken its place
  int place = -1;               // where it was seen last
  std::string id;
};

KeptBlock::State::~State() {
  std::lock_guard lock(list->mutex);
  if (!listed) return;
  (before == nullptr ? list->first : before->after) = after;
  if (after != nullptr) after->before = before;
}

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

KeptBlocks::KeptBlocks(const RevisionHistory& history) : history_(history), kept_(std::make_shared<List>()) {}

KeptBlock KeptBlocks::Keep(const Graph& graph, int block) {
  auto state = std::make_shared<KeptBlock::State>(kept_);
  state->named = state->now = SerialOf(graph.page(), static_cast<size_t>(block));
  state->place = block;
  state->id = graph.page().blocks[static_cast<size_t>(block)].id;
  std::lock_guard lock(kept_->mutex);
  state->after = kept_->first;
  if (state->after != nullptr) state->after->before = state.get();
  kept_->first = state.get();
  state->listed = true;
  state->Follow(*history_.present()->graph);  // nobody else has it yet
  return KeptBlock(std::move(state));
}

void KeptBlocks::Follow(const Graph& graph) noexcept {
  std::lock_guard lock(kept_->mutex);
  for (KeptBlock::State* state = kept_->first; state != nullptr; state = state->after) {
    std::lock_guard one(state->mutex);
    state->Follow(graph);
  }
}

}  // namespace weft
