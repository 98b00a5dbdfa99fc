// Files that take their places together or not at all: locks of the folders that they are in, and what was there before.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "blocks/io/file_access.h"

namespace weft::blocks {

/// The folders of some files, each for one holder at a time: the sessions of this process, and other processes, wait for one another. (A file
/// system without locks of folders, or a folder that may not be read, keeps nobody out.)
class FolderLocks {
 public:
  /// Of files at their real places. cancelled where the run of `workers` is to end while others hold a folder; else errors as FileError.
  static Result<FolderLocks> Of(std::span<const std::filesystem::path> files, const Workers& workers);
  /// That of a file which was among them.
  const Descriptor& FolderOf(const std::filesystem::path& file) const { return folders_.at(file.parent_path()); }

 private:
  std::map<std::filesystem::path, Descriptor> folders_;  // all take them in this order, so that no two wait for each other
};

/// What is at a place, to be put back there unless it is let go. At the end of one that was not let go, what took its place meanwhile is gone.
/// (A file system without links keeps nothing, and what is there stays.)
class KeptFile {
 public:
  /// Of a file whose folder is among the locks, which live longer. Errors as FileError.
  static Result<KeptFile> Of(const FolderLocks& locks, const std::filesystem::path& path);
  KeptFile(KeptFile&& other) noexcept : folder_(other.folder_), name_(std::exchange(other.name_, {})), kept_(std::move(other.kept_)) {}
  KeptFile& operator=(KeptFile&&) = delete;
  ~KeptFile();
  void LetGo();

 private:
  KeptFile(const Descriptor& folder, std::string name) : folder_(folder.number()), name_(std::move(name)) {}
  int folder_;
  std::string name_, kept_;  // kept_: beside it; empty where nothing was there
};

}  // namespace weft::blocks
