// A process of a sweep: it reads from standard input which points to run, and writes a line for each to standard output.
#pragma once

#include "tools/cli/sweep/journal.h"
#include "tools/cli/sweep/point_runner.h"

namespace weft::cli {

/// Standard output, for lines of points alone: what else is printed, by blocks of a library, goes to standard error from then on.
Descriptor TakeStandardOutput();

/// Reads ranges, one a line, until the end of standard input. Writes the journal's first line, then one for each point as soon as it is
/// done.
Status Work(PointRunner& runner, const SweepId& id);

}  // namespace weft::cli
