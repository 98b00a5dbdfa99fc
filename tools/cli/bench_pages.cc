// weft bench --page: the steps of a page's sessions.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>

#include "tools/cli/bench.h"
#include "tools/cli/common.h"
#include "weft/host/document.h"
#include "weft/host/session_choice.h"
#include "weft/page/reader.h"

namespace weft::cli {
namespace {

double BytesOf(const Slot& slot) {
  if (slot.storage == Slot::Storage::kTile) return 0;  // never in memory
  return slot.shape_known ? static_cast<double>(slot.shape.count()) * static_cast<double>(ElementSize(slot.dtype)) : 0;
}

/// Operations of products and convolutions, by block; 0 for what memory bounds.
double FlopsOf(const Plan& plan, const Step& step, const Node& node) {
  auto input = [&](size_t i) -> const Shape& { return plan.slots[plan.operands[step.first_input + i]].shape; };
  auto count = [](const Shape& shape) { return static_cast<double>(shape.count()); };
  const Shape& output = plan.slots[plan.operands[step.first_output]].shape;
  const std::string_view name = node.def->name;
  if (name == "MatMul" || name.starts_with("BatchMatMul")) {
    // a is [.., m, k] or its transpose, output [.., m, n]: the sizes of a, b and output multiply to (batch * m * k * n) squared, but for the batch.
    double rows = output.rank() < 2 ? 1 : static_cast<double>(output[output.rank() - 2]) * static_cast<double>(output[output.rank() - 1]);
    double batch = rows > 0 ? count(output) / rows : 0;
    return batch > 0 ? 2 * std::sqrt(count(input(0)) * count(input(1)) * count(output) / batch) : 0;
  }
  // A filter is [taps.., in, out]: each element of the convolution's output takes count / out products.
  auto products = [&](const Shape& filter, const Shape& convolved) {
    double channels = filter.rank() > 0 ? static_cast<double>(filter[filter.rank() - 1]) : 0;
    return channels > 0 ? 2 * count(convolved) * count(filter) / channels : 0;
  };
  if (name == "Conv2D" || name == "Conv3D") return products(input(1), output);
  if (name.starts_with("Conv2DBackpropInput") || name.starts_with("Conv3DBackpropInput")) return products(input(1), input(2));
  if (name.starts_with("Conv2DBackpropFilter") || name.starts_with("Conv3DBackpropFilter")) return products(output, input(2));
  return 0;
}

/// What a step's tensors and its block make it move and compute. The working set is the whole plan's.
Work WorkOf(const Graph& graph, const Plan& plan, const Step& step, double working_set) {
  Work work;
  const Node& node = graph.node(step.node);
  if (node.def == nullptr || step.kind != Step::Kind::kRun) return work;
  uint32_t inputs = node.in_first.values(), outputs = node.out_first.values();
  for (uint32_t i = 0; i < inputs; ++i) work.read_bytes += BytesOf(plan.slots[plan.operands[step.first_input + i]]);
  for (uint32_t i = 0; i < outputs; ++i) work.written_bytes += BytesOf(plan.slots[plan.operands[step.first_output + i]]);
  work.working_set = working_set;
  if (outputs > 0) work.flops = FlopsOf(plan, step, node);
  return work;
}

BenchReport::Page Describe(const Graph& graph, const Plan& plan, MachineLimits& limits) {
  BenchReport::Page page;
  page.blocks = plan.steps.size();
  page.arena_bytes = plan.arena_bytes;
  page.live_bytes = plan.live_bytes;
  page.kept_bytes = plan.kept_bytes;
  double working_set = static_cast<double>(plan.arena_bytes + plan.kept_bytes);
  for (const Slot& slot : plan.slots) {
    if (slot.storage == Slot::Storage::kVariable || slot.storage == Slot::Storage::kConstant) working_set += BytesOf(slot);
  }
  for (const Step& step : plan.steps) {
    Work work = WorkOf(graph, plan, step, working_set);
    page.work.read_bytes += work.read_bytes;
    page.work.written_bytes += work.written_bytes;
    page.work.flops += work.flops;
    page.limit_seconds += limits.Of(work).seconds;
  }
  page.work.working_set = working_set;
  return page;
}

/// The least time of `again()` in milliseconds. Short ones are repeated.
template <class Call>
double BestMilliseconds(const Call& again) {
  using Clock = std::chrono::steady_clock;
  double best = 0, total = 0;
  for (int i = 0; i < 20 && (i < 3 || total < 500); ++i) {
    auto start = Clock::now();
    auto made = again();  // kept until the clock has been read
    double time = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    best = i == 0 ? time : std::min(best, time);
    total += time;
  }
  return best;
}

/// Of a page that could be loaded.
double TimeLoading(Runtime& runtime, const std::string& path, const BenchOptions& bench) {
  FolderRules rules = FolderRules::OfPage(std::filesystem::path(path).parent_path());
  rules.read.insert(rules.read.end(), bench.allow.begin(), bench.allow.end());
  rules.write.insert(rules.write.end(), bench.write.begin(), bench.write.end());
  return BestMilliseconds([&] {
    ReadPageResult read = ReadPageFile(path, rules);
    ScopeOptions options;
    options.files = std::make_shared<FileSandbox>(rules);
    return Scope::Open(runtime, std::make_shared<Page>(std::move(read.page)), path, std::move(options), read.diagnostics);
  });
}

double TimePlanning(const std::shared_ptr<Scope>& scope, const SessionSpec& spec, Keep keep) {
  return BestMilliseconds([&] {
    auto session = std::make_unique<Session>(scope, spec, keep);
    Diagnostics ignored;
    session->Prepare(ignored);
    return session;
  });
}

/// Made with the first page, whose runtime knows the number of threads.
struct Shared {
  MachineLimits limits;
  BenchReport report;
};

int BenchPage(const std::string& path, const BenchOptions& options, std::optional<Shared>& shared) {
  if (path == "-") {
    Report(InvalidArgument("weft bench needs a page in a file, found standard input: it is loaded again and again"), options.json);
    return kFailed;
  }
  LoadedPage loaded = Load(options.PageAt(path));
  if (loaded.diagnostics.has_errors()) {
    Report(loaded.diagnostics, options.json);
    return kFailed;
  }
  int threads = loaded.runtime->threads();
  if (!shared) shared = Shared{MachineLimits(threads, options.quick ? 0.02 : 0.1), BenchReport(options.json, threads)};
  const Graph& graph = loaded.scope->graph();
  const std::vector<SessionSpec> sessions = SessionsOf(graph);
  Keep keep = options.keep == "asked" ? Keep::kAsked : Keep::kAll;
  double load_ms = TimeLoading(*loaded.runtime, path, options);
  for (const SessionSpec& spec : sessions) {
    std::string name = Cat(loaded.page->name, sessions.size() > 1 ? "." + spec.id : "");
    double plan_ms = TimePlanning(loaded.scope, spec, keep);
    Session session(loaded.scope, spec, keep);
    auto timing = TimeRuns(session, options.seconds);
    if (!timing.ok()) {
      Report(timing.status(), options.json);
      return kFailed;
    }
    BenchReport::Page found = Describe(graph, *session.plan(), shared->limits);
    if (found.limit_seconds * 1e6 > timing->best_us) {
      shared->limits.MeasureAgain(found.work);
      found = Describe(graph, *session.plan(), shared->limits);
    }
    found.name = name;
    found.keep = options.keep;
    found.load_ms = load_ms;
    found.plan_ms = plan_ms;
    shared->report.Steps(found, *timing);
  }
  return kOk;
}

}  // namespace

int BenchPages(const BenchOptions& options) {
  std::optional<Shared> shared;
  for (const std::string& page : options.pages) {
    if (int status = BenchPage(page, options, shared); status != kOk) return status;
  }
  return kOk;
}

}  // namespace weft::cli
