// What a page gave, as `weft run` and sweeps keep it.
#pragma once

#include <optional>

#include "tools/cli/results_io.h"
#include "weft/host/page_run.h"

namespace weft::cli {

/// The value that a Variable has after the run; absent for other outputs. Its output is what the run read, from before the run's updates.
std::optional<Tensor> CommittedValue(const Session& session, ValueRef value);

/// All results; then, on pages with updates, the fetched Variables as they are now, under their ids.
NamedTensors CollectResults(const PageRun& page);

}  // namespace weft::cli
