#include "blocks/io/file_access.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "blocks/kernels/stop_check.h"
#include "runtime/base/system_call.h"
#include "weft/base/system_error.h"

namespace weft::blocks {
namespace fs = std::filesystem;
namespace {

constexpr int kAttempts = 4;  // at what another process moves meanwhile

/// Opens by open(path, errno) what the name stands for; again where a link was put in its way after it was found.
template <class File, class Open>
Result<File> OpenAllowed(const Files& files, std::string_view name, Files::Access access, Open&& open) {
  for (int attempt = 1;; ++attempt) {
    WEFT_ASSIGN_OR_RETURN(const fs::path path, files.Resolve(name, access));
    int error = 0;
    Result<File> opened = open(path, error);
    if (opened.ok() || error != ELOOP || attempt == kAttempts) return opened;
  }
}

bool HasPattern(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

/// A folder that is not there, or that the system does not let be read, has no names; other failures are told.
bool HasNoNames(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EACCES || error == EPERM; }

/// The names in a folder that match a pattern, sorted.
Result<std::vector<std::string>> NamesIn(const fs::path& folder, const std::string& pattern) {
  std::vector<std::string> names;
  const Descriptor opened = OpenReal(folder, O_RDONLY | O_DIRECTORY);
  if (!opened.valid() && HasNoNames(errno)) return names;
  const int number = opened.valid() ? ::fcntl(opened.number(), F_DUPFD_CLOEXEC, 0) : -1;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(number < 0 ? nullptr : ::fdopendir(number), ::closedir);
  if (listing == nullptr) {
    Status status = FileError(errno, "look into", folder);
    if (number >= 0) ::close(number);
    return status;
  }
  for (errno = 0; const dirent* entry = ::readdir(listing.get()); errno = 0) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || IsUnfinished(name)) continue;
    if (fnmatch(pattern.c_str(), entry->d_name, FNM_PERIOD) == 0) names.emplace_back(name);
  }
  if (errno != 0) return FileError(errno, "look into", folder);
  std::sort(names.begin(), names.end());
  return names;
}

Result<bool> Exists(const fs::path& path) {
  struct stat info {};  // of a link, the link: where it leads is not told here
  if (Uninterrupted([&] { return ::lstat(path.c_str(), &info); }) == 0) return true;
  if (HasNoNames(errno) || errno == ENAMETOOLONG) return false;
  return FileError(errno, "look at", path);
}

/// What the system, not the host's rules or the absence of a file, refused.
bool IsFailure(const Status& status) { return status.code() == Code::kResourceExhausted || status.code() == Code::kInternal; }

/// What `path` stands for, component by component; a component that exists as it is written is no pattern. A folder is looked into at its
/// real place, and only where it may be read: a link that leads out of the allowed folders shows nothing of what is there.
Result<std::vector<fs::path>> Expand(const Files& files, const fs::path& path) {
  std::vector<fs::path> found{path.root_path()};
  bool by_pattern = false;
  for (const fs::path& part : path.relative_path()) {
    std::vector<fs::path> next;
    for (const fs::path& folder : found) {
      fs::path place = folder;
      if (by_pattern) {
        Result<fs::path> allowed = files.Resolve(folder.native(), Files::Access::kRead);
        if (!allowed.ok() && IsFailure(allowed.status())) return std::move(allowed).status();
        if (!allowed.ok()) continue;
        place = std::move(*allowed);
      }
      WEFT_ASSIGN_OR_RETURN(const bool exists, Exists(place / part));
      if (exists) {
        next.push_back(place / part);
      } else if (HasPattern(part.native())) {
        WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(place, part.native()));
        for (const std::string& name : names) next.push_back(place / name);
      }
    }
    by_pattern |= HasPattern(part.native());
    found = std::move(next);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Status FileError(int error, std::string_view doing, const fs::path& path) {
  return Status(CodeOfErrno(error), Cat("needs to ", doing, " '", path.native(), "', found: ", std::generic_category().message(error)));
}

Result<InputFile> InputFile::Open(const Files& files, std::string_view name) {
  return OpenAllowed<InputFile>(files, name, Files::Access::kRead, OpenAt);
}

Result<InputFile> InputFile::Open(const fs::path& path) {
  int error = 0;
  return OpenAt(path, error);
}

Result<InputFile> InputFile::OpenAt(const fs::path& path, int& error) {
  Descriptor file = OpenReal(path, O_RDONLY);  // does not wait for the writer of a pipe
  if (!file.valid()) return FileError(error = errno, "open", path);
  struct stat info {};
  if (Uninterrupted([&] { return ::fstat(file.number(), &info); }) != 0) return FileError(errno, "look at", path);
  if (!S_ISREG(info.st_mode)) {
    return NotFound("needs a file '", path.native(), "', found a ", S_ISDIR(info.st_mode) ? "folder" : "device");
  }
  return InputFile(std::move(file), static_cast<uint64_t>(info.st_size), path);
}

Status InputFile::ReadAt(uint64_t offset, std::span<char> to) const {
  while (!to.empty()) {
    const ssize_t got = Uninterrupted([&] { return ::pread(file_.number(), to.data(), to.size(), static_cast<off_t>(offset)); });
    if (got < 0) return FileError(errno, "read", path_);
    if (got == 0) return Status(Code::kDataLoss, Cat("needs ", to.size(), " more bytes of '", path_.native(), "', found its end"));
    offset += static_cast<uint64_t>(got);
    to = to.subspan(static_cast<size_t>(got));
  }
  return {};
}

Result<String> ReadWholeFile(const Services& services, std::string_view name) {
  constexpr size_t kPieceBytes = size_t{1} << 22;  // read between two looks at whether the run is to end
  WEFT_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(*services.files, name));
  WEFT_ASSIGN_OR_RETURN(String bytes, String::Uninitialized(file.size(), services.budget));
  for (size_t at = 0; at < file.size(); at += kPieceBytes) {
    if (services.workers->Stopped()) return kernels::RunStopped();
    WEFT_RETURN_IF_ERROR(file.ReadAt(at, std::span(bytes.mutable_data() + at, std::min<size_t>(kPieceBytes, file.size() - at))));
  }
  return bytes;
}

Result<AtomicFile> AtomicFile::Create(const Files& files, std::string_view name, bool make_folders) {
  return OpenAllowed<AtomicFile>(files, name, Files::Access::kWrite,
                                 [&](const fs::path& path, int& error) { return CreateAt(path, make_folders, error); });
}

Result<AtomicFile> AtomicFile::Create(const fs::path& path, bool make_folders) {
  int error = 0;
  return CreateAt(path, make_folders, error);
}

Result<AtomicFile> AtomicFile::CreateAt(const fs::path& path, bool make_folders, int& error) {
  AtomicFile file(path);
  Descriptor folder = OpenRealFolder(path.parent_path(), make_folders);
  if (!folder.valid()) return FileError(error = errno, make_folders ? "make the folder of" : "create", path);
  error = file.file_.Create(std::move(folder), path.filename().native());
  if (error != 0) return FileError(error, "create", path);
  return file;
}

Status AtomicFile::Write(std::string_view bytes) {
  if (const int error = file_.Write(bytes.data(), bytes.size())) return FileError(error, "write", path_);
  size_ += bytes.size();
  return {};
}

Status AtomicFile::Commit() {
  const int error = file_.Commit();
  return error == 0 ? Status() : FileError(error, "write", path_);
}

Result<std::vector<fs::path>> MatchFiles(const Files& files, std::string_view pattern) {
  WEFT_ASSIGN_OR_RETURN(fs::path path, files.Resolve(pattern, Files::Access::kRead));
  WEFT_ASSIGN_OR_RETURN(const std::vector<fs::path> matches, Expand(files, path));
  std::vector<fs::path> allowed;
  for (const fs::path& found : matches) {
    // Once more: a link may lead out of the allowed folders.
    WEFT_ASSIGN_OR_RETURN(fs::path resolved, files.Resolve(found.native(), Files::Access::kRead));
    allowed.push_back(std::move(resolved));
  }
  return allowed;
}

}  // namespace weft::blocks
