// Philox 4x32-10, the counter-based generator of TensorFlow's random operations, and the distributions drawn from it: the same bits.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "weft/base/float16.h"

namespace weft::kernels {

/// A stream of 2^128 groups of four words. A copy goes on by itself, so a stretch of the stream can be drawn on any thread.
class Philox {
 public:
  using Words = std::array<uint32_t, 4>;

  Philox() = default;
  /// The key is the first seed; the second is the upper half of the counter.
  Philox(uint64_t seed, uint64_t seed2)
      : counter_{0, 0, static_cast<uint32_t>(seed2), static_cast<uint32_t>(seed2 >> 32)},
        key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)} {}

  /// The next group.
  Words operator()() {
    Words words = counter_;
    std::array<uint32_t, 2> key = key_;
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xD2511F53} * words[0], b = uint64_t{0xCD9E8D57} * words[2];
      words = {static_cast<uint32_t>(b >> 32) ^ words[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ words[3] ^ key[1], static_cast<uint32_t>(a)};
      key[0] += 0x9E3779B9;
      key[1] += 0xBB67AE85;
    }
    Skip(1);
    return words;
  }

  /// All that the stream is: the counter's words, then the key's.
  using State = std::array<uint32_t, 6>;
  State state() const { return {counter_[0], counter_[1], counter_[2], counter_[3], key_[0], key_[1]}; }
  static Philox Of(const State& state) {
    Philox philox;
    philox.counter_ = {state[0], state[1], state[2], state[3]};
    philox.key_ = {state[4], state[5]};
    return philox;
  }

  /// Leaves out some groups.
  void Skip(uint64_t groups) {
    const uint64_t low = Low() + groups;
    const bool carry = low < groups;
    counter_[0] = static_cast<uint32_t>(low);
    counter_[1] = static_cast<uint32_t>(low >> 32);
    if (carry && ++counter_[2] == 0) ++counter_[3];
  }

 private:
  uint64_t Low() const { return counter_[0] | uint64_t{counter_[1]} << 32; }

  Words counter_{};
  std::array<uint32_t, 2> key_{};
};

/// In [0, 1), from the low 23 bits.
inline float UnitFloat(uint32_t word) { return __builtin_bit_cast(float, uint32_t{127} << 23 | (word & 0x7fffff)) - 1.0f; }
/// In [0, 1), from the low 20 bits of the first word and all of the second.
inline double UnitDouble(uint32_t high, uint32_t low) {
  return __builtin_bit_cast(double, uint64_t{1023} << 52 | uint64_t{high & 0xfffff} << 32 | low) - 1.0;
}

// Two normal numbers from two uniform ones, by Box and Muller. The C library's functions give TensorFlow's bits.
inline std::array<float, 2> NormalPair(uint32_t x0, uint32_t x1) {
  const float u1 = std::max(UnitFloat(x0), 1.0e-7f);
  const auto angle = static_cast<float>(2.0 * M_PI * static_cast<double>(UnitFloat(x1)));
  const float radius = std::sqrt(-2.0f * std::log(u1));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}
inline std::array<double, 2> NormalPair(uint32_t x0, uint32_t x1, uint32_t x2, uint32_t x3) {
  const double u1 = std::max(UnitDouble(x0, x1), 1.0e-7);
  const double angle = 2.0 * M_PI * UnitDouble(x2, x3);
  const double radius = std::sqrt(-2.0 * std::log(u1));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}

/// Normal numbers of mean 0 and deviation 1; one group of the generator gives kCount of them.
template <Float T>
struct Normal {
  static constexpr int kCount = std::is_same_v<T, double> ? 2 : 4;

  std::array<T, kCount> operator()(Philox& generator) const {
    const Philox::Words x = generator();
    if constexpr (std::is_same_v<T, double>) {
      return NormalPair(x[0], x[1], x[2], x[3]);
    } else {
      const auto a = NormalPair(x[0], x[1]), b = NormalPair(x[2], x[3]);
      return {static_cast<T>(a[0]), static_cast<T>(a[1]), static_cast<T>(b[0]), static_cast<T>(b[1])};
    }
  }
};

/// Groups of the generator that a distribution takes for one set of its numbers.
template <class Distribution>
constexpr uint64_t GroupsOf() {
  if constexpr (requires { Distribution::kGroups; }) return Distribution::kGroups;
  else return 1;
}

/// Writes sets [begin, end) of a stretch of `count` numbers that starts where `generator` stands; the last set may be cut short.
template <class Distribution, class T>
void FillGroups(Philox generator, const Distribution& distribution, T* out, int64_t count, int64_t begin, int64_t end) {
  constexpr int64_t kCount = Distribution::kCount;
  generator.Skip(static_cast<uint64_t>(begin) * GroupsOf<Distribution>());
  for (int64_t group = begin; group < end; ++group) {
    Philox own = generator;
    const auto numbers = distribution(own);
    std::copy_n(numbers.begin(), std::min(kCount, count - group * kCount), out + group * kCount);
    generator.Skip(GroupsOf<Distribution>());
  }
}

}  // namespace weft::kernels
