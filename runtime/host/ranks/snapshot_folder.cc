#include "weft/host/snapshot_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "weft/base/file.h"
#include "weft/base/system_error.h"
#include "weft/base/text.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "step-", kEnding = ".weft";
constexpr const char *kLatest = "LATEST", *kLock = "LOCK";
constexpr size_t kKept = 2;

std::string NameOf(uint64_t steps) {
  const std::string number = std::to_string(steps);
  return Cat(kPrefix, std::string(12 - std::min<size_t>(12, number.size()), '0'), number, kEnding);
}

/// The names of all snapshots, the newest first.
std::vector<std::string> Names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kEnding)) names.push_back(name);
  }
  std::ranges::sort(names, std::greater<>());
  return names;
}

}  // namespace

Status SnapshotFolder::Open() {
  if (lock_) return lock_->CheckPlace();
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return Status(CodeOfErrno(error.value()), Cat("cannot make the folder '", folder_.string(), "' for snapshots: ", error.message()));
  WEFT_RETURN_IF_ERROR(Lock());
  if (!lock_) return {};
  std::vector<fs::path> unfinished;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    if (IsUnfinished(it->path().filename().string())) unfinished.push_back(it->path());
  }
  for (const fs::path& file : unfinished) fs::remove(file, error);
  return {};
}

// The file stays when the process ends, without its lock: who would remove it might remove that of the next.
Status SnapshotFolder::Lock() {
  const std::string path = (folder_ / kLock).string();
  auto locked = LockedFile::Open(path, "the lock");
  if (locked.status().code() == Code::kFailedPrecondition) {
    std::string holder;
    std::getline(std::ifstream(path), holder);
    return FailedPrecondition("the folder '", folder_.string(), "' for snapshots is in use by ", holder.empty() ? "another process" : holder)
        .WithHint("wait for it or stop it, or take another folder");
  }
  if (locked.status().code() == Code::kUnsupported) return {};
  if (!locked.ok()) return std::move(locked).status();
  char host[256] = "?";
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '?';
  const std::string holder = Cat("process ", getpid(), " on ", host, "\n");
  // (What cannot be written, on a full disk, is told without a name; the lock counts.)
  if (ftruncate(locked->number(), 0) == 0) static_cast<void>(write(locked->number(), holder.data(), holder.size()) > 0);
  lock_ = std::make_shared<LockedFile>(std::move(*locked));
  return {};
}

std::string SnapshotFolder::PathOf(uint64_t steps) const { return (folder_ / NameOf(steps)).string(); }

Status SnapshotFolder::Publish(uint64_t steps) const {
  const std::string text = NameOf(steps) + "\n";
  Descriptor folder = OpenFolder(folder_);
  // (In this order: a folder that takes the place of this one from here on gets nothing.)
  WEFT_RETURN_IF_ERROR(CheckPlace());
  NewFile file;
  int failed = folder.valid() ? file.Create(std::move(folder), kLatest) : errno;
  if (failed == 0) failed = file.Write(text.data(), text.size());
  if (failed == 0) failed = file.Commit();
  if (failed != 0) return Status(CodeOfErrno(failed), Cat("cannot write '", (folder_ / kLatest).string(), "': ", std::strerror(failed)));
  // Those of another run that came further would be taken for newer ones.
  WEFT_RETURN_IF_ERROR(CheckPlace());
  const std::vector<std::string> names = Names(folder_);
  size_t kept = 0;
  std::error_code error;
  for (const std::string& name : names) {
    const bool stays = name <= NameOf(steps) && kept++ < kKept;
    if (!stays) fs::remove(folder_ / name, error);
  }
  return {};
}

std::vector<std::string> SnapshotFolder::Candidates() const {
  std::vector<std::string> paths;
  std::string latest;
  std::getline(std::ifstream(folder_ / kLatest), latest);
  std::vector<std::string> names = Names(folder_);
  const auto named = std::ranges::find(names, latest);
  if (named != names.end()) std::rotate(names.begin(), named, named + 1);
  for (const std::string& name : names) paths.push_back((folder_ / name).string());
  return paths;
}

Status SnapshotFolder::CheckEmpty() const {
  if (Names(folder_).empty()) return {};
  return FailedPrecondition("'", folder_.string(), "' has snapshots of an earlier run");
}

}  // namespace weft
