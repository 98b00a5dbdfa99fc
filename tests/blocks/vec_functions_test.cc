// Functions of whole registers, of every width that this build's level has: how far they are from the exact value, and what they make of
// zeros, infinities and NaN. The limits hold for every level, with and without fused multiply-add.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

#include "blocks/kernels/elementwise/elementwise.h"
#include "blocks/kernels/simd/arc.h"
#include "blocks/kernels/simd/erf.h"
#include "blocks/kernels/simd/exp.h"
#include "blocks/kernels/simd/log.h"
#include "blocks/kernels/simd/pow.h"
#include "blocks/kernels/simd/tanh.h"
#include "blocks/kernels/simd/trigonometric.h"

using namespace weft::kernels;

namespace {

using Exact = long double;

/// The error of `found` in units of the last place of the exact value; those of denormals are all alike.
template <class T>
double Units(T found, Exact exact) {
  using Limits = std::numeric_limits<T>;
  const T nearest = static_cast<T>(exact);
  if (found == nearest || (std::isnan(found) && std::isnan(nearest))) return 0;
  if (!std::isfinite(found) || !std::isfinite(nearest)) return 1e9;
  const int exponent = std::max(std::ilogb(nearest), Limits::min_exponent - 1) - (Limits::digits - 1);
  return static_cast<double>(std::abs(found - exact) / std::ldexp(Exact(1), exponent));
}

/// Bits of numbers in the order of the numbers, and back.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
template <class T>
Bits<T> Ordered(T v) {
  const auto bits = std::bit_cast<Bits<T>>(v);
  return bits < 0 ? std::numeric_limits<Bits<T>>::min() - bits : bits;
}
template <class T>
T FromOrdered(Bits<T> place) {
  return std::bit_cast<T>(place < 0 ? std::numeric_limits<Bits<T>>::min() - place : place);
}

/// Numbers of [low, high], half of them evenly spread, half of them so that each binade has as many.
template <class T>
class SpreadNumbers {
 public:
  SpreadNumbers(T low, T high) : spread_(low, high), places_(Ordered(low), Ordered(high)) {}
  T Next() { return ++count_ % 2 == 0 ? static_cast<T>(spread_(random_)) : FromOrdered<T>(places_(random_)); }

 private:
  std::mt19937_64 random_{7};
  std::uniform_real_distribution<double> spread_;
  std::uniform_int_distribution<Bits<T>> places_;
  int count_ = 0;
};

constexpr int kSamples = 40000;

template <class F, class V, class Function>
double WorstOfOne(Function exact, double low, double high) {
  using T = parts::ElementOf<V>;
  constexpr int kCount = sizeof(V) / sizeof(T);
  SpreadNumbers<T> numbers(static_cast<T>(low), static_cast<T>(high));
  double worst = 0;
  for (int n = 0; n < kSamples; n += kCount) {
    T x[kCount], y[kCount];
    for (T& v : x) v = numbers.Next();
    V v;
    std::memcpy(&v, x, sizeof v);
    v = F::Of(v);
    std::memcpy(y, &v, sizeof v);
    for (int i = 0; i < kCount; ++i) worst = std::max(worst, Units(y[i], exact(static_cast<Exact>(x[i]))));
  }
  return worst;
}

template <class F, class V, class Function>
double WorstOfTwo(Function exact, double low, double high, double second) {
  using T = parts::ElementOf<V>;
  constexpr int kCount = sizeof(V) / sizeof(T);
  SpreadNumbers<T> first(static_cast<T>(low), static_cast<T>(high)), seconds(static_cast<T>(-second), static_cast<T>(second));
  double worst = 0;
  for (int n = 0; n < kSamples; n += kCount) {
    T x[kCount], y[kCount], z[kCount];
    for (int i = 0; i < kCount; ++i) {
      x[i] = first.Next();
      y[i] = n % 3 == 0 ? seconds.Next() : static_cast<T>(second) / (1 + std::abs(x[i]));
    }
    V a, b;
    std::memcpy(&a, x, sizeof a);
    std::memcpy(&b, y, sizeof b);
    a = F::Of(a, b);
    std::memcpy(z, &a, sizeof a);
    for (int i = 0; i < kCount; ++i) worst = std::max(worst, Units(z[i], exact(static_cast<Exact>(x[i]), static_cast<Exact>(y[i]))));
  }
  return worst;
}

/// Calls check(V{}) for every width of registers.
template <class T, class Check>
void ForWidths(Check check) {
  check(typename VecOf<T, 16>::Type{});
  if constexpr (kVecBytes >= 32) check(typename VecOf<T, 32>::Type{});
  if constexpr (kVecBytes >= 64) check(typename VecOf<T, 64>::Type{});
}

/// `units` by which a function may be wrong; floats in [low, high], doubles in that or, where exponents matter, in a range of theirs.
template <class F, class T, class Function>
void CheckOne(const char* name, Function exact, double units, double low, double high) {
  ForWidths<T>([&](auto v) {
    const double worst = WorstOfOne<F, decltype(v)>(exact, low, high);
    INFO(name << " in registers of " << sizeof v << " bytes: " << worst);
    CHECK(worst < units);
  });
}

template <class F, class T>
T One(T x) {
  return F::Of(Broadcast(x))[0];
}
template <class F, class T>
T One(T x, T y) {
  return F::Of(Broadcast(x), Broadcast(y))[0];
}

}  // namespace

TEMPLATE_TEST_CASE("exponentials are right to a few units in the last place", "[vector_functions]", float, double) {
  using T = TestType;
  const double most = sizeof(T) == 4 ? 88.7 : 709.7, least = sizeof(T) == 4 ? -104 : -746, hyperbolic = sizeof(T) == 4 ? 89.4 : 710.4;
  CheckOne<Exp, T>("Exp", [](Exact v) { return std::exp(v); }, 1.3, least, most);
  CheckOne<Expm1, T>("Expm1", [](Exact v) { return std::expm1(v); }, 2.1, least, most);
  CheckOne<Sigmoid, T>("Sigmoid", [](Exact v) { return 1 / (1 + std::exp(-v)); }, 3.1, least, most);
  CheckOne<Sinh, T>("Sinh", [](Exact v) { return std::sinh(v); }, 2.4, -hyperbolic, hyperbolic);
  CheckOne<Cosh, T>("Cosh", [](Exact v) { return std::cosh(v); }, 1.8, -hyperbolic, hyperbolic);
  CheckOne<Tanh, T>("Tanh", [](Exact v) { return std::tanh(v); }, sizeof(T) == 4 ? 3.6 : 2.8, -25, 25);
}

TEMPLATE_TEST_CASE("logarithms and powers are right to a unit in the last place", "[vector_functions]", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  CheckOne<weft::kernels::Log, T>("Log", [](Exact v) { return std::log(v); }, 0.95, 0, Limits::max());
  CheckOne<weft::kernels::Log, T>("Log near 1", [](Exact v) { return std::log(v); }, 0.95, 0.3, 3);
  CheckOne<Log1p, T>("Log1p", [](Exact v) { return std::log1p(v); }, 1, -1, Limits::max());
  CheckOne<Log1p, T>("Log1p near 0", [](Exact v) { return std::log1p(v); }, 1, -1, 3);
  const auto pow = [](Exact a, Exact b) { return std::pow(a, b); };
  ForWidths<T>([&](auto v) {
    using V = decltype(v);
    INFO("registers of " << sizeof v << " bytes");
    CHECK(WorstOfTwo<Pow, V>(pow, 0, 1e5, sizeof(T) == 4 ? 7 : 60) < 1.4);
    CHECK(WorstOfTwo<Pow, V>(pow, 0.9, 1.1, sizeof(T) == 4 ? 900 : 7000) < 1.4);
    CHECK(WorstOfTwo<Pow, V>(pow, 0, Limits::max(), 0.9) < 1.4);
  });
}

TEMPLATE_TEST_CASE("functions of angles are right to a few units in the last place", "[vector_functions]", float, double) {
  using T = TestType;
  for (const double most : {1.0, sizeof(T) == 4 ? 3000.0 : 1.6e6}) {
    CheckOne<Sin, T>("Sin", [](Exact v) { return std::sin(v); }, 2.6, -most, most);
    CheckOne<Cos, T>("Cos", [](Exact v) { return std::cos(v); }, 2.6, -most, most);
    CheckOne<Tan, T>("Tan", [](Exact v) { return std::tan(v); }, 4.2, -most, most);
    CheckOne<Atan, T>("Atan", [](Exact v) { return std::atan(v); }, 2.4, -most, most);
  }
  CheckOne<Asin, T>("Asin", [](Exact v) { return std::asin(v); }, 2.6, -1, 1);
  CheckOne<Acos, T>("Acos", [](Exact v) { return std::acos(v); }, 1.4, -1, 1);
  const auto atan2 = [](Exact a, Exact b) { return std::atan2(a, b); };
  const double most = std::numeric_limits<T>::max();
  ForWidths<T>([&](auto v) {
    using V = decltype(v);
    INFO("registers of " << sizeof v << " bytes");
    CHECK(WorstOfTwo<Atan2, V>(atan2, -5, 5, 4) < 2.6);
    CHECK(WorstOfTwo<Atan2, V>(atan2, -most, most, most) < 2.6);
  });
}

TEMPLATE_TEST_CASE("angles so great that their quadrant is looked for digit by digit", "[vector_functions]", float, double) {
  using T = TestType;
  for (const T x : {T(3300), T(1e7), T(-1e10), T(1e30), std::numeric_limits<T>::max()}) {
    CHECK(Units(One<Sin>(x), std::sin(static_cast<Exact>(x))) < 1);
    CHECK(Units(One<Cos>(x), std::cos(static_cast<Exact>(x))) < 1);
    CHECK(Units(One<Tan>(x), std::tan(static_cast<Exact>(x))) < 1);
  }
  // The doubles next to multiples of pi / 2, where little but what they lack is left.
  for (int n = 1; n < 1000; ++n) {
    const T x = static_cast<T>(n * 1.570796326794896619L);
    CHECK(Units(One<Sin>(x), std::sin(static_cast<Exact>(x))) < 2.6);
    CHECK(Units(One<Cos>(x), std::cos(static_cast<Exact>(x))) < 2.6);
  }
}

TEMPLATE_TEST_CASE("the error function and its complement are right to four units in the last place", "[vector_functions]", float, double) {
  using T = TestType;
  CheckOne<Erf, T>("Erf", [](Exact v) { return std::erf(v); }, sizeof(T) == 4 ? 2.3 : 1.4, -6, 6);
  CheckOne<Erfc, T>("Erfc", [](Exact v) { return std::erfc(v); }, 4.2, -6, sizeof(T) == 4 ? 10.1 : 27.3);
}

#if defined(__AVX512F__)
TEST_CASE("tanh of floats does not decrease from one polynomial to the next", "[vector_functions]") {
  const auto cell_of = [](float v) { return std::bit_cast<uint32_t>(v) >> TanhCells::kFirstBit; };
  int borders = 0, wrong = 0;
  for (uint32_t cell = cell_of(TanhCells::kShift) + 1; cell <= cell_of(TanhCells::kShift + TanhCells::kMost); ++cell, ++borders) {
    float x = std::bit_cast<float>(cell << TanhCells::kFirstBit) - TanhCells::kShift, last = 0;
    for (int i = 0; i < 200; ++i) x = std::nextafter(x, 0.0f);
    for (int i = 0; i < 400; ++i, x = std::nextafter(x, 20.0f)) {
      wrong += One<Tanh>(x) < last;
      last = One<Tanh>(x);
    }
  }
  CHECK(borders == 31);
  CHECK(wrong == 0);
}
#endif

TEST_CASE("tanh is odd and never beyond 1", "[vector_functions]") {
  int wrong = 0;
  for (uint32_t bits = 0; bits < std::bit_cast<uint32_t>(20.0f); bits += 1009) {
    const float x = std::bit_cast<float>(bits), y = One<Tanh>(x);
    wrong += !(y >= 0) || y > 1 || One<Tanh>(-x) != -y;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("functions of zeros, infinities and NaN are those of <cmath>", "[vector_functions]", float, double) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  constexpr T kInfinity = Limits::infinity(), kNan = Limits::quiet_NaN();
  const T numbers[] = {0, T(-0.0), 1, -1, 2, -2, T(0.5), kInfinity, -kInfinity, kNan, Limits::min(), -Limits::min(), Limits::denorm_min(),
                       -Limits::denorm_min(), Limits::denorm_min() * 12345, Limits::max(), Limits::lowest(), T(1000), T(-1000)};
  const auto same = [](T found, T expected) {
    return (std::isnan(found) && std::isnan(expected)) ||
           (std::signbit(found) == std::signbit(expected) && Units(found, static_cast<Exact>(expected)) < 5);
  };
  const auto check = [&]<class F>(const char* name, F) {
    for (const T x : numbers) {
      INFO(name << " of " << x << ": " << One<F>(x) << ", not " << F::One(x));
      CHECK(same(One<F>(x), F::One(x)));
    }
  };
  check("Exp", Exp{}), check("Expm1", Expm1{}), check("Sinh", Sinh{}), check("Cosh", Cosh{}), check("Tanh", Tanh{}),
      check("Log", weft::kernels::Log{});
  check("Log1p", Log1p{}), check("Sin", Sin{}), check("Cos", Cos{}), check("Tan", Tan{}), check("Asin", Asin{}), check("Acos", Acos{});
  check("Atan", Atan{}), check("Erf", Erf{}), check("Erfc", Erfc{}), check("Sqrt", Sqrt{}), check("Sigmoid", Sigmoid{});
  for (const T x : numbers) {
    for (const T y : numbers) {
      INFO(x << ", " << y << ": Pow " << One<Pow>(x, y) << ", Atan2 " << One<Atan2>(x, y));
      CHECK(same(One<Pow>(x, y), std::pow(x, y)));
      CHECK(same(One<Atan2>(x, y), std::atan2(x, y)));
    }
  }
}

// Which of two NaN a sum or product gives is the compiler's choice, and another one in each loop.
TEMPLATE_TEST_CASE("NaN of either sign gives the same bits alone and in a loop", "[vector_functions]", float, double) {
  using T = TestType;
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  const auto check = []<class F>(const char* name, F) {
    constexpr int kCount = 4 * kLanes<T> + 3;
    for (const T nan : {kNan, -kNan}) {
      T from[kCount], to[kCount], alone;
      std::fill_n(from, kCount, T(0.5));
      for (int i = 0; i < kCount; i += 3) from[i] = nan;
      MapVecs<F>(from, to, kCount);
      MapVecs<F>(&nan, &alone, 1);
      int differ = 0;
      for (int i = 0; i < kCount; i += 3) differ += std::bit_cast<Bits<T>>(to[i]) != std::bit_cast<Bits<T>>(alone);
      INFO(name << " of " << nan);
      CHECK(differ == 0);
    }
  };
  check("Exp", Exp{}), check("Expm1", Expm1{}), check("Sinh", Sinh{}), check("Cosh", Cosh{}), check("Tanh", Tanh{}), check("Sigmoid", Sigmoid{});
  check("Log", weft::kernels::Log{}), check("Log1p", Log1p{}), check("Sin", Sin{}), check("Cos", Cos{}), check("Tan", Tan{});
  check("Asin", Asin{}), check("Acos", Acos{}), check("Atan", Atan{}), check("Erf", Erf{}), check("Erfc", Erfc{});
}
