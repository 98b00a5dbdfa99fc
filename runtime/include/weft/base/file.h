// Files by descriptors: what was checked is what is opened, and a new file takes the place of an old one as a whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace weft {

/// A descriptor of the system, closed at the end; negative for none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int number() const { return number_; }
  bool valid() const { return number_ >= 0; }

 private:
  int number_;
};

/// Opens `relative`, a path without links and "..", below a folder; it does not wait for the other end of a pipe. No link on the way is
/// followed: where there is one, the descriptor is not valid and errno is ELOOP. `flags` as of open(2); no file is made.
Descriptor OpenBeneath(const Descriptor& folder, const std::filesystem::path& relative, int flags);

/// The same without openat2(2), for kernels before Linux 5.6: component by component.
Descriptor OpenBeneathByComponents(const Descriptor& folder, const std::filesystem::path& relative, int flags);

/// Opens the real place of a file or folder, as Files::Resolve gives it: an absolute path without links. A link that was put in its way
/// meanwhile is not followed: errno is ELOOP then.
Descriptor OpenReal(const std::filesystem::path& path, int flags);

/// Opens a folder at its real place to put files there; `make` makes what is missing of it.
Descriptor OpenRealFolder(const std::filesystem::path& path, bool make);
/// The same of a folder that the host names: links are followed.
Descriptor OpenFolder(const std::filesystem::path& path);

/// Whether a file of this name is, or was, being written by a NewFile. Such files are no business of patterns.
bool IsUnfinished(std::string_view name);

/// A name, beside the file of that name, that IsUnfinished.
std::string UnfinishedName(std::string_view name, std::string_view purpose);

/// A file that takes the place of another all at once, when Commit succeeds; until then, and on any failure, that one stays. It is written
/// beside it under a name of its own that begins with a dot, always as a new file: nothing that is there is followed or overwritten. It has
/// the permissions of the file in whose place it comes; what is no regular file, or may not be written, stays (EOPNOTSUPP, EACCES). It holds
/// a lock; one without a lock was left behind by a process that was killed, and goes when the next file of that name is written.
/// Functions give 0 or an errno. Used by one thread.
class NewFile {
 public:
  static constexpr int kMostWriters = 100;  // of one name at the same time

  NewFile() = default;
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  /// To become `name` in the folder. Called once.
  int Create(Descriptor folder, std::string name);
  int Write(const void* data, size_t size);
  /// Brings the bytes to the disk, moves the file to its place, and brings that to the disk where the file system can.
  int Commit();

 private:
  int LookAtOld();
  int MakeNew();
  bool MakeBeside();
  bool RemoveLeftover() const;
  bool IsBeside(int file) const;

  Descriptor folder_, file_;
  std::string name_, beside_;
  int permissions_ = -1;  // of what it replaces; negative: nothing is there
};

}  // namespace weft
