#include "runtime/exec/step_taps.h"

#include <algorithm>
#include <numeric>

#include "runtime/plan/plan_slots.h"

namespace weft {

StepTaps::StepTaps(const Plan& plan) : plan_(plan) {
  // How many steps are done when a step's outputs have their values, and by slot. Those of a group of fused steps have theirs together.
  std::vector<size_t> done(plan.steps.size()), after(plan.slots.size(), 0);
  std::iota(done.begin(), done.end(), size_t{1});
  for (const FusedSteps& group : plan.fused) std::fill(done.begin() + group.first, done.begin() + group.last + 1, static_cast<size_t>(group.last) + 1);
  const auto outputs = [&](size_t s) { return std::pair(plan.steps[s].first_output, s + 1 < plan.steps.size() ? plan.steps[s + 1].first_input : plan.operands.size()); };
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const auto [first, end] = outputs(s);
    for (size_t o = first; o < end; ++o) after[plan.operands[o]] = done[s];
  }
  const std::vector<int> roots = RootsOf(plan, [](const Slot& slot) { return slot.bound; });
  for (size_t f = 0; f < plan.fetches.size(); ++f) {
    const int slot = plan.SlotOf(plan.fetches[f]);
    if (slot < 0) continue;
    const size_t root = static_cast<size_t>(roots[static_cast<size_t>(slot)]);
    taps_.push_back({std::max(after[static_cast<size_t>(slot)], after[root]), f, static_cast<uint32_t>(slot)});
  }
  std::ranges::stable_sort(taps_, {}, &Tap::after);
}

size_t StepTaps::Begin() {
  next_ = 0;
  return taps_.empty() ? kNone : taps_[0].after;
}

Result<size_t> StepTaps::Tell(size_t steps, const ResultSet& set, ValueTaps& taps) {
  for (; next_ < taps_.size() && taps_[next_].after <= steps; ++next_) {
    const Tap& tap = taps_[next_];
    const Value& value = set.values[tap.slot];
    WEFT_RETURN_IF_ERROR(taps.OnValue(tap.fetch, Tensor::View(plan_.slots[tap.slot].dtype, *value.shape, value.data, nullptr)));
  }
  return next_ < taps_.size() ? taps_[next_].after : kNone;
}

}  // namespace weft
