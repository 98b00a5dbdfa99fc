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
  /// Goes to before the first entry whose key is not below `key`, or a few entries before that: the next ones follow from there.
  void Seek(std::string_view key);
  /// False at the end, or at a fault (then ok() is false).
  bool Next();
  bool ok() const { return ok_; }
  const std::string& key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  size_t restarts() const { return restarts_.size() / sizeof(uint32_t); }
  /// The whole key of an entry that shares nothing with the one before it; empty at a fault.
  std::string_view KeyAt(size_t restart) const;

  std::string_view entries_, restarts_;  // where whole keys are, as offsets of 4 bytes
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
  std::shared_ptr<const TableBlock> block;
  std::string_view bytes;
};

/// Used by one thread at a time.
class TableReader {
 public:
  /// `what` the table is, for messages: "a version 1 checkpoint"; it outlives the reader.
  /// `workers`, where given: nothing more is read once their run is to end (cancelled). What is read counts in the budget, which may be null:
  /// resource_exhausted where it refuses.
  static Result<TableReader> Open(const std::filesystem::path& path, std::string_view what, const Workers* workers = nullptr,
                                  std::shared_ptr<MemoryBudget> budget = nullptr);
  /// Nothing where the table has no such key. The block is kept: that of the next key is mostly the same.
  Result<std::optional<TableValue>> Get(std::string_view key);
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
  std::shared_ptr<const TableBlock> last_;  // that Get read
  uint64_t last_offset_ = 0;
};

}  // namespace weft::blocks::checkpoint
