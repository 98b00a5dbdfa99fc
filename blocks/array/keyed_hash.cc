#include "blocks/array/keyed_hash.h"

#include <bit>
#include <chrono>
#include <cstring>
#include <exception>
#include <random>

namespace weft::blocks {
namespace {

HashKey DrawKey() {
  HashKey key;
  try {
    std::random_device device;
    const auto draw = [&] { return uint64_t{device()} << 32 | device(); };
    key.a = draw();
    key.b = draw();
  } catch (const std::exception&) {  // no source of randomness: the time is better than nothing
    key.a = static_cast<uint64_t>(std::chrono::high_resolution_clock::now().time_since_epoch().count()) * 0x9E3779B97F4A7C15u;
    key.b = std::bit_cast<uint64_t>(&key) ^ std::rotl(key.a, 32);
  }
  return key;
}

struct SipState {
  uint64_t v0, v1, v2, v3;

  void Round() {
    v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
    v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
  }
  void Take(uint64_t word) {
    v3 ^= word;
    Round();
    v0 ^= word;
  }
};

}  // namespace

const HashKey& HashSecret() {
  static const HashKey key = DrawKey();
  return key;
}

uint64_t KeyedHash(std::string_view bytes, const HashKey& key) {
  SipState state{key.a ^ 0x736f6d6570736575u, key.b ^ 0x646f72616e646f6du, key.a ^ 0x6c7967656e657261u, key.b ^ 0x7465646279746573u};
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    state.Take(word);
  }
  uint64_t last = 0;
  if (i < bytes.size()) std::memcpy(&last, bytes.data() + i, bytes.size() - i);
  state.Take(last | static_cast<uint64_t>(bytes.size()) << 56);
  state.v2 ^= 0xff;
  for (int round = 0; round < 3; ++round) state.Round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace weft::blocks
