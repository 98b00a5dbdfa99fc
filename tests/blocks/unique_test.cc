// Elements by value, more of them than a table has room for at first: against a map.
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <vector>

#include "tests/kit/block_tester.h"

namespace weft::kit {
namespace {

constexpr int kElements = 30000, kDifferent = 9973;

/// One of kDifferent; every thousandth float a NaN, which equals none, and 0 has either sign.
template <class T>
T Element(int i) {
  const int which = static_cast<int>(int64_t{i} * i * 7 % kDifferent);
  if constexpr (std::is_same_v<T, String>) return std::to_string(which);
  else if constexpr (std::is_same_v<T, int32_t>) return which - 5000;
  else if (i % 1000 == 7) return std::numeric_limits<T>::quiet_NaN();
  else return which == 0 && i % 2 == 1 ? -0.0f : static_cast<T>(which) / 8;
}
template <class T>
std::vector<T> Elements() {
  std::vector<T> elements;
  for (int i = 0; i < kElements; ++i) elements.push_back(Element<T>(i));
  return elements;
}

template <class T>
Tensor VectorOf(const std::vector<T>& elements) {
  Tensor tensor = Tensor::Allocate(kDTypeOf<T>, Shape{static_cast<int64_t>(elements.size())}).value();
  std::copy(elements.begin(), elements.end(), tensor.values<T>().begin());
  return tensor;
}

template <class T>
bool IsNan(const T& element) {
  if constexpr (std::is_same_v<T, float>) return element != element;
  else return false;
}

TEMPLATE_TEST_CASE("Each of many different elements is found once", "[unique]", float, int32_t, String) {
  const std::vector<TestType> elements = Elements<TestType>();
  std::map<TestType, int64_t> known;
  std::vector<int64_t> places, counts;
  for (const TestType& element : elements) {
    const auto fresh = static_cast<int64_t>(counts.size());
    const int64_t place = IsNan(element) ? fresh : known.emplace(element, fresh).first->second;
    if (place == fresh) counts.push_back(0);
    places.push_back(place);
    ++counts[static_cast<size_t>(place)];
  }
  const BlockResult result = BlockTester(Catalog(), "UniqueWithCounts").Attrs("out_idx_ = DT_INT64;").Input("x", VectorOf(elements)).Run();
  INFO(ToString(result.status));
  REQUIRE(result.status.ok());
  REQUIRE(SameBits(result.outputs.at("idx"), VectorOf(places)));
  CHECK(SameBits(result.outputs.at("count"), VectorOf(counts)));
}

TEMPLATE_TEST_CASE("Elements that are among many others are taken away", "[unique]", float, int32_t, String) {
  const std::vector<TestType> elements = Elements<TestType>();
  const std::vector<TestType> taken(elements.begin(), elements.begin() + 3000);
  std::map<TestType, bool> known;
  for (const TestType& element : taken) {
    if (!IsNan(element)) known[element] = true;
  }
  std::vector<int64_t> left;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (IsNan(elements[i]) || !known.contains(elements[i])) left.push_back(static_cast<int64_t>(i));
  }
  const BlockResult result =
      BlockTester(Catalog(), "SetDiff1D").Attrs("out_idx_ = DT_INT64;").Input("x", VectorOf(elements)).Input("y", VectorOf(taken)).Run();
  INFO(ToString(result.status));
  REQUIRE(result.status.ok());
  CHECK(SameBits(result.outputs.at("idx"), VectorOf(left)));
}

TEST_CASE("Long strings are one element where all their bytes are", "[unique]") {
  constexpr size_t kMiB = size_t{1} << 20;  // the pieces that strings are hashed in
  Tensor strings = Tensor::Allocate(DType::kString, Shape{30}).value();
  std::vector<int64_t> places;
  int64_t at = 0;
  for (size_t bytes : {kMiB - 1, kMiB, kMiB + 1, 2 * kMiB, 2 * kMiB + 3}) {
    // Each is there twice, in memory of its own; they differ in their first, middle or last byte.
    for (size_t changed : {size_t{0}, bytes / 2, bytes - 1}) {
      std::string text(bytes, 'a');
      text[changed] = 'b';
      for (int times = 0; times < 2; ++times) {
        places.push_back(at / 2);
        strings.values<String>()[at++] = String(text);
      }
    }
  }
  const BlockResult result = BlockTester(Catalog(), "Unique").Attrs("out_idx_ = DT_INT64;").Input("x", strings).Run();
  INFO(ToString(result.status));
  REQUIRE(result.status.ok());
  CHECK(SameBits(result.outputs.at("idx"), VectorOf(places)));
}

}  // namespace
}  // namespace weft::kit
