// Whether the bits of a row depend on the batch around it: each block that works row by row (matrix by matrix, picture by picture) computes
// the same rows in batches of several sizes and at several places in them. Those that do depend are listed here and in the README.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "tests/blocks/row_dependent.h"
#include "tests/kit/block_tester.h"
#include "weft/base/float16.h"

namespace weft::kit {
namespace {

enum class Kind { kRow, kShared, kSizes };  // kRow: an axis of rows in front of the shape; kSizes: such a shape itself

struct Port {
  const char* name;
  Kind kind;
  std::vector<int64_t> shape;
  DType type = DType::kInvalid;  // where it is not the block's
  int64_t below = 0;             // whole numbers in [0, below)
  int64_t above = 0;             // and what is added to them
};
Port Axis() { return {"axis", Kind::kShared, {}, DType::kInt32, 1, 1}; }

struct RowBlock {
  const char *name, *attrs;
  std::vector<Port> ports;
};

uint64_t Mixed(uint64_t x) {
  x = (x ^ x >> 31) * 0x9E3779B97F4A7C15u;
  return (x ^ x >> 29) * 0xBF58476D1CE4E5B9u ^ x >> 32;
}

/// Element i of a port: numbers of all 24 bits of a fraction, from -2 to 2, or integers.
template <class T>
T NumberAt(uint64_t seed, int64_t i) {
  return static_cast<T>(static_cast<float>(static_cast<double>(Mixed(seed * 1000003 + static_cast<uint64_t>(i)) >> 40) / (1 << 22) - 2));
}

/// Rows [first, first + count) of an endless matrix, or a shared tensor.
Tensor Make(const Port& port, DType dtype, int64_t first, int64_t count, uint64_t seed) {
  std::vector<int64_t> dims = port.shape;
  if (port.kind == Kind::kSizes) {
    dims.insert(dims.begin(), count);
    Tensor sizes = Tensor::Allocate(DType::kInt32, Shape{static_cast<int64_t>(dims.size())}).value();
    std::ranges::transform(dims, sizes.values<int32_t>().begin(), [](int64_t size) { return static_cast<int32_t>(size); });
    return sizes;
  }
  int64_t row = 1;
  for (int64_t size : dims) row *= size;
  if (port.kind == Kind::kRow) dims.insert(dims.begin(), count);
  else first = 0;
  Tensor tensor = Tensor::Allocate(port.type != DType::kInvalid ? port.type : dtype, Shape(std::span<const int64_t>(dims))).value();
  const auto fill = [&]<class T>() {
    for (int64_t i = 0; i < tensor.count(); ++i) {
      const int64_t at = first * row + i;
      auto& to = tensor.values<T>()[static_cast<size_t>(i)];
      const auto whole = [&] { return port.above + static_cast<int64_t>(Mixed(seed + static_cast<uint64_t>(at)) % static_cast<uint64_t>(port.below)); };
      if (port.below > 0) to = static_cast<T>(static_cast<float>(whole()));
      else to = NumberAt<T>(seed, at);
    }
  };
  switch (tensor.dtype()) {
    case DType::kFloat: fill.operator()<float>(); break;
    case DType::kDouble: fill.operator()<double>(); break;
    case DType::kHalf: fill.operator()<half>(); break;
    case DType::kBFloat16: fill.operator()<bfloat16>(); break;
    case DType::kInt64: fill.operator()<int64_t>(); break;
    default: fill.operator()<int32_t>(); break;
  }
  return tensor;
}

std::map<std::string, Tensor> RunRows(const RowBlock& block, DType dtype, int64_t first, int64_t count) {
  BlockTester tester(Catalog(), block.name);
  tester.Attrs(block.attrs).Once(int64_t{1} << 30);
  uint64_t seed = 1;
  for (const Port& port : block.ports) tester.Input(port.name, Make(port, dtype, first, count, seed++));
  BlockResult result = tester.Run();
  INFO(block.name << " of " << DTypeName(dtype) << ": " << ToString(result.status) << result.skipped);
  REQUIRE(result.status.ok());
  REQUIRE(result.skipped.empty());
  return std::move(result.outputs);
}

/// Whether rows [first, first + count) alone are what they are among rows [0, all).
bool SameRows(const std::map<std::string, Tensor>& among, int64_t all, const std::map<std::string, Tensor>& alone, int64_t first,
              int64_t count) {
  for (const auto& [port, whole] : among) {
    const Tensor& part = alone.at(port);
    if (whole.shape().rank() == 0 || whole.shape()[0] != all) continue;  // nothing by rows
    const int64_t row = whole.bytes() / all;
    REQUIRE(part.bytes() == row * count);
    const auto* from = static_cast<const char*>(whole.data()) + first * row;
    if (std::memcmp(from, part.data(), static_cast<size_t>(part.bytes())) != 0) return false;
  }
  return true;
}

bool Depends(const RowBlock& block, DType dtype) {
  constexpr int64_t kAll = 67;
  const auto among = RunRows(block, dtype, 0, kAll);
  for (const auto& [first, count] : std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {5, 1}, {1, 2}, {3, 7}, {0, 16}, {2, 33}, {66, 1}}) {
    if (SameRows(among, kAll, RunRows(block, dtype, first, count), first, count)) continue;
    UNSCOPED_INFO(block.name << " " << block.attrs << " of " << DTypeName(dtype) << ": " << count << " rows from " << first
                             << " on are not what they are among " << kAll);
    return true;
  }
  return false;
}

RowBlock Row(const char* name, const char* port, std::vector<int64_t> shape, const char* attrs = "") {
  return {name, attrs, {{port, Kind::kRow, std::move(shape)}}};
}

/// A convolution of pictures, or of gradients where `sizes` are those of a picture.
RowBlock Conv(const char* name, const char* attrs, std::vector<int64_t> picture, std::vector<int64_t> filter, std::vector<int64_t> sizes = {}) {
  if (sizes.empty()) return {name, attrs, {{"input", Kind::kRow, std::move(picture)}, {"filter", Kind::kShared, std::move(filter)}}};
  return {name, attrs,
          {{"input_sizes", Kind::kSizes, std::move(sizes)},
           {"filter", Kind::kShared, std::move(filter)},
           {"out_backprop", Kind::kRow, std::move(picture)}}};
}

/// Convolutions whose sums are long, of few and of many channels.
std::vector<RowBlock> Convolutions() {
  std::vector<RowBlock> all;
  constexpr const char *kValid = "strides_ = {1,1,1,1};padding_ = VALID;", *kSame = "strides_ = {1,1,1,1};padding_ = SAME;",
                       *kPlanes = "strides_ = {1,1,1,1};padding_ = VALID;data_format_ = NCHW;",
                       *kSamePlanes = "strides_ = {1,1,1,1};padding_ = SAME;data_format_ = NCHW;", *kSame3 = "strides_ = {1,1,1,1,1};padding_ = SAME;";
  for (const int64_t channels : {1, 3, 4, 5, 8, 12, 20, 130}) {
    for (const int64_t inner : {3, 70, 330, 700}) {
      all.push_back(Conv("Conv2D", kValid, {1, 1, inner}, {1, 1, inner, channels}));
      all.push_back(Conv("Conv2D", kPlanes, {inner, 1, 1}, {1, 1, inner, channels}));
    }
    all.push_back(Conv("Conv2D", kPlanes, {330, 9, 11}, {1, 1, 330, channels}));
    all.push_back(Conv("Conv2D", kValid, {4, 4, 24}, {4, 4, 24, channels}));
    all.push_back(Conv("Conv2DBackpropInput", kSame, {1, 2, 700}, {1, 1, channels, 700}, {1, 2, channels}));
    all.push_back(Conv("Conv2DBackpropInput", "strides_ = {1,2,2,1};padding_ = SAME;", {2, 2, 130}, {3, 3, channels, 130}, {3, 4, channels}));
    all.push_back(Conv("Conv3D", kSame3, {1, 1, 1, 700}, {1, 1, 1, 700, channels}));
    all.push_back(Conv("Conv3D", kSame3, {2, 2, 2, 24}, {3, 3, 3, 24, channels}));
    all.push_back(Conv("Conv3DBackpropInputV2", kSame3, {1, 1, 1, 700}, {1, 1, 1, channels, 700}, {1, 1, 1, channels}));
    all.push_back(Conv("Conv3DBackpropInputV2", kSame3, {2, 2, 2, 24}, {3, 3, 3, channels, 24}, {2, 2, 2, channels}));
  }
  for (const int64_t taps : {3, 5}) {  // tiles of two by two positions
    all.push_back(Conv("Conv2D", kSame, {15, 14, 20}, {taps, taps, 20, 40}));
    all.push_back(Conv("Conv2D", kSamePlanes, {20, 15, 14}, {taps, taps, 20, 40}));
    all.push_back(Conv("Conv2DBackpropInput", kSame, {14, 15, 40}, {taps, taps, 20, 40}, {14, 15, 20}));
  }
  all.push_back(Conv("Conv2D", kValid, {1, 1, 700}, {1, 1, 700, 641}));  // more columns than a tile has, and one
  for (const int64_t each : {1, 3}) {
    all.push_back(Conv("DepthwiseConv2dNative", kValid, {1, 331, 2}, {1, 330, 2, each}));
    all.push_back(Conv("DepthwiseConv2dNative", kPlanes, {2, 1, 331}, {1, 330, 2, each}));
    all.push_back(Conv("DepthwiseConv2dNativeBackpropInput", kSame, {1, 170, 2 * each}, {1, 330, 2, each}, {1, 170, 2}));
    all.push_back(Conv("DepthwiseConv2dNativeBackpropInput", kSamePlanes, {2 * each, 1, 170}, {1, 330, 2, each}, {2, 1, 170}));
  }
  return all;
}

std::vector<RowBlock> Rows() {
  std::vector<RowBlock> all = Convolutions();
  for (const int64_t classes : {3, 10, 64, 65, 1001, 5000}) {
    all.push_back(Row("Softmax", "logits", {classes}));
    all.push_back(Row("LogSoftmax", "logits", {classes}));
    all.push_back({"SoftmaxCrossEntropyWithLogits", "", {{"features", Kind::kRow, {classes}}, {"labels", Kind::kRow, {classes}}}});
    all.push_back({"SoftmaxCrossEntropyWithLogits", "", {{"features", Kind::kRow, {classes}}, {"labels", Kind::kShared, {1, classes}}}});
    all.push_back({"SparseSoftmaxCrossEntropyWithLogits", "", {{"features", Kind::kRow, {classes}}, {"labels", Kind::kRow, {}, DType::kInt32, classes}}});
    for (const char* name : {"Sum", "Mean", "Prod", "Max", "Min"}) {
      for (const char* keep : {"", "keep_dims_ = true;"}) {
        all.push_back({name, keep, {{"input", Kind::kRow, {classes}}, Axis()}});
      }
    }
    for (const char* name : {"Cumsum", "Cumprod"}) {
      all.push_back({name, "", {{"x", Kind::kRow, {classes}}, Axis()}});
    }
    for (const char* name : {"Tanh", "Exp", "Sigmoid", "Erf", "Sin", "Log", "Rsqrt", "Softplus", "Elu", "Relu"}) {
      const char* port = std::string_view(name) == "Softplus" || std::string_view(name) == "Elu" || std::string_view(name) == "Relu" ? "features" : "x";
      all.push_back(Row(name, port, {classes}));
    }
    for (const char* name : {"Add", "Multiply", "Div", "Pow", "SquaredDifference"}) {
      all.push_back({name, "", {{"x", Kind::kRow, {classes}}, {"y", Kind::kShared, {classes}}}});
    }
    all.push_back({"BiasAdd", "", {{"value", Kind::kRow, {classes}}, {"bias", Kind::kShared, {classes}}}});
  }
  for (const int64_t depth : {3, 64, 700}) {
    for (const int64_t columns : {1, 5, 16, 130}) {
      all.push_back({"MatMul", "", {{"a", Kind::kRow, {depth}}, {"b", Kind::kShared, {depth, columns}}}});
      all.push_back({"MatMul", "transpose_b_ = true;", {{"a", Kind::kRow, {depth}}, {"b", Kind::kShared, {columns, depth}}}});
      all.push_back({"BatchMatMul", "", {{"x", Kind::kRow, {3, depth}}, {"y", Kind::kRow, {depth, columns}}}});
      all.push_back({"BatchMatMulV2", "", {{"x", Kind::kRow, {1, depth}}, {"y", Kind::kShared, {depth, columns}}}});
    }
  }
  all.push_back(Row("LRN", "input", {5, 4, 19}));
  all.push_back({"BiasAdd", "data_format_ = NCHW;", {{"value", Kind::kRow, {7, 5, 3}}, {"bias", Kind::kShared, {7}}}});
  for (const int64_t channels : {1, 3, 16, 40}) {
    all.push_back({"Conv2D", "strides_ = {1,1,1,1};padding_ = SAME;", {{"input", Kind::kRow, {9, 8, channels}}, {"filter", Kind::kShared, {3, 3, channels, 20}}}});
    all.push_back({"Conv2D", "strides_ = {1,2,2,1};padding_ = VALID;", {{"input", Kind::kRow, {9, 8, channels}}, {"filter", Kind::kShared, {1, 1, channels, 5}}}});
    all.push_back({"DepthwiseConv2dNative", "strides_ = {1,1,1,1};padding_ = SAME;",
                   {{"input", Kind::kRow, {9, 8, channels}}, {"filter", Kind::kShared, {3, 3, channels, 2}}}});
    all.push_back(Row("MaxPool", "input", {9, 8, channels}, "ksize_ = {1,3,3,1};strides_ = {1,2,2,1};padding_ = SAME;"));
    all.push_back(Row("AvgPool", "value", {9, 8, channels}, "ksize_ = {1,3,3,1};strides_ = {1,2,2,1};padding_ = SAME;"));
    all.push_back({"FusedBatchNormV3", "is_training_ = false;",
                   {{"x", Kind::kRow, {5, 4, channels}},
                    {"scale", Kind::kShared, {channels}, DType::kFloat},
                    {"offset", Kind::kShared, {channels}, DType::kFloat},
                    {"mean", Kind::kShared, {channels}, DType::kFloat},
                    {"variance", Kind::kShared, {channels}, DType::kFloat, 7, 1}}});
  }
  return all;
}

}  // namespace

TEST_CASE("the bits of a row do not depend on the batch around it, but for the blocks that the README lists", "[rows]") {
  std::set<std::string> dependent;
  for (const DType dtype : {DType::kFloat, DType::kDouble, DType::kHalf, DType::kBFloat16}) {
    for (const RowBlock& block : Rows()) {
      const bool no_doubles = std::string_view(block.name) == "FusedBatchNormV3" || std::string_view(block.name) == "LRN";
      if (no_doubles && dtype == DType::kDouble) continue;
      if (Depends(block, dtype)) dependent.insert(block.name);
    }
  }
  const std::set<std::string> known = {"BatchMatMulV2", "MatMul"};
#if defined(__AVX2__)
  CHECK(dependent == known);
#else  // kernels of narrow registers sum more rows in one order
  CHECK(std::ranges::includes(known, dependent));
#endif
}

TEST_CASE("the README lists the blocks whose rows depend on the batch", "[rows]") {
  std::ifstream file(WEFT_SOURCE_DIR "/README.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t rule = text.find("A row, a matrix or a picture of a batch has the same bits"), end = text.find("row_bits_test.cc", rule);
  REQUIRE(rule < end);
  REQUIRE(end < text.size());
  std::set<std::string> listed;  // names between backticks; the last one opens the name of this file
  for (size_t begin = text.find('`', rule); begin < end; begin = text.find('`', begin)) {
    const size_t close = text.find('`', ++begin);
    if (close < end) listed.insert(text.substr(begin, close - begin));
    begin = close + 1;
  }
  CHECK(listed == kRowDependent);
}

}  // namespace weft::kit
