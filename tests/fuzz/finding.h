// What a target finds, other than a crash; and what targets share: limits, a runtime, a folder.
#pragma once

#include <chrono>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include "weft/base/diagnostic.h"
#include "weft/base/text.h"
#include "weft/block/registry.h"
#include "weft/state/runtime.h"

namespace weft::fuzz {

class Finding : public std::exception {
 public:
  explicit Finding(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// Throws a Finding where the condition does not hold.
template <class... Parts>
void Require(bool holds, const Parts&... message) {
  if (!holds) throw Finding(Cat(message...));
}

/// How long one finding is as text: docs/limits.md has a message and the five texts that are told with it (page, pointer, block, port, hint).
inline constexpr size_t kMostFindingText = 4096 + 5 * 1024 + 64;
/// Any other error: Assert tells 1 MiB of values, all else takes less than that.
inline constexpr size_t kMostStatusText = size_t{2} << 20;
/// A value as `weft run` tells it, which is 16 elements at most.
inline constexpr size_t kMostValueText = size_t{1} << 20;
/// What all that is printed for an input may take: 1,000 findings of that length and more, and what tells the input again.
constexpr size_t MostPrinted(size_t input) { return (size_t{16} << 20) + 64 * input; }

/// An error tells what is wrong, within limits, and never that the engine itself is at fault.
void CheckStatus(const Status& status);
void CheckFindings(const Diagnostics& found);

/// What the pages of one target may hold together: 64 MB, unless it is set before the first call of SharedRuntime.
int64_t MemoryLimit();
void SetMemoryLimit(int64_t bytes);
/// Of a run, and of what a call may take before it.
inline constexpr std::chrono::milliseconds kRunDeadline{50}, kCallDeadline{500};
/// How much later than its deadline a run or call may end: 100 ms, and what a busy machine takes besides.
inline constexpr std::chrono::milliseconds kOverrun{200};
/// What one input may take.
inline constexpr double kMostSeconds = 2;
/// How many times longer everything may take under a sanitizer, or with the counters of a coverage build.
extern const int kSlowness;

/// The time since it was made: of the clock or, where less, of the processors. A busy machine does not make it longer, a wait does not either.
class Stopwatch {
 public:
  Stopwatch();
  double seconds() const;

 private:
  double clock_, processor_;
};

/// Throws a Finding where more time has passed than the deadline allows.
void CheckTime(const Stopwatch& watch, std::chrono::duration<double> deadline, std::string_view what);

/// All blocks, with MemoryLimit(), kCallDeadline and two threads.
Runtime& SharedRuntime();

/// A folder for the files of this process's targets.
const std::filesystem::path& ScratchFolder();
/// Makes it; in memory where the system has such folders, as snapshots and results wait for the disk. Empty where there can be none.
std::filesystem::path MakeScratchFolder();
/// Writes a file there, in place of the last one; gives its path.
std::filesystem::path ScratchFile(std::string_view name, std::string_view bytes);

/// The number that a target by seed was given; of other bytes, one that they make.
uint32_t SeedOf(std::string_view input);

}  // namespace weft::fuzz
