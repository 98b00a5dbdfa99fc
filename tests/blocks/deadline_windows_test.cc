// Blocks end soon after the deadline of their run, though one window, row or sum is all that they work on.
#include "tests/blocks/deadline_rows.h"

namespace weft::test::deadline {
namespace {

std::vector<Row> WindowRows() {
  const std::string steps = "strides_ = {1,1,1,1};padding_ = VALID;";
  const Make picture = Filled<float>({1, 1000, 1000, 8}), filter = Filled<float>({64, 64, 8, 8});
  return {
      {"LRN", "depth_radius_ = 100000;", {{"input", Filled<float>({1, 1, 1, 200'000})}}},
      {"Conv2D", steps, {{"input", picture}, {"filter", filter}}},
      {"Conv2DBackpropFilter", steps,
       {{"input", picture}, {"filter_sizes", Sizes({64, 64, 8, 8})}, {"out_backprop", Filled<float>({1, 937, 937, 8})}}},
      // A million phases, each with a product of its own.
      {"Conv2DBackpropInput", "strides_ = {1,1000,1000,1};padding_ = VALID;",
       {{"input_sizes", Sizes({1, 2000, 2000, 1})}, {"filter", Filled<float>({1000, 1000, 1, 1})},
        {"out_backprop", Filled<float>({1, 2, 2, 1})}}},
      {"DepthwiseConv2dNative", steps, {{"input", Filled<float>({1, 1, kMillion, 8})}, {"filter", Filled<float>({1, 500, 8, 1})}}},
      {"MaxPool", "ksize_ = {1,700,700,1};" + steps, {{"input", Filled<float>({1, 2000, 2000, 1})}}},
      {"AvgPool", "ksize_ = {1,500,500,1};" + steps, {{"value", picture}}},
      {"Dilation2D", "rates_ = {1,1,1,1};" + steps,
       {{"input", Filled<float>({1, 1000, 1000, 1})}, {"filter", Filled<float>({300, 300, 1})}}},
  };
}

// ThreadSanitizer takes most of a second to free 512 MB, in which no block can look at its deadline.
constexpr int64_t kPixels = int64_t{1} << (kit::kThreadSanitized ? 23 : 26);

/// A window that takes the whole of a picture's only line.
std::vector<Row> WholeLineRows() {
  const std::string steps = "strides_ = {1,1,1,1};padding_ = VALID;", size = Cat("ksize_ = {1,1,", kPixels, ",1};");
  const Make line = Filled<float>({1, 1, 2 * kPixels, 1}), filter = Filled<float>({1, 2 * kPixels, 1, 1});
  const Make one = Filled<float>({1, 1, 1, 1}), small = Filled<float>({1, 8, 8, 2});
  const Make bytes = Filled<uint8_t>({1, 1, kPixels, 8}), few_bytes = Filled<uint8_t>({1, 1, 1, 8});
  return {
      {"Conv2D", steps, {{"input", line}, {"filter", filter}}},
      {"Conv2DBackpropFilter", steps,
       {{"input", line}, {"filter_sizes", Sizes({1, 2 * kPixels, 1, 1})}, {"out_backprop", one}}},
      {"DepthwiseConv2dNative", steps, {{"input", Filled<float>({1, 1, kPixels, 2})}, {"filter", Filled<float>({1, kPixels, 2, 1})}}},
      {"DepthwiseConv2dNativeBackpropFilter", "strides_ = {1,1,1,1};padding_ = SAME;",
       {{"input", small}, {"filter_sizes", Sizes({16384, 8192, 2, 1})}, {"out_backprop", small}}},
      {"MaxPool", size + steps, {{"input", bytes}}},
      {"MaxPoolGrad", size + steps, {{"orig_input", bytes}, {"orig_output", few_bytes}, {"grad", few_bytes}}},
      {"MaxPoolGradWithArgmax", Cat("ksize_ = {1,1,", 4 * kPixels, ",1};", steps),
       {{"input", Filled<float>({1, 1, 4 * kPixels, 1})}, {"grad", one}, {"argmax", Filled<int64_t>({1, 1, 1, 1})}}},
      {"Dilation2D", "rates_ = {1,1,1,1};" + steps, {{"input", line}, {"filter", Filled<float>({1, 2 * kPixels, 1})}}},
      {"ResizeBilinearGrad", "", {{"grads", Filled<float>({1, 1, 2, 1})}, {"original_image", line}}},
  };
}

/// A row, or the elements of a sum, that one task takes.
std::vector<Row> LongRowRows() {
  return {
      {"Sum", "", {{"input", Filled<int8_t>({kPixels, 8, 2}, 1)}, {"axis", Sizes({0, 2})}}},
      {"LogSoftmax", "", {{"logits", Filled<float>({1, 4 * kPixels})}}},
      {"MatMul", "transpose_b_ = true;", {{"a", Filled<float>({32, kPixels / 8})}, {"b", Filled<float>({12, kPixels / 8})}}},
      {"MatMul", "", {{"a", Filled<float>({20'000, 0})}, {"b", Filled<float>({0, 20'000})}}},
      {"OneHot", "axis_ = 0;",
       {{"indices", Filled<uint8_t>({4 * kPixels})}, {"depth", Int(1)}, {"on_value", Scalar(1)}, {"off_value", Scalar(0)}}},
  };
}

}  // namespace

TEST_CASE("Blocks with windows end within 100 ms of a run's deadline", "[deadline]") { CheckRows(WindowRows()); }

TEST_CASE("A window of a whole line is left within 100 ms of a run's deadline", "[deadline]") { CheckRows(WholeLineRows()); }

TEST_CASE("A long row or sum is left within 100 ms of a run's deadline", "[deadline]") { CheckRows(LongRowRows()); }

}  // namespace weft::test::deadline
