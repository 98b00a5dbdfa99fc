// Positions of extremes, however rows are taken: alone, side by side in registers, in parts. Against a loop over all elements.
#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "tests/kit/block_tester.h"
#include "weft/base/float16.h"

namespace weft::kit {
namespace {

/// Of [outer, size, inner]: the first of the greatest, NaN and the worst of all aside.
template <class T>
std::vector<int64_t> Greatest(const T* in, int64_t outer, int64_t size, int64_t inner) {
  std::vector<int64_t> positions;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t j = 0; j < inner; ++j) {
      auto best = static_cast<double>(std::numeric_limits<T>::lowest());
      int64_t position = 0;
      for (int64_t i = 0; i < size; ++i) {
        const auto x = static_cast<double>(in[(o * size + i) * inner + j]);
        if (x > best) best = x, position = i;
      }
      positions.push_back(position);
    }
  }
  return positions;
}

/// Few different numbers, so that there are equals; some columns have nothing that counts.
template <class T>
Tensor Numbers(const Shape& shape) {
  Tensor made = Tensor::Allocate(kDTypeOf<T>, shape).value();
  uint32_t drawn = 1;
  constexpr bool floats = Float<T>;
  for (T& value : made.values<T>()) {
    drawn = drawn * 1664525 + 1013904223;
    value = static_cast<T>(static_cast<float>(drawn >> 20 & 127) - 60.0f);
    if (floats && drawn % 11 == 0) value = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    if (floats && drawn % 13 == 0) value = static_cast<T>(-std::numeric_limits<float>::infinity());
  }
  const int64_t inner = shape[2];
  for (int64_t i = 0; floats && i < made.count(); ++i) {
    if (i % inner % 7 == 3) made.values<T>()[i] = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  }
  return made;
}

template <class T>
void CheckShape(const Shape& shape) {
  const Tensor in = Numbers<T>(shape);
  const std::vector<int64_t> want = Greatest(in.values<T>().data(), shape[0], shape[1], shape[2]);
  const BlockResult result = BlockTester(Catalog(), "ArgMax").Input("input", in).Input("dimension", Tensor::Scalar<int32_t>(1)).Run();
  CAPTURE(shape, DTypeName(kDTypeOf<T>));
  REQUIRE(result.status.ok());
  const auto out = result.outputs.at("output").template values<int64_t>();
  CHECK(std::vector<int64_t>(out.begin(), out.end()) == want);
}

}  // namespace

TEST_CASE("the position of the greatest is that of a loop over all elements", "[reduce]") {
  const Shape shapes[] = {{300, 10, 1},    {70, 256, 1},   {70, 257, 1},   {9, 1000, 1},     {1, 100'003, 1},  {3, 70'000, 1},
                          {1, 40'000, 10}, {2, 9'999, 33}, {1, 50, 2'100}, {1, 3'000, 1'030}, {40, 300, 300}, {130, 7, 3}};
  for (const Shape& shape : shapes) {
    CheckShape<float>(shape);
    CheckShape<double>(shape);
    CheckShape<bfloat16>(shape);
    CheckShape<int32_t>(shape);
    CheckShape<int8_t>(shape);
  }
}

}  // namespace weft::kit
