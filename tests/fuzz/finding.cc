#include "tests/fuzz/finding.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include "tests/kit/sanitized.h"

namespace weft::fuzz {
namespace {

double Now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

constexpr size_t kToldText = 400;  // bytes of a text that is too long

int64_t memory_limit = int64_t{64} << 20;

std::filesystem::path& Scratch() {
  static std::filesystem::path folder;
  return folder;
}

}  // namespace

const int kSlowness = kit::kSanitized ? 10 : 1;

int64_t MemoryLimit() { return memory_limit; }
void SetMemoryLimit(int64_t bytes) { memory_limit = bytes; }

void CheckStatus(const Status& status) {
  if (status.ok()) return;
  Require(status.code() != Code::kInternal, "an internal error: ", ToString(status));
  const std::string text = ToString(status);
  Require(!status.message().empty(), "an error without a message: ", text);
  Require(text.size() <= kMostStatusText, "an error of ", text.size(), " bytes: ", text.substr(0, kToldText));
}

void CheckFindings(const Diagnostics& found) {
  Require(found.all().size() <= Diagnostics::kLimit, found.all().size(), " findings are kept");
  for (const Diagnostic& diagnostic : found.all()) {
    Require(!diagnostic.status.ok(), "a finding that is none");
    CheckStatus(diagnostic.status);
    const std::string text = ToString(diagnostic);
    Require(text.size() <= kMostFindingText, "a finding of ", text.size(), " bytes: ", text.substr(0, kToldText));
  }
}

Stopwatch::Stopwatch() : clock_(Now(CLOCK_MONOTONIC)), processor_(Now(CLOCK_PROCESS_CPUTIME_ID)) {}

double Stopwatch::seconds() const { return std::min(Now(CLOCK_MONOTONIC) - clock_, Now(CLOCK_PROCESS_CPUTIME_ID) - processor_); }

void CheckTime(const Stopwatch& watch, std::chrono::duration<double> deadline, std::string_view what) {
  const double most = (deadline + std::chrono::duration<double>(kOverrun)).count() * kSlowness;
  const double seconds = watch.seconds();
  Require(seconds <= most, what, " took ", seconds, " s, with a deadline of ", deadline.count(), " s");
}

Runtime& SharedRuntime() {
  // Never ended: its threads would be waited for while the process ends.
  static Runtime& runtime =
      *new Runtime(MakeCatalog(), {.threads = 2, .memory_limit = memory_limit, .call_deadline = kCallDeadline * kSlowness});
  return runtime;
}

const std::filesystem::path& ScratchFolder() { return Scratch(); }

std::filesystem::path MakeScratchFolder() {
  for (const std::filesystem::path& parent : {std::filesystem::path("/dev/shm"), std::filesystem::temp_directory_path()}) {
    std::string pattern = (parent / "weft-fuzz-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) continue;
    Scratch() = pattern;
    break;
  }
  return Scratch();
}

std::filesystem::path ScratchFile(std::string_view name, std::string_view bytes) {
  std::filesystem::path path = ScratchFolder() / name;
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

uint32_t SeedOf(std::string_view input) {
  uint32_t seed = 0;
  const auto [stop, error] = std::from_chars(input.data(), input.data() + input.size(), seed);
  if (error == std::errc() && stop == input.data() + input.size()) return seed;
  seed = 2166136261U;  // FNV-1a
  for (const char c : input) seed = (seed ^ static_cast<unsigned char>(c)) * 16777619U;
  return seed;
}

}  // namespace weft::fuzz
