// The output of `weft bench`: a table, or one JSON line for each case.
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/cli/bench.h"
#include "weft/base/text.h"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;

const char* NameOf(Limit::Kind kind) {
  switch (kind) {
    case Limit::Kind::kRead: return "read";
    case Limit::Kind::kTriad: return "triad";
    case Limit::Kind::kProduct: return "product";
  }
  return "";
}

/// Three significant digits, with a suitable unit.
std::string TimeText(double us) {
  char text[32];
  double value = us >= 1000 ? us / 1000 : us >= 1 ? us : us * 1000;
  std::snprintf(text, sizeof text, "%.*f %s", value >= 100 ? 0 : value >= 10 ? 1 : 2, value, us >= 1000 ? "ms" : us >= 1 ? "us" : "ns");
  return text;
}

std::string BytesText(double bytes) {
  char text[32];
  if (bytes < 1e4) std::snprintf(text, sizeof text, "%.0f B", bytes);
  else if (bytes < 1e7) std::snprintf(text, sizeof text, "%.0f kB", bytes / 1e3);
  else std::snprintf(text, sizeof text, "%.0f MB", bytes / 1e6);
  return text;
}

std::string RateText(double value, const char* unit) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %s", value < 10 ? 2 : 1, value, unit);
  return text;
}

std::string ShareText(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.2f", share);
  return text;
}

}  // namespace

void BenchReport::Heading(const char* what, const char* columns) {
  if (heading_ == what) return;
  heading_ = what;
  std::printf("%s, on %d thread%s (%s)\n%s\n", what, threads_, threads_ == 1 ? "" : "s", LevelOfBuild().c_str(), columns);
}

void BenchReport::Kernel(const std::string& name, const Timing& timing, const Work& work, const Limit& limit) {
  double seconds = timing.best_us / 1e6;
  bool product = limit.kind == Limit::Kind::kProduct;
  double rate = (product ? work.flops : work.bytes()) / seconds / 1e9;
  double share = limit.rate > 0 ? rate / limit.rate : 0;
  if (json_) {
    Json line = {{"case", name}, {"threads", threads_}, {"level", LevelOfBuild()}, {"min_ms", timing.best_us / 1e3}, {"median_ms", timing.median_us / 1e3}, {"bytes", work.bytes()}};
    line["gb_per_s"] = work.bytes() / seconds / 1e9;
    if (work.flops > 0) line["flops"] = work.flops, line["gflop_per_s"] = work.flops / seconds / 1e9;
    line["limit"] = NameOf(limit.kind);
    line[product ? "limit_gflop_per_s" : "limit_gb_per_s"] = limit.rate;
    line["read_gb_per_s"] = limit.read;
    line["limit_ms"] = limit.seconds * 1e3;
    line["passes"] = work.passes;
    line["share"] = share;
    std::cout << line.dump() << std::endl;
    return;
  }
  Heading("Kernels", "case                                                  best     median      moved             rate  share of the machine's limit");
  const char* unit = product ? "GFLOP/s" : "GB/s";
  std::printf("%-48s %9s  %9s  %9s  %15s  %s of %s (%s)\n", name.c_str(), TimeText(timing.best_us).c_str(), TimeText(timing.median_us).c_str(),
              BytesText(work.bytes()).c_str(), RateText(rate, unit).c_str(), ShareText(share).c_str(), RateText(limit.rate, unit).c_str(),
              NameOf(limit.kind));
  std::fflush(stdout);
}

void BenchReport::Steps(const Page& page, const Timing& timing) {
  double seconds = timing.best_us / 1e6;
  double share = page.limit_seconds / seconds;
  double gb = page.work.bytes() / seconds / 1e9, gflop = page.work.flops / seconds / 1e9;
  if (json_) {
    Json line = {{"case", page.name}, {"keep", page.keep}, {"threads", threads_}, {"level", LevelOfBuild()}, {"blocks", page.blocks}};
    line["best_step_us"] = timing.best_us;
    line["median_step_us"] = timing.median_us;
    line["steps_per_s"] = 1e6 / timing.best_us;
    line["bytes"] = page.work.bytes();
    line["gb_per_s"] = gb;
    line["flops"] = page.work.flops;
    line["gflop_per_s"] = gflop;
    line["share"] = share;
    line["load_ms"] = page.load_ms;
    line["plan_ms"] = page.plan_ms;
    line["memory"] = {{"arena_bytes", page.arena_bytes}, {"live_bytes", page.live_bytes}, {"result_bytes", page.kept_bytes}};
    std::cout << line.dump() << std::endl;
    return;
  }
  Heading("Steps of pages",
          "page                              keep       best     median    steps/s   blocks   a block      moved        rate     products  share of limits");
  std::printf("%-32s %5s  %9s  %9s %10.0f %8zu %9s  %9s %11s %12s  %s\n", page.name.c_str(), page.keep.c_str(), TimeText(timing.best_us).c_str(),
              TimeText(timing.median_us).c_str(), 1e6 / timing.best_us, page.blocks,
              TimeText(timing.best_us / static_cast<double>(std::max<size_t>(page.blocks, 1))).c_str(), BytesText(page.work.bytes()).c_str(),
              RateText(gb, "GB/s").c_str(), RateText(gflop, "GFLOP/s").c_str(), ShareText(share).c_str());
  std::printf("%-38s  memory: %s for values in between (their lower bound: %s), %s for results; loaded in %s, planned in %s\n", "",
              BytesText(static_cast<double>(page.arena_bytes)).c_str(), BytesText(static_cast<double>(page.live_bytes)).c_str(),
              BytesText(static_cast<double>(page.kept_bytes)).c_str(), TimeText(page.load_ms * 1e3).c_str(), TimeText(page.plan_ms * 1e3).c_str());
  std::fflush(stdout);
}

}  // namespace weft::cli
