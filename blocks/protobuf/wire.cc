#include "blocks/protobuf/wire.h"

#include <bit>

static_assert(std::endian::native == std::endian::little, "checkpoints are little endian");

namespace weft::blocks::protobuf {

bool TakeVarint(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 70 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool FieldReader::Next() {
  constexpr size_t kDeepest = 100;  // groups inside of one another, as in protobuf
  ok_ = ok_ && (!rest_.empty() || groups_.empty());
  if (!ok_ || rest_.empty()) return false;
  uint64_t tag = 0, size = 0;
  ok_ = TakeVarint(rest_, tag) && (tag >> 3) != 0 && (tag >> 3) < (1u << 29);
  if (!ok_) return false;
  number_ = static_cast<uint32_t>(tag >> 3);
  type_ = static_cast<WireType>(tag & 7);
  bytes_ = {};
  varint_ = 0;
  if (type_ == WireType::kStartGroup) {
    groups_.push_back(number_);
    ok_ = groups_.size() <= kDeepest;
  } else if (type_ == WireType::kEndGroup) {
    ok_ = !groups_.empty() && groups_.back() == number_;
    if (ok_) groups_.pop_back();
    number_ = 0;
  }
  if (!groups_.empty()) number_ = 0;
  switch (type_) {
    case WireType::kStartGroup:
    case WireType::kEndGroup: return ok_;
    case WireType::kVarint: return ok_ = TakeVarint(rest_, varint_);
    case WireType::kFixed64: size = 8; break;
    case WireType::kFixed32: size = 4; break;
    case WireType::kBytes: ok_ = TakeVarint(rest_, size); break;
    default: ok_ = false;
  }
  ok_ = ok_ && size <= rest_.size();
  if (!ok_) return false;
  bytes_ = rest_.substr(0, static_cast<size_t>(size));
  rest_.remove_prefix(static_cast<size_t>(size));
  if (type_ != WireType::kBytes) std::memcpy(&varint_, bytes_.data(), bytes_.size());
  return true;
}

int VarintSize(uint64_t value) { return (std::bit_width(value | 1) + 6) / 7; }

void PutVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value));
}

void PutVarintField(std::string& out, uint32_t number, uint64_t value) {
  PutVarint(out, static_cast<uint64_t>(number) << 3);
  PutVarint(out, value);
}

void PutBytesHead(std::string& out, uint32_t number, uint64_t size) {
  PutVarint(out, static_cast<uint64_t>(number) << 3 | static_cast<uint64_t>(WireType::kBytes));
  PutVarint(out, size);
}

void PutBytesField(std::string& out, uint32_t number, std::string_view bytes) {
  PutBytesHead(out, number, bytes.size());
  out.append(bytes);
}

}  // namespace weft::blocks::protobuf
