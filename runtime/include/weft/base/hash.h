// A hash of bytes that processes compare: without a key of its own, and fast. Not for what strangers choose.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace weft {

/// Of 64 bits; `before` is the hash of what stands before these bytes, or 0. Words of eight bytes, the last one filled with zeros, are multiplied in;
/// the shift brings high bits down, which multiplication alone does not. (Byte order as in memory: alike on machines of one byte order.)
inline uint64_t HashBytes(std::string_view bytes, uint64_t before = 0) {
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;
  uint64_t hash = (before ^ bytes.size()) * kGolden;
  const auto add = [&](uint64_t word) {
    hash = (std::rotl(hash, 5) ^ word) * kGolden;
    hash ^= hash >> 32;
  };
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= sizeof(uint64_t); at += sizeof(uint64_t), left -= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    add(word);
  }
  uint64_t rest = 0;
  for (size_t i = 0; i < left; ++i) rest |= uint64_t{static_cast<unsigned char>(at[i])} << 8 * i;
  if (left > 0) add(rest);
  return hash;
}

}  // namespace weft
