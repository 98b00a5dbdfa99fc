#include "weft/base/file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "runtime/base/fnv.h"
#include "runtime/base/system_call.h"
#include "weft/base/text.h"

namespace weft {
namespace {

constexpr std::string_view kUnfinishedBegin = ".weft-", kUnfinishedEnd = ".tmp";
constexpr size_t kSyncBytes = size_t{4} << 20;  // what is written between two looks at how far the disk has come

bool IsLink(int folder, const char* name) {
  struct stat info {};
  const int flags = *name == '\0' ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW;
  return Uninterrupted([&] { return ::fstatat(folder, name, &info, flags); }) == 0 && S_ISLNK(info.st_mode);
}

Descriptor OpenAt(int folder, const char* name, int flags, mode_t mode = 0) {
  return Descriptor(Uninterrupted([&] { return ::openat(folder, name, flags | O_CLOEXEC, mode); }));
}

bool Remove(const Descriptor& folder, const std::string& name) {
  return Uninterrupted([&] { return ::unlinkat(folder.number(), name.c_str(), 0); }) == 0;
}

int LockAtOnce(const Descriptor& file) {
  return Uninterrupted([&] { return ::flock(file.number(), LOCK_EX | LOCK_NB); });
}

Descriptor OpenRoot(const std::filesystem::path& path) {
  return OpenAt(AT_FDCWD, path.is_absolute() ? "/" : ".", O_PATH | O_DIRECTORY);
}

/// Has the disk begin with what was written last, and waits for what was written before that, each time a multiple of kSyncBytes is passed:
/// the disk is never far behind, so that the last step of a long write, which no deadline ends, is short. 0 or an errno.
int KeepDiskUp(const Descriptor& file, size_t written) {
  constexpr auto kPart = static_cast<off_t>(kSyncBytes);
  const off_t end = ::lseek(file.number(), 0, SEEK_CUR), full = end / kPart * kPart;
  if (end < 0 || full <= end - static_cast<off_t>(written)) return 0;
  int failed = ::sync_file_range(file.number(), full - kPart, kPart, SYNC_FILE_RANGE_WRITE);
  constexpr unsigned kWait = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  if (failed == 0 && full > kPart) failed = ::sync_file_range(file.number(), full - 2 * kPart, kPart, kWait);
  // A failure of the disk is told once, here or by fsync; file systems that have no such call, nor need it, say otherwise.
  return failed != 0 && (errno == EIO || errno == ENOSPC || errno == EDQUOT) ? errno : 0;
}

/// The folder as it can be brought to the disk, too, where it may be read.
Descriptor Syncable(Descriptor folder) {
  if (!folder.valid()) return folder;
  Descriptor readable = OpenAt(folder.number(), ".", O_RDONLY | O_DIRECTORY);
  const bool refused = !readable.valid() && (errno == EACCES || errno == EPERM);
  return refused ? std::move(folder) : std::move(readable);
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ < 0) return;
  const int error = errno;  // of what failed before
  ::close(number_);
  errno = error;
}

// ---- opening ---------------------------------------------------------------------------------------------------------------------------

Descriptor OpenBeneath(const Descriptor& folder, const std::filesystem::path& relative, int flags) {
  static std::atomic<bool> missing = false;
  if (!missing.load(std::memory_order_relaxed)) {
    struct open_how how {};
    how.flags = static_cast<uint64_t>(flags | O_CLOEXEC | ((flags & O_PATH) != 0 ? 0 : O_NONBLOCK));
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const auto open = [&] { return ::syscall(SYS_openat2, folder.number(), relative.c_str(), &how, sizeof how); };
    Descriptor opened(static_cast<int>(Uninterrupted(open)));
    // EPERM: a filter of system calls that does not know this one; a file that may not be opened says so below, too.
    if (opened.valid() || (errno != ENOSYS && errno != EPERM)) return opened;
    if (errno == ENOSYS) missing.store(true, std::memory_order_relaxed);
  }
  return OpenBeneathByComponents(folder, relative, flags);
}

Descriptor OpenBeneathByComponents(const Descriptor& folder, const std::filesystem::path& relative, int flags) {
  Descriptor at = OpenAt(folder.number(), ".", O_PATH | O_DIRECTORY);
  if (!at.valid()) return at;
  for (auto part = relative.begin(); part != relative.end(); ++part) {
    const bool last = std::next(part) == relative.end();
    if (*part == "..") {
      errno = EXDEV;
      return Descriptor();
    }
    const int how = last ? flags | ((flags & O_PATH) != 0 ? 0 : O_NONBLOCK) : O_PATH | O_DIRECTORY;
    Descriptor next = OpenAt(at.number(), part->c_str(), how | O_NOFOLLOW);
    const int error = next.valid() ? 0 : errno;
    // O_PATH opens a link itself; where a folder is needed, a link is no folder.
    if (next.valid() ? IsLink(next.number(), "") : IsLink(at.number(), part->c_str())) {
      errno = ELOOP;
      return Descriptor();
    }
    if (!next.valid()) {
      errno = error;
      return next;
    }
    at = std::move(next);
  }
  return at;
}

Descriptor OpenReal(const std::filesystem::path& path, int flags) {
  Descriptor root = OpenRoot(path);
  if (!root.valid()) return root;
  const std::filesystem::path relative = path.relative_path();
  return OpenBeneath(root, relative.empty() ? "." : relative, flags);
}

Descriptor OpenRealFolder(const std::filesystem::path& path, bool make) {
  constexpr int kFolder = O_PATH | O_DIRECTORY;
  Descriptor whole = OpenReal(path, kFolder);
  if (whole.valid() || !make || errno != ENOENT) return Syncable(std::move(whole));
  Descriptor at = OpenRoot(path);
  for (const std::filesystem::path& part : path.relative_path()) {
    if (!at.valid()) return at;
    if (part.empty()) continue;
    Descriptor next = OpenBeneath(at, part, kFolder);
    if (!next.valid() && errno == ENOENT) {
      if (Uninterrupted([&] { return ::mkdirat(at.number(), part.c_str(), 0777); }) != 0 && errno != EEXIST) return Descriptor();
      next = OpenBeneath(at, part, kFolder);
    }
    at = std::move(next);
  }
  return Syncable(std::move(at));
}

Descriptor OpenFolder(const std::filesystem::path& path) {
  return Syncable(OpenAt(AT_FDCWD, path.empty() ? "." : path.c_str(), O_PATH | O_DIRECTORY));
}

// ---- writing ---------------------------------------------------------------------------------------------------------------------------

bool IsUnfinished(std::string_view name) { return name.starts_with(kUnfinishedBegin) && name.ends_with(kUnfinishedEnd); }

std::string UnfinishedName(std::string_view name, std::string_view purpose) {
  return Cat(kUnfinishedBegin, Fnv1a(name), "-", purpose, kUnfinishedEnd);
}

NewFile::NewFile(NewFile&& other) noexcept
    : folder_(std::move(other.folder_)), file_(std::move(other.file_)), name_(std::move(other.name_)), beside_(std::move(other.beside_)),
      permissions_(other.permissions_) {}

NewFile::~NewFile() {
  // While the lock is held: without it, another writer may have made its file of that name.
  if (file_.valid() && IsBeside(file_.number())) Remove(folder_, beside_);
}

/// Whether the name beside is that of the open file. Where that cannot be told, errno says why; else it is EEXIST.
bool NewFile::IsBeside(int file) const {
  struct stat opened {}, named {};
  if (Uninterrupted([&] { return ::fstat(file, &opened); }) != 0) return false;
  if (Uninterrupted([&] { return ::fstatat(folder_.number(), beside_.c_str(), &named, AT_SYMLINK_NOFOLLOW); }) != 0) {
    if (errno == ENOENT) errno = EEXIST;  // removed, or moved to its place
    return false;
  }
  errno = EEXIST;
  return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/// Makes the file beside. False with errno where that fails; EEXIST also where another process took it for a leftover before it was locked.
bool NewFile::MakeBeside() {
  Descriptor made = OpenAt(folder_.number(), beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
  if (!made.valid()) return false;
  // A file system without locks has no leftovers removed either.
  if (LockAtOnce(made) != 0 && errno == EWOULDBLOCK) {
    errno = EEXIST;
    return false;
  }
  const bool ours = IsBeside(made.number());
  if (ours || errno != EEXIST) file_ = std::move(made);  // or what cannot be looked at now is removed at the end
  return ours;
}

/// Removes the file beside where it is one that no process writes any more.
bool NewFile::RemoveLeftover() const {
  const Descriptor left = OpenAt(folder_.number(), beside_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat info {};
  if (!left.valid() || Uninterrupted([&] { return ::fstat(left.number(), &info); }) != 0 || !S_ISREG(info.st_mode)) return false;
  return LockAtOnce(left) == 0 && IsBeside(left.number()) && Remove(folder_, beside_);
}

/// What is to be replaced: 0, or an errno where it is to stay.
int NewFile::LookAtOld() {
  struct stat old {};
  if (Uninterrupted([&] { return ::fstatat(folder_.number(), name_.c_str(), &old, AT_SYMLINK_NOFOLLOW); }) != 0) return errno == ENOENT ? 0 : errno;
  if (S_ISDIR(old.st_mode)) return EISDIR;
  if (S_ISLNK(old.st_mode)) return 0;
  if (!S_ISREG(old.st_mode)) return EOPNOTSUPP;
  if (Uninterrupted([&] { return ::faccessat(folder_.number(), name_.c_str(), W_OK, AT_EACCESS); }) != 0) return errno;
  permissions_ = static_cast<int>(old.st_mode & 07777);
  return 0;
}

int NewFile::MakeNew() {
  for (int writer = 0; writer < kMostWriters; ++writer) {
    beside_ = UnfinishedName(name_, Cat(writer));  // files whose names have the same hash only share the names beside them
    if (MakeBeside()) return 0;
    if (errno != EEXIST) return errno;
    if (!RemoveLeftover()) continue;
    if (MakeBeside()) return 0;
    if (errno != EEXIST) return errno;
  }
  return EBUSY;
}

int NewFile::Create(Descriptor folder, std::string name) {
  folder_ = std::move(folder);
  name_ = std::move(name);
  if (name_.empty() || name_ == "." || name_ == ".." || name_.find('/') != std::string::npos) return EISDIR;
  if (const int error = LookAtOld()) return error;
  if (const int error = MakeNew()) return error;
  // (Of another's file, or where the file system has none, they are those of a new one.)
  if (permissions_ >= 0) (void)Uninterrupted([&] { return ::fchmod(file_.number(), static_cast<mode_t>(permissions_)); });
  return 0;
}

int NewFile::Write(const void* data, size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = Uninterrupted([&] { return ::write(file_.number(), bytes, std::min(size, kSyncBytes)); });
    if (done < 0) return errno;
    if (done == 0) return EIO;  // a device that takes nothing
    if (const int error = KeepDiskUp(file_, static_cast<size_t>(done))) return error;
    bytes += done;
    size -= static_cast<size_t>(done);
  }
  return 0;
}

int NewFile::Commit() {
  if (Uninterrupted([&] { return ::fsync(file_.number()); }) != 0) return errno;
  if (Uninterrupted([&] { return ::renameat(folder_.number(), beside_.c_str(), folder_.number(), name_.c_str()); }) != 0) return errno;
  file_ = Descriptor();
  // The folder too, or the name may be lost with the power. File systems that cannot do that say so; EBADF: it may not be read.
  const int error = Uninterrupted([&] { return ::fsync(folder_.number()); }) == 0 ? 0 : errno;
  return error == EINVAL || error == EROFS || error == EBADF || error == ENOTSUP ? 0 : error;
}

}  // namespace weft
