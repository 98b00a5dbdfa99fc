#include "blocks/io/checkpoint/messages.h"

#include "blocks/protobuf/wire.h"

namespace weft::blocks::checkpoint {

using namespace protobuf;

bool TakeNumbers(std::string_view message, int64_t* first, int64_t* second) {
  FieldReader field(message);
  while (field.Next()) {
    if (field.Is(1, WireType::kVarint)) *first = static_cast<int64_t>(field.varint());
    if (second != nullptr && field.Is(2, WireType::kVarint)) *second = static_cast<int64_t>(field.varint());
  }
  return field.ok();
}

bool TakeShape(std::string_view message, Shape& shape) {
  std::vector<int64_t> dims;
  FieldReader field(message);
  while (field.Next()) {
    if (field.Is(3, WireType::kVarint) && field.varint() != 0) return false;
    if (!field.Is(2, WireType::kBytes)) continue;
    int64_t size = 0;
    if (dims.size() == kMaxRank || !TakeNumbers(field.bytes(), &size, nullptr)) return false;
    dims.push_back(size);
  }
  auto made = Shape::Make(dims);
  if (!field.ok() || !made.ok()) return false;
  shape = std::move(*made);
  return true;
}

bool TakeSlice(std::string_view message, TensorSlice& slice) {
  FieldReader field(message);
  while (field.Next()) {
    if (!field.Is(1, WireType::kBytes)) continue;
    int64_t start = 0, length = -1;
    if (slice.starts.size() == kMaxRank || !TakeNumbers(field.bytes(), &start, &length)) return false;
    slice.starts.push_back(start);
    slice.lengths.push_back(length);
  }
  return field.ok();
}

std::optional<std::string_view> LastBytes(std::string_view message, uint32_t number) {
  std::optional<std::string_view> found;
  FieldReader field(message);
  while (field.Next()) {
    if (field.Is(number, WireType::kBytes)) found = field.bytes();
  }
  return field.ok() ? found : std::nullopt;
}

std::string SliceMessage(const TensorSlice& slice) {
  std::string message, extent;
  for (size_t i = 0; i < slice.starts.size(); ++i) {
    extent.clear();
    if (slice.starts[i] != 0) PutVarintField(extent, 1, static_cast<uint64_t>(slice.starts[i]));
    if (slice.lengths[i] != -1) PutVarintField(extent, 2, static_cast<uint64_t>(slice.lengths[i]));
    PutBytesField(message, 1, extent);
  }
  return message;
}

}  // namespace weft::blocks::checkpoint
