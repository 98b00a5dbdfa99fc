// Registers of elements: what is stored has the same bits as one element that is converted alone.
#include "blocks/kernels/simd/vec.h"

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "blocks/kernels/simd/widen.h"
#include "runtime/state/thread_pool.h"

using namespace weft;

namespace {

/// Every sign and exponent with fractions around each rounding of bfloat16: denormals, infinities and NaNs of all kinds among them.
std::vector<float> AllClasses() {
  std::vector<float> all;
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const uint32_t lower : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      all.push_back(std::bit_cast<float>(upper << 16 | lower));
  }
  while (all.size() % 64 != 0) all.push_back(0);
  return all;
}

/// The nearest bfloat16 by its definition, ties to even; NaNs become the quiet one of their sign.
uint16_t NearestBits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), low = bits & 0xffff;
  uint32_t upper = bits >> 16;
  if (std::isnan(value)) return static_cast<uint16_t>((upper & 0x8000) | 0x7fc0);
  if (low > 0x8000 || (low == 0x8000 && (upper & 1) != 0)) ++upper;
  return static_cast<uint16_t>(upper);
}

/// Four registers at a time.
std::vector<bfloat16> StoredTogether(const std::vector<float>& values) {
  constexpr size_t kWidth = static_cast<size_t>(kernels::kLanes<float>), kStep = 4 * kWidth;
  std::vector<bfloat16> stored(values.size());
  for (size_t i = 0; i + kStep <= values.size(); i += kStep) {
    std::array<kernels::Vec<float>, 4> v;
    std::memcpy(&v, &values[i], sizeof v);
    kernels::StoreVecs(&stored[i], v);
  }
  return stored;
}

void CheckStores(const std::vector<float>& values) {
  std::vector<bfloat16> lanes(values.size()), row(values.size());
  const std::vector<bfloat16> together = StoredTogether(values);
  constexpr int kWidth = kernels::kLanes<float>;
  for (size_t i = 0; i < values.size(); i += kWidth) {
    kernels::Vec<float> v;
    std::memcpy(&v, &values[i], sizeof v);
    kernels::StoreVec(&lanes[i], v);
  }
  kernels::Narrow(values.data(), row.data(), static_cast<int64_t>(values.size()));
  int wrong = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t right = NearestBits(values[i]);
    if (lanes[i].value == right && together[i].value == right && row[i].value == right && kernels::FromVecElement<bfloat16>(values[i]).value == right) continue;
    if (++wrong > 5) continue;
    UNSCOPED_INFO(std::hex << std::bit_cast<uint32_t>(values[i]) << ": lanes " << lanes[i].value << ", together " << together[i].value << ", row " << row[i].value << ", needs "
                           << right);
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("floats of every class become the nearest bfloat16, in registers, rows and alone", "[lanes]") { CheckStores(AllClasses()); }

TEST_CASE("numbers among which are no NaN become the nearest bfloat16", "[lanes]") {
  std::vector<float> numbers = AllClasses();
  std::erase_if(numbers, [](float value) { return std::isnan(value); });
  numbers.resize(numbers.size() / 64 * 64);
  CheckStores(numbers);
}

TEST_CASE("so they do where arithmetic flushes denormals", "[lanes]") {
  FlushDenormals flush;
  CheckStores(AllClasses());
}

TEST_CASE("bfloat16 and half of every class come back from registers as they were", "[lanes]") {
  FlushDenormals flush;
  for (uint32_t first = 0; first < 0x10000; first += kernels::kLanes<float>) {
    bfloat16 shorts[kernels::kLanes<float>], back[kernels::kLanes<float>];
    half halves[kernels::kLanes<float>], half_back[kernels::kLanes<float>];
    for (int i = 0; i < kernels::kLanes<float>; ++i) shorts[i].value = static_cast<uint16_t>(first + i);
    std::memcpy(static_cast<void*>(halves), shorts, sizeof halves);
    kernels::StoreVec(back, kernels::LoadVec(shorts));
    kernels::StoreVec(half_back, kernels::LoadVec(halves));
    for (int i = 0; i < kernels::kLanes<float>; ++i) {
      const uint16_t bits = shorts[i].value;
      const bool nan = (bits & 0x7fff) > 0x7f80, half_nan = (bits & 0x7fff) > 0x7c00;
      if (!nan && back[i].value != bits) FAIL("bfloat16 " << bits << " came back as " << back[i].value);
      if (!half_nan && std::bit_cast<uint16_t>(half_back[i]) != bits)
        FAIL("half " << bits << " came back as " << std::bit_cast<uint16_t>(half_back[i]));
    }
  }
}
