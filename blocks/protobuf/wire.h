// Protocol buffers' wire format, as far as checkpoints, summaries and examples use it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace weft::blocks::protobuf {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kStartGroup = 3, kEndGroup = 4, kFixed32 = 5 };

/// Takes a varint of ten bytes at most off `bytes`; false, with `bytes` anywhere, for none. Drops bits beyond 64, as protobuf does.
bool TakeVarint(std::string_view& bytes, uint64_t& value);

/// The fields of a message, one after another:
///   for (FieldReader field(message); field.Next();) ...; if (!field.ok()) ...
/// Groups, which no message here has, must be whole; they and their fields have the number 0.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}
  /// False at the end, or at a fault (then ok() is false).
  bool Next();
  bool ok() const { return ok_; }

  uint32_t number() const { return number_; }
  WireType type() const { return type_; }
  bool Is(uint32_t number, WireType type) const { return number_ == number && type_ == type; }
  /// The value of a kVarint field; of a fixed one, its bits.
  uint64_t varint() const { return varint_; }
  /// The bytes of a field; of a fixed one, its 4 or 8 bytes. Empty for kVarint.
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view rest_, bytes_;
  std::vector<uint32_t> groups_;  // the numbers of those that are open
  uint64_t varint_ = 0;
  uint32_t number_ = 0;
  WireType type_ = WireType::kVarint;
  bool ok_ = true;
};

int VarintSize(uint64_t value);
void PutVarint(std::string& out, uint64_t value);
void PutVarintField(std::string& out, uint32_t number, uint64_t value);
void PutBytesField(std::string& out, uint32_t number, std::string_view bytes);
/// The tag and size that come before `size` bytes of a field.
void PutBytesHead(std::string& out, uint32_t number, uint64_t size);
/// Bytes that PutBytesField appends for so many.
inline uint64_t BytesFieldSize(uint32_t number, uint64_t size) {
  return static_cast<uint64_t>(VarintSize(static_cast<uint64_t>(number) << 3) + VarintSize(size)) + size;
}

template <class T>
void PutFixed(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}
template <class T>
T LoadFixed(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

}  // namespace weft::blocks::protobuf
