// Blocks that move and quantize elements end soon after the deadline of their run, though a row or a slice is long, or slices are many.
#include <algorithm>

#include "blocks/data_flow/tensor_array.h"
#include "blocks/rows.h"
#include "tests/blocks/deadline_rows.h"

namespace weft::test::deadline {
namespace {

std::vector<Row> LongLineRows() {
  const std::string no_frame = Literal("DT_INT32", {1, 2}, {0, 0}), frame = R"({"dtype": "DT_INT32", "shape": [1, 2], "values": [0, 2000000000]})";
  return {
      {"SpaceToBatchND", "", {{"input", Filled<int8_t>({1, 400 * kMillion})}, {"block_shape", Sizes({2})}, {"paddings", no_frame}}},
      {"SpaceToBatchND", "",
       {{"input", Filled<int8_t>({1, 2})}, {"block_shape", Sizes({1})}, {"paddings", frame}}},
      {"BatchToSpaceND", "", {{"input", Filled<int8_t>({2, 200 * kMillion})}, {"block_shape", Sizes({2})}, {"crops", no_frame}}},
      {"ReverseSequence", "seq_dim_ = 1;", {{"input", Filled<int8_t>({1, 500 * kMillion})}, {"seq_lengths", Sizes({500 * kMillion})}}},
      {"ExtractImagePatches", "ksizes_ = {1,1,400000000,1};strides_ = {1,1,1,1};rates_ = {1,1,2,1};padding_ = VALID;",
       {{"images", Filled<uint8_t>({1, 1, 800 * kMillion - 1, 1})}}},
  };
}

std::vector<Row> LongSliceRows() {
  const std::string zero = Literal("DT_FLOAT", {2}, {0, 0}), one = Literal("DT_FLOAT", {2}, {1, 1}), low = Scalar(0), high = Scalar(1);
  const Make bytes = Filled<uint8_t>({2, 200 * kMillion}, 3, DType::kQUInt8);
  return {
      {"QuantizeAndDequantizeV2", "axis_ = 1;",
       {{"input", Filled<float>({60 * kMillion, 1})}, {"input_min", Literal("DT_FLOAT", {1}, {0})}, {"input_max", Literal("DT_FLOAT", {1}, {1})}}},
      {"Dequantize", "axis_ = 0;", {{"input", bytes}, {"min_range", zero}, {"max_range", one}}},
      {"CheckNumerics", "message_ = m;", {{"tensor", Filled<uint16_t>({200 * kMillion}, 0x7e00, DType::kHalf)}}},
      {"QuantizedInstanceNorm", "",
       {{"x", Filled<uint8_t>({1, 1, 1, 100 * kMillion}, 7, DType::kQUInt8)}, {"x_min", low}, {"x_max", high}}},
      {"QuantizedConcat", "",
       {{"concat_dim", Int(0)},
        {"values", Filled<uint8_t>({300 * kMillion}, 3, DType::kQUInt8), 2},
        {"input_mins", Cat('[', low, ',', Scalar(-1), ']')},
        {"input_maxes", Cat('[', Scalar(2), ',', high, ']')}}},
  };
}

std::vector<Row> ManySliceRows() {
  constexpr int64_t kSlices = 40 * kMillion;
  const Make zeros = Filled<float>({kSlices}), ones = Filled<float>({kSlices}, 1), line = Filled<float>({1, kSlices});
  const Make few_zeros = Filled<float>({kSlices / 2}), few_ones = Filled<float>({kSlices / 2}, 1), few = Filled<float>({1, kSlices / 2});
  const Make wide = Filled<float>({12'000, 10'000});
  return {
      {"QuantizeAndDequantizeV2", "range_given_ = true;axis_ = 0;", {{"input", zeros}, {"input_min", zeros}, {"input_max", ones}}},
      {"QuantizeV2", "axis_ = 0;T_ = DT_QINT8;", {{"input", zeros}, {"min_range", zeros}, {"max_range", ones}}},
      {"Dequantize", "axis_ = 0;",
       {{"input", Filled<uint8_t>({2 * kSlices}, 3, DType::kQUInt8)},
        {"min_range", Filled<float>({2 * kSlices})},
        {"max_range", Filled<float>({2 * kSlices}, 1)}}},
      {"FakeQuantWithMinMaxVarsPerChannel", "", {{"inputs", line}, {"min", zeros}, {"max", ones}}},
      {"FakeQuantWithMinMaxVarsPerChannelGradient", "", {{"gradients", few}, {"inputs", few}, {"min", few_zeros}, {"max", few_ones}}},
      {"FakeQuantWithMinMaxVarsPerChannelGradient", "",
       {{"gradients", wide}, {"inputs", wide}, {"min", Filled<float>({10'000})}, {"max", Filled<float>({10'000}, 1)}}},
  };
}

/// On one thread; hands out so many tasks, and says then that the run is to end.
class TasksUntilStopped : public Workers {
 public:
  explicit TasksUntilStopped(int64_t most) : left_(most) {}
  int threads() const override { return 1; }
  void Run(int64_t count, FunctionRef<void(int64_t)> task) override {
    for (int64_t i = 0; i < count && left_-- > 0; ++i) task(i);
  }
  bool Stopped() const override { return left_ <= 0; }

 private:
  int64_t left_;
};

/// How many elements of two tables of one wide row are 1 after so many tasks of an update that adds 1 to all.
int64_t UpdatedWithin(int64_t tasks) {
  constexpr int64_t kWidth = int64_t{1} << 18;
  blocks::RowUpdatePlan plan;
  plan.tables = {1, 2, 1, 1, kWidth};
  plan.limits = plan.strides = {1};
  plan.dtype = DType::kFloat;
  TasksUntilStopped workers(tasks);
  Services services;
  services.workers = &workers;
  RunContext ctx;
  int64_t rows[1] = {};
  FrameOf(ctx).services = &services;
  FrameOf(ctx).scratch_data = reinterpret_cast<std::byte*>(rows);
  FrameOf(ctx).scratch_bytes = sizeof(rows);
  const int32_t index = 0;
  const std::vector<float> updates(2 * kWidth, 1.0f);
  std::vector<float> sums(2 * kWidth);
  CHECK(blocks::RunUpdate(plan, ctx, nullptr, &index, updates.data(), sums.data()).ok());
  return std::count(sums.begin(), sums.end(), 1.0f);
}

}  // namespace

TEST_CASE("A long line is moved until 100 ms after a run's deadline at most", "[deadline]") { CheckRows(LongLineRows()); }

TEST_CASE("A long slice is quantized until 100 ms after a run's deadline at most", "[deadline]") { CheckRows(LongSliceRows()); }

TEST_CASE("Many slices are quantized until 100 ms after a run's deadline at most", "[deadline]") { CheckRows(ManySliceRows()); }

TEST_CASE("A stopped run leaves the wide rows of several tables between their columns", "[deadline]") {
  CHECK(UpdatedWithin(1 << 20) == int64_t{1} << 19);
  int64_t fewest = int64_t{1} << 19;
  for (int64_t tasks = 1; tasks <= 64; ++tasks) {
    const int64_t updated = UpdatedWithin(tasks);
    if (updated > 0) fewest = std::min(fewest, updated);
  }
  CHECK(fewest <= int64_t{1} << 16);
}

TEST_CASE("A gradient's array of many elements is left when the run is to end, and can be made later", "[deadline]") {
  blocks::TensorArraySpec spec;
  spec.dtype = DType::kFloat;
  blocks::TensorArray array(spec, 10'000, nullptr);
  TasksUntilStopped stopped(0), works(1 << 20);
  const Tensor value = Tensor::Scalar<float>(1);
  for (int64_t i = 0; i < 10'000; ++i) REQUIRE(array.Write(i, value, works).ok());
  CHECK(array.Gradient("g", stopped).status().code() == Code::kCancelled);
  const auto gradient = array.Gradient("g", works);
  REQUIRE(gradient.ok());
  CHECK((*gradient)->Read(9'999, works).value().shape() == Shape{});
}

}  // namespace weft::test::deadline
