// Writes a sorted string table, byte for byte as TensorFlow's Save does (its blocks are not compressed).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "blocks/io/checkpoint/table_format.h"
#include "blocks/io/file_access.h"

namespace weft::blocks::checkpoint {

/// One block while it is filled.
class TableBlockBuilder {
 public:
  /// Every `restart_interval`-th key is stored in full.
  explicit TableBlockBuilder(int restart_interval) : restart_interval_(restart_interval) {}
  void Add(std::string_view key, std::string_view value) {
    Begin(key, value.size());
    Append(value);
  }
  /// An entry whose value is appended next, in parts.
  void Begin(std::string_view key, size_t value_size);
  void Append(std::string_view part) { bytes_.append(part); }
  bool empty() const { return bytes_.empty(); }
  size_t size() const { return bytes_.size() + (restarts_.size() + 1) * sizeof(uint32_t); }
  /// The finished block; the builder starts anew.
  std::string Take();

 private:
  const int restart_interval_;
  int since_restart_ = 0;
  std::string bytes_, last_key_;
  std::vector<uint32_t> restarts_{0};
};

class TableWriter {
 public:
  /// `workers`, where given: nothing more is written once their run is to end (cancelled).
  explicit TableWriter(AtomicFile& file, const Workers* workers = nullptr) : file_(file), workers_(workers) {}
  /// Keys must rise strictly.
  Status Add(std::string_view key, std::string_view value);
  /// Writes index and footer; nothing may be added after it.
  Status Finish();

 private:
  Status FlushData();
  Result<BlockPlace> WriteBlock(const std::string& block);
  void AddIndex(std::string_view key);

  AtomicFile& file_;
  const Workers* const workers_;
  TableBlockBuilder data_{16}, index_{1};
  std::string last_key_;
  BlockPlace pending_;
  bool has_pending_ = false;  // a block that is written and not in the index yet: its key depends on the next one
};

}  // namespace weft::blocks::checkpoint
