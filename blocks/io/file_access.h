// Files as blocks read and write them: at any offset, whole and at once, by pattern. Paths have passed Files::Resolve.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/block/services.h"

namespace weft::blocks {

/// The failure of a call of the system: not_found, permission_denied, failed_precondition (a file for a
/// folder, or a folder for a file), resource_exhausted (a full disk, too many files), invalid_argument (a bad name), else internal.
Status FileError(int error, std::string_view doing, const std::filesystem::path& path);

/// A regular file, open for reading. Reading from several threads is safe.
class InputFile {
 public:
  /// not_found where there is none or it is a folder or device; else as FileError.
  static Result<InputFile> Open(const std::filesystem::path& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  /// Bytes when it was opened.
  uint64_t size() const { return size_; }
  const std::filesystem::path& path() const { return path_; }
  /// Fills `to` from `offset`. data_loss where the file ends before.
  Status ReadAt(uint64_t offset, std::span<char> to) const;

 private:
  InputFile() = default;
  int descriptor_ = -1;
  uint64_t size_ = 0;
  std::filesystem::path path_;
};

/// A file that takes the place of the one at `path` all at once, when Commit succeeds; until then, and on any failure, that one stays.
class AtomicFile {
 public:
  static Result<AtomicFile> Create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Status Write(std::string_view bytes);
  /// Bytes written.
  uint64_t size() const { return size_; }
  /// Brings the bytes to the disk and moves the file to its place.
  Status Commit();

 private:
  AtomicFile() = default;
  Status Fail(std::string_view doing);
  int descriptor_ = -1;
  uint64_t size_ = 0;
  std::filesystem::path path_, temporary_;
};

/// The files that a name on the page stands for: the one of that very name, or all that it matches as a pattern (* ? [a-z], none of
/// which matches a slash), sorted. Each one is allowed by `files`. May be empty.
Result<std::vector<std::filesystem::path>> MatchFiles(const Files& files, std::string_view pattern);

}  // namespace weft::blocks
