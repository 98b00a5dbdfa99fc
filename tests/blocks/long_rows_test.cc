// Rows and slices that are cut into parts give what whole ones give.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/kit/block_tester.h"

namespace weft::kit {
namespace {

/// Numbers from -1 to 1.
Tensor MixedNumbers(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  Tensor tensor = Tensor::Allocate(DType::kFloat, shape).value();
  for (float& value : tensor.values<float>()) value = static_cast<float>(random() % 20001) / 10000.0f - 1.0f;
  return tensor;
}
template <class T>
Tensor BytesOf(const Shape& shape, DType dtype = kDTypeOf<T>) {
  Tensor tensor = Tensor::Allocate(dtype, shape).value();
  auto* values = static_cast<T*>(tensor.data());
  for (int64_t i = 0; i < tensor.count(); ++i) values[i] = static_cast<T>(i * 7919 % 251);
  return tensor;
}
Tensor Int32s(const std::vector<int32_t>& values, const Shape& shape) {
  Tensor tensor = Tensor::Allocate(DType::kInt32, shape).value();
  std::copy(values.begin(), values.end(), tensor.values<int32_t>().begin());
  return tensor;
}

/// Columns [first, first + width) of a tensor of `rows` rows, as one of this shape.
template <class T>
Tensor ColumnsOf(const Tensor& tensor, int64_t rows, int64_t first, int64_t width, const Shape& shape) {
  Tensor part = Tensor::Allocate(tensor.dtype(), shape).value();
  const int64_t whole = tensor.count() / rows;
  for (int64_t r = 0; r < rows; ++r) {
    std::copy_n(static_cast<const T*>(tensor.data()) + r * whole + first, width, static_cast<T*>(part.data()) + r * width);
  }
  return part;
}

std::map<std::string, Tensor> ResultsOf(const BlockTester& tester) {
  BlockResult result = tester.Run();
  INFO(ToString(result.status));
  REQUIRE(result.status.ok());
  return std::move(result.outputs);
}

template <class T>
void CheckReversed(const Shape& shape, const std::vector<int32_t>& lengths) {
  const Tensor x = BytesOf<T>(shape);
  const auto y = ResultsOf(BlockTester(Catalog(), "ReverseSequence").Attrs("seq_dim_ = 1;").Input("input", x)
                               .Input("seq_lengths", Int32s(lengths, Shape{shape[0]})));
  const int64_t chunk = shape.count() / shape[0] / shape[1];
  int64_t wrong = 0;
  for (int64_t i = 0; i < shape.count(); ++i) {
    const int64_t batch = i / (shape[1] * chunk), at = i / chunk % shape[1], length = lengths[static_cast<size_t>(batch)];
    const int64_t from = at < length ? length - 1 - at : at;
    wrong += y.at("output").values<T>()[i] != x.values<T>()[(batch * shape[1] + from) * chunk + i % chunk];
  }
  CHECK(wrong == 0);
}

TEST_CASE("Long lines are reversed in part", "[rows]") {
  CheckReversed<uint8_t>(Shape{2, 200'000}, {200'000, 70'001});
  CheckReversed<int32_t>(Shape{2, 3, 70'001}, {2, 3});
  CheckReversed<int64_t>(Shape{1, 50'000, 3}, {49'999});
}

TEST_CASE("Long lines of space go to the batch and back", "[rows]") {
  const Tensor x = BytesOf<uint8_t>(Shape{1, 400'001}), blocks = Int32s({2}, Shape{1}), frame = Int32s({0, 100'001}, Shape{1, 2});
  const Tensor y = ResultsOf(BlockTester(Catalog(), "SpaceToBatchND").Input("input", x).Input("block_shape", blocks).Input("paddings", frame))
                       .at("output");
  REQUIRE(y.shape() == Shape{2, 250'001});
  int64_t wrong = 0;
  for (int64_t i = 0; i < y.count(); ++i) {
    const int64_t from = i % 250'001 * 2 + i / 250'001;
    wrong += y.values<uint8_t>()[i] != (from < 400'001 ? x.values<uint8_t>()[from] : 0);
  }
  CHECK(wrong == 0);
  const auto back = ResultsOf(BlockTester(Catalog(), "BatchToSpaceND").Input("input", y).Input("block_shape", blocks).Input("crops", frame));
  CHECK(SameBits(back.at("output"), x));
}

TEST_CASE("Long windows are laid out", "[rows]") {
  const Tensor x = BytesOf<int16_t>(Shape{1, 1, 200'000, 1});
  const Tensor y = ResultsOf(BlockTester(Catalog(), "ExtractImagePatches")
                                 .Attrs("ksizes_ = {1,1,100000,1};strides_ = {1,1,1,1};rates_ = {1,1,2,1};padding_ = VALID;").Input("images", x))
                       .at("patches");
  REQUIRE(y.shape() == Shape{1, 1, 2, 100'000});
  int64_t wrong = 0;
  for (int64_t i = 0; i < y.count(); ++i) wrong += y.values<int16_t>()[i] != x.values<int16_t>()[i / 100'000 + i % 100'000 * 2];
  CHECK(wrong == 0);
}

TEST_CASE("Long slices have the ends of all their parts", "[rows]") {
  const auto run = [](const Tensor& x, const Tensor& low, const Tensor& high, const char* attrs) {
    return ResultsOf(BlockTester(Catalog(), "QuantizeAndDequantizeV2").Attrs(attrs).Input("input", x).Input("input_min", low)
                         .Input("input_max", high)).at("output");
  };
  const Tensor none = MixedNumbers(Shape{2}, 1), no_end = Tensor::Scalar<float>(0);
  Tensor x = MixedNumbers(Shape{300'000, 2}, 2), lines = MixedNumbers(Shape{2, 300'001}, 3);
  x.values<float>()[2 * 299'999] = 1.75f, x.values<float>()[2 * 150'000 + 1] = -2.5f;
  lines.values<float>()[300'000] = -1.75f, lines.values<float>()[300'001 + 140'000] = 2.5f;
  const Tensor y = run(x, none, none, "axis_ = 1;"), z = run(lines, none, none, "axis_ = 0;");
  for (int64_t s = 0; s < 2; ++s) {
    Tensor column = Tensor::Allocate(DType::kFloat, Shape{300'000}).value(), expected = column.Clone().value();
    for (int64_t i = 0; i < 300'000; ++i) {
      column.values<float>()[i] = x.values<float>()[2 * i + s];
      expected.values<float>()[i] = y.values<float>()[2 * i + s];
    }
    CHECK(SameBits(run(column, no_end, no_end, ""), expected));
    const Tensor line = ColumnsOf<float>(lines, 1, s * 300'001, 300'001, Shape{300'001});
    CHECK(SameBits(run(line, no_end, no_end, ""), ColumnsOf<float>(z, 1, s * 300'001, 300'001, Shape{300'001})));
  }
}

TEST_CASE("Many channels are quantized each by its own range, and so are their gradients", "[rows]") {
  constexpr int64_t kRows = 3, kWidth = 150'000, kPart = 30'000;
  const Tensor x = MixedNumbers(Shape{kRows, kWidth}, 4), dy = MixedNumbers(Shape{kRows, kWidth}, 5);
  Tensor low = MixedNumbers(Shape{kWidth}, 6), high = MixedNumbers(Shape{kWidth}, 7);
  for (float& value : low.values<float>()) value = value / 2 - 0.5f;
  for (float& value : high.values<float>()) value = value / 2 + 0.6f;
  const auto run = [](const char* block, const Tensor& dy, const Tensor& x, const Tensor& low, const Tensor& high) {
    BlockTester tester(Catalog(), block);
    if (dy.defined()) tester.Input("gradients", dy);
    return ResultsOf(tester.Input("inputs", x).Input("min", low).Input("max", high));
  };
  const char *forward = "FakeQuantWithMinMaxVarsPerChannel", *backward = "FakeQuantWithMinMaxVarsPerChannelGradient";
  const auto y = run(forward, {}, x, low, high), dx = run(backward, dy, x, low, high);
  for (int64_t first = 0; first < kWidth; first += kPart) {
    const auto rows = [&](const Tensor& tensor) { return ColumnsOf<float>(tensor, kRows, first, kPart, Shape{kRows, kPart}); };
    const auto ends = [&](const Tensor& tensor) { return ColumnsOf<float>(tensor, 1, first, kPart, Shape{kPart}); };
    CHECK(SameBits(run(forward, {}, rows(x), ends(low), ends(high)).at("outputs"), rows(y.at("outputs"))));
    const auto part = run(backward, rows(dy), rows(x), ends(low), ends(high));
    CHECK(SameBits(part.at("backprops_wrt_input"), rows(dx.at("backprops_wrt_input"))));
    CHECK(SameBits(part.at("backprop_wrt_min"), ends(dx.at("backprop_wrt_min"))));
    CHECK(SameBits(part.at("backprop_wrt_max"), ends(dx.at("backprop_wrt_max"))));
  }
}

TEST_CASE("Many channels are normed each by itself", "[rows]") {
  constexpr int64_t kWidth = 150'000, kPart = 30'000;
  const Tensor x = BytesOf<uint8_t>(Shape{1, 3, 1, kWidth}, DType::kQUInt8), low = Tensor::Scalar<float>(0), high = Tensor::Scalar<float>(1);
  const auto run = [&](const Tensor& of) {
    return ResultsOf(BlockTester(Catalog(), "QuantizedInstanceNorm").Attrs("output_range_given_ = true;given_y_min_ = -2;given_y_max_ = 2;")
                         .Input("x", of).Input("x_min", low).Input("x_max", high)).at("y");
  };
  const Tensor y = run(x);
  for (int64_t first = 0; first < kWidth; first += kPart) {
    const auto part = [&](const Tensor& tensor) { return ColumnsOf<uint8_t>(tensor, 3, first, kPart, Shape{1, 3, 1, kPart}); };
    CHECK(SameBits(run(part(x)), part(y)));
  }
}

TEST_CASE("Long values are joined in one range as short ones are", "[rows]") {
  const auto run = [](const std::vector<Tensor>& values) {
    const auto scalar = [](float value) { return Tensor::Scalar<float>(value); };
    return ResultsOf(BlockTester(Catalog(), "QuantizedConcat").Input("concat_dim", Tensor::Scalar<int32_t>(0)).Inputs("values", values)
                         .Inputs("input_mins", {scalar(0), scalar(-1)}).Inputs("input_maxes", {scalar(2), scalar(1)})).at("output");
  };
  constexpr int64_t kLength = 200'001, kPart = 66'667;
  const Tensor x = BytesOf<uint8_t>(Shape{kLength}, DType::kQUInt8), joined = run({x, x});
  for (int64_t first = 0; first < kLength; first += kPart) {
    const Tensor part = ColumnsOf<uint8_t>(x, 1, first, kPart, Shape{kPart});
    CHECK(SameBits(run({part, part}), ColumnsOf<uint8_t>(joined, 2, first, kPart, Shape{2 * kPart})));
  }
}

TEST_CASE("Both kinds of what is not finite are named wherever they lie", "[rows]") {
  Tensor x = MixedNumbers(Shape{300'000}, 8);
  const auto refusal = [&] { return BlockTester(Catalog(), "CheckNumerics").Attrs("message_ = m;").Input("tensor", x).Run().status.message(); };
  x.values<float>()[299'999] = -std::numeric_limits<float>::infinity();
  CHECK_THAT(refusal(), Catch::EndsWith("found infinities"));
  x.values<float>()[5] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(refusal(), Catch::EndsWith("found infinities and NaN"));
}

}  // namespace
}  // namespace weft::kit
