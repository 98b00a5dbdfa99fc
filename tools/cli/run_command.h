// What `weft run` was asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/common.h"
#include "tools/cli/trend.h"

namespace weft::cli {

/// The batch in shards, on one process or those of a job.
struct ShardCommand {
  int shards = 0;  // 0: the page runs as it is
  std::string reduce = "mean", mpi = "auto", snapshots;
  std::vector<std::string> cut, whole;
  double deadline = 120;
  int64_t every = 0;
  bool resume = false;
  std::optional<Option> deadline_option, mpi_option;
};

struct RunCommand {
  PageOptions page;
  std::vector<std::string> fetch, feed, watch, plot;
  std::string session, keep = "all", results, plot_file, load_state, save_state;
  int64_t steps = -1;
  bool quiet = false, logarithmic = false, partial = false;
  ShardCommand shard;
  std::optional<Option> keep_option;

  TrendAxis axis() const { return logarithmic ? TrendAxis::kLogarithmic : TrendAxis::kLinear; }
};

/// The sessions that the command means, with its feeds, which count in the budget.
Result<std::vector<SessionSpec>> SessionsFor(const Graph& graph, const std::shared_ptr<MemoryBudget>& budget, const RunCommand& command);
/// What would fail after a long run, when its files are written, is refused before it.
Status CheckFiles(const RunCommand& command);
/// invalid_argument for a result of --plot that has no numbers to draw, by its type. A name that is not found is not looked at.
Status CheckPlotted(const Graph& graph, const RunCommand& command);
/// The mean of a tensor's elements, for a plot; of quantized ones, of their integers. NaN where there are none.
double NumberOf(const Tensor& tensor);
int TerminalWidth();

/// `weft run --shards`: gives the exit status.
int RunShards(const RunCommand& command);
void AddShardOptions(Command& command, ShardCommand& options);

}  // namespace weft::cli
