#include "runtime/host/open_beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "weft/base/system_error.h"

namespace weft {
namespace {

constexpr int64_t kMaxBytes = int64_t{4} << 30;

bool IsLink(int folder, const char* name) {
  struct stat info {};
  return ::fstatat(folder, name, &info, *name == '\0' ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

/// Writes all bytes; false with errno set where that fails.
bool WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(done));
  }
  return true;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor OpenBeneath(const Descriptor& folder, const std::filesystem::path& relative, int flags) {
  static std::atomic<bool> missing = false;
  if (!missing.load(std::memory_order_relaxed)) {
    struct open_how how {};
    how.flags = static_cast<uint64_t>(flags | O_CLOEXEC | ((flags & O_PATH) != 0 ? 0 : O_NONBLOCK));
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    Descriptor opened(static_cast<int>(::syscall(SYS_openat2, folder.number(), relative.c_str(), &how, sizeof how)));
    // EPERM: a filter of system calls that does not know this one; a file that may not be opened says so below, too.
    if (opened.valid() || (errno != ENOSYS && errno != EPERM)) return opened;
    if (errno == ENOSYS) missing.store(true, std::memory_order_relaxed);
  }
  return OpenBeneathByComponents(folder, relative, flags);
}

Descriptor OpenBeneathByComponents(const Descriptor& folder, const std::filesystem::path& relative, int flags) {
  Descriptor at(::openat(folder.number(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!at.valid()) return at;
  for (auto part = relative.begin(); part != relative.end(); ++part) {
    const bool last = std::next(part) == relative.end();
    if (*part == "..") {
      errno = EXDEV;
      return Descriptor();
    }
    const int how = last ? flags | ((flags & O_PATH) != 0 ? 0 : O_NONBLOCK) : O_PATH | O_DIRECTORY;
    Descriptor next(::openat(at.number(), part->c_str(), how | O_NOFOLLOW | O_CLOEXEC));
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

Status OpenError(const std::string& name, int error) {
  const std::string_view reason = std::strerror(error);
  if (error == ENOENT || error == ENOTDIR) return NotFound("the file '", name, "' does not exist");
  if (error == EACCES || error == EPERM || error == ELOOP || error == EXDEV) {
    return PermissionDenied("the file '", name, "' cannot be opened: ", reason);
  }
  return FailedPrecondition("the file '", name, "' cannot be opened: ", reason);
}

Result<std::string> ReadBytes(const Descriptor& file, const std::string& name, int64_t offset, int64_t size, bool pipes) {
  struct stat info {};
  if (::fstat(file.number(), &info) != 0) return OpenError(name, errno);
  if (S_ISDIR(info.st_mode)) return InvalidArgument("needs a file, found the folder '", name, "'");
  const bool regular = S_ISREG(info.st_mode);
  if (!regular && !(pipes && S_ISFIFO(info.st_mode))) return InvalidArgument("needs a file, found a device or pipe at '", name, "'");
  int64_t wanted = kMaxBytes + 1;
  if (regular) wanted = std::max<int64_t>(0, info.st_size - offset);
  if (size >= 0) wanted = std::min(wanted, size);
  if (regular && wanted > kMaxBytes) return ResourceExhausted("the file '", name, "' has ", info.st_size, " bytes, more than ", kMaxBytes);
  if (wanted <= 0) return std::string();
  if (offset > 0 && ::lseek(file.number(), offset, SEEK_SET) < 0) return OpenError(name, errno);
  std::string bytes;
  while (std::cmp_less(bytes.size(), wanted)) {
    const size_t begin = bytes.size();
    const auto chunk = static_cast<size_t>(std::min<int64_t>(wanted - static_cast<int64_t>(begin), regular ? wanted : 1 << 16));
    bytes.resize(begin + chunk);
    const ssize_t got = ::read(file.number(), bytes.data() + begin, chunk);
    const int error = errno;
    bytes.resize(begin + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error == EINTR) continue;
    if (got < 0) return DataLoss("the file '", name, "' cannot be read: ", std::strerror(error));
    if (got == 0) break;
  }
  if (std::cmp_greater(bytes.size(), kMaxBytes)) return ResourceExhausted("the file '", name, "' has more than ", kMaxBytes, " bytes");
  return bytes;
}

Status ReplaceFile(const Descriptor& folder, const std::string& file, std::string_view bytes, const std::string& name) {
  static std::atomic<uint64_t> counter{0};
  const auto fault = [&](int error) {
    return Status(CodeOfErrno(error), Cat("the file '", name, "' cannot be written: ", std::strerror(error)));
  };
  const std::string beside = Cat(".weft-", static_cast<int64_t>(::getpid()), "-", counter.fetch_add(1), ".tmp");
  const Descriptor made(::openat(folder.number(), beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!made.valid()) return fault(errno);
  if (!WriteAll(made.number(), bytes) || ::fsync(made.number()) != 0 ||
      ::renameat(folder.number(), beside.c_str(), folder.number(), file.c_str()) != 0) {
    const int error = errno;
    ::unlinkat(folder.number(), beside.c_str(), 0);
    return fault(error);
  }
  return {};
}

}  // namespace weft
