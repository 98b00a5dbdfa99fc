// What a reduction gives does not depend on where its elements lie: in a whole register or in those that are left over.
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "tests/kit/block_tester.h"
#include "weft/base/float16.h"

namespace weft::kit {
namespace {

constexpr TypeList<half, bfloat16, float, double> kTypes;
constexpr int64_t kRows = 21, kWidest = 70;

/// The block's results for columns of the same kRows numbers are all the same bits.
template <class T>
void CheckColumns(const char* block, const std::vector<T>& column, int64_t width) {
  Tensor in = Tensor::Allocate(kDTypeOf<T>, Shape{kRows, width}).value();
  for (int64_t i = 0; i < in.count(); ++i) in.values<T>()[i] = column[i / width];
  const BlockResult result = BlockTester(Catalog(), block).Input("input", in).Input("axis", Tensor::Scalar<int32_t>(0)).Run();
  REQUIRE(result.status.ok());
  const auto out = result.outputs.at("output").template values<T>();
  int64_t different = 0;
  for (const T& value : out) different += std::memcmp(&value, &out[0], sizeof(T)) != 0;
  CAPTURE(block, width);
  CHECK(different == 0);
}

/// A run with the NaN at any place gives the same bits.
template <class T>
void CheckRuns(const char* block, T nan, int64_t size) {
  Tensor in = Tensor::Allocate(kDTypeOf<T>, Shape{size, size}).value();
  for (int64_t i = 0; i < in.count(); ++i) in.values<T>()[i] = i / size == i % size ? nan : static_cast<T>(static_cast<float>(i));
  const BlockResult result = BlockTester(Catalog(), block).Input("input", in).Input("axis", Tensor::Scalar<int32_t>(1)).Run();
  REQUIRE(result.status.ok());
  const auto out = result.outputs.at("output").template values<T>();
  int64_t different = 0;
  for (const T& value : out) different += value == value || std::memcmp(&value, &out[0], sizeof(T)) != 0;
  CAPTURE(block, size);
  CHECK(different == 0);
}

}  // namespace

TEST_CASE("a reduction of the same numbers is the same bits in every column", "[reduce]") {
  const auto check = []<class T>() {
    CAPTURE(DTypeName(kDTypeOf<T>));
    std::vector<T> numbers, zeros;
    for (int64_t i = 0; i < kRows; ++i) {
      numbers.push_back(static_cast<T>(static_cast<float>(i * i % 17) * 0.3f - 2.0f));
      zeros.push_back(static_cast<T>(i % 3 == 0 ? -0.0f : 0.0f));
    }
    std::vector<T> with_nan = numbers;
    with_nan[kRows / 2] = static_cast<T>(-std::numeric_limits<float>::quiet_NaN());
    for (const char* block : {"Max", "Min", "Sum", "Prod", "Mean"}) {
      for (int64_t width = 2; width <= kWidest; width += 3) {
        CheckColumns(block, numbers, width);
        CheckColumns(block, zeros, width);
        if (block[0] == 'M' && block[1] != 'e') CheckColumns(block, with_nan, width);
      }
    }
  };
  for (const DType dtype : kTypes.dtypes()) Dispatch(dtype, kTypes, check);
}

TEST_CASE("an extreme with NaN is the same bits wherever that is", "[reduce]") {
  const auto check = []<class T>() {
    CAPTURE(DTypeName(kDTypeOf<T>));
    for (const char* block : {"Max", "Min"}) {
      for (int64_t size = 2; size <= kWidest; size += 5) CheckRuns(block, static_cast<T>(-std::numeric_limits<float>::quiet_NaN()), size);
    }
  };
  for (const DType dtype : kTypes.dtypes()) Dispatch(dtype, kTypes, check);
}

}  // namespace weft::kit
