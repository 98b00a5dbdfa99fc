// Grids of sweeps, with the points that they give; journals of one, torn and damaged.
#include <nlohmann/json.hpp>
#include <set>

#include "tests/fuzz/finding.h"
#include "tests/fuzz/targets.h"
#include "tools/cli/sweep/journal.h"

namespace weft::fuzz {
namespace {

void CheckPoint(const cli::Grid& grid, int64_t number) {
  const cli::GridPoint point = grid.At(number);
  Require(point.axes.size() == point.values.size() && point.axes == grid.axes(), "point ", number, " has other parameters than the grid");
  const auto settings = nlohmann::json::parse(point.Json(), nullptr, false);
  Require(settings.is_object() && settings.size() == point.axes.size(), "the settings of point ", number, " are ", point.Json());
  const cli::GridPoint again = grid.At(number);
  Require(again.Json() == point.Json() && again.Text() == point.Text(), "point ", number, " differs from itself");
}

}  // namespace

void SweepGrid(std::string_view bytes) {
  Diagnostics found;
  const cli::Grid grid = cli::ReadGrid(bytes, "fuzz.grid.json", found);
  CheckFindings(found);
  if (found.has_errors()) return;
  Require(grid.count() >= 1 && grid.count() <= cli::kMostPoints, "the grid has ", grid.count(), " points");
  Require(grid.hash.size() == 32, "the hash of the grid is '", grid.hash, "'");
  for (const int64_t number : {int64_t{0}, grid.count() / 3, grid.count() - 1}) CheckPoint(grid, number);
}

void SweepJournal(std::string_view bytes) {
  const cli::SweepId id{"fuzz.grid.json", "fuzz.page.json", "g", "p", 10};
  const std::filesystem::path path = ScratchFile("fuzz.sweep.jsonl", bytes);
  int64_t lines = 0;
  const auto count = [&](std::string_view line, const cli::PointLine& point) {
    ++lines;
    Require(point.point >= 0 && point.point < id.points, "a line is of point ", point.point, ": ", line);
  };
  const auto contents = cli::ReadJournal(path.string(), id, count);
  if (!contents.ok()) return CheckStatus(contents.status());
  // What is opened is repaired: every line of it can be read then, and as many points as before.
  std::string note;
  cli::Progress progress(id.points);
  {
    auto journal = cli::Journal::Open(path.string(), id, progress, note);
    Require(journal.ok(), "the journal can be read, and not opened: ", ToString(journal.status()));
  }
  Require(progress.done() + progress.failed() <= lines, "the journal has ", lines, " lines, and more points");
  const int64_t before = std::exchange(lines, 0);
  const auto repaired = cli::ReadJournal(path.string(), id, count);
  Require(repaired.ok() && !repaired->torn && repaired->damaged == 0, "the journal is not repaired");
  Require(lines == before, "the journal had ", before, " lines of points, and has ", lines);
}

}  // namespace weft::fuzz
