#include "weft/host/file_sandbox.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <deque>

#include "runtime/base/system_call.h"
#include "runtime/host/file_bytes.h"
#include "weft/base/file.h"
#include "weft/base/system_error.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr int kAttempts = 4;  // to open what another process moves meanwhile

fs::path Absolute(const fs::path& path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path.empty() ? "." : path, error);
  return error ? path : absolute;
}

/// Without "." and ".." as far as the text tells, and without a slash at its end.
fs::path Normal(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.has_filename() || !normal.has_relative_path() ? normal : normal.parent_path();
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

/// Where a link leads; empty with errno where that cannot be told.
std::string ReadLink(const fs::path& link) {
  std::string text(PATH_MAX, '\0');
  const ssize_t size = Uninterrupted([&] { return ::readlink(link.c_str(), text.data(), text.size()); });
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
    if (!missing && Uninterrupted([&] { return ::lstat(next.c_str(), &info); }) != 0) {
      missing = errno == ENOENT;
      if (!missing) place.error = errno;
    }
    place.mode = missing || place.error != 0 ? 0 : info.st_mode;
    if (!S_ISLNK(place.mode)) {
      if (place.error == 0) place.path = next;
      continue;
    }
    const fs::path target = ReadLink(next);
    if (target.empty() || ++links > FileSandbox::kMostLinks) {
      place.error = target.empty() ? errno : ELOOP;
      return place;
    }
    rest.insert(rest.begin(), target.begin(), target.end());
  }
  if (!missing && place.error == 0) {
    struct stat info {};
    place.mode = Uninterrupted([&] { return ::lstat(place.path.c_str(), &info); }) == 0 ? info.st_mode : 0;
  }
  return place;
}

/// Whether the letters of an absolute path tell where its folder is: no link is on its way below `base`, where it is the page's to know, and no
/// ".." comes after a link or after what is none of the folders there.
bool LeadsAsWritten(const fs::path& path, const fs::path& base) {
  fs::path place = "/";
  bool known = true;  // a folder, so that ".." may be followed
  for (const fs::path& part : path.relative_path().parent_path()) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!known || Follow(place / part).path != Follow(place.parent_path()).path) return false;
      place = place.parent_path();
      continue;
    }
    place /= part;
    known = IsInside(base, place);
    struct stat info {};
    if (known || !IsInside(place, base) || ::lstat(place.c_str(), &info) != 0) continue;
    if (S_ISLNK(info.st_mode)) return false;
    known = S_ISDIR(info.st_mode);
  }
  return true;
}

/// Of the system, which tells nothing of what is there.
bool IsFailure(int error) { return error == EIO || error == ENOMEM || error == ENOSPC || error == EMFILE || error == ENFILE; }

Status CannotOpen(std::string_view name, int error) {
  return Status(CodeOfErrno(error), Cat("the file '", name, "' cannot be opened: ", std::strerror(error)));
}

}  // namespace

FileSandbox::FileSandbox(FolderRules rules) : tells_base_(!rules.base.empty()), rules_(std::move(rules)) {
  rules_.base = Absolute(rules_.base);
  for (fs::path& folder : rules_.read) folder = Absolute(folder);
  for (fs::path& folder : rules_.write) folder = Absolute(folder);
}

// Made of what is written alone: what lies outside, and where links lead, is not the page's to know.
std::string FileSandbox::HintFor(std::string_view name, Access access) const {
  const bool write = access == Access::kWrite;
  const fs::path given(name);
  if (!given.is_absolute() && !tells_base_) return Cat("give the page a folder that it may ", write ? "write" : "read");
  const fs::path folder = Normal(rules_.base / given).parent_path();
  const auto holds = [&](const fs::path& allowed) { return IsInside(folder, Normal(allowed)); };
  if (std::ranges::any_of(rules_.write, holds) || (!write && std::ranges::any_of(rules_.read, holds))) {
    return "a link on its way leads out of them: allow the folder that it leads to";
  }
  if (!LeadsAsWritten(rules_.base / given, Normal(rules_.base))) return "write its name without links and '..': then its folder can be allowed";
  return Cat("allow its folder: ", write ? "--write " : "--allow ", folder.string());
}

Result<fs::path> FileSandbox::Resolve(std::string_view name, Access access) const {
  if (name.empty()) return InvalidArgument("needs the name of a file, found an empty string");
  if (name.find('\0') != std::string_view::npos) return InvalidArgument("needs the name of a file, found one with a NUL in it");
  RealPlace real = Follow(rules_.base / fs::path(name));  // an absolute name stands alone
  const bool write = access == Access::kWrite;
  int unknown = 0;  // why a folder that may hold it could not be followed
  const auto holds = [&](const fs::path& folder) {
    const RealPlace allowed = Follow(folder);
    if (IsFailure(allowed.error)) unknown = allowed.error;
    return IsInside(real.path, allowed.path);
  };
  const bool inside = std::ranges::any_of(rules_.write, holds) || (!write && std::ranges::any_of(rules_.read, holds));
  const bool granted = !rules_.may_use || rules_.may_use({name, real.path, access, inside});
  if (!inside && IsFailure(unknown)) return CannotOpen(name, unknown);
  if (!inside && IsFailure(real.error)) return CannotOpen(name, real.error);
  if (!inside) {
    return PermissionDenied("the file '", name, "' lies outside the folders that the page may ", write ? "write" : "read")
        .WithHint(HintFor(name, access));
  }
  if (!granted) return PermissionDenied("the host does not let the page ", write ? "write" : "read", " the file '", name, "'");
  if (real.error == ENOENT) return NotFound("the file '", name, "' does not exist");
  if (real.error == ELOOP) return PermissionDenied("the file '", name, "' cannot be opened: too many links");
  if (real.error != 0) return CannotOpen(name, real.error);
  if (real.mode != 0 && !S_ISREG(real.mode) && !S_ISDIR(real.mode)) {
    return InvalidArgument("needs a file, found a device or pipe at '", name, "'");
  }
  return std::move(real.path);
}

Result<std::string> FileSandbox::Read(std::string_view name, int64_t offset, int64_t size) const {
  const std::string text(name);
  if (offset < 0) return OutOfRange("needs an offset of 0 or more, found ", offset);
  for (int attempt = 1;; ++attempt) {
    WEFT_ASSIGN_OR_RETURN(const fs::path place, Resolve(name, Access::kRead));
    const Descriptor file = OpenReal(place, O_RDONLY);
    if (file.valid()) return ReadBytes(file, text, offset, size, false);
    if (errno != ELOOP || attempt == kAttempts) return OpenError(text, errno);
  }
}

Status FileSandbox::Write(std::string_view name, std::string_view bytes) const {
  const std::string text(name);
  for (int attempt = 1;; ++attempt) {
    WEFT_ASSIGN_OR_RETURN(const fs::path place, Resolve(name, Access::kWrite));
    if (OpenReal(place, O_PATH | O_DIRECTORY).valid()) return InvalidArgument("needs a file, found the folder '", name, "'");
    Descriptor folder = OpenRealFolder(place.parent_path(), false);
    if (!folder.valid() && errno == ELOOP && attempt < kAttempts) continue;
    if (!folder.valid() && errno == ENOENT) return NotFound("the file '", name, "' cannot be written: its folder does not exist");
    if (!folder.valid()) return OpenError(text, errno);
    NewFile file;
    int error = file.Create(std::move(folder), place.filename().string());
    if (error == 0) error = file.Write(bytes.data(), bytes.size());
    if (error == 0) error = file.Commit();
    if (error == 0) return {};
    return Status(CodeOfErrno(error), Cat("the file '", name, "' cannot be written: ", std::strerror(error)));
  }
}

}  // namespace weft
