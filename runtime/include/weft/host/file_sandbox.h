// The sandbox of files: which files a page may read and write. Every file that a page names passes it, of its blocks and of its values.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "weft/block/services.h"

namespace weft {

/// Folders that may be used, with all that lies below them.
struct FolderRules {
  std::filesystem::path base;                // relative names start here; empty: the working folder
  std::vector<std::filesystem::path> read;   // for reading
  std::vector<std::filesystem::path> write;  // for reading and writing

  /// The default of a page in a folder (empty: the working folder): it reads that folder and writes nothing.
  static FolderRules OfPage(const std::filesystem::path& folder) { return {folder, {folder.empty() ? "." : folder}, {}}; }
};

/// Finds the real place of a name, component by component, links and ".." included, and compares that with the folders: a name or link that
/// leaves a folder is fine where it ends in one that is allowed. The folders are looked up at each use: one may be made later.
/// Errors of all functions: invalid_argument for what is no name of a file, and for folders (of Resolve only as far as it is asked to open
/// one), devices and pipes; not_found; permission_denied outside the folders, with the option that would allow it as the hint, and where
/// the file system refuses. Any thread may call them.
class FileSandbox final : public Files {
 public:
  explicit FileSandbox(FolderRules rules);

  /// The real place, which has no links; it need not exist. A path says nothing of what is put there afterwards: Read and Write, where a
  /// host has the choice, open what they have checked.
  Result<std::filesystem::path> Resolve(std::string_view name, Access access) const override;

  /// Up to `size` bytes of a file from `offset` on; -1: all that is left. The file that is read lies in a folder that allows it also where
  /// links are put on its way meanwhile. out_of_range for a negative offset; resource_exhausted for more than 4 GiB; data_loss where
  /// reading fails.
  Result<std::string> Read(std::string_view name, int64_t offset = 0, int64_t size = -1) const;

  /// Writes a whole file, in place of one that may be there: that one stays until all is on the disk, and on failure. not_found where its
  /// folder is missing; resource_exhausted for a full disk.
  Status Write(std::string_view name, std::string_view bytes) const;

 private:
  struct Place {
    std::filesystem::path real;    // of the name
    std::filesystem::path folder;  // that allows it, as a real place
  };
  Result<Place> Find(std::string_view name, Access access) const;

  FolderRules rules_;  // with absolute folders
};

}  // namespace weft
