// For the few blocks whose gradients keep state, which gradients asked for by different blocks of the page must not share.
#pragma once

#include <string>

#include "weft/block/gradient.h"

namespace weft {

/// A GradientBuilder that knows which AddSymbolicGradients block it works for.
class SourcedGradient {
 public:
  virtual ~SourcedGradient() = default;
  /// The id of that block.
  virtual const std::string& source() const = 0;
};

/// The id of the block that asks for the gradient; empty where the engine gives it none. Blocks that use it say `gradient_varies`.
inline std::string GradientSource(const GradientBuilder& g) {
  const auto* sourced = dynamic_cast<const SourcedGradient*>(&g);
  return sourced == nullptr ? std::string() : sourced->source();
}

}  // namespace weft
