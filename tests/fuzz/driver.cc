#include "tests/fuzz/driver.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <thread>

#include "tests/fuzz/finding.h"
#include "tests/fuzz/mutator.h"
#include "tests/kit/sanitized.h"
#include "tests/kit/test_services.h"

namespace weft::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kFound = 3;  // exit status of a process that a Finding ended
// An input that takes more of the processors, or more of the clock, hangs. (The clock counts what a busy machine gives to others, too.)
constexpr std::chrono::seconds kHang{20}, kStill{300};

/// What the process of a target tells the one that watches it. In memory that both have.
struct Shared {
  std::atomic<uint64_t> next;      // the input that runs, or is to run
  std::atomic<bool> ready;         // what the target loads once is loaded
  double longest;                  // seconds that an input took
  size_t size;                     // of the input
  char input[Mutator::kMostBytes];
  size_t message_size;
  char message[65536];             // of a Finding
};

Shared& MapShared() {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Require(memory != MAP_FAILED, "no memory");
  return *new (memory) Shared();
}

/// How much memory one input may take: the limit of the pages, what planning and a copy take besides, and a multiple of the input.
int64_t MostBytes(size_t input) { return 4 * MemoryLimit() + 64 * static_cast<int64_t>(input); }

int64_t PeakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} << 10;
}

/// The peak is what is in use now, from here on.
void ResetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// Runs inputs from shared.next on, until time or number are over; the status of the process. Does not return where a signal ends it.
class Child {
 public:
  Child(const Target& target, const DriverOptions& options, Shared& shared, Clock::time_point end)
      : target_(target), options_(options), shared_(shared), end_(end), mutator_(corpus_, words_) {
    for (const auto& path : CorpusFiles(options, target)) corpus_.push_back(kit::FileBytes(path).substr(0, Mutator::kMostBytes));
    words_ = ReadDictionary(options.source / "tests/fuzz/dictionaries" / Cat(target.name, ".dict"));
  }

  int Run() {
    WarmUp();
    shared_.ready = true;
    ResetPeak();
    base_ = PeakBytes();
    const uint64_t most = options_.inputs == 0 ? ~uint64_t{0} : corpus_.size() + options_.inputs;
    while (shared_.next < most && (options_.seconds == 0 || Clock::now() < end_ || shared_.next < corpus_.size())) {
      const std::string input = Input(shared_.next);
      shared_.size = input.size();
      std::memcpy(shared_.input, input.data(), input.size());
      try {
        Measure(input);
      } catch (const std::exception& finding) {
        const std::string text = Cat(finding.what(), target_.by_seed() ? Cat("\n", target_.tell(input).substr(0, 4000)) : "");
        shared_.message_size = text.copy(shared_.message, sizeof shared_.message);
        return kFound;
      }
      ++shared_.next;
    }
    return 0;
  }

 private:
  /// What a target loads once is neither an input's time nor its memory, nor the time of the run.
  void WarmUp() {
    std::set_terminate(std::abort);  // and not as the program weft does
    const auto start = Clock::now();
    if (target_.by_seed()) (void)target_.tell("0");
    (void)SharedRuntime();
    end_ += Clock::now() - start;
  }

  std::string Input(uint64_t index) const {
    if (target_.by_seed()) return Cat(options_.seed - 1 + index);
    if (index < corpus_.size()) return corpus_[index];
    std::seed_seq seeds{options_.seed, static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32)};
    std::mt19937 random(seeds);
    return mutator_.Changed(corpus_.empty() ? "" : corpus_[random() % corpus_.size()], random);
  }

  void Measure(const std::string& input) {
    const Stopwatch watch;
    RunInput(target_, input);
    const double seconds = watch.seconds();
    shared_.longest = std::max(shared_.longest, seconds);
    Require(seconds <= kMostSeconds * kSlowness, "it took ", seconds, " s");
    if (kit::kSanitized) return;
    const int64_t peak = PeakBytes();
    if (peak < base_ + (1 << 20)) return;
    Require(peak - base_ <= MostBytes(input.size()), "it took ", (peak - base_) >> 20, " MB");
    ResetPeak();
    base_ = PeakBytes();
  }

  const Target& target_;
  const DriverOptions& options_;
  Shared& shared_;
  Clock::time_point end_;
  std::vector<std::string> corpus_;
  Dictionary words_;
  Mutator mutator_;
  int64_t base_ = 0;  // bytes in use before an input
};

double ProcessorSeconds(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// Waits until the process ends; ends it where an input takes too long. Gives what happened, empty where all is well.
std::string Watch(pid_t process, const Shared& shared) {
  int state = 0;
  constexpr std::chrono::milliseconds kLook{5};
  uint64_t last = ~uint64_t{0};
  double before = 0;  // processor time when the input began
  // Looks are counted, rather than time: a machine that stands still stops both.
  for (int64_t looks = 0; waitpid(process, &state, WNOHANG) == 0; ++looks) {
    std::this_thread::sleep_for(kLook);
    const double used = ProcessorSeconds(process);
    if (shared.next != last) looks = 0;
    if (shared.next != last || !shared.ready) before = used;
    last = shared.next;
    const bool still = looks * kLook > kStill * kSlowness;
    if (still || used - before > static_cast<double>(kHang.count() * kSlowness)) kill(process, SIGKILL);
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return "";
  if (WIFEXITED(state) && WEXITSTATUS(state) == kFound) return std::string(shared.message, shared.message_size);
  if (WIFEXITED(state)) return Cat("the process ended with the status ", WEXITSTATUS(state));
  if (WTERMSIG(state) == SIGKILL) return "it did not end";
  return Cat("signal ", WTERMSIG(state), " (", strsignal(WTERMSIG(state)), ")");
}

std::string Keep(const Target& target, const DriverOptions& options, const Shared& shared) {
  std::filesystem::create_directories(options.findings);
  const std::filesystem::path path = options.findings / Cat(target.name, "-", options.seed, "-", shared.next.load());
  std::ofstream(path, std::ios::binary).write(shared.input, static_cast<std::streamsize>(shared.size));
  return path.string();
}

}  // namespace

void RunInput(const Target& target, std::string_view input) { target.run(input); }

std::vector<std::filesystem::path> CorpusFiles(const DriverOptions& options, const Target& target) {
  std::vector<std::filesystem::path> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(options.source / "tests/fuzz/corpus" / target.name, none)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

TargetReport RunTarget(const Target& target, const DriverOptions& options) {
  TargetReport report;
  Shared& shared = MapShared();
  const auto start = Clock::now();
  const auto end = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  for (bool over = false; !over && report.findings.size() < kMostFindings;) {
    shared.ready = false;
    std::cout.flush();
    const pid_t process = fork();
    Require(process >= 0, "no process");
    if (process == 0) _exit(Child(target, options, shared, end).Run());
    const std::string finding = Watch(process, shared);
    over = finding.empty();
    if (over) break;
    report.findings.push_back(Cat(finding, "\n  input: ", Keep(target, options, shared)));
    ++shared.next;
  }
  report.inputs = shared.next;
  report.longest = shared.longest;
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  munmap(&shared, sizeof shared);
  return report;
}

}  // namespace weft::fuzz
