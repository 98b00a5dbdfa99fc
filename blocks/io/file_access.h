// Files as blocks read and write them: at any offset, whole and at once, by pattern. What Files::Resolve allowed is what is opened: a link
// that is put in its way meanwhile is not followed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/base/file.h"
#include "weft/base/string.h"
#include "weft/block/services.h"

namespace weft::blocks {

/// The failure of a call of the system: not_found, permission_denied, failed_precondition (a file for a
/// folder, or a folder for a file), resource_exhausted (a full disk, too many files), invalid_argument (a bad name), else internal.
Status FileError(int error, std::string_view doing, const std::filesystem::path& path);

/// Whether the run of `workers`, which may be null, is to end.
inline bool IsStopped(const Workers* workers) { return workers != nullptr && workers->Stopped(); }
/// Bytes that are read, written or copied between two looks at whether a run is to end.
inline constexpr size_t kFilePieceBytes = size_t{1} << 22;

/// A regular file, open for reading. Reading from several threads is safe.
class InputFile {
 public:
  /// The file that a name on the page stands for. permission_denied where `files` does not allow it; not_found where there is none or it is a
  /// folder or device; else as FileError.
  static Result<InputFile> Open(const Files& files, std::string_view name);
  /// A file at its real place, which `files` allowed.
  static Result<InputFile> Open(const std::filesystem::path& path);

  /// Bytes when it was opened.
  uint64_t size() const { return size_; }
  const std::filesystem::path& path() const { return path_; }
  /// Fills `to` from `offset`. data_loss where the file ends before.
  Status ReadAt(uint64_t offset, std::span<char> to) const;
  /// The same of many bytes: cancelled where the run of `workers`, which may be null, is to end. Calls use(piece) for those that are there.
  Status ReadLong(uint64_t offset, std::span<char> to, const Workers* workers,
                  FunctionRef<void(std::string_view)> use = [](std::string_view) {}) const;

 private:
  static Result<InputFile> OpenAt(const std::filesystem::path& path, int& error);
  InputFile(Descriptor file, uint64_t size, const std::filesystem::path& path) : file_(std::move(file)), size_(size), path_(path) {}
  Descriptor file_;
  uint64_t size_ = 0;
  std::filesystem::path path_;
};

/// The bytes of the file that a name on the page stands for, which count in the budget of the services; cancelled where their run is to end.
/// Errors as of InputFile, and resource_exhausted where the budget refuses.
Result<String> ReadWholeFile(const Services& services, std::string_view name);

/// A file that takes the place of another all at once, when Commit succeeds; until then, and on any failure, that one stays.
class AtomicFile {
 public:
  /// The file that a name on the page stands for; `make_folders` makes the folders on the way that are missing. Errors as of InputFile::Open.
  static Result<AtomicFile> Create(const Files& files, std::string_view name, bool make_folders = false);
  /// A file at its real place, which `files` allowed.
  static Result<AtomicFile> Create(const std::filesystem::path& path, bool make_folders = false);

  Status Write(std::string_view bytes);
  /// Bytes written.
  uint64_t size() const { return size_; }
  const std::filesystem::path& path() const { return path_; }
  /// Brings the bytes to the disk and moves the file to its place.
  Status Commit();

 private:
  static Result<AtomicFile> CreateAt(const std::filesystem::path& path, bool make_folders, int& error);
  explicit AtomicFile(const std::filesystem::path& path) : path_(path) {}
  std::filesystem::path path_;
  NewFile file_;
  uint64_t size_ = 0;
};

// At real places, which `files` allowed:

/// Moves a file to another place on its file system, over what is there; makes folders on the way that are missing. Errors as FileError.
Status MoveFile(const std::filesystem::path& from, const std::filesystem::path& to);
/// Removes a file; what cannot be removed stays.
void RemoveFile(const std::filesystem::path& path);
/// Removes a folder that is empty; others stay.
void RemoveFolder(const std::filesystem::path& path);

// Of patterns: * ? [a-z], none of which matches a slash. Each folder that is looked into is one that `files` allows. Files that are being
// written, or were left so, match none. `workers`, where given: cancelled where their run is to end.

/// The files that a name on the page stands for, for reading: the one of that very name, or all that it matches as a pattern, sorted, at their
/// real places, each of which `files` allows. May be empty.
Result<std::vector<std::filesystem::path>> MatchFiles(const Files& files, std::string_view pattern, const Workers* workers = nullptr);

/// The names of files and folders that match a pattern, as it spells them, in any order; without a sign of a pattern the name itself, where
/// there is such a file or folder.
Result<std::vector<std::string>> MatchNames(const Files& files, std::string_view pattern, const Workers* workers = nullptr);

}  // namespace weft::blocks
