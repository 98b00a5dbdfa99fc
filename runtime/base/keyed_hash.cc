#include "weft/base/keyed_hash.h"

#include <sys/random.h>

#include <bit>
#include <chrono>
#include <cstring>

namespace weft {
namespace {

struct Key {
  uint64_t a = 0, b = 0;
};

Key DrawKey() {
  Key key;
  if (getentropy(&key, sizeof key) == 0) return key;
  // Without a random source: the address of the stack and the time, which are hard to guess from outside.
  key.a = reinterpret_cast<uintptr_t>(&key);
  key.b = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  return key;
}

// SipHash-1-3 (Aumasson and Bernstein): one round for each word and three at the end.
class SipHash {
 public:
  explicit SipHash(Key key)
      : v0_(key.a ^ 0x736F6D6570736575u),
        v1_(key.b ^ 0x646F72616E646F6Du),
        v2_(key.a ^ 0x6C7967656E657261u),
        v3_(key.b ^ 0x7465646279746573u) {}
  void Add(uint64_t word) {
    v3_ ^= word;
    Round();
    v0_ ^= word;
  }
  uint64_t Finish() {
    v2_ ^= 0xFF;
    for (int i = 0; i < 3; ++i) Round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  void Round() {
    v0_ += v1_;
    v2_ += v3_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v1_;
    v0_ += v3_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ = std::rotl(v2_, 32);
  }
  uint64_t v0_, v1_, v2_, v3_;
};

}  // namespace

uint64_t KeyedHash(std::string_view text) {
  static const Key key = DrawKey();
  SipHash hash(key);
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= sizeof(uint64_t); at += sizeof(uint64_t), left -= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    hash.Add(word);
  }
  uint64_t remainder = static_cast<uint64_t>(text.size()) << 56;
  for (size_t i = 0; i < left; ++i) remainder |= static_cast<uint64_t>(static_cast<unsigned char>(at[i])) << 8 * i;
  hash.Add(remainder);
  return hash.Finish();
}

}  // namespace weft
