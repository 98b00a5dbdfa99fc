// Runs points of a grid in this process: each as `weft run` runs the page with those settings, and as if it were the only one.
#pragma once

#include <memory>
#include <string>

#include "tools/cli/common.h"
#include "tools/cli/feeds.h"
#include "tools/cli/sweep/grid.h"

namespace weft::cli {

/// Digits that tell the page's text, and the state that it starts with, from others.
Result<std::string> PageHash(const Grid& grid, std::string_view bytes);

class PointRunner {
 public:
  /// Reads the page. `options`: folders, blocks, memory and threads; the grid names the page. Null with faults in `found`. The grid must
  /// live as long.
  static std::unique_ptr<PointRunner> Open(const Grid& grid, const PageOptions& options, Diagnostics& found);
  ~PointRunner();

  const std::string& page_hash() const { return page_hash_; }

  /// Bytes that the page may hold.
  int64_t memory_limit() const { return runtime_->budget()->limit(); }

  /// Finds what would make every point fail: names that are none of the page's, and faults that the first point has as well as the last.
  void Check(Diagnostics& found);

  /// A journal's line, its end included: the point's results, or why there are none. One point at a time.
  std::string Run(int64_t point);

 private:
  struct Opened;
  explicit PointRunner(const Grid& grid) : grid_(grid) {}
  Status ReadBase(const PageOptions& options, Diagnostics& found);
  Opened OpenPoint(const GridPoint& point, Diagnostics& found) const;
  void CheckNames(Diagnostics& found);
  Status RunPoint(const GridPoint& point, std::string& results);

  const Grid& grid_;
  std::string page_hash_;
  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<const FileSandbox> files_;
  std::shared_ptr<const Page> base_;  // with the settings of every point
  FeedCache feeds_;                   // files of every point
};

}  // namespace weft::cli
