// weft bench --edits: how long an edit of an open page takes.
#pragma once

#include "tools/cli/bench.h"

namespace weft::cli {

/// Applies `count` random edits of each kind, one at a time, and the inverse of each; prints the times by kind. Returns the exit status.
int BenchEdits(const BenchOptions& options, int count);

}  // namespace weft::cli
