// weft run: evaluates the sessions of a page.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <mutex>
#include <thread>

#include "tools/cli/common.h"
#include "tools/cli/results_io.h"
#include "tools/cli/trend.h"
#include "weft/base/float16.h"
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

// The sessions that run, for the signal handler. Written before the handler is set and cleared after it is taken away.
constexpr size_t kMostSessions = 256;
Session* running_sessions[kMostSessions];
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void OnInterrupt(int) {
  // The second interrupt ends the program at once.
  if (interrupted.exchange(true)) _exit(130);
  const int error = errno;
  for (Session* session : running_sessions) {
    if (session != nullptr) session->Cancel();
  }
  errno = error;
}

class InterruptGuard {
 public:
  explicit InterruptGuard(const std::vector<std::unique_ptr<Session>>& sessions) {
    for (size_t i = 0; i < sessions.size() && i < kMostSessions; ++i) running_sessions[i] = sessions[i].get();
    struct sigaction action = {};
    action.sa_handler = OnInterrupt;
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
  }
  ~InterruptGuard() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
    for (Session*& session : running_sessions) session = nullptr;
  }

 private:
  struct sigaction old_int_, old_term_;
};

Status AddFetches(const Graph& graph, const std::vector<std::string>& fetches, SessionSpec& spec) {
  for (const std::string& name : fetches) {
    WEFT_ASSIGN_OR_RETURN(ValueRef value, FindOutput(graph, name));
    spec.fetches.push_back({name, value});
  }
  return {};
}

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

Result<std::vector<SessionSpec>> ChooseSessions(const Graph& graph, const RunCommand& command) {
  std::vector<SessionSpec> sessions;
  if (!command.fetch.empty()) {
    SessionSpec spec;
    spec.id = "fetch";
    WEFT_RETURN_IF_ERROR(AddFetches(graph, command.fetch, spec));
    sessions.push_back(std::move(spec));
  } else if (graph.sessions().empty()) {
    sessions.push_back(graph.DefaultSession());
  } else {
    sessions = graph.sessions();
  }
  WEFT_RETURN_IF_ERROR(ChooseSession(sessions, command.session));
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

  Status Check(const std::vector<std::unique_ptr<Session>>& sessions) const;
  void AfterRun(const Session& session);
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

Status Recorder::Check(const std::vector<std::unique_ptr<Session>>& sessions) const {
  for (const auto* names : {&command_.watch, &command_.plot}) {
    for (const std::string& name : *names) {
      Status status = NotFound("no session computes '", name, "'");
      if (name.find('.') == std::string::npos && !sessions.empty()) WEFT_RETURN_IF_ERROR(FindOutput(sessions[0]->scope().graph(), name).status());
      for (const auto& session : sessions) {
        auto result = session->Get(name);
        // Before the first run there is no value, but the name must stand for something.
        if (result.ok() || result.status().code() == Code::kFailedPrecondition) status = {};
        else if (!status.ok()) status = result.status();
        if (status.ok()) break;
      }
      WEFT_RETURN_IF_ERROR(status);
    }
  }
  return {};
}

void Recorder::AfterRun(const Session& session) {
  std::lock_guard lock(mutex_);
  for (const std::string& name : command_.watch) {
    auto result = session.Get(name);
    if (!result.ok() || result->run != session.runs()) continue;
    if (progress_) std::cerr << "\r\033[K";
    std::ostream& out = command_.page.json ? std::cerr : std::cout;  // the JSON document stays one
    out << session.runs() << "  " << name << "  " << ToString(result->tensor) << "\n";
  }
  for (Trend& trend : trends_) {
    auto result = session.Get(trend.name);
    if (result.ok() && result->run == session.runs()) trend.values.push_back(NumberOf(result->tensor));
  }
  if (!progress_) return;
  auto now = std::chrono::steady_clock::now();
  if (now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  std::cerr << "\r\033[K" << session.spec().id << ": run " << session.runs();
  if (steps_ > 0) std::cerr << "/" << steps_;
  if (!trends_.empty() && !trends_[0].values.empty()) std::cerr << "  " << trends_[0].name << " " << trends_[0].values.back();
  std::cerr << std::flush;
}

Status RunOne(Session& session, int64_t steps, Recorder& recorder) {
  for (int64_t i = 0; (steps < 0 || i < steps) && !interrupted; ++i) {
    WEFT_RETURN_IF_ERROR(session.Run());
    recorder.AfterRun(session);
  }
  return {};
}

/// Sessions that loop run beside one another; the others run in page order, step by step.
Status RunAll(std::vector<std::unique_ptr<Session>>& sessions, const RunCommand& command, Recorder& recorder) {
  std::mutex mutex;
  Status first;
  auto note = [&](Status status) {
    if (status.ok()) return;
    std::lock_guard lock(mutex);
    if (!first.ok()) return;
    first = std::move(status);
    for (const auto& session : sessions) session->Cancel();
  };
  std::vector<std::thread> loops;
  for (const auto& session : sessions) {
    if (!session->spec().loop) continue;
    loops.emplace_back([&, s = session.get()] { note(RunOne(*s, command.steps, recorder)); });
  }
  int64_t steps = command.steps < 0 ? 1 : command.steps;
  auto failed = [&] {
    std::lock_guard lock(mutex);
    return !first.ok();
  };
  for (int64_t i = 0; i < steps && !interrupted && !failed(); ++i) {
    for (const auto& session : sessions) {
      if (!session->spec().loop && !interrupted && !failed()) note(RunOne(*session, 1, recorder));
    }
  }
  for (std::thread& loop : loops) loop.join();
  return first;
}

NamedTensors CollectResults(const std::vector<std::unique_ptr<Session>>& sessions) {
  NamedTensors results;
  for (const auto& session : sessions) {
    for (const auto& [name, value] : session->Results()) {
      auto result = session->Get(value);
      bool known = std::any_of(results.begin(), results.end(), [&](const auto& r) { return r.first == name; });
      if (result.ok() && !known) results.emplace_back(name, result->tensor);
    }
  }
  return results;
}

void PrintFetches(const std::vector<std::unique_ptr<Session>>& sessions) {
  for (const auto& session : sessions) {
    for (const auto& fetch : session->spec().fetches) {
      auto result = session->Get(fetch.value);
      std::cout << Colored(fetch.name, 36, 1) << "  ";
      if (!result.ok()) std::cout << "no value: " << result.status().message() << "\n";
      else std::cout << ToString(result->tensor) << (result->stale ? "  (stale: of an earlier run)" : "") << "\n";
    }
    if (session->spec().fetches.empty()) std::cout << session->spec().id << ": " << session->runs() << " runs\n";
  }
}

int TerminalWidth() {
  winsize size = {};
  return ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

int Finish(const RunCommand& command, const std::vector<std::unique_ptr<Session>>& sessions, const Recorder& recorder) {
  Status status;
  if (!command.plot_file.empty()) status = SaveTrends(command.plot_file, recorder.trends());
  if (status.ok() && !command.results.empty()) status = SaveResults(command.results, CollectResults(sessions));
  if (!command.page.json) {
    if (!command.quiet) PrintFetches(sessions);
    if (!command.plot.empty()) std::cout << DrawTrends(recorder.trends(), std::min(TerminalWidth(), 100), 14, IsTerminal(1));
  } else if (status.ok()) {
    std::cout << ResultsJson(CollectResults(sessions));
  }
  if (status.ok()) return kOk;
  Report(status, command.page.json);
  return kFailed;
}

int RunPage(const RunCommand& command) {
  for (const std::string& file : {command.results, command.plot_file}) {
    if (file.empty()) continue;
    if (auto target = WritableFile(file); !target.ok()) {
      Report(target.status(), command.page.json);
      return kFailed;
    }
  }
  LoadedPage loaded = Load(command.page);
  if (loaded.diagnostics.has_errors()) {
    Report(loaded.diagnostics, command.page.json);
    return kFailed;
  }
  auto specs = ChooseSessions(loaded.scope->graph(), command);
  if (!specs.ok()) {
    Report(Status(specs.status()).WithPage(command.page.page), command.page.json);
    return kFailed;
  }
  std::vector<std::unique_ptr<Session>> sessions;
  for (SessionSpec& spec : *specs) {
    sessions.push_back(std::make_unique<Session>(loaded.scope, std::move(spec), command.keep == "asked" ? Keep::kAsked : Keep::kAll));
    sessions.back()->Prepare(loaded.diagnostics);
    if (const Plan* plan = sessions.back()->plan()) {
      LogDebug(Cat("session ", sessions.back()->spec().id, ": ", plan->steps.size(), " steps, arena ", plan->arena_bytes, " bytes, results ", plan->kept_bytes, " bytes"));
    }
  }
  if (!command.page.json || loaded.diagnostics.has_errors()) Report(loaded.diagnostics, command.page.json);
  if (loaded.diagnostics.has_errors()) return kFailed;
  Recorder recorder(command, command.steps);
  Status status = recorder.Check(sessions);
  if (status.ok()) {
    InterruptGuard guard(sessions);
    status = RunAll(sessions, command, recorder);
  }
  recorder.End();
  for (const auto& session : sessions) LogDebug(Cat("session ", session->spec().id, ": ", session->runs(), " runs done"));
  if (interrupted) {
    std::cerr << "weft: interrupted; results are those of the last whole run\n";
    if (status.code() == Code::kCancelled) status = {};
  }
  if (!status.ok()) {
    Report(status, command.page.json);
    return kFailed;
  }
  int code = Finish(command, sessions, recorder);
  // To interrupt a loop is how it ends; to interrupt a count of runs leaves it short.
  bool endless = command.steps < 0 && std::any_of(sessions.begin(), sessions.end(), [](const auto& s) { return s->spec().loop; });
  return interrupted && !endless ? kFailed : code;
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
