#include "tools/cli/sweep/point_runner.h"

#include <chrono>
#include <new>

#include "tools/cli/page_results.h"
#include "tools/cli/sweep/journal.h"
#include "weft/capi/runtime.hpp"
#include "weft/host/page_run.h"
#include "weft/host/session_choice.h"
#include "weft/host/settings.h"
#include "weft/state/snapshot.h"

namespace weft::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::string SettingOf(const Target& target, const ParameterValue& value) { return Cat(target.name, "=", value.text); }

/// Files that are fed lie beside the grid.
std::string FeedOf(const Grid& grid, const Target& target, const ParameterValue& value) {
  const bool file = value.text.starts_with("@");
  return Cat(target.name, "=", file ? "@" : "", file ? BesideGrid(grid, value.text.substr(1)) : value.text);
}

/// Calls `use` with each target of a point and its value.
template <class Use>
Status ForTargets(const GridPoint& point, bool feed, Use use) {
  for (size_t i = 0; i < point.axes.size(); ++i) {
    for (const Target& target : point.axes[i]->targets) {
      if (target.feed == feed) WEFT_RETURN_IF_ERROR(use(target, point.values[i]));
    }
  }
  return {};
}

/// Of every point. A file is read once.
Status AddFixedFeeds(const Grid& grid, const Graph& graph, const std::shared_ptr<MemoryBudget>& budget, FeedCache& cache, SessionSpec& spec) {
  for (const auto& [target, value] : grid.settings) {
    if (target.feed) WEFT_RETURN_IF_ERROR(AddFeed(graph, FeedOf(grid, target, value), budget, spec, &cache));
  }
  return {};
}

Status AddFeeds(const Grid& grid, const GridPoint& point, const Graph& graph, const std::shared_ptr<MemoryBudget>& budget, SessionSpec& spec) {
  return ForTargets(point, true,
                    [&](const Target& target, const ParameterValue& value) { return AddFeed(graph, FeedOf(grid, target, value), budget, spec); });
}

/// The sessions that a point runs, without what is fed.
Result<std::vector<SessionSpec>> SessionsFor(const Grid& grid, const Graph& graph) {
  SessionRequest request;
  request.session = grid.session;
  request.fetches = grid.fetch;
  request.name = "fetch";
  WEFT_ASSIGN_OR_RETURN(std::vector<SessionSpec> sessions, ChooseSessions(graph, request));
  for (const SessionSpec& spec : sessions) {
    if (!spec.loop || grid.steps > 0) continue;
    return FailedPrecondition("session '", spec.id, "' runs until it is stopped, and a point must end")
        .WithHint("give the grid \"steps\"")
        .WithBlock(spec.id);
  }
  return sessions;
}

Status TooLong(double limit) { return Aborted("the point took longer than the ", limit, " s of the grid's time_limit"); }

}  // namespace

Result<std::string> PageHash(const Grid& grid, std::string_view bytes) {
  if (grid.load_state.empty()) return HashOf(bytes);
  WEFT_ASSIGN_OR_RETURN(const std::string state, ReadFile(grid.load_state));
  return HashOf(HashOf(bytes) + HashOf(state));
}

/// A page as a point has it, with state of its own.
struct PointRunner::Opened {
  std::shared_ptr<Page> page;
  std::shared_ptr<Scope> scope;  // null where there are errors
};

PointRunner::~PointRunner() = default;

std::unique_ptr<PointRunner> PointRunner::Open(const Grid& grid, const PageOptions& options, Diagnostics& found) {
  std::unique_ptr<PointRunner> runner(new PointRunner(grid));
  if (Status status = runner->ReadBase(options, found); !status.ok()) found.Error(std::move(status));
  return found.has_errors() ? nullptr : std::move(runner);
}

Status PointRunner::ReadBase(const PageOptions& options, Diagnostics& found) {
  WEFT_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(grid_.page));
  WEFT_ASSIGN_OR_RETURN(page_hash_, PageHash(grid_, bytes));
  WEFT_ASSIGN_OR_RETURN(
      runtime_, OpenRuntime(RuntimeOptions{.threads = options.threads, .memory_limit = options.memory}, options.libraries, options.blocks));
  FolderRules rules = FolderRules::OfPage(std::filesystem::path(grid_.page).parent_path());
  WEFT_ASSIGN_OR_RETURN(const auto allowed, Folders(options.allow, "--allow"));
  WEFT_ASSIGN_OR_RETURN(rules.write, Folders(options.write, "--write"));
  rules.read.insert(rules.read.end(), allowed.begin(), allowed.end());
  files_ = std::make_shared<FileSandbox>(std::move(rules));
  ReadOptions read;
  read.name = grid_.page;
  read.read_file = [files = files_](const std::string& file, int64_t offset, int64_t size) { return files->Read(file, offset, size); };
  ReadPageResult result = ReadPage(bytes, read);
  found.Append(std::move(result.diagnostics));
  for (const auto& [target, value] : grid_.settings) {
    if (!target.feed) WEFT_RETURN_IF_ERROR(ApplySetting(result.page, runtime_->registry(), SettingOf(target, value)));
  }
  base_ = std::make_shared<Page>(std::move(result.page));
  return {};
}

PointRunner::Opened PointRunner::OpenPoint(const GridPoint& point, Diagnostics& found) const {
  Opened opened{std::make_shared<Page>(*base_), nullptr};
  const auto set = [&](const Target& target, const ParameterValue& value) {
    return ApplySetting(*opened.page, runtime_->registry(), SettingOf(target, value));
  };
  if (Status status = ForTargets(point, false, set); !status.ok()) {
    found.Error(std::move(status).WithPage(grid_.page));
    return opened;
  }
  ScopeOptions options;
  options.files = files_;
  options.print = PrintOfBlock;
  opened.scope = Scope::Open(*runtime_, opened.page, grid_.page, std::move(options), found);
  return opened;
}

void PointRunner::CheckNames(Diagnostics& found) {
  const GridPoint first = grid_.At(0);
  const auto tell = [&](Status status) {
    if (!status.ok()) found.Error(std::move(status).WithPage(grid_.path));
    return Status();
  };
  // A value may be wrong at one point alone; a name that the page has not is wrong at all.
  const auto check_setting = [&](const Target& target, const ParameterValue& value) {
    Page page = *base_;
    Status status = ApplySetting(page, runtime_->registry(), SettingOf(target, value));
    return status.code() == Code::kNotFound ? tell(std::move(status)) : Status();
  };
  (void)ForTargets(first, false, check_setting);
  Diagnostics faults;
  const Opened opened = OpenPoint(first, faults);
  if (opened.scope == nullptr) return;
  const Graph& graph = opened.scope->graph();
  (void)ForTargets(first, true, [&](const Target& target, const ParameterValue&) { return tell(FindOutput(graph, target.name).status()); });
  auto sessions = SessionsFor(grid_, graph);
  if (!sessions.ok()) (void)tell(std::move(sessions).status());
  else if (!sessions->empty()) (void)tell(AddFixedFeeds(grid_, graph, opened.scope->budget(), feeds_, sessions->front()));
}

void PointRunner::Check(Diagnostics& found) {
  CheckNames(found);
  if (found.has_errors()) return;
  Diagnostics first, last;
  OpenPoint(grid_.At(0), first);
  if (!first.has_errors()) return;
  OpenPoint(grid_.At(grid_.count() - 1), last);
  if (last.has_errors()) found.Append(std::move(first));
}

Status PointRunner::RunPoint(const GridPoint& point, std::string& results) {
  const Clock::time_point start = Clock::now();
  Diagnostics found;
  Opened opened = OpenPoint(point, found);
  WEFT_RETURN_IF_ERROR(found.FirstError());
  if (!grid_.load_state.empty()) {
    WEFT_RETURN_IF_ERROR(RestoreSnapshot(*opened.scope, grid_.load_state, {}, found).status());
    WEFT_RETURN_IF_ERROR(found.FirstError());
  }
  const std::shared_ptr<Revision> revision = opened.scope->revision();
  WEFT_ASSIGN_OR_RETURN(std::vector<SessionSpec> sessions, SessionsFor(grid_, *revision->graph));
  for (SessionSpec& spec : sessions) {
    WEFT_RETURN_IF_ERROR(AddFixedFeeds(grid_, *revision->graph, opened.scope->budget(), feeds_, spec));
    WEFT_RETURN_IF_ERROR(AddFeeds(grid_, point, *revision->graph, opened.scope->budget(), spec));
  }
  PageRun run(OpenRunners(opened.scope, revision, std::move(sessions), Keep::kAsked, nullptr, found));
  WEFT_RETURN_IF_ERROR(found.FirstError());
  PageRunRequest request;
  if (grid_.steps > 0) request.steps = grid_.steps;
  if (grid_.time_limit > 0) {
    request.deadline = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(grid_.time_limit));
  }
  Status status = run.Run(request);
  if (status.code() == Code::kCancelled && request.deadline && Clock::now() >= *request.deadline) return TooLong(grid_.time_limit);
  WEFT_RETURN_IF_ERROR(std::move(status));
  results = ResultsText(CollectResults(run));
  return {};
}

std::string PointRunner::Run(int64_t point) {
  const Clock::time_point start = Clock::now();
  const GridPoint at = grid_.At(point);
  std::string results;
  Status status;
  try {
    status = RunPoint(at, results);
  } catch (const std::bad_alloc&) {
    status = ResourceExhausted("the machine has no memory left for the point");
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return status.ok() ? DoneLine(point, at, seconds, results) : FailedLine(point, at, seconds, status);
}

}  // namespace weft::cli
