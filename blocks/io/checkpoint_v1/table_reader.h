// Reads a sorted string table. Nothing in the file is trusted: whatever does not fit is data_loss.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "blocks/io/checkpoint_v1/table_format.h"
#include "blocks/io/file_access.h"

namespace weft::blocks::checkpoint_v1 {

/// The entries of one block, one after another.
class BlockCursor {
 public:
  /// `block` must outlive the cursor.
  explicit BlockCursor(std::string_view block);
  /// False at the end, or at a fault (then ok() is false).
  bool Next();
  bool ok() const { return ok_; }
  const std::string& key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  std::string_view rest_, value_;
  std::string key_;
  bool ok_ = true;
};

/// A value and the block that it lies in.
struct TableValue {
  std::string block;
  size_t offset = 0, size = 0;
  std::string_view bytes() const { return std::string_view(block).substr(offset, size); }
};

class TableReader {
 public:
  /// `workers`, where given: nothing more is read once their run is to end (cancelled).
  static Result<TableReader> Open(const std::filesystem::path& path, const Workers* workers = nullptr);
  /// Nothing where the table has no such key.
  Result<std::optional<TableValue>> Get(std::string_view key) const;
  uint64_t file_size() const { return file_.size(); }

 private:
  TableReader(InputFile file, const Workers* workers) : file_(std::move(file)), workers_(workers) {}
  Result<std::string> ReadBlock(BlockPlace place) const;
  Status Damaged(std::string_view what) const;

  InputFile file_;
  const Workers* workers_;
  std::string index_;
};

}  // namespace weft::blocks::checkpoint_v1
