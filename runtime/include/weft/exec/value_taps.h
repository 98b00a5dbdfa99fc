// ValueTaps: an observer that takes fetched values out of a run as soon as they are there.
#pragma once

#include "weft/base/status.h"
#include "weft/base/tensor.h"

namespace weft {

/// What an Observer is besides. The steps are neither told nor slowed for it, and fused steps stay fused.
class ValueTaps {
 public:
  virtual ~ValueTaps() = default;
  /// After the step that computes a fetch of the session, on the thread that runs; each fetch once a run, those that one step or none
  /// computes in their order. The tensor is a view of memory that holds the value until the run ends. A status that is not ok ends the run
  /// with it. Not called where steps may run again or be left out (loops, Switch).
  virtual Status OnValue(size_t fetch, const Tensor& value) = 0;
};

}  // namespace weft
