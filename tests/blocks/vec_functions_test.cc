// Functions of whole registers of floats: how far they are from the exact value, where they are exact, and that tanh never decreases.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "blocks/kernels/simd/exp.h"
#include "blocks/kernels/simd/tanh.h"

using namespace weft::kernels;

namespace {

/// The greatest error, in units of the last place, over every `step`th float of a range.
template <class F, class Exact>
double WorstError(float from, float to, uint32_t step, float sign, Exact exact) {
  double worst = 0;
  for (uint32_t bits = std::bit_cast<uint32_t>(from); bits <= std::bit_cast<uint32_t>(to); bits += step * kLanes<float>) {
    Floats x;
    for (int i = 0; i < kLanes<float>; ++i) x[i] = sign * std::bit_cast<float>(bits + step * static_cast<uint32_t>(i));
    const Floats y = F::Of(x);
    for (int i = 0; i < kLanes<float>; ++i) {
      const double expected = exact(static_cast<double>(x[i]));
      worst = std::max(worst, std::abs(static_cast<double>(y[i]) - expected) / std::ldexp(1.0, std::ilogb(expected) - 23));
    }
  }
  return worst;
}

template <class F>
float One(float x) {
  return F::Of(Broadcast(x))[0];
}

}  // namespace

TEST_CASE("tanh, exp and the sigmoid of floats are right to a few units in the last place", "[vector_functions]") {
  const auto tanh = [](double v) { return std::tanh(v); };
  const auto exp = [](double v) { return std::exp(v); };
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  for (const float sign : {1.0f, -1.0f}) {
    // Smaller registers take the C library's functions.
    CHECK(WorstError<Tanh>(1e-6f, 12, 611, sign, tanh) < (kLanes<float> == 16 ? 1.2 : 1.5));
    CHECK(WorstError<Exp>(1e-6f, 87, 997, sign, exp) < (kLanes<float> == 16 ? 1.2 : 3));
    CHECK(WorstError<Sigmoid>(1e-6f, 87, 997, sign, sigmoid) < (kLanes<float> == 16 ? 3.1 : 4));
  }
}

TEST_CASE("tanh of floats is odd, never decreases and is at most 1", "[vector_functions]") {
  float last = 0;
  int wrong = 0;
  for (uint32_t bits = 0; bits < std::bit_cast<uint32_t>(20.0f); bits += 1009) {
    const float x = std::bit_cast<float>(bits), y = One<Tanh>(x);
    wrong += y < last || y > 1 || One<Tanh>(-x) != -y;
    last = y;
  }
  CHECK(wrong == 0);
  CHECK(last == 1);
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

TEST_CASE("functions of zeros, infinities and NaN", "[vector_functions]") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::signbit(One<Tanh>(-0.0f)));
  CHECK(One<Tanh>(0) == 0);
  CHECK(One<Tanh>(-kInfinity) == -1);
  CHECK(One<Tanh>(kInfinity) == 1);
  CHECK(One<Exp>(-0.0f) == 1);
  CHECK(One<Exp>(kInfinity) == kInfinity);
  CHECK(One<Exp>(89) == kInfinity);
  CHECK(One<Exp>(-kInfinity) == 0);
  CHECK(One<Exp>(-1e30f) == 0);
  CHECK(One<Sigmoid>(0) == 0.5f);
  CHECK(One<Sigmoid>(kInfinity) == 1);
  CHECK(One<Sigmoid>(-kInfinity) == 0);
  for (const float nan : {kNan, -kNan}) CHECK((std::isnan(One<Tanh>(nan)) && std::isnan(One<Exp>(nan)) && std::isnan(One<Sigmoid>(nan))));
}
