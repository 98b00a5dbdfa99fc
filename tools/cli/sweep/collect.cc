// --collect: journals of parts become one.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tools/cli/sweep/sweep.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

/// "lr.sweep" for "lr.grid.json", with its folder.
std::string JournalStem(const Grid& grid) {
  fs::path stem = grid.path;
  if (stem.extension() == ".json") stem.replace_extension();
  if (stem.extension() == ".grid" || stem.extension() == ".sweep") stem.replace_extension();
  return stem.string() + ".sweep";
}

/// Takes lines of points that the journal has not; those of failed points only where they are not known at all.
class Collector {
 public:
  Collector(Journal& journal, Progress& progress) : journal_(journal), progress_(progress) {}

  Status Take(std::string_view line, const PointLine& point) {
    const PointState known = progress_.state(point.point);
    if (known == PointState::kDone || (known == PointState::kFailed && point.failed)) return {};
    progress_.Note(point);
    lines_ += Cat(line, "\n");
    constexpr size_t kMostWaiting = 1 << 20;
    return lines_.size() < kMostWaiting ? Status() : Flush();
  }
  Status Flush() {
    Status status = lines_.empty() ? Status() : journal_.Append(lines_);
    lines_.clear();
    return status;
  }

 private:
  Journal& journal_;
  Progress& progress_;
  std::string lines_;
};

Status TakeFile(const std::string& path, const SweepId& id, Collector& collector) {
  Status failed;
  const auto take = [&](std::string_view line, const PointLine& point) {
    if (failed.ok()) failed = collector.Take(line, point);
  };
  auto contents = ReadJournal(path, id, take);
  if (!contents.ok()) return std::move(contents).status();
  WEFT_RETURN_IF_ERROR(std::move(failed));
  return collector.Flush();
}

// Several journals may follow one another, each with its first line. Each line is in the journal before the next is waited for. Who sent one may have
// ended within a line, so that the next journal begins there.
Status TakeStandardInput(const SweepId& id, Collector& collector) {
  bool known = false;
  int64_t damaged = 0;
  for (std::string line; std::getline(std::cin, line);) {
    if (const size_t begin = line.find("{\"weft_sweep\""); begin != line.npos && begin > 0) {
      ++damaged;
      line.erase(0, begin);
    }
    const bool first = line.find("\"weft_sweep\"") != std::string::npos && ReadPointLine(line, id.points).point < 0;
    if (first || !known) {
      WEFT_RETURN_IF_ERROR(CheckFirstLine(line, id, "standard input"));
      known = true;
      continue;
    }
    const PointLine point = ReadPointLine(line, id.points);
    if (point.point < 0) {
      ++damaged;
      continue;
    }
    WEFT_RETURN_IF_ERROR(collector.Take(line, point));
    if (std::cin.rdbuf()->in_avail() <= 0) WEFT_RETURN_IF_ERROR(collector.Flush());
  }
  if (damaged > 0) std::cerr << "weft sweep: left out " << damaged << (damaged == 1 ? " line" : " lines") << " of standard input that cannot be read\n";
  return collector.Flush();
}

}  // namespace

std::string JournalPath(const Grid& grid, const std::vector<PointRange>* part) {
  return Cat(JournalStem(grid), part == nullptr ? "" : Cat(".", TextOf(*part)), ".jsonl");
}

std::vector<std::string> PartJournals(const Grid& grid) {
  const std::string stem = fs::path(JournalStem(grid)).filename().string() + ".";
  constexpr std::string_view kEnding = ".jsonl";
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator it(grid.folder.empty() ? "." : grid.folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(stem) || !name.ends_with(kEnding) || name.size() <= stem.size() + kEnding.size()) continue;
    const std::string points = name.substr(stem.size(), name.size() - stem.size() - kEnding.size());
    if (points.find_first_not_of("0123456789-,") == std::string::npos) paths.push_back((fs::path(grid.folder) / name).string());
  }
  std::ranges::sort(paths);
  return paths;
}

Status Collect(const SweepCommand& command, const Grid& grid, const SweepId& id, Journal& journal, Progress& progress) {
  const std::vector<std::string> paths = command.from.empty() ? PartJournals(grid) : command.from;
  if (paths.empty()) {
    return NotFound("there is no journal of a part of this sweep (", JournalPath(grid, nullptr), " with points before its ending)")
        .WithHint("--from FILE names them");
  }
  Collector collector(journal, progress);
  for (const std::string& path : paths) {
    WEFT_RETURN_IF_ERROR(path == "-" ? TakeStandardInput(id, collector) : TakeFile(path, id, collector));
  }
  return {};
}

}  // namespace weft::cli
