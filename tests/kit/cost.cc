#include "tests/kit/cost.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "weft/base/text.h"
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(name)
#endif

namespace weft::kit {

bool CountsInstructions() {
  static const bool counts = RUNNING_ON_VALGRIND && std::getenv("WEFT_CALLGRIND_FILE") != nullptr;
  return counts;
}

void StartCounting() { CALLGRIND_ZERO_STATS; }

// Callgrind tells its counts by files alone: the n-th that a process asks for is its --callgrind-out-file with ".n" after it.
int64_t CountedInstructions() {
  static int files = 0;
  CALLGRIND_DUMP_STATS_AT("counted");
  const std::string file = Cat(std::getenv("WEFT_CALLGRIND_FILE"), ".", ++files);
  std::ifstream lines(file);
  int64_t instructions = -1;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("totals: ")) instructions = std::atoll(line.c_str() + 8);
  }
  std::filesystem::remove(file);
  if (instructions < 0) throw std::runtime_error(Cat("callgrind wrote no totals to ", file, ": WEFT_CALLGRIND_FILE must be its --callgrind-out-file"));
  return instructions;
}

std::string CostText(double cost) {
  return CountsInstructions() ? Cat(std::llround(cost / kSecondsOfInstruction), " instructions") : Cat(1e3 * cost, " ms");
}

}  // namespace weft::kit
