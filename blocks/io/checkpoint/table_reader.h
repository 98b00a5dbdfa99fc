// Reads a sorted string table. Nothing in the file is trusted: whatever does not fit is data_loss.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "blocks/io/checkpoint/table_format.h"
#include "blocks/io/file_access.h"
#include "weft/base/memory.h"

namespace weft::blocks::checkpoint {

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

/// The bytes of a block, plain, and what they take of the memory budget.
struct TableBlock {
  MemoryCharge charge;
  std::string bytes;
};

/// A value and the block that it lies in.
struct TableValue {
  TableBlock block;
  size_t offset = 0, size = 0;
  std::string_view bytes() const { return std::string_view(block.bytes).substr(offset, size); }
};

class TableReader {
 public:
  /// `what` the table is, for messages: "a version 1 checkpoint"; it outlives the reader.
  /// `workers`, where given: nothing more is read once their run is to end (cancelled). What is read counts in the budget, which may be null:
  /// resource_exhausted where it refuses.
  static Result<TableReader> Open(const std::filesystem::path& path, std::string_view what, const Workers* workers = nullptr,
                                  std::shared_ptr<MemoryBudget> budget = nullptr);
  /// Nothing where the table has no such key.
  Result<std::optional<TableValue>> Get(std::string_view key) const;
  /// Calls use(key, value) for each entry, in the order of the file, until one fails.
  Status ForEach(FunctionRef<Status(std::string_view, std::string_view)> use) const;
  uint64_t file_size() const { return file_.size(); }

 private:
  TableReader(InputFile file, std::string_view what, const Workers* workers, std::shared_ptr<MemoryBudget> budget)
      : file_(std::move(file)), what_(what), workers_(workers), budget_(std::move(budget)) {}
  Result<TableBlock> ReadBlock(BlockPlace place) const;
  Result<TableBlock> Expand(std::string_view packed) const;
  Status Damaged(std::string_view what) const;

  InputFile file_;
  std::string_view what_;
  const Workers* workers_;
  std::shared_ptr<MemoryBudget> budget_;
  TableBlock index_;
};

}  // namespace weft::blocks::checkpoint
