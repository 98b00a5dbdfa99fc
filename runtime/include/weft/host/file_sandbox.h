// The sandbox of files: which files a page may read and write. Every file that a page names passes it, of its blocks and of its values.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/block/services.h"

namespace weft {

/// What a page would do with a file.
struct FileAccess {
  std::string_view name;              // as the page has it
  const std::filesystem::path& path;  // its real place, which need not exist
  Files::Access access;
  bool allowed;  // by the folders; others are refused whatever the host says
};

/// Folders that may be used, with all that lies below them.
struct FolderRules {
  std::filesystem::path base;                // relative names start here; empty: the working folder, which refusals do not tell
  std::vector<std::filesystem::path> read;   // for reading
  std::vector<std::filesystem::path> write;  // for reading and writing
  /// Sees each access before a file is opened, and refuses it where it gives false; of a pattern (Restore) the pattern, the folders that are
  /// looked into, and each file. Called on any thread, by several at once; it must not use the page. May be empty.
  std::function<bool(const FileAccess&)> may_use{};

  /// The default of a page in a folder (empty: the working folder): it reads that folder and writes nothing.
  static FolderRules OfPage(const std::filesystem::path& folder) { return {folder.empty() ? "." : folder, {folder.empty() ? "." : folder}, {}, {}}; }
};

/// Finds the real place of a name, component by component, links and ".." included, and compares that with the folders: a name or link that
/// leaves a folder is fine where it ends in one that is allowed. The folders are looked up at each use: one may be made later.
/// Errors of all functions: invalid_argument for what is no name of a file, and for folders (of Resolve only as far as it is asked to open
/// one), devices and pipes; not_found; permission_denied outside the folders, where the host refuses, and where the file system does. The hint
/// is the option that would allow it, in the words of the page and its host: where a link leads is not told. Any thread may call them.
class FileSandbox final : public Files {
 public:
  static constexpr int kMostLinks = 40;  // on the way to one file, as Linux has it

  explicit FileSandbox(FolderRules rules);

  /// The real place, which has no links; it need not exist. A path says nothing of what is put there afterwards: it is to be opened by
  /// OpenReal and its like (weft/base/file.h), which follow no link, as Read, Write and the blocks do.
  Result<std::filesystem::path> Resolve(std::string_view name, Access access) const override;

  /// Up to `size` bytes of a file from `offset` on; -1: all that is left. The file that is read lies in a folder that allows it also where
  /// links are put on its way meanwhile. out_of_range for a negative offset; resource_exhausted for more than 4 GiB; data_loss where
  /// reading fails.
  Result<std::string> Read(std::string_view name, int64_t offset = 0, int64_t size = -1) const;

  /// Writes a whole file, in place of one that may be there: that one stays until all is on the disk, and on failure. not_found where its
  /// folder is missing; resource_exhausted for a full disk.
  Status Write(std::string_view name, std::string_view bytes) const;

 private:
  std::string HintFor(std::string_view name, Access access) const;

  bool tells_base_;
  FolderRules rules_;  // with absolute folders
};

}  // namespace weft
