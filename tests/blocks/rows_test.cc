// Gathers and updates of rows at sizes that are cut into tasks, against the definition; diagonals and bands of many matrices.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/kit/block_tester.h"
#include "weft/base/float16.h"

namespace weft::kit {
namespace {

/// Small whole numbers: sums of them are exact in every type used here.
template <class T>
Tensor WholeBelow(const Shape& shape, uint32_t seed, int below = 7) {
  std::mt19937 random(seed);
  Tensor tensor = Tensor::Allocate(kDTypeOf<T>, shape).value();
  for (T& value : tensor.values<T>()) value = static_cast<T>(static_cast<float>(random() % static_cast<uint32_t>(below)));
  return tensor;
}

template <class T>
Tensor Zeros(const Shape& shape) {
  Tensor tensor = Tensor::Allocate(kDTypeOf<T>, shape).value();
  std::ranges::fill(tensor.values<T>(), T{});
  return tensor;
}

Tensor RunOne(BlockTester& tester, const std::string& port) {
  BlockResult result = tester.Run();
  INFO(ToString(result.status));
  REQUIRE(result.status.ok());
  return result.outputs.at(port);
}

/// Tables of [batches, outer, rows, width], names of [batches, count].
struct RowSizes {
  int64_t batches, outer, rows, width, count;
};
constexpr RowSizes kSizes[] = {{1, 1, 50, 1, 90000}, {1, 1, 7, 3, 30000},  {1, 1, 20, 4099, 33}, {1, 1, 3, 70, 2000},
                               {3, 5, 11, 17, 200},  {1, 40, 300, 9, 120}, {2, 1, 4, 257, 400},  {1, 1, 9000, 5, 4},
                               {1, 3, 2, 70001, 3},  {2, 5, 1, 66000, 1}};

template <class T>
void CheckSizes(const RowSizes& s) {
  INFO(ToString(kDTypeOf<T>) << " " << s.batches << " " << s.outer << " " << s.rows << " " << s.width << " " << s.count);
  const Shape table{s.batches, s.outer, s.rows, s.width}, gathered{s.batches, s.outer, s.count, s.width};
  Tensor params = WholeBelow<T>(table, 1), grad = WholeBelow<T>(gathered, 2), axis = Tensor::Scalar<int32_t>(2);
  Tensor names = WholeBelow<int32_t>(Shape{s.batches, s.count}, 3, static_cast<int>(s.rows));
  Tensor y = RunOne(BlockTester(Catalog(), "GatherV2").Attrs("batch_dims_ = 1;").Input("params", params).Input("indices", names).Input("axis", axis),
                    "output");
  REQUIRE(y.shape() == gathered);
  Tensor sums = RunOne(BlockTester(Catalog(), "GatherV2Grad").Attrs("batch_dims_ = 1;").Input("grad", grad).Input("indices", names).Input("axis", axis)
                           .Input("like", params),
                       "output");
  Tensor expected = Zeros<T>(table), copies = Zeros<T>(gathered);
  for (int64_t section = 0; section < s.batches * s.outer; ++section) {
    for (int64_t i = 0; i < s.count; ++i) {
      const int64_t row = section * s.rows + names.values<int32_t>()[section / s.outer * s.count + i], place = section * s.count + i;
      for (int64_t c = 0; c < s.width; ++c) {
        copies.values<T>()[place * s.width + c] = params.values<T>()[row * s.width + c];
        T& sum = expected.values<T>()[row * s.width + c];
        sum = static_cast<T>(sum + grad.values<T>()[place * s.width + c]);
      }
    }
  }
  CHECK(SameBits(y, copies));
  CHECK(SameBits(sums, expected));
}

TEST_CASE("Gathers and their gradients at sizes that are cut into tasks", "[rows]") {
  for (const RowSizes& s : kSizes) {
    CheckSizes<float>(s);
    CheckSizes<double>(s);
    CheckSizes<uint8_t>(s);
  }
}

TEST_CASE("Many halves of one place are summed as floats", "[rows]") {
  const int64_t count = 3000;
  Tensor updates = WholeBelow<half>(Shape{count}, 5, 2), names = Zeros<int32_t>(Shape{count, 1});
  Tensor sums = RunOne(BlockTester(Catalog(), "ScatterNd").Input("indices", names).Input("updates", updates).Input("shape", Tensor::Of<int32_t>({1}, Shape{1})),
                       "output");
  float expected = 0;
  for (half value : updates.values<half>()) expected += static_cast<float>(value);
  CHECK(static_cast<float>(sums.values<half>()[0]) == static_cast<float>(half(expected)));
}

TEST_CASE("Updates of a variable by index at sizes that are cut into tasks", "[rows]") {
  for (const char* block : {"ScatterAdd", "ScatterSub", "ScatterUpdate"}) {
    for (const RowSizes& s : {RowSizes{1, 1, 40, 300, 500}, RowSizes{1, 1, 5000, 1, 70000}, RowSizes{1, 1, 6, 1031, 64}}) {
      INFO(block << " " << s.rows << " " << s.width << " " << s.count);
      Tensor ref = WholeBelow<float>(Shape{s.rows, s.width}, 6), updates = WholeBelow<float>(Shape{s.count, s.width}, 7);
      Tensor names = WholeBelow<int32_t>(Shape{s.count}, 8, static_cast<int>(s.rows));
      Tensor y = RunOne(BlockTester(Catalog(), block).Input("ref", ref).Input("indices", names).Input("updates", updates), "output_ref");
      Tensor expected = ref.Clone().value();
      for (int64_t i = 0; i < s.count; ++i) {
        for (int64_t c = 0; c < s.width; ++c) {
          float& value = expected.values<float>()[names.values<int32_t>()[i] * s.width + c];
          const float update = updates.values<float>()[i * s.width + c];
          value = block == std::string("ScatterAdd") ? value + update : block == std::string("ScatterSub") ? value - update : update;
        }
      }
      CHECK(SameBits(y, expected));
    }
  }
}

TEST_CASE("Of many bad indices the first is named, on any number of threads", "[rows]") {
  Tensor names = WholeBelow<int32_t>(Shape{100000}, 9, 10);
  for (int64_t bad : {99999, 60001, 40000}) names.values<int32_t>()[bad] = 10;
  const BlockResult result =
      BlockTester(Catalog(), "Gather").Input("params", WholeBelow<float>(Shape{10}, 1)).Input("indices", names).Run();
  CHECK(result.status.code() == Code::kInvalidArgument);
  CHECK(result.status.place().port == "indices");
  CHECK(result.status.message().find("[0, 10), found 10 at position 40000") != std::string::npos);
}

TEST_CASE("Diagonals and bands of large matrices", "[rows]") {
  const int64_t rows = 210, columns = 190, batches = 3;
  Tensor x = WholeBelow<float>(Shape{batches, rows, columns}, 11), lower = Tensor::Scalar<int64_t>(3), upper = Tensor::Scalar<int64_t>(-1);
  Tensor diagonal = RunOne(BlockTester(Catalog(), "MatrixDiagPart").Input("input", x), "diagonal");
  Tensor band = RunOne(BlockTester(Catalog(), "MatrixBandPart").Input("input", x).Input("num_lower", lower).Input("num_upper", upper), "band");
  Tensor other = WholeBelow<float>(Shape{batches, columns}, 12);
  Tensor set = RunOne(BlockTester(Catalog(), "MatrixSetDiag").Input("input", x).Input("diagonal", other), "output");
  bool same = true;
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        const int64_t at = (b * rows + i) * columns + j;
        const float value = x.values<float>()[at];
        if (i == j) same &= diagonal.values<float>()[b * columns + i] == value;
        same &= band.values<float>()[at] == (i - j <= 3 ? value : 0.0f);
        same &= set.values<float>()[at] == (i == j ? other.values<float>()[b * columns + i] : value);
      }
    }
  }
  CHECK(same);
}

}  // namespace
}  // namespace weft::kit
