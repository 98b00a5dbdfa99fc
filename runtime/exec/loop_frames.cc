#include "runtime/exec/loop_frames.h"

namespace weft {

LoopFrames::LoopFrames(const SessionPlan& planned)
    : plan_(planned.plan), graph_(planned.graph), first_loop_(plan_.steps.size(), -1), computed_(plan_.slots.size(), 0) {
  for (size_t l = plan_.loops.size(); l-- > 0;) {
    const Loop& loop = plan_.loops[l];
    if (loop.last >= loop.first) first_loop_[loop.first] = static_cast<int>(l);
  }
}

void LoopFrames::Begin(ResultSet& set) {
  computed_.assign(computed_.size(), 0);
  Enter(set, 0, 0);
}

// Before a first iteration nothing comes from an earlier one. `from` is the first of the loops in question.
void LoopFrames::Enter(ResultSet& set, size_t step, size_t from) const {
  if (step >= first_loop_.size() || first_loop_[step] < 0) return;
  for (size_t l = static_cast<size_t>(first_loop_[step]); l < plan_.loops.size(); ++l) {
    const Loop& loop = plan_.loops[l];
    if (loop.last < loop.first) continue;
    if (loop.first != static_cast<int>(step)) break;
    if (l < from) continue;
    for (uint32_t slot : loop.next) set.values[slot].dead = true;
    // The others are set by their steps.
    for (uint32_t slot : loop.entering) set.values[slot].dead &= plan_.slots[slot].storage != Slot::Storage::kFeed;
  }
}

size_t LoopFrames::Next(ResultSet& set, size_t step) {
  const Step& done = plan_.steps[step];
  for (size_t v = 0; v < graph_.node(done.node).output_types.size(); ++v) {
    const uint32_t slot = plan_.operands[done.first_output + v];
    if (!set.values[slot].dead) computed_[slot] = 1;
  }
  for (int l = done.loop; l >= 0 && plan_.loops[l].last == static_cast<int>(step); l = plan_.loops[l].parent) {
    const Loop& loop = plan_.loops[l];
    if (Continues(set, loop)) {
      for (uint32_t slot : loop.entering) set.values[slot].dead = true;
      Enter(set, static_cast<size_t>(loop.first), static_cast<size_t>(l) + 1);
      return static_cast<size_t>(loop.first);
    }
    if (loop.parent < 0) EndOutermost(set, l);
  }
  Enter(set, step + 1, 0);
  return step + 1;
}

bool LoopFrames::Continues(const ResultSet& set, const Loop& loop) const {
  if (loop.condition >= 0) {
    const Value& condition = set.values[loop.condition];
    if (condition.dead || !*static_cast<const bool*>(condition.data)) return false;
  }
  for (uint32_t slot : loop.next) {
    if (!set.values[slot].dead) return true;
  }
  return false;
}

// As results, the values of a loop are the last that each block computed; its last iteration left many out.
void LoopFrames::EndOutermost(ResultSet& set, int index) const {
  const Loop& outer = plan_.loops[index];
  for (int s = outer.first; s <= outer.last; ++s) {
    const Node& node = graph_.node(plan_.steps[s].node);
    if (node.def->flow == Flow::kExit && plan_.steps[s].loop == index) continue;  // a value of the page
    for (size_t v = 0; v < node.output_types.size(); ++v) {
      const uint32_t slot = plan_.operands[plan_.steps[s].first_output + v];
      if (computed_[slot]) set.values[slot].dead = false;
    }
  }
  for (size_t l = static_cast<size_t>(index); l < plan_.loops.size(); ++l) {
    const Loop& loop = plan_.loops[l];
    if (l > static_cast<size_t>(index) && loop.parent < index) break;
    for (uint32_t slot : loop.entering) {
      if (computed_[slot] || plan_.slots[slot].storage == Slot::Storage::kFeed) set.values[slot].dead = false;
    }
  }
}

}  // namespace weft
