#include "blocks/array/keyed_hash.h"

#include <sodium.h>

#include <bit>
#include <chrono>
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

}  // namespace

const HashKey& HashSecret() {
  static const HashKey key = DrawKey();
  return key;
}

uint64_t KeyedHash(std::string_view bytes, const HashKey& key) {
  unsigned char hash[crypto_shorthash_BYTES];
  static_assert(sizeof key == crypto_shorthash_KEYBYTES);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  crypto_shorthash(hash, data, bytes.size(), reinterpret_cast<const unsigned char*>(&key));
  return std::bit_cast<uint64_t>(hash);
}

}  // namespace weft::blocks
