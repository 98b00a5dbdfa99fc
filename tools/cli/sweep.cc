// weft sweep: a page with many settings.
#include "tools/cli/sweep/sweep.h"

#include <sys/ioctl.h>

#include <iostream>
#include <map>

#include "tools/cli/interrupt.h"
#include "tools/cli/sweep/point_runner.h"
#include "tools/cli/sweep/table.h"
#include "tools/cli/sweep/table_arrays.h"
#include "tools/cli/sweep/worker.h"

namespace weft::cli {
namespace {

int Fail(const Status& status) {
  Report(status, false);
  return kFailed;
}

/// One JSON line a point: what --list prints.
void List(const Grid& grid, const std::vector<PointRange>& ranges) {
  for (const PointRange& range : ranges) {
    for (int64_t point = range.first; point <= range.last && std::cout; ++point) {
      std::cout << "{\"point\": " << point << ", \"settings\": " << grid.At(point).Json() << "}\n";
    }
  }
}

/// The sweep that a grid and its page are.
Result<SweepId> FindId(const Grid& grid) {
  WEFT_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(grid.page));
  WEFT_ASSIGN_OR_RETURN(const std::string hash, PageHash(grid, bytes));
  return IdOf(grid, hash);
}

int WorkHere(const SweepCommand& command, const Grid& grid) {
  Diagnostics found;
  PageOptions options = command.page;
  options.threads = std::max(1, options.threads);
  const std::unique_ptr<PointRunner> runner = PointRunner::Open(grid, options, found);
  if (runner == nullptr) {
    Report(found, false);
    return kFailed;
  }
  const Status status = Work(*runner, IdOf(grid, runner->page_hash()));
  return status.ok() ? kOk : Fail(status);
}

/// Why the point of a line failed: "w.x: needs a number (write 1.0)".
std::string ReasonOf(std::string_view line) {
  const TableCell parsed = TableCell::parse(line, nullptr, false);
  const auto error = parsed.find("error");
  if (error == parsed.end()) return std::string(line);
  const auto text = [&](const char* key) {
    const auto at = error->find(key);
    return at != error->end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  const std::string block = text("block"), port = text("port"), hint = text("hint");
  const std::string place = Cat(block, block.empty() || port.empty() ? "" : ".", port);
  return Cat(place, place.empty() ? "" : ": ", text("message"), hint.empty() ? "" : Cat(" (", hint, ")"));
}

/// Tells on standard error why points failed, of which the last line counts: the first few.
void TellFailures(const Grid& grid, const SweepId& id, const std::string& path) {
  constexpr size_t kMostTold = 3;
  std::map<int64_t, std::string> failures;
  const auto note = [&](std::string_view line, const PointLine& point) {
    if (!point.failed) failures.erase(point.point);
    else failures[point.point] = line;
  };
  (void)ReadJournal(path, id, note);
  size_t told = 0;
  for (const auto& [point, line] : failures) {
    if (told++ == kMostTold) break;
    std::cerr << "weft sweep: point " << point << " (" << Visible(grid.At(point).Text()) << ") failed: " << Visible(ReasonOf(line)) << "\n";
  }
  if (failures.size() > kMostTold) std::cerr << "weft sweep: ... and " << failures.size() - kMostTold << " more; --retry runs them again\n";
}

int TerminalWidth() {
  winsize size = {};
  return ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

/// The table and the plot that are asked for.
Status Show(const SweepCommand& command, const Grid& grid, const SweepId& id, const std::string& journal) {
  if (command.table.empty() && command.plot.empty()) return {};
  WEFT_ASSIGN_OR_RETURN(const SweepTable table, SweepTable::Read(journal, grid, id));
  if (!command.table.empty()) {
    std::vector<std::string> left_out;
    WEFT_RETURN_IF_ERROR(table.Write(command.table, left_out));
    for (const std::string& name : left_out) {
      std::cerr << "weft sweep: '" << Visible(name) << "' has several elements, and is not in " << command.table
                << ": a table as .npz has it\n";
    }
  }
  if (command.plot.empty()) return {};
  WEFT_ASSIGN_OR_RETURN(const SweepPlot plot, SweepPlot::Of(table, {command.plot, command.over, command.by}));
  const TrendAxis axis = command.logarithmic ? TrendAxis::kLogarithmic : TrendAxis::kLinear;
  if (!command.plot_file.empty()) WEFT_RETURN_IF_ERROR(SaveTrends(command.plot_file, plot.trends(), axis, plot.places()));
  if (!command.quiet) std::cout << DrawTrends(plot.trends(), std::min(TerminalWidth(), 100), 14, IsTerminal(1), axis, plot.places());
  return {};
}

/// --status and --missing: reads the journal, and runs nothing.
int TellProgress(const SweepCommand& command, const Grid& grid, const SweepId& id, const std::string& path,
                 const std::vector<PointRange>& ranges, bool part) {
  Progress progress(grid.count());
  if (part) progress.Restrict(ranges);
  auto contents = ReadJournal(path, id, [&](std::string_view, const PointLine& point) { progress.Note(point); });
  if (!contents.ok() && contents.status().code() != Code::kNotFound) return Fail(contents.status());
  const std::string missing = TextOf(progress.Missing(command.retry));
  if (command.missing) {
    std::cout << missing << "\n";
    return kOk;
  }
  std::cout << path << ": " << ProgressText(progress) << (missing.empty() ? "" : Cat(", ", Grouped(progress.missing()), " missing"))
            << "\n";
  if (progress.failed() > 0) TellFailures(grid, id, path);
  const Status status = contents.ok() ? Show(command, grid, id, path) : Status();
  return status.ok() ? kOk : Fail(status);
}

/// What is done in the sweep's own journal, of which these points are a part, is not done again.
Status NoteDoneBefore(const Grid& grid, const SweepId& id, Progress& progress) {
  const auto note = [&](std::string_view, const PointLine& line) {
    if (!line.failed) progress.Note(line);
  };
  auto contents = ReadJournal(JournalPath(grid, nullptr), id, note);
  return contents.ok() || contents.status().code() == Code::kNotFound ? Status() : std::move(contents).status();
}

/// Runs what is to be run.
Status RunMissing(const SweepCommand& command, const Grid& grid, const SweepId& id, Journal& journal, Progress& progress,
                  Diagnostics& found) {
  const std::vector<PointRange> missing = progress.Missing(command.retry);
  if (missing.empty()) return {};
  int64_t memory = 0;
  {  // its memory is given back before the processes take theirs
    PageOptions options = command.page;
    options.threads = 1;
    const std::unique_ptr<PointRunner> runner = PointRunner::Open(grid, options, found);
    if (runner != nullptr) runner->Check(found);
    if (found.has_errors()) return Aborted("");
    if (runner->page_hash() != id.page_hash) {
      return FailedPrecondition("the page '", grid.page, "' is being changed").WithHint("run the sweep again");
    }
    memory = runner->memory_limit();
  }
  return RunPoints(command, grid, id, missing, memory, journal, progress);
}

/// What would fail after a long sweep is refused before it.
int CheckResults(const SweepCommand& command, const Grid& grid, const std::string& journal, bool part) {
  if (!command.plot.empty()) {
    if (const Status wrong = CheckAxes(grid, {command.plot, command.over, command.by}); !wrong.ok()) {
      Report(wrong, false);
      return kWrongUse;
    }
  }
  for (const std::string& file : {command.table, command.plot_file}) {
    if (file.empty()) continue;
    // (One of many jobs, each a part, does not look at the journals of all.)
    const std::vector<std::string> parts = command.from.empty() && !part ? PartJournals(grid) : command.from;
    Status status = WritableFile(file).status();
    if (status.ok()) status = CheckIsNot(file, grid.page, "page");
    if (status.ok()) status = CheckIsNot(file, command.grid, "grid");
    if (status.ok()) status = CheckIsNot(file, grid.load_state, "state that the grid loads");
    if (status.ok()) status = CheckIsNot(file, JournalPath(grid, nullptr), "sweep's own journal");
    for (const std::string& path : parts) {
      if (status.ok()) status = CheckIsNot(file, path, "journal of a part");
    }
    if (!status.ok()) return Fail(status);
  }
  const NamedFile lines{"the journal", journal == "-" ? "" : journal};
  const Status distinct = CheckDistinct({lines, {"--table", command.table}, {"--plot-file", command.plot_file}});
  return distinct.ok() ? kOk : Fail(distinct);
}

int RunSweep(const SweepCommand& command, const Grid& grid, const std::vector<PointRange>& ranges, bool part) {
  const bool output = command.journal == "-";
  const std::string path = !command.journal.empty() ? command.journal : JournalPath(grid, part ? &ranges : nullptr);
  if (const int wrong = CheckResults(command, grid, path, part); wrong != kOk) return wrong;
  auto id = FindId(grid);
  if (!id.ok()) return Fail(id.status());
  if (command.status || command.missing) return TellProgress(command, grid, *id, path, ranges, part);
  if (ranges.empty()) {
    std::cerr << "weft sweep: there are no such points: the grid has " << grid.count() << "\n";
    return kOk;
  }
  Progress progress(grid.count());
  std::string note;
  auto journal = output ? Result<Journal>(Journal::Pipe(TakeStandardOutput())) : Journal::Open(path, *id, progress, note);
  if (!journal.ok()) return Fail(journal.status());
  if (!note.empty()) std::cerr << "weft sweep: " << path << ": " << note << "\n";
  Status status;
  Diagnostics found;
  if (output) status = journal->Append(id->Line());
  else if (part && command.journal.empty()) status = NoteDoneBefore(grid, *id, progress);
  if (part) progress.Restrict(ranges);
  if (status.ok()) {
    status = command.collect ? Collect(command, grid, *id, *journal, progress)
                             : RunMissing(command, grid, *id, *journal, progress, found);
  }
  if (found.has_errors()) {
    Report(found, false);
    return kFailed;
  }
  if (!output && !command.quiet) std::cout << path << ": " << ProgressText(progress) << "\n" << std::flush;
  if (!status.ok()) return Fail(status);
  if (const int interrupted = Interrupt::signal(); interrupted != 0) {
    std::cerr << "weft sweep: interrupted; what is done is in " << (output ? "the output" : path) << ", and the same command continues\n";
    return Interrupt::StatusOf(interrupted);
  }
  const bool failed = progress.failed() > 0 && !command.collect;  // points that failed are collected as well as others
  if (failed && !output) TellFailures(grid, *id, path);
  if (Status shown = output ? Status() : Show(command, grid, *id, path); !shown.ok()) return Fail(shown);
  return failed ? kFailed : kOk;
}

int Sweep(const SweepCommand& command) {
  constexpr size_t kMostBytes = size_t{16} << 20;
  auto text = ReadFile(command.grid);
  if (!text.ok()) return Fail(text.status());
  if (text->size() > kMostBytes) {
    return Fail(ResourceExhausted("'", command.grid, "' has ", text->size(), " bytes, and a grid at most ", kMostBytes));
  }
  Diagnostics found;
  const Grid grid = ReadGrid(*text, command.grid, found);
  if (found.has_errors()) {
    Report(found, false);
    return kFailed;
  }
  if (command.count) {
    std::cout << grid.count() << "\n";
    return kOk;
  }
  const std::string chosen = command.chosen();
  if (chosen == "-") return WorkHere(command, grid);
  auto ranges = ReadPoints(chosen.empty() ? Cat("0-", grid.count() - 1) : chosen, grid.count());
  if (!ranges.ok()) {
    Report(ranges.status(), false);
    return kWrongUse;
  }
  if (command.list) {
    List(grid, *ranges);
    return kOk;
  }
  return RunSweep(command, grid, *ranges, !chosen.empty());
}

/// What is run, how, and into which journal.
void AddPointOptions(Command& command, SweepCommand& options) {
  command.Add("grid", options.grid, "The grid").Required().Type("GRID").NotEmpty();
  command.Add("--jobs", options.jobs, "Processes at the same time (default: processors, divided by --threads)").Between(1, 1024);
  command.Add("--threads", options.page.threads, "Threads of each process (default: 1)").Between(1, 1024);
  command.Add("--journal", options.journal, "The journal (default: NAME.sweep.jsonl beside NAME.grid.json); - is standard output")
      .Type("FILE")
      .NotEmpty();
  const Option points = command
                            .Add("--points", options.points,
                                 "Only these: A-B, K, with commas between; - reads such from standard input, runs them in\n"
                                 "this process and writes their lines to standard output")
                            .Type("POINTS")
                            .NotEmpty();
  const Option point = command.Add("--point", options.point, "Only this").Type("K").Index().Excludes(points);
  command.AddFlag("--count", options.count, "Print how many points there are, and run nothing");
  command.AddFlag("--list", options.list, "Print the points, a JSON line each, and run nothing");
  command.AddFlag("--status", options.status, "Print how far the sweep is, and run nothing; with --table and --plot of what there is");
  command.AddFlag("--missing", options.missing, "Print which points are not done (0-99,120), and run nothing");
  const Option collect = command.AddFlag("--collect", options.collect, "Add the points of parts to the journal, and run nothing")
                             .Excludes(points)
                             .Excludes(point);
  command.Add("--from", options.from, "A part to collect (default: all NAME.sweep.POINTS.jsonl); - is standard input")
      .Type("FILE")
      .Repeated()
      .TakesOne()
      .Needs(collect);
  command.AddFlag("--retry", options.retry, "Run the points that failed again");
}

/// What is made of the journal.
void AddResultOptions(Command& command, SweepCommand& options) {
  command.Add("--table", options.table, "Write the results as a table; .npz holds those of several elements, too")
      .Type("FILE")
      .EndsIn({".csv", ".npz"});
  const Option plot = command.Add("--plot", options.plot, "Draw this result over a parameter").Type("RESULT");
  command.Add("--over", options.over, "The parameter to draw over (default: the only one)").Type("NAME").Needs(plot);
  command.Add("--by", options.by, "Draw a line for each value of this parameter").Type("NAME").Needs(plot);
  command.AddFlag("--plot-log", options.logarithmic, "Draw over a logarithmic axis").Needs(plot);
  command.Add("--plot-file", options.plot_file, "Also write the drawing as .svg or .png")
      .Type("FILE")
      .Needs(plot)
      .EndsIn({".svg", ".png"});
  command.AddFlag("--quiet", options.quiet, "Print no progress, no summary and no plot");
}

}  // namespace

void AddSweep(Program& program) {
  auto options = std::make_shared<SweepCommand>();
  Command command = program.Add(
      "sweep", "Run a page with every setting of a grid, on all processors",
      "  weft sweep lr.grid.json --table lr.csv --plot loss.output --over rate\n"
      "  weft sweep lr.grid.json --list                                  what the points are; --count: how many\n"
      "  weft sweep lr.grid.json --points 0-99                           a part, for one job of many: lr.sweep.0-99.jsonl\n"
      "  weft sweep lr.grid.json --collect                               the parts become lr.sweep.jsonl\n"
      "A grid is {\"sweep\": 1, \"page\": \"line.page.json\", \"steps\": 300, \"grid\": [{\"set\": \"train_w.alpha\",\n"
      "\"log_range\": {\"from\": 0.001, \"to\": 0.1, \"count\": 20}}]}: docs/scale.md and schemas/sweep.schema.json tell the rest.\n"
      "A line of the journal is a point: its settings, its results or why it failed. What is interrupted, or killed,\n"
      "goes on when the command is given again. Exit status: 1 where a point failed.",
      options, Sweep);
  AddPointOptions(command, *options);
  AddResultOptions(command, *options);
  options->page.AddHostTo(command);
}

}  // namespace weft::cli
