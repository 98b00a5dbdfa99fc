#include "blocks/io/checkpoint/crc32c.h"

#include <array>
#include <cstring>

#ifdef __SSE4_2__
#include <nmmintrin.h>
#endif

namespace weft::blocks::checkpoint {

#ifdef __SSE4_2__

uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes) {
  uint64_t state = static_cast<uint32_t>(~crc);
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    state = _mm_crc32_u64(state, word);
  }
  for (; left > 0; --left, ++at) state = _mm_crc32_u8(static_cast<uint32_t>(state), static_cast<uint8_t>(*at));
  return ~static_cast<uint32_t>(state);
}

#else

namespace {

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) ? 0x82f63b78u : 0);
    table[i] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = MakeTable();

}  // namespace

uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes) {
  uint32_t state = ~crc;
  for (char byte : bytes) state = (state >> 8) ^ kTable[(state ^ static_cast<uint8_t>(byte)) & 0xff];
  return ~state;
}

#endif

}  // namespace weft::blocks::checkpoint
