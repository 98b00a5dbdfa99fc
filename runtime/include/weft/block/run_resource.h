// RunResource: a resource that belongs to one run, like a TensorArray.
#pragma once

#include "weft/block/services.h"

namespace weft {

/// Made by a block while it runs. Values of the run hold it by its handle; when the run ends, also by a failure, it gives back what it holds,
/// whoever still has a handle.
class RunResource : public Resource {
 public:
  virtual void EndRun() noexcept = 0;
};

}  // namespace weft
