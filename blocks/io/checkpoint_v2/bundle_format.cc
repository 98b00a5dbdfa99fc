#include "blocks/io/checkpoint_v2/bundle_format.h"

#include <cstdio>

#include "blocks/io/checkpoint/crc32c.h"
#include "blocks/io/checkpoint/messages.h"
#include "blocks/protobuf/tensor_message.h"
#include "blocks/protobuf/tensor_values.h"
#include "blocks/protobuf/wire.h"
#include "weft/base/text.h"

namespace weft::blocks::checkpoint_v2 {

using namespace protobuf;

bool TakeHeader(std::string_view message, BundleHeader& header) {
  int64_t producer = 0;
  bool good = true;
  FieldReader field(message);
  while (good && field.Next()) {
    if (field.Is(1, WireType::kVarint)) header.shards = static_cast<int64_t>(field.varint());
    if (field.Is(2, WireType::kVarint)) header.big_endian = field.varint() != 0;
    if (field.Is(3, WireType::kBytes)) good = TakeNumbers(field.bytes(), &producer, &header.needed_version);
  }
  return good && field.ok() && header.shards >= 0 && header.shards <= INT32_MAX;
}

bool TakeEntry(std::string_view message, BundleEntry& entry) {
  bool good = true;
  FieldReader field(message);
  while (good && field.Next()) {
    if (field.Is(1, WireType::kVarint)) entry.dtype = TypeOfNumber(field.varint());
    if (field.Is(2, WireType::kBytes)) good = TakeShape(field.bytes(), entry.shape);
    if (field.Is(3, WireType::kVarint)) entry.shard = static_cast<int64_t>(field.varint());
    if (field.Is(4, WireType::kVarint)) entry.offset = field.varint();
    if (field.Is(5, WireType::kVarint)) entry.size = field.varint();
    if (field.Is(6, WireType::kFixed32)) entry.checksum = static_cast<uint32_t>(field.varint());
    if (field.Is(7, WireType::kBytes)) good = TakeSlice(field.bytes(), entry.slices.emplace_back());
  }
  return good && field.ok();
}

std::string HeaderMessage(int64_t shards) {
  std::string message, version;
  PutVarintField(message, 1, static_cast<uint64_t>(shards));
  PutVarintField(version, 1, kFormatVersion);
  PutBytesField(message, 3, version);
  return message;
}

std::string EntryMessage(const BundleEntry& entry) {
  std::string message;
  const auto put = [&](uint32_t number, uint64_t value) {  // a field that has its default value is left out
    if (value != 0) PutVarintField(message, number, value);
  };
  put(1, TypeNumber(entry.dtype));
  PutBytesField(message, 2, ShapeMessage(entry.shape));
  put(3, static_cast<uint64_t>(entry.shard));
  put(4, entry.offset);
  put(5, entry.size);
  if (entry.checksum != 0) {
    PutVarint(message, 6u << 3 | static_cast<uint64_t>(WireType::kFixed32));
    PutFixed(message, entry.checksum);
  }
  for (const TensorSlice& slice : entry.slices) PutBytesField(message, 7, SliceMessage(slice));
  return message;
}

uint32_t ExtendByLength(uint32_t checksum, uint64_t length) {
  std::string bytes;
  if (length <= UINT32_MAX) PutFixed(bytes, static_cast<uint32_t>(length));
  else PutFixed(bytes, length);
  return ExtendCrc32c(checksum, bytes);
}

std::string IndexName(std::string_view prefix) { return Cat(prefix, ".index"); }

std::string DataName(std::string_view prefix, int64_t shard, int64_t shards) {
  char text[64];
  const int size = std::snprintf(text, sizeof text, ".data-%05lld-of-%05lld", static_cast<long long>(shard), static_cast<long long>(shards));
  return Cat(prefix, std::string_view(text, static_cast<size_t>(size)));
}

}  // namespace weft::blocks::checkpoint_v2
