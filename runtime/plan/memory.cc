// PlanMemory: offsets in the arena by best fit, in the order of the steps. Small plans are placed again, largest first, where that needs less.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "runtime/base/call_limit.h"
#include "runtime/plan/plan_slots.h"
#include "weft/plan/plan.h"

namespace weft {
namespace {

constexpr int64_t kAlignment = 64;

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

int64_t BytesOf(const Slot& slot) { return slot.shape.count() * static_cast<int64_t>(ElementSize(slot.dtype)); }

/// Free ranges of an arena that grows at its end.
class Arena {
 public:
  /// The smallest range that is large enough; of those the first.
  int64_t Take(int64_t bytes) {
    if (bytes == 0) return 0;
    if (const auto best = BestFit(bytes); best != free_.end()) {
      const int64_t offset = best->first, rest = best->second - bytes;
      Remove(best);
      if (rest > 0) Add(offset + bytes, rest);
      return offset;
    }
    // Where the last range touches the end, only what is missing is added.
    if (!free_.empty()) {
      auto last = std::prev(free_.end());
      if (last->first + last->second == size_) {
        int64_t offset = last->first;
        Remove(last);
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
      next = Remove(next);
    }
    if (next != free_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == offset) return Widen(before, bytes);
    }
    Add(offset, bytes);
  }

  int64_t size() const { return size_; }

 private:
  using Ranges = std::map<int64_t, int64_t>;  // offset -> bytes
  static constexpr size_t kFew = 64;          // ranges: to look at each costs less than to keep them by size

  Ranges::iterator BestFit(int64_t bytes) {
    if (indexed_) {
      const auto found = by_bytes_.lower_bound({bytes, 0});
      return found == by_bytes_.end() ? free_.end() : free_.find(found->second);
    }
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->second >= bytes && (best == free_.end() || it->second < best->second)) best = it;
    }
    return best;
  }
  void Add(int64_t offset, int64_t bytes) {
    free_.emplace(offset, bytes);
    if (indexed_) {
      by_bytes_.emplace(bytes, offset);
    } else if (free_.size() > kFew) {
      indexed_ = true;
      for (const auto& [at, size] : free_) by_bytes_.emplace(size, at);
    }
  }
  Ranges::iterator Remove(Ranges::iterator range) {
    if (indexed_) by_bytes_.erase({range->second, range->first});
    return free_.erase(range);
  }
  void Widen(Ranges::iterator range, int64_t more) {
    if (indexed_) by_bytes_.erase({range->second, range->first});
    range->second += more;
    if (indexed_) by_bytes_.emplace(range->second, range->first);
  }

  int64_t size_ = 0;
  Ranges free_;
  bool indexed_ = false;  // there were many ranges
  std::set<std::pair<int64_t, int64_t>> by_bytes_;  // bytes and offset of all, then
};

/// Steps that read and write as one: a step alone, or fused ones.
struct StepGroup {
  int first, last;
};

std::vector<StepGroup> GroupsOf(const Plan& plan) {
  std::vector<StepGroup> groups;
  auto fused = plan.fused.begin();
  for (int s = 0; s < static_cast<int>(plan.steps.size()); s = groups.back().last + 1) {
    const bool together = fused != plan.fused.end() && fused->first == s;
    groups.push_back({s, together ? fused->last : s});
    if (together) ++fused;
  }
  return groups;
}

/// In-place reuse: input memory that element-wise outputs of a group may be written over.
class InPlaceReuse {
 public:
  InPlaceReuse(const Graph& graph, const Plan& plan, const std::vector<int>& roots, const StepGroup& group)
      : graph_(graph), plan_(plan), roots_(roots), group_(group) {
    for (int s = group.first; s <= group.last && group.first < group.last; ++s) {
      if (IsElementwise(s)) continue;
      ForEachRead(s, [&](int root) { read_late_.push_back(root); });
    }
    std::ranges::sort(read_late_);
  }

  /// A slot that step `s` may write its output 0 over, or -1: one that no step after it reads.
  int SlotFor(int s, const std::vector<char>& reused) const {
    const Step& step = plan_.steps[s];
    if (step.kind != Step::Kind::kRun || !IsElementwise(s)) return -1;
    const Slot& out = plan_.slots[plan_.operands[step.first_output]];
    if (out.storage != Slot::Storage::kArena) return -1;
    // In a group of several steps, an element is read by all steps so far before the next element is touched.
    constexpr int kLookedAt = 64;  // what was read long before lies in no cache any more
    for (int reader = s; reader >= std::max(group_.first, s - kLookedAt); --reader) {
      if (!IsElementwise(reader)) continue;
      int found = -1;
      ForEachRead(reader, [&](int root) {
        if (found >= 0 || plan_.slots[root].last_use != reader || reused[root] || std::ranges::binary_search(read_late_, root)) return;
        // As many bytes are not enough: eight booleans are not a double.
        const Slot& in = plan_.slots[root];
        if (in.shape.count() == out.shape.count() && ElementSize(in.dtype) == ElementSize(out.dtype)) found = root;
      });
      if (found >= 0) return found;
    }
    return -1;
  }

 private:
  bool IsElementwise(int s) const { return graph_.node(plan_.steps[s].node).def->elementwise; }

  /// use(root) for each input of the step that lies in the arena.
  template <class Use>
  void ForEachRead(int s, Use&& use) const {
    const Step& step = plan_.steps[s];
    for (size_t v = 0; v < graph_.node(step.node).inputs.size(); ++v) {
      const int root = roots_[plan_.operands[step.first_input + v]];
      if (plan_.slots[root].storage == Slot::Storage::kArena) use(root);
    }
  }

  const Graph& graph_;
  const Plan& plan_;
  const std::vector<int>& roots_;  // by slot: the one whose memory it is
  const StepGroup& group_;
  std::vector<int> read_late_;  // what the group's reductions read: when all its steps have written a tile
};

/// A part of the arena: for values that live in it one after another, each written over the one before, or for a step's scratch.
struct Area {
  int64_t bytes = 0;
  int first = 0, last = 0;  // groups of steps in which it is in use
  int scratch_of = -1;      // step
};

/// Puts the largest areas first, each at the lowest offset that is free while it is in use; `offsets` are by area. The size of the arena.
int64_t PlaceLargestFirst(const std::vector<Area>& areas, std::vector<int64_t>& offsets) {
  std::vector<int> order(areas.size()), placed;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return areas[a].bytes > areas[b].bytes; });
  offsets.assign(areas.size(), 0);
  int64_t size = 0;
  for (int index : order) {
    const Area& area = areas[index];
    int64_t offset = 0;
    for (int other : placed) {  // by offset
      if (areas[other].last < area.first || areas[other].first > area.last) continue;
      if (offsets[other] >= offset + area.bytes) break;
      offset = std::max(offset, offsets[other] + areas[other].bytes);
    }
    offsets[index] = offset;
    size = std::max(size, offset + area.bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset, [&](int64_t at, int other) { return at < offsets[other]; }), index);
  }
  return size;
}

class MemoryPlanner {
 public:
  MemoryPlanner(const Graph& graph, Plan& plan) : graph_(graph), plan_(plan) {}

  void Run() {
    bool any = false;
    for (const Slot& slot : plan_.slots) {
      any |= slot.storage == Slot::Storage::kArena;
      if (slot.storage == Slot::Storage::kKept) plan_.kept_bytes += Aligned(BytesOf(slot));
    }
    if (!any && std::ranges::none_of(plan_.steps, [](const Step& step) { return step.scratch_bytes > 0; })) return;
    roots_ = RootsOf(plan_, [](const Slot& slot) { return slot.storage == Slot::Storage::kShared && slot.source >= 0; });
    dying_.assign(plan_.steps.size(), -1);
    next_dying_.assign(plan_.slots.size(), -1);
    area_of_.assign(plan_.slots.size(), -1);
    reused_.assign(plan_.slots.size(), 0);
    for (size_t s = plan_.slots.size(); s-- > 0;) {
      const Slot& slot = plan_.slots[s];
      if (slot.storage == Slot::Storage::kArena && slot.last_use >= 0) next_dying_[s] = std::exchange(dying_[slot.last_use], static_cast<int>(s));
    }
    for (const StepGroup& group : GroupsOf(plan_)) {
      Place(group);
      ++now_;
    }
    plan_.arena_bytes = arena_.size();
    if (areas_.size() <= kMostSorted && plan_.arena_bytes > plan_.live_bytes) PlaceAgain();
  }

 private:
  static constexpr size_t kMostSorted = 512;  // areas; looking at all pairs of them takes under a millisecond

  void Place(const StepGroup& group) {
    CallLimit::Check();
    const InPlaceReuse in_place(graph_, plan_, roots_, group);
    for (int s = group.first; s <= group.last; ++s) PlaceOutputs(s, in_place);
    for (int s = group.first; s <= group.last; ++s) PlaceScratch(s);
    for (int s = group.first; s <= group.last; ++s) GiveBack(s);
  }

  void PlaceOutputs(int s, const InPlaceReuse& in_place) {
    const Step& step = plan_.steps[s];
    int overwritten = in_place.SlotFor(s, reused_);
    for (size_t v = 0; v < graph_.node(step.node).output_types.size(); ++v) {
      int index = static_cast<int>(plan_.operands[step.first_output + v]);
      Slot& slot = plan_.slots[index];
      if (slot.storage != Slot::Storage::kArena) continue;
      if (v == 0 && overwritten >= 0) {
        slot.offset = plan_.slots[overwritten].offset;
        reused_[overwritten] = 1;
        area_of_[index] = area_of_[overwritten];
      } else {
        slot.offset = arena_.Take(Aligned(BytesOf(slot)));
        live_ += Aligned(BytesOf(slot));
        area_of_[index] = static_cast<int>(areas_.size());
        areas_.push_back({Aligned(BytesOf(slot)), now_, now_, -1});
      }
    }
  }

  void PlaceScratch(int s) {
    Step& step = plan_.steps[s];
    const int64_t bytes = Aligned(step.scratch_bytes);
    if (bytes > 0) areas_.push_back({bytes, now_, now_, s});
    step.scratch_offset = arena_.Take(bytes);
    plan_.live_bytes = std::max(plan_.live_bytes, live_ + bytes);
    arena_.Give(step.scratch_offset, bytes);
  }

  void GiveBack(int s) {
    for (int dead = dying_[s]; dead >= 0; dead = next_dying_[dead]) {
      if (area_of_[dead] < 0 || reused_[dead]) continue;
      areas_[area_of_[dead]].last = now_;
      arena_.Give(plan_.slots[dead].offset, Aligned(BytesOf(plan_.slots[dead])));
      live_ -= Aligned(BytesOf(plan_.slots[dead]));
    }
  }

  // In the order of the steps, a value grows the arena where no free gap is as large as it is.
  void PlaceAgain() {
    std::vector<int64_t> offsets;
    const int64_t size = PlaceLargestFirst(areas_, offsets);
    if (size >= plan_.arena_bytes) return;
    plan_.arena_bytes = size;
    for (size_t slot = 0; slot < area_of_.size(); ++slot) {
      if (area_of_[slot] >= 0) plan_.slots[slot].offset = offsets[area_of_[slot]];
    }
    for (size_t a = 0; a < areas_.size(); ++a) {
      if (areas_[a].scratch_of >= 0) plan_.steps[areas_[a].scratch_of].scratch_offset = offsets[a];
    }
  }

  const Graph& graph_;
  Plan& plan_;
  Arena arena_;
  std::vector<Area> areas_;
  std::vector<int> roots_;       // by slot: the one whose memory it is
  std::vector<int> dying_;       // by step: the first slot that no later one reads, or -1
  std::vector<int> next_dying_;  // by slot: the next of its step, or -1
  std::vector<int> area_of_;     // by slot: index into areas_, or -1
  std::vector<char> reused_;     // by slot: another slot has its memory
  int now_ = 0;                  // the group at hand
  int64_t live_ = 0;             // bytes of the values that live now
};

}  // namespace

void PlanMemory(const Graph& graph, Plan& plan) { MemoryPlanner(graph, plan).Run(); }

}  // namespace weft
