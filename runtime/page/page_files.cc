// ReadPageFile: a page from a folder, and files beside it from that folder alone.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "weft/page/reader.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxBytes = int64_t{4} << 30;

struct File {
  int descriptor = -1;
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

Status OpenError(const std::string& name, int error) {
  const std::string_view reason = std::strerror(error);
  if (error == ENOENT || error == ENOTDIR) return NotFound("the file '", name, "' does not exist");
  if (error == EACCES || error == EPERM || error == ELOOP) return PermissionDenied("the file '", name, "' cannot be opened: ", reason);
  return FailedPrecondition("the file '", name, "' cannot be opened: ", reason);
}

// Reads up to `size` bytes from `offset`, or all that is left for -1. Nothing is allocated for bytes that the file does not have.
// A pipe is read where `pipes` allows it; without, opening one does not wait for its other end.
Result<std::string> ReadBytes(const std::string& path, const std::string& name, int64_t offset, int64_t size, bool pipes) {
  File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | (pipes ? 0 : O_NONBLOCK))};
  if (file.descriptor < 0) return OpenError(name, errno);
  struct stat info {};
  if (::fstat(file.descriptor, &info) != 0) return OpenError(name, errno);
  if (S_ISDIR(info.st_mode)) return InvalidArgument("needs a file, found the folder '", name, "'");
  if (!S_ISREG(info.st_mode) && !(pipes && S_ISFIFO(info.st_mode)))
    return InvalidArgument("needs a file, found a device or pipe at '", name, "'");
  int64_t wanted = kMaxBytes + 1;
  if (S_ISREG(info.st_mode)) wanted = std::max<int64_t>(0, info.st_size - offset);
  if (size >= 0) wanted = std::min(wanted, size);
  if (S_ISREG(info.st_mode) && wanted > kMaxBytes)
    return ResourceExhausted("the file '", name, "' has ", info.st_size, " bytes, more than ", kMaxBytes);
  if (wanted <= 0) return std::string();
  if (offset > 0 && ::lseek(file.descriptor, offset, SEEK_SET) < 0) return OpenError(name, errno);
  std::string bytes;
  while (std::cmp_less(bytes.size(), wanted)) {
    const size_t begin = bytes.size();
    const auto chunk =
        static_cast<size_t>(std::min<int64_t>(wanted - static_cast<int64_t>(begin), S_ISREG(info.st_mode) ? wanted : 1 << 16));
    bytes.resize(begin + chunk);
    const ssize_t got = ::read(file.descriptor, bytes.data() + begin, chunk);
    if (got < 0 && errno == EINTR) {
      bytes.resize(begin);
      continue;
    }
    bytes.resize(begin + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0) return DataLoss("the file '", name, "' cannot be read: ", std::strerror(errno));
    if (got == 0) break;
  }
  if (std::cmp_greater(bytes.size(), kMaxBytes)) return ResourceExhausted("the file '", name, "' has more than ", kMaxBytes, " bytes");
  return bytes;
}

// The path of `file` where it stays inside `folder`, also through links.
Result<fs::path> InsideFolder(const fs::path& folder, const std::string& file) {
  const auto refuse = [&](std::string_view why) {
    return PermissionDenied("the file '", file, "' ", why).WithHint("a page reads files from its own folder only");
  };
  if (file.empty() || file.find('\0') != std::string::npos) return InvalidArgument("needs the name of a file, found '", file.c_str(), "'");
  const fs::path relative(file);
  if (relative.is_absolute()) return refuse("is not relative to the page");
  for (const fs::path& part : relative) {
    if (part == "..") return refuse("leaves the folder of the page");
  }
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return NotFound("the folder of the page cannot be read: ", error.message());
  const fs::path target = fs::weakly_canonical(root / relative, error);
  if (error) return NotFound("the file '", file, "' cannot be found: ", error.message());
  const auto [root_end, ignored] = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
  if (root_end != root.end()) return refuse("is a link that leaves the folder of the page");
  return target;
}

}  // namespace

std::function<Result<std::string>(const std::string&, int64_t, int64_t)> FilesInFolder(fs::path folder) {
  if (folder.empty()) folder = ".";
  return [folder = std::move(folder)](const std::string& file, int64_t offset, int64_t size) -> Result<std::string> {
    WEFT_ASSIGN_OR_RETURN(const fs::path target, InsideFolder(folder, file));
    if (offset < 0) return OutOfRange("needs an offset of 0 or more, found ", offset);
    return ReadBytes(target.string(), file, offset, size, false);
  };
}

ReadPageResult ReadPageFile(const std::filesystem::path& path, ReadOptions options) {
  if (options.name.empty()) options.name = path.string();
  if (!options.read_file) options.read_file = FilesInFolder(path.parent_path());
  Result<std::string> bytes = ReadBytes(path.string(), options.name, 0, -1, true);
  if (bytes.ok()) return ReadPage(*bytes, options);
  ReadPageResult result;
  result.page.complete = false;
  result.diagnostics.Error(std::move(bytes).status().WithPage(options.name));
  return result;
}

}  // namespace weft
