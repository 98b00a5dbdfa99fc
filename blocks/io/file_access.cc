#include "blocks/io/file_access.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "weft/base/system_error.h"

namespace weft::blocks {
namespace fs = std::filesystem;
namespace {

bool HasPattern(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

/// What `path` stands for, component by component; a component that exists as it is written is no pattern.
std::vector<fs::path> Expand(const fs::path& path) {
  std::vector<fs::path> found{path.root_path()};
  for (const fs::path& part : path.relative_path()) {
    std::vector<fs::path> next;
    for (const fs::path& folder : found) {
      std::error_code ignored;
      if (fs::exists(folder / part, ignored)) {
        next.push_back(folder / part);
      } else if (HasPattern(part.native())) {
        for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
          const std::string name = entry->path().filename().native();
          if (fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0) next.push_back(entry->path());
        }
      }
    }
    found = std::move(next);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Status FileError(int error, std::string_view doing, const fs::path& path) {
  return Status(CodeOfErrno(error), Cat("needs to ", doing, " '", path.native(), "', found: ", std::generic_category().message(error)));
}

Result<InputFile> InputFile::Open(const fs::path& path) {
  InputFile file;
  file.path_ = path;
  // Not blocking, or a named pipe would wait for its writer.
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.descriptor_ < 0) return FileError(errno, "open", path);
  struct stat info;
  if (::fstat(file.descriptor_, &info) != 0) return FileError(errno, "look at", path);
  if (!S_ISREG(info.st_mode)) {
    return NotFound("needs a file '", path.native(), "', found a ", S_ISDIR(info.st_mode) ? "folder" : "device");
  }
  file.size_ = static_cast<uint64_t>(info.st_size);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_), path_(std::move(other.path_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  size_ = other.size_;
  path_ = std::move(other.path_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status InputFile::ReadAt(uint64_t offset, std::span<char> to) const {
  while (!to.empty()) {
    const ssize_t got = ::pread(descriptor_, to.data(), to.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(errno, "read", path_);
    if (got == 0) return Status(Code::kDataLoss, Cat("needs ", to.size(), " more bytes of '", path_.native(), "', found its end"));
    offset += static_cast<uint64_t>(got);
    to = to.subspan(static_cast<size_t>(got));
  }
  return {};
}

Result<AtomicFile> AtomicFile::Create(const fs::path& path) {
  static std::atomic<uint64_t> counter{0};
  AtomicFile file;
  file.path_ = path;
  for (int attempt = 0; attempt < 100; ++attempt) {
    file.temporary_ = path;
    file.temporary_ += Cat(".tmp-", static_cast<int64_t>(::getpid()), "-", counter.fetch_add(1));
    file.descriptor_ = ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.descriptor_ >= 0) return file;
    if (errno != EEXIST) break;
  }
  return FileError(errno, "create", file.temporary_);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

Status AtomicFile::Fail(std::string_view doing) { return FileError(errno, doing, path_); }

Status AtomicFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return Fail("write");
    size_ += static_cast<uint64_t>(done);
    bytes.remove_prefix(static_cast<size_t>(done));
  }
  return {};
}

Status AtomicFile::Commit() {
  if (::fsync(descriptor_) != 0) return Fail("bring to the disk");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return Fail("write");
  ::close(std::exchange(descriptor_, -1));
  // The folder too, or the name may be lost with the power. Not every file system can; the file itself is safe.
  const int folder = ::open(path_.parent_path().empty() ? "." : path_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    (void)::fsync(folder);
    ::close(folder);
  }
  return {};
}

Result<std::vector<fs::path>> MatchFiles(const Files& files, std::string_view pattern) {
  WEFT_ASSIGN_OR_RETURN(fs::path path, files.Resolve(pattern, Files::Access::kRead));
  std::vector<fs::path> allowed;
  for (const fs::path& found : Expand(path)) {
    // Once more: a link may lead out of the allowed folders.
    WEFT_ASSIGN_OR_RETURN(fs::path resolved, files.Resolve(found.native(), Files::Access::kRead));
    allowed.push_back(std::move(resolved));
  }
  return allowed;
}

}  // namespace weft::blocks
