#include "tests/fuzz/mending.h"

#include <zlib.h>

#include <string_view>

#include "blocks/io/checkpoint/crc32c.h"
#include "blocks/io/checkpoint/table_reader.h"
#include "blocks/protobuf/wire.h"

namespace weft::fuzz {
namespace {

using namespace blocks::checkpoint;
using blocks::protobuf::LoadFixed;
using blocks::protobuf::TakeVarint;

template <class T>
void Store(std::string& file, size_t at, T value) {
  file.replace(at, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
}

uint32_t Checksum(std::string_view bytes) { return MaskCrc32c(ExtendCrc32c(0, bytes)); }

bool TakePlace(std::string_view& bytes, BlockPlace& place) { return TakeVarint(bytes, place.offset) && TakeVarint(bytes, place.size); }

/// Whether a block and its trailer are in the file.
bool IsInside(const std::string& file, BlockPlace place) {
  const uint64_t end = file.size() - kFooterBytes;
  return place.offset <= end && place.size <= end - place.offset && end - place.offset - place.size >= kTrailerBytes;
}

/// Writes the checksum of a block after it; false where it is not in the file.
bool MendBlock(std::string& file, BlockPlace place) {
  if (!IsInside(file, place)) return false;
  const auto at = static_cast<size_t>(place.offset), size = static_cast<size_t>(place.size);
  Store(file, at + size + 1, Checksum(std::string_view(file).substr(at, size + 1)));
  return true;
}

void ChangeBlock(std::string& file, BlockPlace place, const std::function<void(std::string&)>& change) {
  if (!change || !IsInside(file, place)) return;
  std::string block = file.substr(static_cast<size_t>(place.offset), static_cast<size_t>(place.size));
  change(block);
  file.replace(static_cast<size_t>(place.offset), block.size(), block);
}

}  // namespace

void MendTable(std::string& file, const std::function<void(std::string&)>& change) {
  if (file.size() < kFooterBytes) return;
  Store(file, file.size() - sizeof kTableMagic, kTableMagic);
  const std::string footer = file.substr(file.size() - kFooterBytes);
  std::string_view places(footer);
  BlockPlace meta_index, index;
  if (!TakePlace(places, meta_index) || !TakePlace(places, index) || !MendBlock(file, index)) return;
  const std::string block = file.substr(static_cast<size_t>(index.offset), static_cast<size_t>(index.size));
  BlockCursor entry(block);
  while (entry.Next()) {
    std::string_view value = entry.value();
    BlockPlace place;
    if (!TakePlace(value, place)) continue;
    ChangeBlock(file, place, change);
    MendBlock(file, place);
  }
  MendBlock(file, index);  // a block may lie over it
}

void MendRecords(std::string& file) {
  constexpr size_t kLength = sizeof(uint64_t), kHead = kLength + sizeof(uint32_t);
  for (size_t at = 0; file.size() - at >= kHead;) {
    const auto length = LoadFixed<uint64_t>(file.data() + at);
    Store(file, at + kLength, Checksum(std::string_view(file).substr(at, kLength)));
    at += kHead;
    if (length > file.size() - at || file.size() - at - length < sizeof(uint32_t)) return;
    Store(file, at + length, Checksum(std::string_view(file).substr(at, length)));
    at += length + sizeof(uint32_t);
  }
}

void MendPng(std::string& file) {
  constexpr size_t kSignature = 8, kHead = 8, kType = 4;
  const auto at_big = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(file[at + i]);
    return value;
  };
  for (size_t at = kSignature; at < file.size() && file.size() - at >= kHead;) {
    const size_t length = at_big(at);
    if (length > file.size() - at - kHead || file.size() - at - kHead - length < sizeof(uint32_t)) return;
    const auto* from = reinterpret_cast<const Bytef*>(file.data() + at + kType);
    const auto checksum = static_cast<uint32_t>(crc32(0, from, static_cast<uInt>(length + kType)));
    at += kHead + length;
    Store(file, at, __builtin_bswap32(checksum));
    at += sizeof checksum;
  }
}

}  // namespace weft::fuzz
