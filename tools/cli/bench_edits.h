// weft bench --edits: how long an edit of an open page takes.
#pragma once

#include <string>
#include <vector>

namespace weft::cli {

/// Applies `count` random edits of each kind, one at a time, and the inverse of each; prints the times by kind. Returns the exit status.
int BenchEdits(const std::vector<std::string>& pages, const std::vector<std::string>& libraries, int count, bool json);

}  // namespace weft::cli
