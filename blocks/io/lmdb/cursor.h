// The records of an LMDB file, in the order of their keys.
//
// The file is read, not mapped, and none of it is trusted: LMDB's own library maps it and follows what is written there, so that a damaged file,
// or one that is cut while it is read, ends the process; and it opens files by name, past what the host allows.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "blocks/io/file_access.h"
#include "blocks/io/lmdb/page.h"

namespace weft::blocks::lmdb {

/// The pages of a file.
class Store {
 public:
  /// data_loss where it is no LMDB file.
  static Result<Store> Open(InputFile file);
  uint64_t root() const { return root_; }
  /// A branch or leaf. Each is read once: data_loss where more are asked for than there are.
  Result<Page> ReadPage(uint64_t number);
  /// The value that begins on an overflow page; cancelled, or resource_exhausted, by the services, which may have no workers and no budget.
  Result<String> ReadBigValue(uint64_t page, uint64_t bytes, const Services& services) const;
  Status Damaged(std::string_view what) const;

 private:
  Store(InputFile file, const Meta& meta) : file_(std::move(file)), page_bytes_(meta.page_bytes), root_(meta.root) {}
  uint64_t pages() const { return file_.size() / page_bytes_; }

  InputFile file_;
  size_t page_bytes_;
  uint64_t root_, read_ = 0;
};

/// The items of a tree of pages.
class Tree {
 public:
  static constexpr size_t kMostLevels = 32;  // as LMDB's

  explicit Tree(Store& store) : store_(store) {}
  Status Begin(uint64_t root);
  void Begin(Page page) { levels_.push_back({std::move(page), 0}); }
  /// False at the end. Where it fails the same item is the next one.
  Result<bool> Next(const Services& services);
  /// What Next went to; valid until it is called again.
  Item item() const { return levels_.back().page.item(levels_.back().next - 1); }

 private:
  struct Level {
    Page page;
    int next;
  };
  Store& store_;
  std::vector<Level> levels_;
};

/// Key after key, and the values of one key in their order.
class Cursor {
 public:
  static Result<std::unique_ptr<Cursor>> Open(InputFile file);
  /// False at the end. Where it fails the same record is the next one.
  Result<bool> Next(const Services& services);
  std::string_view key() const { return records_.item().key; }
  Result<String> Value(const Services& services) const;

 private:
  explicit Cursor(Store store) : store_(std::move(store)), records_(store_) {}
  Status BeginValues();

  Store store_;
  Tree records_;
  std::unique_ptr<Tree> values_;  // of a key that has several
  bool values_begin_ = false;     // the key was found, its values are yet to be
};

}  // namespace weft::blocks::lmdb
