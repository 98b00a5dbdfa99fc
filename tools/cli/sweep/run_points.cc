// The points of a sweep in a pool of processes, with progress and signals.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <thread>

#include "tools/cli/interrupt.h"
#include "tools/cli/sweep/pool.h"
#include "tools/cli/sweep/sweep.h"

namespace weft::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::string TimeText(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole < 120) return Cat(whole, " s");
  if (whole < 7200) return Cat(whole / 60, " min");
  return Cat(whole / 3600, " h ", whole / 60 % 60, " min");
}

/// The line that a terminal shows: how far the sweep is, how fast, how long it still takes.
class ProgressLine {
 public:
  ProgressLine(const Progress& progress, bool shown, int64_t todo) : progress_(progress), shown_(shown), todo_(todo) {}
  ~ProgressLine() {
    if (shown_) std::cerr << "\r\033[K";
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Note(int64_t points) { ran_ += points; }
  void Show() {
    const auto now = Clock::now();
    if (!shown_ || now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - start_).count(), rate = static_cast<double>(ran_) / seconds;
    std::cerr << "\r\033[K" << ProgressText(progress_);
    if (ran_ > 0) {
      char text[40];
      std::snprintf(text, sizeof text, rate < 10 ? "%.2g" : "%.0f", rate);
      std::cerr << ", " << text << " points/s, " << TimeText(static_cast<double>(todo_ - ran_) / rate) << " left";
    }
    std::cerr << std::flush;
  }

 private:
  const Progress& progress_;
  const bool shown_;
  const int64_t todo_;
  int64_t ran_ = 0;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
};

int Processors() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

int JobsOf(const SweepCommand& command) {
  if (command.jobs > 0) return command.jobs;
  return std::max(1, Processors() / std::max(1, command.page.threads));
}

/// The command line of a process that runs points.
std::vector<std::string> WorkerArguments(const SweepCommand& command, int64_t memory) {
  std::vector<std::string> arguments = {"sweep", command.grid, "--points", "-"};
  const auto add = [&](const char* option, const std::vector<std::string>& values) {
    for (const std::string& value : values) arguments.insert(arguments.end(), {option, value});
  };
  add("--allow", command.page.allow);
  add("--write", command.page.write);
  add("--library", command.page.libraries);
  add("--allow-blocks", command.page.blocks.allowed);
  add("--refuse-blocks", command.page.blocks.refused);
  add("--threads", {std::to_string(std::max(1, command.page.threads))});
  add("--memory", {std::to_string(memory)});
  return arguments;
}

}  // namespace

std::string Grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<size_t>(at), ",");
  return text;
}

std::string ProgressText(const Progress& progress) {
  std::string text = Cat(Grouped(progress.done()), " of ", Grouped(progress.points()), " points done");
  return progress.failed() > 0 ? Cat(text, ", ", Grouped(progress.failed()), " failed") : text;
}

Status RunPoints(const SweepCommand& command, const Grid& grid, const SweepId& id, const std::vector<PointRange>& points, int64_t memory,
                 Journal& journal, Progress& progress) {
  int64_t todo = 0;
  for (const PointRange& range : points) todo += range.last - range.first + 1;
  PoolOptions options;
  options.jobs = JobsOf(command);
  options.arguments = WorkerArguments(command, command.page.memory > 0 ? memory : std::max<int64_t>(1, memory / options.jobs));
  options.interrupted = &Interrupt::signal();
  ProgressLine shown(progress, !command.quiet && IsTerminal(2), todo);
  PoolEvents events;
  events.done = [&](std::string_view lines, const std::vector<PointLine>& done) {
    WEFT_RETURN_IF_ERROR(journal.Append(lines));
    for (const PointLine& line : done) progress.Note(line);
    shown.Note(static_cast<int64_t>(done.size()));
    return Status();
  };
  events.tick = [&] { shown.Show(); };
  const Interrupt interrupt;
  Status status = Pool(grid, id, std::move(options), std::move(events)).Run(points);
  if (Interrupt::signal() != 0 && status.code() == Code::kCancelled) status = {};
  Status synced = journal.Sync();
  return status.ok() ? synced : status;
}

}  // namespace weft::cli
