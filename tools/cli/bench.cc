// weft bench: times kernels, or the steps of pages, and compares them with what the machine can do.
#include <algorithm>
#include <chrono>

#include "tools/cli/bench.h"
#include "tools/cli/bench_edits.h"
#include "tools/cli/common.h"
#include "tools/cli/libraries.h"

namespace weft::cli {

Result<Timing> TimeRuns(Session& session, double seconds) {
  using Clock = std::chrono::steady_clock;
  WEFT_RETURN_IF_ERROR(session.RunSteps(3));
  auto timed = [&](int64_t runs) -> Result<double> {
    auto start = Clock::now();
    WEFT_RETURN_IF_ERROR(session.RunSteps(runs));
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / static_cast<double>(runs);
  };
  WEFT_ASSIGN_OR_RETURN(double once, timed(1));
  // Batches of about 200 us: long enough for the clock, short enough that the best of them is undisturbed.
  auto batch = static_cast<int64_t>(std::clamp(200.0 / std::max(once, 0.01), 1.0, 1000.0));
  std::vector<double> times;
  auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (times.size() < 3 || Clock::now() < end) {
    WEFT_ASSIGN_OR_RETURN(double time, timed(batch));
    times.push_back(time);
  }
  std::sort(times.begin(), times.end());
  return Timing{times[0], times[times.size() / 2]};
}

namespace {

struct Options : BenchOptions {
  int edits = 0;
};

int RunBench(const Options& given) {
  if (given.edits > 0) return BenchEdits(given.pages, given.libraries, given.edits, given.json);
  BenchOptions options = given;
  if (options.quick) options.seconds = std::min(options.seconds, 0.02);
  return options.pages.empty() ? BenchKernels(options) : BenchPages(options);
}

}  // namespace

void AddBench(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(app, "bench", "Time the runs of pages, or of kernels where no page is named",
                                 "  weft bench\n  weft bench --case BiasAddGrad --case FusedBatchNorm --threads 2\n"
                                 "  weft bench --page graphs/xor.page.json --keep asked\n  weft bench --quick --json\n"
                                 "  weft bench --page big.page.json --edits 100\n"
                                 "The share is of what this machine does in the same run with the same threads: reading as much memory as the case\n"
                                 "has, again and again (read), a = b + s * c on it (triad), or multiplications and additions in registers (product).",
                                 status, options, RunBench);
  CLI::Option* page = command->add_option("--page", options->pages, "Page whose sessions are timed")->type_name("PAGE")->check(NotEmpty());
  AddLibraryOption(*command, options->libraries)->needs(page);
  command->add_option("--keep", options->keep, "Which results of pages are kept")->check(CLI::IsMember({"all", "asked"}))->capture_default_str();
  command->add_option("--edits", options->edits, "Time so many edits of each kind instead, each made and taken back while the page is open")
      ->check(CLI::Range(1, 1000000))
      ->needs(page);
  command->add_option("--case", options->cases, "Only kernels whose names have this in them")->type_name("TEXT")->check(NotEmpty())->excludes(page);
  command->add_flag("--list", options->list, "Only name the kernel cases; with --json also what they are made of")->excludes(page);
  command->add_option("--seconds", options->seconds, "Time spent on each case")->check(CLI::Range(0.01, 3600.0))->capture_default_str();
  command->add_option("--threads", options->threads, "Threads that work at the same time (default: one a processor)")->check(CLI::Range(1, 1024));
  command->add_flag("--quick", options->quick, "Few cases and little time: a smoke test");
  command->add_flag("--json", options->json, "One JSON line a case");
}

}  // namespace weft::cli
