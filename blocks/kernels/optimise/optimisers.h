// Optimisers: how a variable and its slots change by a gradient, element by element.
#pragma once

#include <cstdint>

#include "weft/base/float16.h"

namespace weft::kernels {

enum class Optimiser : uint8_t {
  kGradientDescent,
  kMomentum,
  kAdagrad,
  kAdagradDA,
  kAdadelta,
  kAdam,
  kRMSProp,
  kRMSPropOfRows,
  kCenteredRMSProp,
  kCenteredRMSPropOfRows,
  kFtrl,
  kFtrlOfRows,
  kProximalGradientDescent,
  kProximalAdagrad,
};

/// Memory of one step, elements of one type all. A new value may lie where the old one does.
struct OptimiserStep {
  static constexpr int kMostValues = 4, kMostScalars = 6;
  const void* before[kMostValues];  // the variable, then its slots
  void* after[kMostValues];
  const void* gradient;
  const void* scalars[kMostScalars];  // in the order of the block's ports
  int64_t global_step;                // AdagradDA's
  bool option;                        // use_nesterov, update_slots or multiply_linear_by_lr
};

/// Changes `count` elements: those of the variable and its slots from `at` on, by those of the gradient from `gradient_at` on.
using OptimiserKernel = void (*)(const OptimiserStep& step, int64_t at, int64_t gradient_at, int64_t count);

/// Null where there is none for the type. AdagradDA, Ftrl and the proximal ones are for real numbers.
OptimiserKernel FindOptimiser(Optimiser optimiser, DType dtype);

}  // namespace weft::kernels
