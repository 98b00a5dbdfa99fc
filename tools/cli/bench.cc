// weft bench: times the steps of pages, and of the kernels that Weft exists for.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "weft/page/reader.h"

namespace weft::cli {
namespace {

struct BenchOptions {
  std::vector<std::string> pages;
  std::string keep = "all";
  double seconds = 0.5;
  int threads = 0;
  bool json = false, quick = false;
};

struct Timing {
  double best_us = 0, median_us = 0;
  size_t steps = 0;  // blocks that a run evaluates
};

/// Runs until `seconds` have passed, at least three times; short runs are timed in batches.
Result<Timing> Time(Session& session, double seconds) {
  using Clock = std::chrono::steady_clock;
  WEFT_RETURN_IF_ERROR(session.RunSteps(3));
  auto timed = [&](int64_t runs) -> Result<double> {
    auto start = Clock::now();
    WEFT_RETURN_IF_ERROR(session.RunSteps(runs));
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / static_cast<double>(runs);
  };
  WEFT_ASSIGN_OR_RETURN(double once, timed(1));
  auto batch = static_cast<int64_t>(std::clamp(2000.0 / std::max(once, 0.1), 1.0, 1000.0));  // about 2 ms
  std::vector<double> times;
  auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (times.size() < 3 || Clock::now() < end) {
    WEFT_ASSIGN_OR_RETURN(double time, timed(batch));
    times.push_back(time);
  }
  std::sort(times.begin(), times.end());
  return Timing{times[0], times[times.size() / 2], session.plan()->steps.size()};
}

void Print(const std::string& name, const Timing& timing, double bytes, bool json) {
  if (json) {
    nlohmann::ordered_json line = {{"case", name}, {"blocks", timing.steps}, {"best_step_us", timing.best_us}, {"median_step_us", timing.median_us},
                                   {"steps_per_s", 1e6 / timing.best_us}};
    if (bytes > 0) line["min_ms"] = timing.best_us / 1e3, line["median_ms"] = timing.median_us / 1e3, line["gb_per_s"] = bytes / timing.best_us / 1e3;
    std::cout << line.dump() << "\n";
    return;
  }
  std::printf("%-52s %10.2f us best %10.2f us median", name.c_str(), timing.best_us, timing.median_us);
  if (bytes > 0) std::printf("  %7.1f GB/s", bytes / timing.best_us / 1e3);
  else std::printf("  %7.1f ns a block (%zu blocks)", timing.best_us * 1e3 / static_cast<double>(std::max<size_t>(timing.steps, 1)), timing.steps);
  std::printf("\n");
}

int BenchPage(const std::string& path, const BenchOptions& options) {
  PageOptions page;
  page.page = path;
  page.threads = options.threads;
  LoadedPage loaded = Load(page);
  if (loaded.diagnostics.has_errors()) {
    Report(loaded.diagnostics, options.json);
    return kFailed;
  }
  std::vector<SessionSpec> sessions = loaded.scope->graph().sessions();
  if (sessions.empty()) sessions.push_back(loaded.scope->graph().DefaultSession());
  for (SessionSpec& spec : sessions) {
    std::string name = Cat(loaded.page->name, sessions.size() > 1 ? "." + spec.id : "", " (", options.keep, ")");
    Session session(loaded.scope, std::move(spec), options.keep == "asked" ? Keep::kAsked : Keep::kAll);
    auto timing = Time(session, options.seconds);
    if (!timing.ok()) {
      Report(timing.status(), options.json);
      return kFailed;
    }
    Print(name, *timing, 0, options.json);
  }
  return kOk;
}

/// A kernel as a page: its tensors are Variables that start at random, so that nothing is copied in.
struct Kernel {
  std::string name;
  std::string page;
  double bytes;  // that the kernel must move: each input read once, each output written once
};

std::string RandomVariable(const std::string& id, const std::string& dims) {
  return Cat(R"({"id": ")", id, R"(_start", "block": "RandomNormal_ex", "attrs": "shape_ = )", dims, R"(;dtype_ = DT_FLOAT;seed_ = 1;"},)",
             R"({"id": ")", id, R"(", "block": "Variable", "attrs": "shape_ = )", dims, R"(;dtype_ = DT_FLOAT;", "inputs": {"initvalues": ")", id,
             R"(_start.output"}},)");
}

std::vector<Kernel> Kernels(bool quick) {
  struct Size {
    int64_t n, h, w, c;
  };
  std::vector<Size> sizes = {{64, 14, 14, 256}};
  if (!quick) sizes.insert(sizes.end(), {{32, 56, 56, 64}, {16, 112, 112, 64}});
  std::vector<Kernel> kernels;
  for (const Size& size : sizes) {
    for (std::string layout : {"NHWC", "NCHW"}) {
      bool last = layout == "NHWC";
      std::string dims = last ? Cat("[", size.n, "][", size.h, "][", size.w, "][", size.c, "]") : Cat("[", size.n, "][", size.c, "][", size.h, "][", size.w, "]");
      std::string what = Cat(" ", size.n, "x", size.h, "x", size.w, "x", size.c, " ", layout);
      double bytes = 4.0 * static_cast<double>(size.n * size.h * size.w * size.c);
      std::string channels = Cat("[", size.c, "]");
      std::string attrs = Cat("\"attrs\": \"data_format_ = ", layout, ";");
      auto page = [&](const std::string& blocks, const std::string& fetches) {
        return Cat(R"({"weft": 1, "page": "kernel", "blocks": [)", RandomVariable("x", dims), RandomVariable("dy", dims), RandomVariable("s", channels),
                   RandomVariable("v", channels), blocks, R"(, {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": [)", fetches, "]}}]}");
      };
      kernels.push_back({"BiasAddGrad" + what, page(Cat(R"({"id": "k", "block": "BiasAddGrad", )", attrs, R"(", "inputs": {"out_backprop": "dy.ref"}})"), "\"k.output\""), bytes});
      std::string norm = R"("scale": "s.ref", "offset": "v.ref")";
      kernels.push_back({"FusedBatchNorm training" + what,
                         page(Cat(R"({"id": "k", "block": "FusedBatchNorm", )", attrs, R"(", "inputs": {"x": "x.ref", )", norm,
                                  R"(, "mean": {"dtype": "DT_FLOAT", "shape": [0], "values": []}, "variance": {"dtype": "DT_FLOAT", "shape": [0], "values": []}}})"),
                              "\"k.y\""), 3 * bytes});
      kernels.push_back({"FusedBatchNormGrad training" + what,
                         page(Cat(R"({"id": "k", "block": "FusedBatchNormGrad", )", attrs,
                                  R"(", "inputs": {"y_backprop": "dy.ref", "x": "x.ref", "scale": "s.ref", "reserve_space_1": "s.ref", "reserve_space_2": "v.ref"}})"),
                              "\"k.x_backprop\", \"k.scale_backprop\", \"k.offset_backprop\""), 5 * bytes});
    }
  }
  return kernels;
}

int BenchKernels(const BenchOptions& options) {
  Runtime runtime(MakeCatalog(), {.threads = options.threads, .memory_limit = 0});
  for (const Kernel& kernel : Kernels(options.quick)) {
    ReadPageResult read = ReadPage(kernel.page, {.name = kernel.name, .read_file = {}});
    auto scope = Scope::Open(runtime, std::make_shared<Page>(std::move(read.page)), kernel.name, {}, read.diagnostics);
    if (read.diagnostics.has_errors()) {
      Report(read.diagnostics, options.json);
      return kFailed;
    }
    Session session(scope, scope->graph().sessions()[0], Keep::kAsked);
    auto timing = Time(session, options.seconds);
    if (!timing.ok()) {
      Report(timing.status(), options.json);
      return kFailed;
    }
    Print(kernel.name, *timing, kernel.bytes, options.json);
  }
  return kOk;
}

int RunBench(const BenchOptions& given) {
  BenchOptions options = given;
  if (options.quick) options.seconds = std::min(options.seconds, 0.05);
  if (options.pages.empty()) return BenchKernels(options);
  for (const std::string& page : options.pages) {
    if (int status = BenchPage(page, options); status != kOk) return status;
  }
  return kOk;
}

}  // namespace

void AddBench(CLI::App& app, int& status) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = AddCommand(app, "bench", "Time the runs of pages, or of kernels where no page is named",
                                 "  weft bench\n  weft bench --page graphs/xor.page.json --keep asked\n  weft bench --quick --json", status, options, RunBench);
  command->add_option("--page", options->pages, "Page whose sessions are timed")->type_name("PAGE");
  command->add_option("--keep", options->keep, "Which results of pages are kept")->check(CLI::IsMember({"all", "asked"}))->capture_default_str();
  command->add_option("--seconds", options->seconds, "Time spent on each case")->check(CLI::Range(0.01, 3600.0))->capture_default_str();
  command->add_option("--threads", options->threads, "Threads that work at the same time (default: one a processor)")->check(CLI::Range(1, 1024));
  command->add_flag("--quick", options->quick, "One size and little time: a smoke test");
  command->add_flag("--json", options->json, "One JSON line a case");
}

}  // namespace weft::cli
