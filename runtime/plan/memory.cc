// Memory planning: offsets in the arena by best fit, in the order of the steps.
#include <algorithm>
#include <map>

#include "weft/plan/plan.h"

namespace weft {
namespace {

constexpr int64_t kAlignment = 64;

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

int64_t BytesOf(const Slot& slot) { return slot.shape.count() * static_cast<int64_t>(ElementSize(slot.dtype)); }

/// Free ranges of an arena that grows at its end.
class Arena {
 public:
  int64_t Take(int64_t bytes) {
    if (bytes == 0) return 0;
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->second >= bytes && (best == free_.end() || it->second < best->second)) best = it;
    }
    if (best != free_.end()) {
      int64_t offset = best->first, rest = best->second - bytes;
      free_.erase(best);
      if (rest > 0) free_[offset + bytes] = rest;
      return offset;
    }
    // Where the last range touches the end, only what is missing is added.
    if (!free_.empty()) {
      auto last = std::prev(free_.end());
      if (last->first + last->second == size_) {
        int64_t offset = last->first;
        free_.erase(last);
        size_ = offset + bytes;
        return offset;
      }
    }
    size_ += bytes;
    return size_ - bytes;
  }

  void Give(int64_t offset, int64_t bytes) {
    if (bytes == 0) return;
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && offset + bytes == next->first) {
      bytes += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == offset) {
        before->second += bytes;
        return;
      }
    }
    free_[offset] = bytes;
  }

  int64_t size() const { return size_; }

 private:
  int64_t size_ = 0;
  std::map<int64_t, int64_t> free_;  // offset -> bytes
};

/// The arena slot whose memory an operand is, or -1 where it is not the arena's.
int RootOf(const Plan& plan, int slot) {
  while (plan.slots[slot].storage == Slot::Storage::kShared) {
    slot = plan.slots[slot].source;
    if (slot < 0) return -1;
  }
  return plan.slots[slot].storage == Slot::Storage::kArena ? slot : -1;
}

/// An input of the step whose memory the element-wise output may take over, or -1.
int InputToOverwrite(const Graph& graph, const Plan& plan, int s) {
  const Step& step = plan.steps[s];
  const Node& node = graph.node(step.node);
  if (!node.def->elementwise || step.kind != Step::Kind::kRun) return -1;
  const Slot& out = plan.slots[plan.operands[step.first_output]];
  if (out.storage != Slot::Storage::kArena) return -1;
  for (size_t v = 0; v < node.inputs.size(); ++v) {
    int root = RootOf(plan, static_cast<int>(plan.operands[step.first_input + v]));
    if (root < 0 || plan.slots[root].last_use != s) continue;
    // The same bytes would not do: eight booleans are not a double.
    if (plan.slots[root].shape.count() != out.shape.count() || ElementSize(plan.slots[root].dtype) != ElementSize(out.dtype)) continue;
    return root;
  }
  return -1;
}

}  // namespace

void PlanMemory(const Graph& graph, Plan& plan) {
  Arena arena;
  std::vector<std::vector<int>> dying(plan.steps.size());
  std::vector<char> taken_over(plan.slots.size(), 0), placed(plan.slots.size(), 0);
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    const Slot& slot = plan.slots[s];
    if (slot.storage == Slot::Storage::kArena && slot.last_use >= 0) dying[slot.last_use].push_back(static_cast<int>(s));
    if (slot.storage == Slot::Storage::kKept) plan.kept_bytes += Aligned(BytesOf(slot));
  }
  int64_t live = 0;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    Step& step = plan.steps[s];
    const Node& node = graph.node(step.node);
    int overwritten = InputToOverwrite(graph, plan, static_cast<int>(s));
    for (size_t v = 0; v < node.output_types.size(); ++v) {
      int index = static_cast<int>(plan.operands[step.first_output + v]);
      Slot& slot = plan.slots[index];
      if (slot.storage != Slot::Storage::kArena) continue;
      placed[index] = 1;
      if (v == 0 && overwritten >= 0) {
        slot.offset = plan.slots[overwritten].offset;
        taken_over[overwritten] = 1;
        continue;
      }
      slot.offset = arena.Take(Aligned(BytesOf(slot)));
      live += Aligned(BytesOf(slot));
    }
    step.scratch_offset = arena.Take(Aligned(step.scratch_bytes));
    plan.live_bytes = std::max(plan.live_bytes, live + Aligned(step.scratch_bytes));
    arena.Give(step.scratch_offset, Aligned(step.scratch_bytes));
    for (int dead : dying[s]) {
      if (!placed[dead] || taken_over[dead]) continue;
      arena.Give(plan.slots[dead].offset, Aligned(BytesOf(plan.slots[dead])));
      live -= Aligned(BytesOf(plan.slots[dead]));
    }
  }
  plan.arena_bytes = arena.size();
}

}  // namespace weft
