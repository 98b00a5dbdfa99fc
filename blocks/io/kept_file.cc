#include "blocks/io/kept_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "blocks/kernels/stop_check.h"
#include "runtime/base/system_call.h"

namespace weft::blocks {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::milliseconds kBetweenTries{1};

/// Waits for others that hold the folder. A call that waits by itself would not see that the run is to end.
Status Lock(const Descriptor& folder, const Workers& workers) {
  while (Uninterrupted([&] { return ::flock(folder.number(), LOCK_EX | LOCK_NB); }) != 0 && errno == EWOULDBLOCK) {
    if (workers.Stopped()) return kernels::RunStopped();
    std::this_thread::sleep_for(kBetweenTries);
  }
  return {};
}

}  // namespace

Result<FolderLocks> FolderLocks::Of(std::span<const fs::path> files, const Workers& workers) {
  FolderLocks locks;
  for (const fs::path& file : files) {
    const auto [at, added] = locks.folders_.try_emplace(file.parent_path());
    if (!added) continue;
    at->second = OpenRealFolder(at->first, true);
    if (!at->second.valid()) return FileError(errno, "open the folder of", file);
  }
  for (const auto& [path, folder] : locks.folders_) WEFT_RETURN_IF_ERROR(Lock(folder, workers));
  return locks;
}

Result<KeptFile> KeptFile::Of(const FolderLocks& locks, const fs::path& path) {
  KeptFile file(locks.FolderOf(path), path.filename().native());
  const int at = file.folder_;
  std::string kept = UnfinishedName(file.name_, "kept");
  (void)Uninterrupted([&] { return ::unlinkat(at, kept.c_str(), 0); });  // left by a process that was killed
  if (Uninterrupted([&] { return ::linkat(at, file.name_.c_str(), at, kept.c_str(), 0); }) == 0) {
    file.kept_ = std::move(kept);
  } else if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS) {
    file.name_.clear();
  } else if (errno != ENOENT) {
    const int error = errno;
    file.name_.clear();
    return FileError(error, "keep", path);
  }
  return file;
}

KeptFile::~KeptFile() {
  if (name_.empty()) return;
  if (kept_.empty()) {
    (void)Uninterrupted([&] { return ::unlinkat(folder_, name_.c_str(), 0); });
    return;
  }
  // Where it cannot be put back it stays beside. Where it is in its place still, both names are there.
  if (Uninterrupted([&] { return ::renameat(folder_, kept_.c_str(), folder_, name_.c_str()); }) == 0) LetGo();
}

void KeptFile::LetGo() {
  if (!kept_.empty()) (void)Uninterrupted([&] { return ::unlinkat(folder_, kept_.c_str(), 0); });
  name_.clear();
}

}  // namespace weft::blocks
