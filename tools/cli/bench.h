// What the parts of `weft bench` share: the options, a case's work, the machine's limits, a measured time, the report.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "weft/base/dtype.h"
#include "weft/exec/session.h"

namespace weft::cli {

struct BenchOptions {
  std::vector<std::string> pages;
  std::vector<std::string> cases;  // parts of names; empty: all
  std::vector<std::string> libraries;  // of blocks
  std::string keep = "all";
  double seconds = 0.5;  // for each case
  int threads = 0;
  bool json = false, quick = false, list = false;
};

// ---- What a case must do, and what the machine can do ----

/// The least that has to be moved and computed, whatever the program.
struct Work {
  double read_bytes = 0, written_bytes = 0;  // a tensor that has to be read twice counts twice
  int passes = 1;                            // over memory: 2 where sums over everything come before the first value that is written
  double read_pass_bytes = 0;                // of read_bytes, those of a pass that writes nothing, before the one that does
  double working_set = 0;                    // bytes of all tensors, each once: decides which cache they come from
  double flops = 0;                          // of products and convolutions; 0 where memory is what counts

  double bytes() const { return read_bytes + written_bytes; }
};

/// What bounds a case.
struct Limit {
  enum class Kind : uint8_t { kRead, kTriad, kProduct };
  Kind kind = Kind::kRead;
  double rate = 0;     // GB/s of all passes together, or GFLOP/s
  double seconds = 0;  // that the work takes at that rate
  double read = 0;     // GB/s of plain reading of as many bytes
};

/// Measures this machine, on the threads that cases run on; each figure when it is first asked for. Every thread works on memory of its own,
/// in huge pages where the system gives them, so that no engine can do much better.
class MachineLimits {
 public:
  explicit MachineLimits(int threads, double seconds = 0.05) : threads_(threads), seconds_(seconds) {}

  /// GB/s of reading `bytes` again and again.
  double Read(double bytes);
  /// GB/s of a = b + s * c with three arrays of `bytes` together; stores that pass the caches by are used where they are faster.
  double Triad(double bytes);
  /// GFLOP/s of multiplications and additions of floats in registers, the peak of any product.
  double Product();

  /// Reading bounds passes that write next to nothing, triad the others; products where computing takes longer than moving.
  Limit Of(const Work& work);
  /// Measures once more what Of(work) goes by, and keeps the better: a case that is faster than its limit shows that something disturbed that.
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

/// One line a case, on standard output.
class BenchReport {
 public:
  BenchReport(bool json, int threads) : json_(json), threads_(threads) {}

  void Kernel(const std::string& name, const Timing& timing, const Work& work, const Limit& limit);

  struct Page {
    std::string name;
    std::string keep;
    size_t blocks = 0;  // that a run evaluates
    Work work;
    double limit_seconds = 0;  // what the machine's limits allow for all blocks, one after another
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

/// Each gives the exit status.
int BenchKernels(const BenchOptions& options);
int BenchPages(const BenchOptions& options);

}  // namespace weft::cli
