// A page of an LMDB file (data version 1, little endian, of a machine of 64 bits):
//
//   page      16 bytes: its number (8), size of a fixed key (2), flags (2), where nodes' offsets end (2) and where nodes begin (2), or of an
//             overflow page the number of pages (4); then the offset of each node (2 each)
//   node      low and high half of the value's size (2 each), flags (2), size of the key (2), the key, the value; of a branch the halves and the
//             flags are the number of a page
//   meta      (pages 0 and 1, after the header) magic and version (4 each), address and size of the map (8 each), two databases, of free pages
//             and of records, last page and transaction (8 each)
//   database  size of a fixed key (4; that of the free pages has the size of a page), flags and depth (2 each), numbers of branch, leaf and overflow
//             pages and of records (8 each), root page (8)
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace weft::blocks::lmdb {

inline constexpr uint32_t kMagic = 0xbeefc0de, kVersion = 1;
inline constexpr size_t kPageHead = 16, kMetaBytes = 136, kDatabaseBytes = 48;
inline constexpr size_t kLeastPage = 512, kMostPage = 65536;
inline constexpr uint64_t kNoPage = ~uint64_t{0};  // the root of what is empty

// Flags of pages and of nodes.
inline constexpr uint16_t kBranch = 0x01, kLeaf = 0x02, kOverflow = 0x04, kFixedKeys = 0x20, kSubPage = 0x40;
inline constexpr uint16_t kBigValue = 0x01, kDatabase = 0x02, kDuplicates = 0x04;

/// What a leaf holds. The value of a big one is the number of the first of its overflow pages.
struct Item {
  std::string_view key, value;
  uint64_t value_bytes = 0;
  uint16_t flags = 0;
};

/// A branch or a leaf, whose nodes all lie inside of it.
class Page {
 public:
  /// Nothing where it is damaged. The page of a file has a number, which must be `number`; one inside of a value has none.
  static std::optional<Page> Make(std::vector<char> bytes, std::optional<uint64_t> number);

  bool is_branch() const { return (flags_ & kBranch) != 0; }
  int count() const { return count_; }
  /// The number of a page below a branch.
  uint64_t child(int i) const;
  /// Valid as long as the page.
  Item item(int i) const;

 private:
  explicit Page(std::vector<char> bytes) : bytes_(std::move(bytes)) {}
  bool Check();
  bool CheckNode(int i, size_t begin) const;
  const char* node(int i) const;

  std::vector<char> bytes_;
  uint16_t flags_ = 0;
  int count_ = 0;
  size_t key_bytes_ = 0;  // of fixed keys
};

/// What a database says of itself.
struct Database {
  uint32_t pad = 0;
  uint64_t root = kNoPage;
};
/// `bytes` are kDatabaseBytes.
Database ReadDatabase(const char* bytes);

/// What the meta page tells; nothing where it is none, or damaged.
struct Meta {
  size_t page_bytes = 0;
  uint64_t root = kNoPage, transaction = 0;
};
/// `bytes` are those after the page's head, kMetaBytes.
std::optional<Meta> ReadMeta(const char* bytes);

}  // namespace weft::blocks::lmdb
