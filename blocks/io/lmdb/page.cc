#include "blocks/io/lmdb/page.h"

#include <bit>

#include "blocks/protobuf/wire.h"

namespace weft::blocks::lmdb {

using protobuf::LoadFixed;

namespace {

constexpr size_t kFlagsAt = 10, kLowerAt = 12, kUpperAt = 14, kKeyBytesAt = 8;
constexpr size_t kNodeHead = 8, kNodeFlagsAt = 4, kNodeKeyAt = 6;

}  // namespace

std::optional<Page> Page::Make(std::vector<char> bytes, std::optional<uint64_t> number) {
  if (bytes.size() < kPageHead) return std::nullopt;
  if (number && LoadFixed<uint64_t>(bytes.data()) != *number) return std::nullopt;
  Page page(std::move(bytes));
  if (!page.Check()) return std::nullopt;
  return page;
}

bool Page::Check() {
  flags_ = LoadFixed<uint16_t>(bytes_.data() + kFlagsAt);
  const size_t lower = LoadFixed<uint16_t>(bytes_.data() + kLowerAt);
  const bool branch = (flags_ & kBranch) != 0, leaf = (flags_ & kLeaf) != 0;
  if (branch == leaf || (flags_ & kOverflow) != 0 || lower < kPageHead || lower > bytes_.size()) return false;
  count_ = static_cast<int>((lower - kPageHead) / sizeof(uint16_t));
  if ((flags_ & kFixedKeys) != 0) {
    key_bytes_ = LoadFixed<uint16_t>(bytes_.data() + kKeyBytesAt);
    return leaf && kPageHead + static_cast<size_t>(count_) * key_bytes_ <= bytes_.size();
  }
  for (int i = 0; i < count_; ++i) {
    if (!CheckNode(i, LoadFixed<uint16_t>(bytes_.data() + kPageHead + static_cast<size_t>(i) * sizeof(uint16_t)))) return false;
  }
  return true;
}

bool Page::CheckNode(int i, size_t begin) const {
  if (begin < kPageHead || begin > bytes_.size() || bytes_.size() - begin < kNodeHead) return false;
  const size_t room = bytes_.size() - begin - kNodeHead, key = LoadFixed<uint16_t>(node(i) + kNodeKeyAt);
  if (key > room) return false;
  if (is_branch()) return true;
  const Item found = item(i);
  const bool big = (found.flags & kBigValue) != 0;
  if ((found.flags & ~(kBigValue | kDatabase | kDuplicates)) != 0 || (big && found.flags != kBigValue)) return false;
  return (big ? sizeof(uint64_t) : found.value_bytes) <= room - key;
}

const char* Page::node(int i) const {
  return bytes_.data() + LoadFixed<uint16_t>(bytes_.data() + kPageHead + static_cast<size_t>(i) * sizeof(uint16_t));
}

uint64_t Page::child(int i) const {
  const char* at = node(i);
  return LoadFixed<uint32_t>(at) | static_cast<uint64_t>(LoadFixed<uint16_t>(at + kNodeFlagsAt)) << 32;
}

Item Page::item(int i) const {
  Item found;
  if ((flags_ & kFixedKeys) != 0) {
    found.key = {bytes_.data() + kPageHead + static_cast<size_t>(i) * key_bytes_, key_bytes_};
    return found;
  }
  const char* at = node(i);
  const size_t key = LoadFixed<uint16_t>(at + kNodeKeyAt);
  found.value_bytes = LoadFixed<uint32_t>(at);
  found.flags = LoadFixed<uint16_t>(at + kNodeFlagsAt);
  found.key = {at + kNodeHead, key};
  const size_t held = (found.flags & kBigValue) != 0 ? sizeof(uint64_t) : static_cast<size_t>(found.value_bytes);
  found.value = {at + kNodeHead + key, held};
  return found;
}

Database ReadDatabase(const char* bytes) { return {LoadFixed<uint32_t>(bytes), LoadFixed<uint64_t>(bytes + 40)}; }

std::optional<Meta> ReadMeta(const char* bytes) {
  constexpr size_t kVersionAt = 4, kFreeAt = 24, kMainAt = kFreeAt + kDatabaseBytes, kTransactionAt = kMainAt + kDatabaseBytes + 8;
  if (LoadFixed<uint32_t>(bytes) != kMagic || LoadFixed<uint32_t>(bytes + kVersionAt) != kVersion) return std::nullopt;
  const Meta meta{ReadDatabase(bytes + kFreeAt).pad, ReadDatabase(bytes + kMainAt).root, LoadFixed<uint64_t>(bytes + kTransactionAt)};
  if (meta.page_bytes < kLeastPage || meta.page_bytes > kMostPage || !std::has_single_bit(meta.page_bytes)) return std::nullopt;
  return meta;
}

}  // namespace weft::blocks::lmdb
