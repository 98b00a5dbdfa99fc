// What a piece of work costs: the processor's time, or, where the tests run under callgrind (tools/count_growth), instructions.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace weft::kit {

/// Whether this process runs under callgrind, which counts every instruction of every thread: neither caches nor other programs change the cost.
bool CountsInstructions();

/// Of this process, all threads: what other programs do does not count. (They share caches and memory with it, though: take the best of several.)
inline double ProcessorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// An instruction counts as so many seconds, so that limits in seconds hold for both.
inline constexpr double kSecondsOfInstruction = 0.25e-9;

/// Counting from here on, and the instructions since then. One piece of work at a time.
void StartCounting();
int64_t CountedInstructions();

/// Seconds that `work` takes, as above.
template <class Work>
double CostOf(Work&& work) {
  if (CountsInstructions()) {
    StartCounting();
    work();
    return kSecondsOfInstruction * static_cast<double>(CountedInstructions());
  }
  const double begin = ProcessorSeconds();
  work();
  return ProcessorSeconds() - begin;
}

/// "1.25 ms", or "5000000 instructions".
std::string CostText(double cost);

}  // namespace weft::kit
