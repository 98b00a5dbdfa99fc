// MurmurHash64A, by which TensorFlow hashes strings and numbers; no library of Debian has it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace weft::blocks {

/// Asks stop(items) after each megabyte, and gives 0 where that is true.
uint64_t MurmurHash64A(std::string_view bytes, uint64_t seed, auto&& stop) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995;
  constexpr int kShift = 47;
  constexpr int64_t kPiece = int64_t{1} << 20;
  const auto mixed = [](uint64_t word) {
    word *= kMultiplier;
    word ^= word >> kShift;
    return word * kMultiplier;
  };
  uint64_t hash = seed ^ (bytes.size() * kMultiplier), word = 0;
  const char *at = bytes.data(), *end = at + bytes.size() / 8 * 8;
  while (at < end) {
    const int64_t piece = std::min<int64_t>(kPiece, end - at);
    for (const char* const piece_end = at + piece; at < piece_end; at += 8) {
      std::memcpy(&word, at, 8);
      hash = (hash ^ mixed(word)) * kMultiplier;
    }
    if (stop(piece / 16)) return 0;
  }
  if (const size_t rest = bytes.size() % 8; rest > 0) {
    word = 0;
    std::memcpy(&word, at, rest);
    hash = (hash ^ word) * kMultiplier;
  }
  hash ^= hash >> kShift;
  hash *= kMultiplier;
  return hash ^ (hash >> kShift);
}

}  // namespace weft::blocks
