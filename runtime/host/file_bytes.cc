#include "runtime/host/file_bytes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/base/system_call.h"
#include "weft/base/system_error.h"

namespace weft {

Status OpenError(const std::string& name, int error) {
  const std::string_view reason = std::strerror(error);
  if (error == ENOENT || error == ENOTDIR) return NotFound("the file '", name, "' does not exist");
  if (error == EACCES || error == EPERM || error == ELOOP || error == EXDEV) {
    return PermissionDenied("the file '", name, "' cannot be opened: ", reason);
  }
  if (CodeOfErrno(error) == Code::kResourceExhausted) return ResourceExhausted("the file '", name, "' cannot be opened: ", reason);
  return FailedPrecondition("the file '", name, "' cannot be opened: ", reason);
}

Result<std::string> ReadBytes(const Descriptor& file, const std::string& name, int64_t offset, int64_t size, bool pipes) {
  struct stat info {};
  if (Uninterrupted([&] { return ::fstat(file.number(), &info); }) != 0) return OpenError(name, errno);
  if (S_ISDIR(info.st_mode)) return InvalidArgument("needs a file, found the folder '", name, "'");
  const bool regular = S_ISREG(info.st_mode);
  if (!regular && !(pipes && S_ISFIFO(info.st_mode))) return InvalidArgument("needs a file, found a device or pipe at '", name, "'");
  int64_t wanted = kMostFileBytes + 1;
  if (regular) wanted = std::max<int64_t>(0, info.st_size - offset);
  if (size >= 0) wanted = std::min(wanted, size);
  if (regular && wanted > kMostFileBytes) return ResourceExhausted("the file '", name, "' has ", info.st_size, " bytes, more than ", kMostFileBytes);
  if (wanted <= 0) return std::string();
  if (offset > 0 && ::lseek(file.number(), offset, SEEK_SET) < 0) return OpenError(name, errno);
  std::string bytes;
  while (std::cmp_less(bytes.size(), wanted)) {
    const size_t begin = bytes.size();
    const auto chunk = static_cast<size_t>(std::min<int64_t>(wanted - static_cast<int64_t>(begin), regular ? wanted : 1 << 16));
    bytes.resize(begin + chunk);
    const ssize_t got = Uninterrupted([&] { return ::read(file.number(), bytes.data() + begin, chunk); });
    const int error = errno;
    bytes.resize(begin + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0) return DataLoss("the file '", name, "' cannot be read: ", std::strerror(error));
    if (got == 0) break;
  }
  if (std::cmp_greater(bytes.size(), kMostFileBytes)) return ResourceExhausted("the file '", name, "' has more than ", kMostFileBytes, " bytes");
  return bytes;
}

}  // namespace weft
