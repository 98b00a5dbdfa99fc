#include "blocks/io/file_access.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

constexpr std::string_view kPatternSigns = "*?[\\";

bool HasPattern(std::string_view text) { return text.find_first_of(kPatternSigns) != std::string_view::npos; }

/// A folder that is not there, or that the system does not let be read, has no names; other failures are told.
bool HasNoNames(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EACCES || error == EPERM; }

/// The names in a folder that match a pattern, sorted.
Result<std::vector<std::string>> NamesIn(const fs::path& folder, const std::string& pattern, const Workers* workers) {
  constexpr int kNamesBetweenLooks = 256;
  std::vector<std::string> names;
  const Descriptor opened = OpenReal(folder, O_RDONLY | O_DIRECTORY);
  if (!opened.valid() && HasNoNames(errno)) return names;
  const int number = opened.valid() ? Uninterrupted([&] { return ::fcntl(opened.number(), F_DUPFD_CLOEXEC, 0); }) : -1;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(number < 0 ? nullptr : ::fdopendir(number), ::closedir);
  if (listing == nullptr) {
    Status status = FileError(errno, "look into", folder);
    if (number >= 0) ::close(number);
    return status;
  }
  int seen = 0;
  for (errno = 0; const dirent* entry = ::readdir(listing.get()); errno = 0) {
    if (seen++ % kNamesBetweenLooks == 0 && IsStopped(workers)) return kernels::RunStopped();
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || IsUnfinished(name)) continue;
    if (fnmatch(pattern.c_str(), entry->d_name, 0) == 0) names.emplace_back(name);
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

/// Whether nothing can be there: a folder on the way is missing, or is a file.
bool IsAbsent(const Status& status) { return status.code() == Code::kNotFound || status.code() == Code::kFailedPrecondition; }

struct Match {
  fs::path name, place;  // as the pattern spells it; where it is
};

/// What the components stand for below a folder that may be read, one after another. A folder is looked into at its real place, and only
/// where it may be read: a link that leads out of the allowed folders shows nothing of what is there. `exact`: a component that is the name
/// of a file is no pattern.
Result<std::vector<Match>> Expand(const Files& files, Match folder, const fs::path& components, bool exact, const Workers* workers) {
  std::vector<Match> found{std::move(folder)};
  bool by_pattern = false;
  for (const fs::path& part : components) {
    std::vector<Match> next;
    const bool is_pattern = HasPattern(part.native());
    for (const auto& [name, folder_of] : found) {
      if (IsStopped(workers)) return kernels::RunStopped();
      fs::path place = folder_of;
      if (by_pattern) {
        Result<fs::path> allowed = files.Resolve(place.native(), Files::Access::kRead);
        if (!allowed.ok() && IsFailure(allowed.status())) return std::move(allowed).status();
        if (!allowed.ok()) continue;
        place = std::move(*allowed);
      }
      bool exists = false;
      if (exact || !is_pattern) {
        WEFT_ASSIGN_OR_RETURN(exists, Exists(place / part));
      }
      if (exists) {
        next.push_back({name / part, place / part});
      } else if (is_pattern) {
        WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(place, part.native(), workers));
        for (const std::string& each : names) next.push_back({name / each, place / each});
      }
    }
    by_pattern |= is_pattern;
    found = std::move(next);
  }
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
    const bool folder = S_ISDIR(info.st_mode);
    std::string found = Cat("needs a file '", path.native(), "', found a ", folder ? "folder" : "device");
    return Status(folder ? Code::kFailedPrecondition : Code::kNotFound, std::move(found));
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

Status InputFile::ReadLong(uint64_t offset, std::span<char> to, const Workers* workers, FunctionRef<void(std::string_view)> use) const {
  for (size_t at = 0; at < to.size(); at += kFilePieceBytes) {
    if (IsStopped(workers)) return kernels::RunStopped();
    const auto piece = to.subspan(at, std::min(kFilePieceBytes, to.size() - at));
    WEFT_RETURN_IF_ERROR(ReadAt(offset + at, piece));
    use({piece.data(), piece.size()});
  }
  return {};
}

Result<String> ReadWholeFile(const Services& services, std::string_view name) {
  WEFT_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(*services.files, name));
  WEFT_ASSIGN_OR_RETURN(String bytes, String::Uninitialized(file.size(), services.budget));
  WEFT_RETURN_IF_ERROR(file.ReadLong(0, {bytes.mutable_data(), bytes.size()}, services.workers));
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

Status MoveFile(const fs::path& from, const fs::path& to) {
  const Descriptor old_folder = OpenRealFolder(from.parent_path(), false);
  if (!old_folder.valid()) return FileError(errno, "open the folder of", from);
  const Descriptor folder = OpenRealFolder(to.parent_path(), true);
  if (!folder.valid()) return FileError(errno, "make the folder of", to);
  const auto move = [&] { return ::renameat(old_folder.number(), from.filename().c_str(), folder.number(), to.filename().c_str()); };
  return Uninterrupted(move) == 0 ? Status() : FileError(errno, Cat("move '", from.native(), "' to"), to);
}

void RemoveFile(const fs::path& path) {
  const Descriptor folder = OpenRealFolder(path.parent_path(), false);
  if (folder.valid()) (void)Uninterrupted([&] { return ::unlinkat(folder.number(), path.filename().c_str(), 0); });
}

void RemoveFolder(const fs::path& path) {
  const Descriptor folder = OpenRealFolder(path.parent_path(), false);
  if (folder.valid()) (void)Uninterrupted([&] { return ::unlinkat(folder.number(), path.filename().c_str(), AT_REMOVEDIR); });
}

Result<std::vector<fs::path>> MatchFiles(const Files& files, std::string_view pattern, const Workers* workers) {
  Result<fs::path> place_of_pattern = files.Resolve(pattern, Files::Access::kRead);
  if (IsAbsent(place_of_pattern.status())) return std::vector<fs::path>();
  WEFT_ASSIGN_OR_RETURN(const fs::path path, std::move(place_of_pattern));
  const Match root{path.root_path(), path.root_path()};
  WEFT_ASSIGN_OR_RETURN(const std::vector<Match> matches, Expand(files, root, path.relative_path(), true, workers));
  std::vector<fs::path> allowed;
  for (const Match& found : matches) {
    if (IsStopped(workers)) return kernels::RunStopped();
    // Once more: a link may lead out of the allowed folders.
    WEFT_ASSIGN_OR_RETURN(fs::path resolved, files.Resolve(found.place.native(), Files::Access::kRead));
    allowed.push_back(std::move(resolved));
  }
  std::sort(allowed.begin(), allowed.end());
  return allowed;
}

Result<std::vector<std::string>> MatchNames(const Files& files, std::string_view pattern, const Workers* workers) {
  std::vector<std::string> names;
  if (pattern.empty()) return names;
  // Folders up to the first component that is a pattern are as they are written.
  const size_t sign = pattern.find_first_of(kPatternSigns);
  const size_t slash = sign == std::string_view::npos ? std::string_view::npos : pattern.rfind('/', sign);
  const std::string_view folder = pattern.substr(0, sign == std::string_view::npos ? pattern.size() : slash + 1);
  Result<fs::path> resolved = files.Resolve(folder.empty() ? "." : folder, Files::Access::kRead);
  if (IsAbsent(resolved.status())) return names;
  WEFT_ASSIGN_OR_RETURN(fs::path place, std::move(resolved));
  if (sign == std::string_view::npos) {
    WEFT_ASSIGN_OR_RETURN(const bool exists, Exists(place));
    if (exists) names.emplace_back(pattern);
    return names;
  }
  fs::path components;
  for (const fs::path& part : fs::path(pattern.substr(folder.size()))) {
    if (part == "..") return names;  // no name in a folder
    if (!part.empty() && part != ".") components /= part;
  }
  WEFT_ASSIGN_OR_RETURN(const std::vector<Match> matches, Expand(files, {fs::path(folder), std::move(place)}, components, false, workers));
  for (const Match& found : matches) names.push_back(found.name.native());
  return names;
}

}  // namespace weft::blocks
