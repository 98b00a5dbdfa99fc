// Random numbers other than normal ones, drawn from Philox as TensorFlow draws them: the same bits. Needs -ffp-contract=off, since a fused
// multiplication and addition rounds once where TensorFlow rounds twice.
#pragma once

#include "blocks/kernels/random/philox.h"

namespace weft::kernels {

/// The words of a stream one by one.
class WordStream {
 public:
  explicit WordStream(Philox generator) : generator_(generator) {}
  uint32_t operator()() {
    if (used_ == 4) {
      words_ = generator_();
      used_ = 0;
    }
    return words_[used_++];
  }
  /// In [0, 1), from two words.
  double Unit() {
    const uint32_t high = (*this)();
    return UnitDouble(high, (*this)());
  }

 private:
  Philox generator_;
  Philox::Words words_{};
  uint32_t used_ = 4;
};

/// In [0, 1); one group of the generator gives kCount of them.
template <Float T>
struct Uniform {
  static constexpr int kCount = std::is_same_v<T, double> ? 2 : 4;

  std::array<T, kCount> operator()(Philox& generator) const {
    const Philox::Words x = generator();
    if constexpr (std::is_same_v<T, double>) return {UnitDouble(x[0], x[1]), UnitDouble(x[2], x[3])};
    else return {Unit(x[0]), Unit(x[1]), Unit(x[2]), Unit(x[3])};
  }

 private:
  /// The lowest bits of the word are the fraction of a number in [1, 2).
  static T Unit(uint32_t word) {
    if constexpr (std::is_same_v<T, float>) {
      return UnitFloat(word);
    } else {
      constexpr uint32_t kFraction = std::is_same_v<T, half> ? 10 : 7, kBias = std::is_same_v<T, half> ? 15 : 127;
      const auto bits = static_cast<uint16_t>(kBias << kFraction | (word & ((1u << kFraction) - 1)));
      return static_cast<T>(static_cast<float>(__builtin_bit_cast(T, bits)) - 1.0f);
    }
  }
};

/// In [low, low + range), range > 0.
template <class T>
struct UniformInt {
  static constexpr int kCount = sizeof(T) == 8 ? 2 : 4;
  using U = std::make_unsigned_t<T>;
  T low;
  U range;

  std::array<T, kCount> operator()(Philox& generator) const {
    const Philox::Words x = generator();
    if constexpr (sizeof(T) == 8) return {Place(x[0] | uint64_t{x[1]} << 32), Place(x[2] | uint64_t{x[3]} << 32)};
    else return {Place(x[0]), Place(x[1]), Place(x[2]), Place(x[3])};
  }

 private:
  T Place(U word) const { return WrapAdd(low, static_cast<T>(word % range)); }
};

/// Normal numbers below 2 in size: others are drawn again. Each set of kCount numbers has kGroups groups of the generator to itself.
template <Float T>
struct TruncatedNormal {
  static constexpr int kCount = std::is_same_v<T, double> ? 2 : 4;
  static constexpr uint64_t kGroups = 256 * kCount / 4;

  std::array<T, kCount> operator()(Philox& generator) const {
    std::array<T, kCount> numbers;
    WordStream words(generator);
    for (int i = 0; i < kCount;) {
      const auto pair = Draw(words);
      for (size_t j = 0; j < 2 && i < kCount; ++j) {
        if (std::abs(pair[j]) < 2) numbers[i++] = static_cast<T>(pair[j]);
      }
    }
    return numbers;
  }

 private:
  static auto Draw(WordStream& words) {
    const uint32_t x0 = words(), x1 = words();
    if constexpr (std::is_same_v<T, double>) {
      const uint32_t x2 = words(), x3 = words();
      return NormalPair(x0, x1, x2, x3);
    } else {
      return NormalPair(x0, x1);
    }
  }
};

/// What a distribution gives, one by one from the last of a group to the first, as TensorFlow's rejection loops take them.
template <class Distribution>
class FromLast {
 public:
  double operator()(Philox& generator) {
    if (left_ == 0) {
      numbers_ = Distribution{}(generator);
      left_ = Distribution::kCount;
    }
    return numbers_[--left_];
  }

 private:
  decltype(Distribution{}(std::declval<Philox&>())) numbers_{};
  int left_ = 0;
};

/// The gamma distribution of scale 1, after Marsaglia and Tsang: a normal number is shaped and accepted with some probability.
class Gamma {
 public:
  explicit Gamma(double alpha)
      : alpha_(alpha), d_(alpha + (alpha < 1 ? 2.0 / 3 : -1.0 / 3)), c_(1.0 / 3 / std::sqrt(d_)) {}

  double operator()(Philox generator) const;

 private:
  double alpha_, d_, c_;
};

/// The Poisson distribution: below a rate of 10 after Knuth, else Hoermann's transformed rejection.
class Poisson {
 public:
  explicit Poisson(double rate);

  /// A number not above `highest`; the rate must not be NaN, nor so far above `highest` that hardly any number is below it.
  double operator()(Philox generator, double highest) const;

 private:
  double Product(Philox& generator) const;
  double Transformed(Philox& generator, double highest) const;

  double rate_, log_rate_ = 0, a_ = 0, b_ = 0, inverse_alpha_ = 0;
};

}  // namespace weft::kernels
