// RunResources: what belongs to one run ends with it.
#pragma once

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
    for (size_t s = 0; s < plan.slots.size(); ++s) {
      CallLimit::Check();
      if (plan.slots[s].dtype == DType::kResource && plan.slots[s].storage == Slot::Storage::kOwned) slots_.push_back(s);
    }
  }

  /// Ends those that steps have made. A handle that stays in the results leads to nothing from then on.
  void End(const ResultSet& set) const noexcept {
    for (size_t slot : slots_) {
      EndAll(set.owned[slot]);
      if (set.reusable.empty()) continue;
      for (const Tensor& earlier : set.reusable[slot]) EndAll(earlier);
    }
  }

 private:
  static void EndAll(const Tensor& handles) noexcept {
    if (!handles.defined()) return;
    for (const ResourceHandle& handle : handles.values<ResourceHandle>()) {
      if (auto* resource = dynamic_cast<RunResource*>(handle.get())) resource->EndRun();
    }
  }

  std::vector<size_t> slots_;
};

}  // namespace weft
