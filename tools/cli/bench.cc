// weft bench: times kernels, or the steps of pages, and compares them with what the machine can do.
#include <algorithm>
#include <chrono>

#include "tools/cli/bench.h"
#include "tools/cli/bench_edits.h"
#include "tools/cli/common.h"
#include "tools/cli/libraries.h"

namespace weft::cli {

PageOptions BenchOptions::PageAt(const std::string& path) const {
  PageOptions page;
  page.page = path;
  page.libraries = libraries;
  page.allow = allow;
  page.write = write;
  page.threads = threads;
  return page;
}

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
  std::vector<std::string> arguments;  // of the program
};

int RunBench(const Options& given) {
  if (!given.level.empty()) {
    if (Status status = RunAtLevel(given.level, given.arguments); !status.ok()) {
      Report(status, given.json);
      return kFailed;
    }
  }
  if (given.edits > 0) return BenchEdits(given, given.edits);
  BenchOptions options = given;
  if (options.quick) options.seconds = std::min(options.seconds, 0.02);
  return options.pages.empty() ? BenchKernels(options) : BenchPages(options);
}

}  // namespace

void AddBench(Program& program) {
  auto options = std::make_shared<Options>();
  options->arguments = program.arguments();
  Command command = program.Add("bench", "Time the runs of pages, or of kernels where no page is named",
                                "  weft bench\n  weft bench --case BiasAddGrad --case FusedBatchNorm --threads 2\n"
                                "  weft bench --page graphs/xor.page.json --keep asked\n  weft bench --quick --json\n"
                                "  weft bench --level x86-64-v3 --case MatMul\n"
                                "  weft bench --page big.page.json --edits 100\n"
                                "The share is of what this machine does in the same run with the same threads: reading as much memory as the case\n"
                                "has, again and again (read), a = b + s * c on it (triad), or multiplications and additions in registers (product).",
                                options, RunBench);
  const Option page = command.Add("--page", options->pages, "Page whose sessions are timed").Type("PAGE").NotEmpty();
  AddLibraryOption(command, options->libraries).Needs(page);
  AddFolderOptions(command, options->allow, options->write);
  command.Add("--keep", options->keep, "Which results of pages are kept").OneOf({"all", "asked"}).ShowDefault();
  command.Add("--edits", options->edits, "Time so many edits of each kind instead, each made and taken back while the page is open")
      .Between(1, 1000000)
      .Needs(page);
  command.Add("--case", options->cases, "Only kernels whose names have this in them").Type("TEXT").NotEmpty().Excludes(page);
  command.AddFlag("--list", options->list, "Only name the kernel cases; with --json also what they are made of").Excludes(page);
  command.Add("--seconds", options->seconds, "Time spent on each case").Between(0.01, 3600.0).ShowDefault();
  command.Add("--threads", options->threads, "Threads that work at the same time (default and most: one a processor)").Between(1, 1024);
  command.Add("--level", options->level, "Time a package's build for this level of processors (tools/package --levels makes them)")
      .OneOf({"x86-64-v2", "x86-64-v3", "x86-64-v4"});
  command.AddFlag("--quick", options->quick, "Few cases and little time: a smoke test");
  command.AddFlag("--json", options->json, "One JSON line a case");
}

}  // namespace weft::cli
