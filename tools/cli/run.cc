// weft run: evaluates the sessions of a page.
#include <sys/ioctl.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <limits>
#include <mutex>

#include "tools/cli/feeds.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/page_results.h"
#include "tools/cli/results_io.h"
#include "tools/cli/run_command.h"
#include "tools/cli/shard_job.h"
#include "weft/base/float16.h"
#include "weft/host/page_run.h"
#include "weft/host/session_choice.h"
#include "weft/state/snapshot.h"

namespace weft::cli {
namespace {

// The page that the first signal interrupts. Written before its guard is there.
PageRun* running_page = nullptr;

/// What is looked at after each run of a session: watched results are printed (on standard error beside JSON), plotted ones noted.
class Recorder {
 public:
  Recorder(const RunCommand& command, int64_t steps) : command_(command), steps_(steps), progress_(!command.quiet && !command.page.json && IsTerminal(2)) {
    for (const std::string& name : command.plot) trends_.push_back({name, {}});
  }

  Status Check(const PageRun& page) const;
  void AfterRun(const Session& session, uint64_t run);
  void End() const {
    if (progress_) std::cerr << "\r\033[K";
  }
  const std::vector<Trend>& trends() const { return trends_; }

 private:
  const RunCommand& command_;
  int64_t steps_;
  bool progress_;
  std::mutex mutex_;
  std::vector<Trend> trends_;
  std::chrono::steady_clock::time_point shown_{};
};

// Before the first run there is no value, but the name must stand for something.
Status Recorder::Check(const PageRun& page) const {
  for (const auto* names : {&command_.watch, &command_.plot}) {
    for (const std::string& name : *names) {
      if (name.find('.') == std::string::npos) WEFT_RETURN_IF_ERROR(FindOutput(page.runners()[0]->session().scope().graph(), name).status());
      auto result = page.Get(name);
      if (!result.ok() && result.status().code() != Code::kFailedPrecondition) return std::move(result).status();
    }
  }
  return CheckPlotted(page.runners()[0]->session().scope().graph(), command_);
}

void Recorder::AfterRun(const Session& session, uint64_t run) {
  std::lock_guard lock(mutex_);
  for (const std::string& name : command_.watch) {
    auto result = session.Get(name);
    if (!result.ok() || result->run != run) continue;
    if (progress_) std::cerr << "\r\033[K";
    std::ostream& out = command_.page.json ? std::cerr : std::cout;  // the JSON document stays one
    out << run << "  " << Visible(name) << "  " << Visible(ToString(result->tensor)) << "\n";
  }
  for (Trend& trend : trends_) {
    auto result = session.Get(trend.name);
    if (result.ok() && result->run == run) trend.values.push_back(NumberOf(result->tensor));
  }
  if (!progress_) return;
  auto now = std::chrono::steady_clock::now();
  if (now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  std::cerr << "\r\033[K" << Visible(session.spec().id) << ": run " << run;
  if (steps_ > 0) std::cerr << "/" << steps_;
  if (!trends_.empty() && !trends_[0].values.empty()) std::cerr << "  " << Visible(trends_[0].name) << " " << trends_[0].values.back();
  std::cerr << std::flush;
}

void PrintFetch(const Session& session, const SessionSpec::Fetch& fetch) {
  std::cout << Colored(Visible(fetch.name), 36, 1) << "  ";
  const auto result = session.Get(fetch.value);
  if (!result.ok()) {
    std::cout << "no value: " << Visible(result.status().message()) << "\n";
    return;
  }
  const auto committed = CommittedValue(session, fetch.value);
  const bool changed = committed && !SameBits(*committed, result->tensor);
  std::cout << Visible(ToString(result->tensor)) << (result->stale ? "  (stale: of an earlier run)" : changed ? "  (before the run's updates)" : "") << "\n";
  if (!changed) return;
  const std::string& id = session.graph()->node(fetch.value.node).id;
  std::cout << Colored(Visible(id), 36, 1) << "  " << Visible(ToString(*committed)) << "  (after them)\n";
}

void PrintFetches(const PageRun& page) {
  for (const auto& runner : page.runners()) {
    const Session& session = runner->session();
    for (const auto& fetch : session.spec().fetches) PrintFetch(session, fetch);
    if (session.spec().fetches.empty()) std::cout << Visible(session.spec().id) << ": " << Counted(session.runs(), "run") << "\n";
  }
}

/// Takes the state that an earlier run left.
Status LoadState(const RunCommand& command, Scope& scope, Diagnostics& problems) {
  if (command.load_state.empty()) return {};
  RestoreOptions options;
  options.partial = command.partial;
  WEFT_ASSIGN_OR_RETURN(const SnapshotSummary summary, RestoreSnapshot(scope, command.load_state, options, problems));
  LogDebug(Cat("loaded ", summary.variables, " variables and ", summary.resources, " other states, ", summary.bytes, " bytes"));
  return {};
}

Status SaveState(const RunCommand& command, const PageRun& page) {
  if (command.save_state.empty()) return {};
  WEFT_ASSIGN_OR_RETURN(const SnapshotSummary summary, SaveSnapshot(page.runners()[0]->session().scope(), command.save_state));
  LogDebug(Cat("saved ", summary.variables, " variables and ", summary.resources, " other states, ", summary.bytes, " bytes"));
  return {};
}

int Finish(const RunCommand& command, const PageRun& page, const Recorder& recorder) {
  Status status = SaveState(command, page);
  if (status.ok() && !command.plot_file.empty()) status = SaveTrends(command.plot_file, recorder.trends(), command.axis());
  if (status.ok() && !command.results.empty()) status = SaveResults(command.results, CollectResults(page));
  if (!command.page.json) {
    if (!command.quiet) PrintFetches(page);
    if (!command.plot.empty() && !command.quiet) {
      std::cout << DrawTrends(recorder.trends(), std::min(TerminalWidth(), 100), 14, IsTerminal(1), command.axis());
    }
  } else if (status.ok()) {
    std::cout << ResultsJson(CollectResults(page));
  }
  if (status.ok()) return kOk;
  Report(status, command.page.json);
  return kFailed;
}

/// Runs what is planned, and shows what came of it. `job`: that of the other ranks, for a page that has blocks of collectives; null for others.
int Run(const RunCommand& command, std::vector<std::shared_ptr<Runner>> runners, Job* job) {
  Recorder recorder(command, command.steps);
  PageRun page(std::move(runners), [&](Session& session, uint64_t run) {
    recorder.AfterRun(session, run);
    if (Interrupt::signal() != 0) running_page->Interrupt();  // it came before the page's run began
  });
  Status status = recorder.Check(page);
  if (status.ok()) {
    running_page = &page;
    const Interrupt interrupt([] { running_page->Interrupt(); });
    PageRunRequest request;
    if (command.steps > 0) request.steps = command.steps;
    status = page.Run(request);
  }
  recorder.End();
  bool endless = false;
  for (const auto& runner : page.runners()) {
    const Session& session = runner->session();
    LogDebug(Cat("session ", session.spec().id, ": ", session.runs(), " runs done"));
    endless = endless || (command.steps < 0 && session.spec().loop);
  }
  const int interrupted = Interrupt::signal();
  if (interrupted != 0) {
    std::cerr << "weft: interrupted; results are those of the last whole run\n";
    if (status.code() == Code::kCancelled) status = {};
  }
  if (!status.ok()) {
    Report(status, command.page.json);
    if (job != nullptr && job->size() > 1) job->Abort("failed");
    return kFailed;
  }
  const int code = Finish(command, page, recorder);
  // To interrupt a loop is how it ends; to interrupt a count of runs leaves it short.
  return interrupted != 0 && !endless && code == kOk ? Interrupt::StatusOf(interrupted) : code;
}

int RunPage(const RunCommand& command) {
  if (command.shard.shards > 0) return RunShards(command);
  if (Status status = CheckFiles(command); !status.ok()) {
    Report(status, command.page.json);
    return kFailed;
  }
  LoadedPage loaded = Load(command.page);
  if (loaded.diagnostics.has_errors()) {
    Report(loaded.diagnostics, command.page.json);
    return kFailed;
  }
  if (Status status = LoadState(command, *loaded.scope, loaded.diagnostics); !status.ok() || loaded.diagnostics.has_errors()) {
    if (!loaded.diagnostics.has_errors()) loaded.diagnostics.Error(std::move(status));
    Report(loaded.diagnostics, command.page.json);
    return kFailed;
  }
  if (Status status = CheckJobOptions(loaded.scope->graph(), command.shard); !status.ok()) {
    Report(status, command.page.json);
    return kWrongUse;
  }
  auto job = JobOfPage(*loaded.scope, command.shard);
  if (!job.ok()) {
    Report(job.status(), command.page.json);
    return kFailed;
  }
  const std::shared_ptr<Revision> revision = loaded.scope->revision();
  auto specs = SessionsFor(*revision->graph, loaded.scope->budget(), command);
  if (!specs.ok()) {
    Report(Status(specs.status()).WithPage(command.page.page), command.page.json);
    return kFailed;
  }
  if (Status status = *job == nullptr ? Status() : CheckSideBySide(*revision->graph, *specs); !status.ok()) {
    Report(std::move(status).WithPage(command.page.page).WithHint("choose one: --session ID"), command.page.json);
    return kFailed;
  }
  const Keep keep = command.keep == "asked" ? Keep::kAsked : Keep::kAll;
  std::vector<std::shared_ptr<Runner>> runners = OpenRunners(loaded.scope, revision, std::move(*specs), keep, nullptr, loaded.diagnostics);
  for (const auto& runner : runners) {
    const Plan* plan = runner->session().plan();
    if (plan == nullptr) continue;
    LogDebug(Cat("session ", runner->session().spec().id, ": ", plan->steps.size(), " steps, arena ", plan->arena_bytes, " bytes, results ",
                 plan->kept_bytes, " bytes"));
  }
  SortByPage(loaded.diagnostics, *loaded.page);
  if (!command.page.json || loaded.diagnostics.has_errors()) Report(loaded.diagnostics, command.page.json);
  return loaded.diagnostics.has_errors() ? kFailed : Run(command, std::move(runners), job->get());
}

}  // namespace

Result<std::vector<SessionSpec>> SessionsFor(const Graph& graph, const std::shared_ptr<MemoryBudget>& budget, const RunCommand& command) {
  SessionRequest request;
  request.session = command.session;
  request.fetches = command.fetch;
  request.name = "fetch";
  WEFT_ASSIGN_OR_RETURN(std::vector<SessionSpec> sessions, ChooseSessions(graph, request));
  for (SessionSpec& spec : sessions) {
    for (const std::string& feed : command.feed) WEFT_RETURN_IF_ERROR(AddFeed(graph, feed, budget, spec));
  }
  return sessions;
}

Status CheckFiles(const RunCommand& command) {
  const std::vector<NamedFile> files = {{"--results", command.results}, {"--plot-file", command.plot_file}, {"--save-state", command.save_state}};
  for (const auto& [option, file] : files) {
    if (file.empty()) continue;
    const bool state = option == "--save-state";
    WEFT_RETURN_IF_ERROR(state ? CheckReplaceable(file) : WritableFile(file).status());
    WEFT_RETURN_IF_ERROR(CheckIsNot(file, command.page.page, "page"));
    // A state may go back to where it came from.
    if (!state) WEFT_RETURN_IF_ERROR(CheckIsNot(file, command.load_state, "file of --load-state"));
    for (const std::string& feed : command.feed) WEFT_RETURN_IF_ERROR(CheckIsNot(file, FeedFile(feed), "file of --feed"));
  }
  return CheckDistinct(files);
}

namespace {

constexpr auto kPlotted = kReals + kQuantized + TypeList<bool>{};

/// The output that a name stands for, also where it names an element of it, as ID.port[i][j] or ID.result_port[i][j].
Result<ValueRef> PlottedOutput(const Graph& graph, std::string name) {
  constexpr std::string_view kPrefix = ".result_";
  Result<ValueRef> value = graph.FindValue(name);
  for (size_t end = name.rfind('['); !value.ok() && end != std::string::npos; end = name.rfind('[')) {
    name.resize(end);
    value = graph.FindValue(name);
  }
  const size_t prefix = name.rfind(kPrefix);
  if (value.ok() || prefix == std::string::npos) return value;
  return graph.FindValue(name.erase(prefix + 1, kPrefix.size() - 1));
}

}  // namespace

Status CheckPlotted(const Graph& graph, const RunCommand& command) {
  for (const std::string& name : command.plot) {
    const auto value = PlottedOutput(graph, name);
    if (!value.ok()) continue;
    const DType type = graph.TypeOf(*value);
    if (std::ranges::count(kPlotted.dtypes(), type) > 0) continue;
    return InvalidArgument("--plot needs a result of real numbers, found ", type, " in '", name, "'")
        .WithHint(IsComplex(type) ? "plot its Real, Imag or ComplexAbs" : "--watch prints it after every run");
  }
  return {};
}

double NumberOf(const Tensor& tensor) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double sum = kNone;
  Dispatch(tensor.dtype(), kPlotted, [&]<class T>() {
    sum = 0;
    for (const T& value : tensor.values<T>()) sum += static_cast<double>(value);
  });
  const int64_t count = tensor.count();
  return count == 0 ? kNone : sum / static_cast<double>(count);
}

int TerminalWidth() {
  winsize size = {};
  return ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

void AddRun(Program& program) {
  auto options = std::make_shared<RunCommand>();
  Command command = program.Add("run", "Run a page: evaluate its sessions and show their results",
                                "  weft run graphs/xor.page.json --steps 2000 --plot loss.output\n"
                                "  weft run page.json --fetch db.output --feed x.output=@x.npy --results out.npz\n"
                                "  weft run page.json --set reader.filename=data.bin --allow /data\n"
                                "  weft run train.json --steps 500 --save-state weights && weft run predict.json --load-state weights --partial\n"
                                "  mpirun -n 4 weft run train.json --steps 500 --shards 8     (docs/scale-mpi.md)\n"
                                "The result of a Variable (w.ref) is what the last run read, from before its updates; where that differs, the value\n"
                                "after them is printed, too, and stands in --json and --results under the Variable's id (w).\n"
                                "Interrupted (Ctrl-C), a count of runs ends with status 130; a session that loops has done its work, status 0.",
                                options, RunPage);
  options->page.AddTo(command, true);
  command.Add("--fetch", options->fetch, "Evaluate this output instead of what the page's sessions ask for").Type("ID.port").Repeated();
  options->keep_option = command.Add("--keep", options->keep, "Keep all results, or only those asked for, which --shards does")
                             .OneOf({"all", "asked"})
                             .ShowDefault();
  command.Add("--feed", options->feed, "Replace an output: ID.port=@FILE.npy or ID.port=VALUE").Type("FEED").Repeated();
  command.Add("--steps", options->steps, "Runs of each session (default: 1; sessions that loop: until interrupted)").Type("N").CountOfRuns();
  command.Add("--session", options->session, "Only this ClientSession").Type("ID").NotEmpty();
  command.Add("--watch", options->watch, "Print this result after every run").Type("NAME").Repeated();
  const Option plot = command.Add("--plot", options->plot, "Draw how this result changes from run to run (its mean, where it has several elements)")
      .Type("NAME").Repeated();
  command.AddFlag("--plot-log", options->logarithmic, "Draw over a logarithmic axis; values that are not above 0 are left out").Needs(plot);
  command.Add("--plot-file", options->plot_file, "Also write the drawing as .svg or .png")
      .Type("FILE").Needs(plot).EndsIn({".svg", ".png"});
  command.Add("--results", options->results, "Write all results to a .json or .npz file").Type("FILE").EndsIn({".json", ".npz"});
  command.Add("--save-state", options->save_state, "Afterwards, write the state of the page: variables, queues, readers, random counters").Type("FILE");
  const Option load = command.Add("--load-state", options->load_state, "First take the state that --save-state wrote").Type("FILE");
  command.AddFlag("--partial", options->partial, "Take what fits this page of a state of another one, and leave out the rest").Needs(load);
  AddShardOptions(command, options->shard);
  command.AddFlag("--quiet", options->quiet, "Print no results, no plot and no progress");
}

}  // namespace weft::cli
