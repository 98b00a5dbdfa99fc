// weft run: evaluates the sessions of a page.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <mutex>

#include "tools/cli/common.h"
#include "tools/cli/results_io.h"
#include "tools/cli/trend.h"
#include "weft/base/float16.h"
#include "weft/host/page_run.h"
#include "weft/host/session_choice.h"
#include "weft/page/literal.h"

namespace weft::cli {
namespace {

struct RunCommand {
  PageOptions page;
  std::vector<std::string> fetch, feed, watch, plot;
  std::string session, keep = "all", results, plot_file;
  int64_t steps = -1;
  bool quiet = false;
};

// The page that runs, for the signal handler. Written before the handler is set and cleared after it is taken away.
PageRun* running_page = nullptr;
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void OnInterrupt(int) {
  // The second interrupt ends the program at once.
  if (interrupted.exchange(true)) _exit(130);
  const int error = errno;
  running_page->Interrupt();
  errno = error;
}

class InterruptGuard {
 public:
  explicit InterruptGuard(PageRun& page) {
    running_page = &page;
    struct sigaction action = {};
    action.sa_handler = OnInterrupt;
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
  }
  ~InterruptGuard() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
    running_page = nullptr;
  }

 private:
  struct sigaction old_int_, old_term_;
};

/// ID.port=@file.npy, or ID.port=VALUE in the spelling of literals.
Status AddFeed(const Graph& graph, const std::string& text, SessionSpec& spec) {
  size_t equals = text.find('=');
  if (equals == std::string::npos) return InvalidArgument("--feed needs ID.port=@FILE.npy or ID.port=VALUE, found '", text, "'");
  WEFT_ASSIGN_OR_RETURN(ValueRef value, FindOutput(graph, text.substr(0, equals)));
  std::string source = text.substr(equals + 1);
  DType needed = graph.TypeOf(value);
  auto tensor = source.starts_with("@") ? ReadNpy(source.substr(1)) : ParseTextLiteral(source, needed, std::nullopt);
  if (!tensor.ok()) {
    const Status& status = tensor.status();
    return Status(status.code(), Cat("the feed of '", text.substr(0, equals), "' (", needed, "): ", status.message())).WithHint(status.hint());
  }
  if (tensor->dtype() != needed) return InvalidArgument("the feed of '", text.substr(0, equals), "' needs ", needed, ", found ", tensor->dtype());
  spec.feeds.push_back({value, std::move(*tensor)});
  return {};
}

Result<std::vector<SessionSpec>> SessionsFor(const Graph& graph, const RunCommand& command) {
  SessionRequest request;
  request.session = command.session;
  request.fetches = command.fetch;
  request.name = "fetch";
  WEFT_ASSIGN_OR_RETURN(std::vector<SessionSpec> sessions, ChooseSessions(graph, request));
  for (SessionSpec& spec : sessions) {
    for (const std::string& feed : command.feed) WEFT_RETURN_IF_ERROR(AddFeed(graph, feed, spec));
  }
  return sessions;
}

double NumberOf(const Tensor& tensor) {
  double sum = 0;
  int64_t count = tensor.count();
  Dispatch(tensor.dtype(), kReals + TypeList<bool>{}, [&]<class T>() {
    for (const T& value : tensor.values<T>()) sum += static_cast<double>(value);
  });
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

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
  return {};
}

void Recorder::AfterRun(const Session& session, uint64_t run) {
  std::lock_guard lock(mutex_);
  for (const std::string& name : command_.watch) {
    auto result = session.Get(name);
    if (!result.ok() || result->run != run) continue;
    if (progress_) std::cerr << "\r\033[K";
    std::ostream& out = command_.page.json ? std::cerr : std::cout;  // the JSON document stays one
    out << run << "  " << name << "  " << ToString(result->tensor) << "\n";
  }
  for (Trend& trend : trends_) {
    auto result = session.Get(trend.name);
    if (result.ok() && result->run == run) trend.values.push_back(NumberOf(result->tensor));
  }
  if (!progress_) return;
  auto now = std::chrono::steady_clock::now();
  if (now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  std::cerr << "\r\033[K" << session.spec().id << ": run " << run;
  if (steps_ > 0) std::cerr << "/" << steps_;
  if (!trends_.empty() && !trends_[0].values.empty()) std::cerr << "  " << trends_[0].name << " " << trends_[0].values.back();
  std::cerr << std::flush;
}

NamedTensors CollectResults(const PageRun& page) {
  NamedTensors results;
  for (const std::string& name : page.Results()) {
    if (auto result = page.Get(name); result.ok()) results.emplace_back(name, result->tensor);
  }
  return results;
}

void PrintFetches(const PageRun& page) {
  for (const auto& runner : page.runners()) {
    const Session& session = runner->session();
    for (const auto& fetch : session.spec().fetches) {
      auto result = session.Get(fetch.value);
      std::cout << Colored(fetch.name, 36, 1) << "  ";
      if (!result.ok()) std::cout << "no value: " << result.status().message() << "\n";
      else std::cout << ToString(result->tensor) << (result->stale ? "  (stale: of an earlier run)" : "") << "\n";
    }
    if (session.spec().fetches.empty()) std::cout << session.spec().id << ": " << session.runs() << " runs\n";
  }
}

int TerminalWidth() {
  winsize size = {};
  return ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

int Finish(const RunCommand& command, const PageRun& page, const Recorder& recorder) {
  Status status;
  if (!command.plot_file.empty()) status = SaveTrends(command.plot_file, recorder.trends());
  if (status.ok() && !command.results.empty()) status = SaveResults(command.results, CollectResults(page));
  if (!command.page.json) {
    if (!command.quiet) PrintFetches(page);
    if (!command.plot.empty()) std::cout << DrawTrends(recorder.trends(), std::min(TerminalWidth(), 100), 14, IsTerminal(1));
  } else if (status.ok()) {
    std::cout << ResultsJson(CollectResults(page));
  }
  if (status.ok()) return kOk;
  Report(status, command.page.json);
  return kFailed;
}

/// What would fail after a long run is refused before it.
Status CheckFiles(const RunCommand& command) {
  for (const std::string& file : {command.results, command.plot_file}) {
    if (!file.empty()) WEFT_RETURN_IF_ERROR(WritableFile(file).status());
  }
  return {};
}

/// Runs what is planned, and shows what came of it.
int Run(const RunCommand& command, std::vector<std::shared_ptr<Runner>> runners) {
  Recorder recorder(command, command.steps);
  PageRun page(std::move(runners), [&](Session& session, uint64_t run) {
    recorder.AfterRun(session, run);
    if (interrupted) running_page->Interrupt();  // it came before the page's run began
  });
  Status status = recorder.Check(page);
  if (status.ok()) {
    InterruptGuard guard(page);
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
  if (interrupted) {
    std::cerr << "weft: interrupted; results are those of the last whole run\n";
    if (status.code() == Code::kCancelled) status = {};
  }
  if (!status.ok()) {
    Report(status, command.page.json);
    return kFailed;
  }
  const int code = Finish(command, page, recorder);
  // To interrupt a loop is how it ends; to interrupt a count of runs leaves it short.
  return interrupted && !endless ? kFailed : code;
}

int RunPage(const RunCommand& command) {
  if (Status status = CheckFiles(command); !status.ok()) {
    Report(status, command.page.json);
    return kFailed;
  }
  LoadedPage loaded = Load(command.page);
  if (loaded.diagnostics.has_errors()) {
    Report(loaded.diagnostics, command.page.json);
    return kFailed;
  }
  const std::shared_ptr<Revision> revision = loaded.scope->revision();
  auto specs = SessionsFor(*revision->graph, command);
  if (!specs.ok()) {
    Report(Status(specs.status()).WithPage(command.page.page), command.page.json);
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
  if (!command.page.json || loaded.diagnostics.has_errors()) Report(loaded.diagnostics, command.page.json);
  return loaded.diagnostics.has_errors() ? kFailed : Run(command, std::move(runners));
}

}  // namespace

void AddRun(Program& program) {
  auto options = std::make_shared<RunCommand>();
  Command command = program.Add("run", "Run a page: evaluate its sessions and show their results",
                                "  weft run graphs/xor.page.json --steps 2000 --plot loss.output\n"
                                "  weft run page.json --fetch db.output --feed x.output=@x.npy --results out.npz\n"
                                "  weft run page.json --set reader.filename=data.bin --allow /data", options, RunPage);
  options->page.AddTo(command, true);
  command.Add("--fetch", options->fetch, "Evaluate this output instead of what the page's sessions ask for").Type("ID.port").Repeated();
  command.Add("--keep", options->keep, "Keep all results, or only those asked for").OneOf({"all", "asked"}).ShowDefault();
  command.Add("--feed", options->feed, "Replace an output: ID.port=@FILE.npy or ID.port=VALUE").Type("FEED").Repeated();
  command.Add("--steps", options->steps, "Runs of each session (default: 1; sessions that loop: until interrupted)").Type("N").CountOfRuns();
  command.Add("--session", options->session, "Only this ClientSession").Type("ID");
  command.Add("--watch", options->watch, "Print this result after every run").Type("NAME").Repeated();
  const Option plot = command.Add("--plot", options->plot, "Draw how this result changes from run to run (its mean, where it has several elements)")
      .Type("NAME").Repeated();
  command.Add("--plot-file", options->plot_file, "Also write the drawing as .svg or .png")
      .Type("FILE").Needs(plot).EndsIn({".svg", ".png"});
  command.Add("--results", options->results, "Write all results to a .json or .npz file").Type("FILE").EndsIn({".json", ".npz"});
  command.AddFlag("--quiet", options->quiet, "Print no results and no progress");
}

}  // namespace weft::cli
