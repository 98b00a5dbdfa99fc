// weft run --shards: a page whose batch is cut into shards, on one process or on those that a launcher of MPI has started.
#include <chrono>
#include <iostream>
#include <optional>
#include <set>

#include "tools/cli/results_io.h"
#include "tools/cli/run_command.h"
#include "tools/cli/shard_job.h"

namespace weft::cli {
namespace {

/// One run of the job, on one of its ranks: the same commands, and rank 0 speaks.
class ShardRun {
 public:
  ShardRun(const RunCommand& command, ShardJob& job) : command_(command), job_(job), folder_(command.shard.snapshots) {
    for (const std::string& name : command.plot) trends_.push_back({name, {}});
  }
  int Run();

 private:
  Status Load();
  Status Open();
  Status Check();
  std::string Settings() const;
  Status Restore();
  Status Steps();
  Status Step(bool last);
  Status Note(uint64_t step);
  Status Report();
  Status Finish();
  Status Tell();
  void Print(const NamedTensors& results) const;
  NamedTensors Results() const;
  uint64_t Total() const { return command_.steps > 0 ? static_cast<uint64_t>(command_.steps) : 1; }
  bool looks() const { return !command_.watch.empty() || !command_.plot.empty(); }

  const RunCommand& command_;
  ShardJob& job_;
  SnapshotFolder folder_;  // open on rank 0, where there is one
  LoadedPage loaded_;
  SessionSpec spec_;
  std::unique_ptr<ShardedRun> run_;
  std::optional<ShardJob::Watch> watch_;  // ends before the run, also where an exception does
  std::vector<Trend> trends_;
  std::string last_plotted_;
  uint64_t next_report_ = 2;
  std::chrono::steady_clock::time_point started_, said_, planned_;  // planned_: the end of the first step, which plans
  uint64_t first_ = 0;  // the steps that the page had behind it when these began
};

// ---- before the first step -------------------------------------------------------------------------------------------------------------

Status ShardRun::Load() {
  loaded_ = cli::Load(command_.page);
  if (loaded_.diagnostics.has_errors()) return loaded_.diagnostics.FirstError();
  WEFT_ASSIGN_OR_RETURN(std::vector<SessionSpec> specs, SessionsFor(loaded_.scope->graph(), loaded_.scope->budget(), command_));
  WEFT_RETURN_IF_ERROR(CheckPlotted(loaded_.scope->graph(), command_));
  if (specs.size() != 1) return InvalidArgument("one session can be cut into shards, the page has ", specs.size()).WithHint("choose one: --session ID");
  spec_ = std::move(specs.front());
  return Check();
}

// What would fail after a long run is refused before it.
Status ShardRun::Check() {
  if (command_.shard.every > 0 && command_.shard.snapshots.empty()) return InvalidArgument("--every needs --snapshots FOLDER");
  if (command_.shard.resume && command_.shard.snapshots.empty()) return InvalidArgument("--resume needs --snapshots FOLDER");
  if (job_.rank() != 0) return {};
  WEFT_RETURN_IF_ERROR(CheckFiles(command_));
  if (command_.shard.snapshots.empty()) return {};
  WEFT_RETURN_IF_ERROR(folder_.Open());
  return command_.shard.resume ? Status() : folder_.CheckEmpty().WithHint("--resume goes on from them; or take another folder");
}

// What all ranks need alike besides the page and how it is cut.
std::string ShardRun::Settings() const {
  const ShardCommand& shard = command_.shard;
  std::string text = Cat(command_.steps, " ", shard.every, " ", shard.resume, " ", command_.load_state.empty(), " ", command_.partial, " ",
                         command_.save_state.empty(), " ", shard.snapshots.empty(), " ", command_.watch.size(), " ", command_.plot.size());
  for (const std::string& set : command_.page.set) text += Cat("\n", set);
  return text;
}

Status ShardRun::Open() {
  WEFT_RETURN_IF_ERROR(AgreeOnStatus(*job_.collectives(), CollectiveUser::kControl, Load(), "for the pages of all ranks"));
  if (job_.rank() == 0 && !command_.page.json) {
    SortByPage(loaded_.diagnostics, *loaded_.page);
    cli::Report(loaded_.diagnostics, false);
  }
  ShardingOptions options;
  options.shards = command_.shard.shards;
  options.sum = command_.shard.reduce == "sum";
  options.cut = command_.shard.cut;
  options.whole = command_.shard.whole;
  options.settings = Settings();
  WEFT_ASSIGN_OR_RETURN(run_, ShardedRun::Open(loaded_.scope, spec_, options, job_.collectives()));
  watch_.emplace(job_, *run_);
  return Restore();
}

// The state that was asked for, or the newest whole snapshot.
Status ShardRun::Restore() {
  Diagnostics problems;
  RestoreOptions options;
  options.partial = command_.partial;
  if (!command_.load_state.empty()) WEFT_RETURN_IF_ERROR(run_->LoadSnapshot(command_.load_state, problems, options));
  if (!command_.shard.resume) return {};
  WEFT_ASSIGN_OR_RETURN(const std::string path, run_->RestoreNewest(folder_, [&](std::string_view text) { job_.Say(text); }));
  if (!path.empty()) job_.Say(Cat("goes on after step ", run_->steps(), ", from '", path, "'"));
  return {};
}

// ---- the steps -------------------------------------------------------------------------------------------------------------------------

Status ShardRun::Steps() {
  started_ = said_ = planned_ = std::chrono::steady_clock::now();
  first_ = run_->steps();
  while (run_->steps() < Total()) {
    WEFT_RETURN_IF_ERROR(Step(run_->steps() + 1 == Total()));
    if (run_->steps() == first_ + 1) planned_ = std::chrono::steady_clock::now();
  }
  return {};
}

Status ShardRun::Step(bool last) {
  WEFT_RETURN_IF_ERROR(run_->Step(last || looks()));
  const uint64_t step = run_->steps();
  if (looks()) WEFT_RETURN_IF_ERROR(Note(step));
  const int64_t every = command_.shard.every;
  const bool due = !command_.shard.snapshots.empty() && (last || (every > 0 && step % static_cast<uint64_t>(every) == 0));
  if (due) WEFT_RETURN_IF_ERROR(run_->SaveNewest(folder_));
  return step >= next_report_ && !last ? Report() : Status();
}

Status ShardRun::Note(uint64_t step) {
  const auto find = [&](const std::string& name) -> const Tensor* {
    for (const auto& [of, tensor] : run_->results()) {
      if (of == name) return &tensor;
    }
    return nullptr;
  };
  for (const auto* names : {&command_.watch, &command_.plot}) {
    for (const std::string& name : *names) {
      if (find(name) == nullptr) return InvalidArgument("'", name, "' cannot be watched: with shards only what is fetched can").WithHint(Cat("add --fetch ", name));
    }
  }
  for (Trend& trend : trends_) trend.values.push_back(NumberOf(*find(trend.name)));
  if (!trends_.empty()) last_plotted_ = Cat("  ", Visible(trends_[0].name), " ", trends_[0].values.back());
  if (job_.rank() != 0) return {};
  std::ostream& out = command_.page.json ? std::cerr : std::cout;
  for (const std::string& name : command_.watch) out << step << "  " << Visible(name) << "  " << Visible(ToString(*find(name))) << "\n";
  return {};
}

// How it goes, about twice a second: all ranks tell their times after the same steps.
Status ShardRun::Report() {
  WEFT_ASSIGN_OR_RETURN(const ShardedProgress progress, run_->Progress());
  const int slowest = progress.slowest();
  const double slow = progress.compute_ms[static_cast<size_t>(slowest)];
  next_report_ = run_->steps() + std::clamp<uint64_t>(static_cast<uint64_t>(500 / std::max(slow, 0.01)), 1, 100'000);
  if (command_.quiet || job_.rank() != 0) return {};
  const auto now = std::chrono::steady_clock::now();
  const bool terminal = IsTerminal(2);
  // A launcher hands lines on, and a file keeps them.
  if (!terminal && now - said_ < std::chrono::seconds(5)) return {};
  said_ = now;
  const double left = std::chrono::duration<double>(now - started_).count() / static_cast<double>(run_->steps() - first_) * static_cast<double>(Total() - run_->steps());
  std::cerr << (terminal ? "\r\033[K" : "") << "step " << run_->steps() << "/" << Total() << last_plotted_ << "  " << Rounded(progress.step_ms)
            << " ms a step, " << Rounded(left) << " s left";
  if (job_.size() > 1) std::cerr << "; slowest: " << job_.Name(slowest) << ", computes " << Rounded(slow) << " ms";
  std::cerr << (terminal ? "" : "\n") << std::flush;
  return {};
}

// ---- the end ---------------------------------------------------------------------------------------------------------------------------

NamedTensors ShardRun::Results() const {
  NamedTensors results = run_->results(), variables;
  std::set<std::string> known;
  for (const SessionSpec::Fetch& fetch : spec_.fetches) {
    const Node& node = loaded_.scope->graph().node(fetch.value.node);
    if (node.variable < 0 || !known.insert(node.id).second) continue;
    if (auto value = loaded_.scope->GetVariable(node.id); value.ok()) variables.emplace_back(node.id, std::move(*value));
  }
  std::ranges::move(variables, std::back_inserter(results));
  return results;
}

void ShardRun::Print(const NamedTensors& results) const {
  for (const auto& [name, value] : results) std::cout << Colored(Visible(name), 36, 1) << "  " << Visible(ToString(value)) << "\n";
  if (results.empty()) std::cout << Visible(spec_.id) << ": " << run_->steps() << " steps\n";
  if (!command_.plot.empty()) std::cout << DrawTrends(trends_, std::min(TerminalWidth(), 100), 14, IsTerminal(1), command_.axis());
}

Status ShardRun::Finish() {
  if (!command_.save_state.empty()) WEFT_RETURN_IF_ERROR(run_->SaveSnapshot(command_.save_state));
  const Status told = job_.rank() == 0 ? Tell() : Status();
  // Nobody leaves the job before: who waits for this rank meanwhile does so under the deadline.
  WEFT_RETURN_IF_ERROR(Barrier(*job_.collectives(), CollectiveUser::kControl, "for the results that rank 0 writes"));
  return told;
}

Status ShardRun::Tell() {
  if (IsTerminal(2) && !command_.quiet) std::cerr << "\r\033[K";
  const NamedTensors results = Results();
  if (!command_.plot_file.empty()) WEFT_RETURN_IF_ERROR(SaveTrends(command_.plot_file, trends_, command_.axis()));
  if (!command_.results.empty()) WEFT_RETURN_IF_ERROR(SaveResults(command_.results, results));
  if (command_.page.json) std::cout << ResultsJson(results);
  else if (!command_.quiet) Print(results);
  const auto [early, buckets] = run_->early_buckets();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  const double first = std::chrono::duration<double>(planned_ - started_).count();
  LogDebug(Cat(run_->steps() - first_, " steps, ", seconds, " s, the first ", first, " s; ", early, " of ", buckets, " buckets were on their way before their step was computed"));
  return {};
}

int ShardRun::Run() {
  // Up to the first step all ranks fail together, so that one speaks for all; but for a state that this one alone could not take.
  if (Status status = Open(); !status.ok()) {
    if (run_ != nullptr && !run_->all_failed()) return job_.End(std::move(status), *run_, command_.page.json);
    if (job_.rank() == 0) {
      if (loaded_.diagnostics.has_errors()) cli::Report(loaded_.diagnostics, command_.page.json);
      else cli::Report(Status(status).WithPage(command_.page.page), command_.page.json);
    }
    job_.Close();
    return kFailed;
  }
  Status status = Steps();
  if (status.ok()) status = Finish();
  return job_.End(std::move(status), *run_, command_.page.json);
}

}  // namespace

int RunShards(const RunCommand& command) {
  if (command.keep == "all" && command.keep_option && command.keep_option->given()) {
    Report(InvalidArgument("--keep all needs a run without --shards, found --shards ", command.shard.shards, ": it keeps what is fetched")
               .WithHint("leave --keep out, and --fetch ID.port what you need"),
           command.page.json);
    return kWrongUse;
  }
  auto job = ShardJob::Open(command);
  if (!job.ok()) {
    Report(job.status(), command.page.json);
    return kFailed;
  }
  RunCommand own = command;
  if (own.page.threads == 0) own.page.threads = (*job)->threads();
  return ShardRun(own, **job).Run();
}

void AddShardOptions(Command& command, ShardCommand& options) {
  const Option shards = command.Add("--shards", options.shards, "Cut the batch into so many parts, which the ranks of mpirun share; the results do not depend on how many ranks there are")
      .Type("S").Between(1, 65536);
  command.Add("--reduce", options.reduce, "How gradients, and what is fetched, of the shards become one").OneOf({"mean", "sum"}).ShowDefault().Needs(shards);
  command.Add("--shard", options.cut, "Cut this output as well, besides placeholders, readers and queues").Type("ID.port").Repeated().Needs(shards);
  command.Add("--whole", options.whole, "Give every shard this output whole").Type("ID.port").Repeated().Needs(shards);
  options.deadline_option = command.Add("--deadline", options.deadline, "End the job where ranks wait longer than this for another, in seconds")
                                .Type("SECONDS")
                                .Between(0.1, 1e6);
  options.mpi_option = command.Add("--mpi", options.mpi, "The library of messages: auto (that of the launcher), none, or its file").Type("NAME");
  const Option folder = command.Add("--snapshots", options.snapshots, "Keep snapshots in this folder, the last one at the end").Type("FOLDER").Needs(shards);
  command.Add("--every", options.every, "A snapshot after so many steps").Type("N").CountOfRuns().Needs(folder);
  command.AddFlag("--resume", options.resume, "Go on from the newest whole snapshot, where there is one; --steps counts from the beginning").Needs(folder);
}

}  // namespace weft::cli
