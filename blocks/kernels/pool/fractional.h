// Where the windows of fractional pooling start: TensorFlow's own sequences.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "blocks/kernels/random/philox.h"
#include "blocks/kernels/stop_check.h"

namespace weft::kernels {

/// Cuts `length` inputs into starts.size() - 1 windows of k or k + 1 inputs each, from starts[0] = 0 to starts.back() = length; k is their
/// mean, rounded down. Where all have k, as much is drawn as elsewhere, as TensorFlow does. At least one window, no more than inputs, and below 2^31.
/// False where it left because the run of `workers` is to end.
[[nodiscard]] inline bool DrawPoolingSequence(int64_t length, bool pseudo_random, Philox& generator, std::span<int64_t> starts,
                                              const Workers& workers) {
  StopCheck stop(workers);
  const auto windows = static_cast<int64_t>(starts.size()) - 1;
  const int64_t k = length / windows, longer = length % windows;
  starts[0] = 0;
  if (pseudo_random) {
    // Window i ends at ceil(alpha * (i + u)) - 1; u is bounded so that the first and the last are no longer and no shorter than the rest.
    const double alpha = static_cast<double>(length) / static_cast<double>(windows);
    const double bound = std::min(static_cast<double>(k + 2) / alpha - 1,
                                  static_cast<double>(length + 1 - k) / alpha - static_cast<double>(windows - 1));
    const Philox::Words words = generator();
    const double u = UnitDouble(words[0], words[1]) * bound;
    for (int64_t i = 1; i < windows; ++i) {
      if (stop(4)) return false;
      starts[i] = std::clamp(static_cast<int64_t>(std::ceil(alpha * (static_cast<double>(i) + u))) - 1, starts[i - 1], length);
    }
    starts[windows] = length;
    return true;
  }
  const std::span<int64_t> sizes = starts.subspan(1);
  for (int64_t i = 0; i < windows; ++i) {
    if (stop()) return false;
    sizes[i] = i < longer ? k + 1 : k;
  }
  Philox::Words words{};
  for (int64_t i = 0; i < windows - 1; ++i) {
    if (stop(8)) return false;
    if (i % 4 == 0) words = generator();
    std::swap(sizes[i], sizes[i + words[i % 4] % static_cast<uint32_t>(windows - i)]);
  }
  // Numbers for all of the windows are set aside, also for the last one, which needs none.
  if ((windows - 1) % 4 == 0) generator.Skip(1);
  for (int64_t i = 1; i <= windows; ++i) {
    if (stop()) return false;
    starts[i] += starts[i - 1];
  }
  return true;
}

}  // namespace weft::kernels
