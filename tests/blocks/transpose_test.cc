// Transpose against the definition: shapes of all ranks, sizes round the edges of tiles, every size of element, and work cut into tasks.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "tests/kit/block_tester.h"

namespace weft::kit {
namespace {

template <class T>
Tensor Counting(const Shape& shape) {
  Tensor tensor = Tensor::Allocate(kDTypeOf<T>, shape).value();
  auto values = tensor.values<T>();
  for (size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_same_v<T, String>) values[i] = std::to_string(i);
    else values[i] = static_cast<T>(static_cast<int>(i * 7919 % 251));
  }
  return tensor;
}

// Element by element, as the documents define it.
template <class T>
bool IsTransposed(const Tensor& x, const std::vector<int32_t>& perm, const Tensor& y) {
  std::vector<int64_t> step(perm.size()), at(perm.size());
  int64_t next = 1;
  for (size_t i = perm.size(); i-- > 0;) {
    step[i] = next;
    next *= x.shape()[static_cast<int>(i)];
  }
  for (int64_t place = 0; place < y.count(); ++place) {
    int64_t from = 0;
    for (size_t i = 0; i < perm.size(); ++i) from += at[i] * step[perm[i]];
    if (!(y.values<T>()[place] == x.values<T>()[from])) return false;
    for (size_t i = perm.size(); i-- > 0;) {
      if (++at[i] < y.shape()[static_cast<int>(i)]) break;
      at[i] = 0;
    }
  }
  return true;
}

template <class T>
void Check(const std::vector<int64_t>& dims, const std::vector<int32_t>& perm) {
  Tensor axes = Tensor::Allocate(DType::kInt32, Shape{static_cast<int64_t>(perm.size())}).value();
  std::copy(perm.begin(), perm.end(), axes.values<int32_t>().begin());
  Tensor x = Counting<T>(Shape(dims));
  BlockResult result = BlockTester(Catalog(), "Transpose").Input("x", x).Input("perm", axes).Run();
  INFO(ToString(kDTypeOf<T>) << " of " << ToString(x.shape()) << " by " << ToString(axes) << ": " << ToString(result.status));
  REQUIRE(result.status.ok());
  Tensor y = result.outputs.at("y");
  for (size_t i = 0; i < perm.size(); ++i) REQUIRE(y.shape()[static_cast<int>(i)] == dims[perm[i]]);
  CHECK(IsTransposed<T>(x, perm, y));
}

void CheckSizes(const std::vector<int64_t>& dims, const std::vector<int32_t>& perm) {
  Check<uint8_t>(dims, perm);
  Check<int16_t>(dims, perm);
  Check<float>(dims, perm);
  Check<double>(dims, perm);
  Check<complex128>(dims, perm);
  Check<String>(dims, perm);
}

TEST_CASE("Transpose: any shape by any permutation", "[transpose]") {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    std::vector<int64_t> dims(random() % 7);
    for (int64_t& size : dims) size = random() % 8 == 0 ? random() % 40 + 1 : random() % 5 + (random() % 20 != 0);
    std::vector<int32_t> perm(dims.size());
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random);
    CheckSizes(dims, perm);
  }
}

TEST_CASE("Transpose: tiles and tasks", "[transpose]") {
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{{300, 257}, {64, 64}, {1024, 64}, {2, 20000}, {20000, 3}}) {
    Check<uint8_t>(dims, {1, 0});
    Check<uint16_t>(dims, {1, 0});
    Check<float>(dims, {1, 0});
    Check<double>(dims, {1, 0});
  }
  Check<float>({40, 30, 20, 5}, {3, 2, 1, 0});
  Check<float>({3, 200, 90, 2}, {0, 3, 1, 2});
  Check<float>({500, 2, 100}, {1, 0, 2});
  Check<int64_t>({5, 2000, 2, 3}, {0, 1, 3, 2});
}

}  // namespace
}  // namespace weft::kit
