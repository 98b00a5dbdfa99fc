// Shared by the parts of `weft bench`: options, the work of a case, the machine's limits, measured times, the report.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/cli/common.h"
#include "weft/base/dtype.h"
#include "weft/exec/session.h"

namespace weft::cli {

struct BenchOptions {
  std::vector<std::string> pages;
  std::vector<std::string> cases;  // parts of names; empty: all
  std::vector<std::string> libraries;  // of blocks
  std::vector<std::string> allow, write;  // folders of the pages
  std::string keep = "all";
  std::string level;  // of processors; empty: this build
  double seconds = 0.5;  // for each case
  int threads = 0;
  bool json = false, quick = false, list = false;

  /// What Load takes for one of the pages.
  PageOptions PageAt(const std::string& path) const;
};

// ---- Levels of processors ----

/// "x86-64-v3" for a package's build; "native, x86-64-v4" for others, by what the compiler was allowed.
std::string LevelOfBuild();
/// Ok where this is the build for the level. Otherwise the loader runs `arguments` with that build in the place of this program, and this
/// returns only to tell why not. Before threads are started and anything is printed.
Status RunAtLevel(const std::string& level, const std::vector<std::string>& arguments);

// ---- The work of a case, and the machine's limits ----

/// The least data that any program must move for a case, and the operations it must compute.
struct Work {
  double read_bytes = 0, written_bytes = 0;  // a tensor that must be read twice counts twice
  int passes = 1;                            // over memory: 2 where sums over all elements are needed before the first output element
  double read_pass_bytes = 0;                // the part of read_bytes in a first pass that writes nothing
  double working_set = 0;                    // bytes of all tensors, each once: determines the cache they are read from
  double flops = 0;                          // of products and convolutions; 0 for cases that memory bounds

  double bytes() const { return read_bytes + written_bytes; }
};

/// What bounds a case.
struct Limit {
  enum class Kind : uint8_t { kRead, kTriad, kProduct };
  Kind kind = Kind::kRead;
  double rate = 0;     // GB/s of all passes together, or GFLOP/s
  double seconds = 0;  // the time of the work at that rate
  double read = 0;     // GB/s of reading as many bytes
};

/// Measures this machine on as many threads as the cases use, each figure when it is first needed. Every thread has memory of its own, in huge
/// pages where the system provides them, so that no engine can be much faster. Not thread-safe.
class MachineLimits {
 public:
  explicit MachineLimits(int threads, double seconds = 0.05) : threads_(threads), seconds_(seconds) {}

  /// GB/s of reading `bytes` repeatedly.
  double Read(double bytes);
  /// GB/s of a = b + s * c with three arrays of `bytes` in total; with non-temporal stores where they are faster.
  double Triad(double bytes);
  /// GFLOP/s of multiplications and additions of floats in registers: the peak rate of products.
  double Product();

  /// The read rate bounds passes that write little, the triad rate the others; the product rate where computing takes longer than both.
  Limit Of(const Work& work);
  /// Measures the figures of Of(work) again and keeps the better ones. For cases faster than their limit, whose measurement was disturbed.
  void MeasureAgain(const Work& work);
  int threads() const { return threads_; }

 private:
  int threads_;
  double seconds_;
  std::map<int64_t, double> read_, triad_;
  double product_ = 0;
};

// ---- Times, and their report ----

struct Timing {
  double best_us = 0, median_us = 0;
};

/// Runs until `seconds` have passed, at least three times; short runs are timed in batches.
Result<Timing> TimeRuns(Session& session, double seconds);

/// Prints one line for each case to standard output.
class BenchReport {
 public:
  BenchReport(bool json, int threads) : json_(json), threads_(threads) {}

  void Kernel(const std::string& name, const Timing& timing, const Work& work, const Limit& limit);

  struct Page {
    std::string name;
    std::string keep;
    size_t blocks = 0;  // evaluated in a run
    Work work;
    double limit_seconds = 0;  // the sum of the blocks' times at the machine's limits
    int64_t arena_bytes = 0, live_bytes = 0, kept_bytes = 0;
    double load_ms = 0, plan_ms = 0;  // reading and checking the page; planning the session
  };
  void Steps(const Page& page, const Timing& timing);

 private:
  void Heading(const char* what, const char* columns);

  bool json_;
  int threads_;
  std::string heading_;  // the last one printed
};

/// Each returns the exit status.
int BenchKernels(const BenchOptions& options);
int BenchPages(const BenchOptions& options);

}  // namespace weft::cli
