// RunResources: what belongs to one run ends with it.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/base/call_limit.h"
#include "runtime/exec/result_set.h"
#include "weft/block/run_resource.h"
#include "weft/plan/plan.h"

namespace weft {

/// Knows which values of a plan hold handles; a plan without any pays nothing.
class RunResources {
 public:
  explicit RunResources(const Plan& plan) {
    slots_.reserve(Count(plan));
    for (size_t s = 0; s < plan.slots.size(); ++s) {
      CallLimit::Check();
      if (IsMade(plan.slots[s])) slots_.push_back(s);
    }
  }
  /// How much memory it takes for the plan.
  static int64_t BytesFor(const Plan& plan) { return static_cast<int64_t>(Count(plan) * sizeof(size_t)); }

  /// Ends those that steps have made. A handle that stays in the results leads to nothing from then on.
  void End(const ResultSet& set) const noexcept {
    for (size_t slot : slots_) {
      EndAll(set.owned[slot]);
      if (set.reusable.empty()) continue;
      for (const Tensor& earlier : set.reusable[slot]) EndAll(earlier);
    }
  }

 private:
  static bool IsMade(const Slot& slot) { return slot.dtype == DType::kResource && slot.storage == Slot::Storage::kOwned; }
  static size_t Count(const Plan& plan) {
    return static_cast<size_t>(std::ranges::count_if(plan.slots, [](const Slot& slot) {
      CallLimit::Check();
      return IsMade(slot);
    }));
  }
  static void EndAll(const Tensor& handles) noexcept {
    if (!handles.defined()) return;
    for (const ResourceHandle& handle : handles.values<ResourceHandle>()) {
      if (auto* resource = dynamic_cast<RunResource*>(handle.get())) resource->EndRun();
    }
  }

  std::vector<size_t> slots_;
};

}  // namespace weft
