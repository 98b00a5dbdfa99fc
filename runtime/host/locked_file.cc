#include "weft/host/locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/system_call.h"
#include "weft/base/system_error.h"
#include "weft/base/text.h"

namespace weft {

Result<LockedFile> LockedFile::Open(const std::string& path, std::string_view what) {
  constexpr int kMostTries = 10;
  LockedFile made(path, what);
  const auto fault = [&](int error) { return Status(CodeOfErrno(error), Cat(what, " '", path, "' could not be opened: ", std::strerror(error))); };
  for (int tries = 0; tries < kMostTries; ++tries) {
    made.file_ = Descriptor(Uninterrupted([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644); }));
    if (!made.file_.valid()) return fault(errno);
    struct stat info {};
    if (::fstat(made.number(), &info) != 0) return fault(errno);
    if (!S_ISREG(info.st_mode)) return InvalidArgument(what, " '", path, "' is no regular file");
    if (Uninterrupted([&] { return ::flock(made.number(), LOCK_EX | LOCK_NB); }) != 0) {
      if (errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK) {
        return Unsupported(what, " '", path, "' cannot be locked: its file system has no locks");
      }
      if (errno != EWOULDBLOCK) return fault(errno);
      return FailedPrecondition("another process writes to ", what, " '", path, "'");
    }
    // Another file may have got the name since it was opened.
    if (made.IsInPlace()) return made;
  }
  return made.CheckPlace();
}

bool LockedFile::IsInPlace() const {
  struct stat opened {}, named {};
  return ::fstat(number(), &opened) == 0 && ::stat(path_.c_str(), &named) == 0 && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

Status LockedFile::CheckPlace() const {
  if (IsInPlace()) return {};
  return FailedPrecondition(what_, " '", path_, "' was moved, removed or replaced while this process wrote to it");
}

}  // namespace weft
