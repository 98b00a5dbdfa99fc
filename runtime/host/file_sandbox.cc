#include "weft/host/file_sandbox.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <deque>

#include "runtime/host/open_beneath.h"
#include "weft/base/system_error.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as Linux has it
constexpr int kAttempts = 4;    // to open what another process moves meanwhile

fs::path Absolute(const fs::path& path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path.empty() ? "." : path, error);
  return error ? path : absolute;
}

bool IsInside(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

/// Where a path leads: as far as it could be followed, and why no farther.
struct RealPlace {
  fs::path path = "/";
  int error = 0;
  mode_t mode = 0;  // of what is there; 0: nothing
};

std::string ReadLink(const fs::path& link) {
  std::string text(PATH_MAX, '\0');
  const ssize_t size = ::readlink(link.c_str(), text.data(), text.size());
  text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

/// Follows an absolute path. What is missing at its end is added as it is written; "..", which would have to be looked up there, is ENOENT.
RealPlace Follow(const fs::path& path) {
  RealPlace place;
  std::deque<fs::path> rest(path.begin(), path.end());
  bool missing = false;
  for (int links = 0; !rest.empty();) {
    const fs::path part = std::move(rest.front());
    rest.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "/") {
      place.path = part;
      continue;
    }
    if (missing && part == "..") place.error = ENOENT;
    if (place.error != 0) return place;
    if (part == "..") {
      place.path = place.path.parent_path();
      continue;
    }
    const fs::path next = place.path / part;
    struct stat info {};
    if (!missing && ::lstat(next.c_str(), &info) != 0) {
      missing = errno == ENOENT;
      if (!missing) place.error = errno;
    }
    place.mode = missing || place.error != 0 ? 0 : info.st_mode;
    if (!S_ISLNK(place.mode)) {
      if (place.error == 0) place.path = next;
      continue;
    }
    const fs::path target = ReadLink(next);
    if (++links > kMostLinks || target.empty()) {
      place.error = ELOOP;
      return place;
    }
    rest.insert(rest.begin(), target.begin(), target.end());
  }
  if (!missing && place.error == 0) {
    struct stat info {};
    place.mode = ::lstat(place.path.c_str(), &info) == 0 ? info.st_mode : 0;
  }
  return place;
}

}  // namespace

FileSandbox::FileSandbox(FolderRules rules) : rules_(std::move(rules)) {
  rules_.base = Absolute(rules_.base);
  for (fs::path& folder : rules_.read) folder = Absolute(folder);
  for (fs::path& folder : rules_.write) folder = Absolute(folder);
}

Result<FileSandbox::Place> FileSandbox::Find(std::string_view name, Access access) const {
  if (name.empty()) return InvalidArgument("needs the name of a file, found an empty string");
  if (name.find('\0') != std::string_view::npos) return InvalidArgument("needs the name of a file, found one with a NUL in it");
  const RealPlace real = Follow(rules_.base / fs::path(name));  // an absolute name stands alone
  const bool write = access == Access::kWrite;
  const auto allows = [&](const fs::path& folder, fs::path& found) {
    found = Follow(folder).path;
    return IsInside(real.path, found);
  };
  Place place{real.path, {}};
  bool inside = false;
  for (size_t f = 0; f < rules_.write.size() && !inside; ++f) inside = allows(rules_.write[f], place.folder);
  for (size_t f = 0; f < rules_.read.size() && !inside && !write; ++f) inside = allows(rules_.read[f], place.folder);
  if (!inside) {
    return PermissionDenied("the file '", name, "' lies outside the folders that the page may ", write ? "write" : "read")
        .WithHint(Cat("allow its folder: ", write ? "--write " : "--allow ", real.path.parent_path().string()));
  }
  if (real.error == ENOENT || real.error == ENOTDIR) return NotFound("the file '", name, "' does not exist");
  if (real.error == ELOOP) return PermissionDenied("the file '", name, "' cannot be opened: too many links");
  if (real.error != 0) return Status(CodeOfErrno(real.error), Cat("the file '", name, "' cannot be opened: ", std::strerror(real.error)));
  if (real.mode != 0 && !S_ISREG(real.mode) && !S_ISDIR(real.mode)) {
    return InvalidArgument("needs a file, found a device or pipe at '", name, "'");
  }
  return place;
}

Result<fs::path> FileSandbox::Resolve(std::string_view name, Access access) const {
  WEFT_ASSIGN_OR_RETURN(Place place, Find(name, access));
  return std::move(place.real);
}

Result<std::string> FileSandbox::Read(std::string_view name, int64_t offset, int64_t size) const {
  const std::string text(name);
  if (offset < 0) return OutOfRange("needs an offset of 0 or more, found ", offset);
  for (int attempt = 1;; ++attempt) {
    WEFT_ASSIGN_OR_RETURN(const Place place, Find(name, Access::kRead));
    if (place.real == place.folder) return InvalidArgument("needs a file, found the folder '", name, "'");
    const Descriptor folder(::open(place.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const Descriptor file = folder.valid() ? OpenBeneath(folder, place.real.lexically_relative(place.folder), O_RDONLY) : Descriptor();
    if (file.valid()) return ReadBytes(file, text, offset, size, false);
    if (errno != ELOOP || attempt == kAttempts) return OpenError(text, errno);
  }
}

Status FileSandbox::Write(std::string_view name, std::string_view bytes) const {
  const std::string text(name);
  for (int attempt = 1;; ++attempt) {
    WEFT_ASSIGN_OR_RETURN(const Place place, Find(name, Access::kWrite));
    std::error_code ignored;
    if (fs::is_directory(place.real, ignored)) return InvalidArgument("needs a file, found the folder '", name, "'");
    const Descriptor root(::open(place.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const fs::path below = place.real.parent_path().lexically_relative(place.folder);
    const Descriptor folder = root.valid() ? OpenBeneath(root, below, O_PATH | O_DIRECTORY) : Descriptor();
    if (folder.valid()) return ReplaceFile(folder, place.real.filename().string(), bytes, text);
    if (errno == ENOENT) return NotFound("the file '", name, "' cannot be written: its folder does not exist");
    if (errno != ELOOP || attempt == kAttempts) return OpenError(text, errno);
  }
}

}  // namespace weft
