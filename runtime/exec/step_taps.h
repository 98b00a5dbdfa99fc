// StepTaps: after which steps of a plan its fetches have their values.
#pragma once

#include <vector>

#include "runtime/exec/result_set.h"
#include "weft/exec/value_taps.h"
#include "weft/plan/plan.h"

namespace weft {

/// For the thread that runs. The plan must outlive it.
class StepTaps {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  explicit StepTaps(const Plan& plan);
  /// A run begins. Gives how many steps are done when the first value is there, kNone where there is none.
  size_t Begin();
  /// Tells all values that are there after so many steps; gives when the next will be.
  Result<size_t> Tell(size_t steps, const ResultSet& set, ValueTaps& taps);

 private:
  struct Tap {
    size_t after, fetch;
    uint32_t slot;
  };
  const Plan& plan_;
  std::vector<Tap> taps_;  // in the order in which they come
  size_t next_ = 0;
};

}  // namespace weft
