// Gradients of poolings and of dilation.
#include <catch2/catch.hpp>

#include "tests/blocks/gradient_tables.h"

namespace weft::kit {
namespace {

using Types = GradientRow::Types;

struct PoolConfig {
  const char* attrs;
  Shape input, output;
  int orders = 2;  // EXPLICIT padding has no second order
};
const PoolConfig kPools[] = {
    {"ksize_ = {1,2,2,1};strides_ = {1,2,2,1};padding_ = VALID;", {1, 4, 4, 2}, {1, 2, 2, 2}},
    {"ksize_ = {1,2,2,1};strides_ = {1,2,2,1};padding_ = SAME;", {2, 3, 5, 1}, {2, 2, 3, 1}},
    {"ksize_ = {1,3,2,1};strides_ = {1,1,1,1};padding_ = SAME;", {1, 4, 3, 2}, {1, 4, 3, 2}},  // windows overlap
    {"ksize_ = {1,3,3,1};strides_ = {1,2,1,1};padding_ = VALID;", {1, 5, 4, 1}, {1, 2, 2, 1}},
    {"ksize_ = {1,1,2,2};strides_ = {1,1,2,2};padding_ = VALID;data_format_ = NCHW;", {2, 2, 4, 4}, {2, 2, 2, 2}},
    {"ksize_ = {1,1,2,3};strides_ = {1,1,1,2};padding_ = SAME;data_format_ = NCHW;", {1, 2, 3, 5}, {1, 2, 3, 3}},
    {"ksize_ = {1,2,2,1};strides_ = {1,2,2,1};padding_ = EXPLICIT;explicit_paddings_ = {0,0,1,0,0,1,0,0};", {1, 3, 3, 2}, {1, 2, 2, 2}, 1},
};

const PoolConfig kPoolBodies[] = {
    {"ksize_ = {1,2,2,2,1};strides_ = {1,2,2,2,1};padding_ = VALID;", {1, 4, 2, 3, 1}, {1, 2, 1, 1, 1}},
    {"ksize_ = {1,2,2,1,1};strides_ = {1,1,2,1,1};padding_ = SAME;", {1, 2, 3, 2, 2}, {1, 2, 2, 2, 2}},
    {"ksize_ = {1,1,2,1,3};strides_ = {1,1,1,2,1};padding_ = SAME;data_format_ = NCDHW;", {1, 2, 2, 3, 3}, {1, 2, 2, 2, 3}},
};

std::string WithoutPaddings(std::string attrs) { return attrs.substr(0, attrs.find("explicit_paddings_")); }

/// The pooling of x, and a gradient taken back to its shape: `order` times, by the blocks that `pool` and endings name.
PageFunction PoolingGradient(const PoolConfig& config, const std::string& pool, int order, DType dtype) {
  PageFunction f;
  const std::string x = AddConst(f.page, "x", MakeValues(Distinct(config.input), dtype, 5));
  AddBlock(f.page, "pool", pool, {{"input", {x}}}, config.attrs);
  AddBlock(f.page, "scaled", "Square", {{"x", {"pool.output"}}});  // in the pooled shape
  f.xs = {x};
  const PageInputs shared{{"orig_input", {x}}, {"orig_output", {"pool.output"}}};
  PageInputs inputs = shared;
  inputs.emplace_back("grad", std::vector<PageItem>{"scaled.y"});
  AddBlock(f.page, "back", pool + "Grad", inputs, config.attrs);
  f.ys = {"back.output"};
  if (order == 2) {
    inputs = shared;
    inputs.emplace_back("grad", std::vector<PageItem>{"cube.z"});
    AddBlock(f.page, "cube", "Multiply", {{"x", {"back.output"}}, {"y", {x}}});
    AddBlock(f.page, "again", pool + "GradGrad", inputs, WithoutPaddings(config.attrs));
    f.ys = {"again.output"};
  }
  return f;
}

void AddLargest(std::vector<GradientRow>& rows, const std::string& pool, const PoolConfig& config) {
  rows.push_back({pool, config.attrs, {{"input", {Distinct(config.input)}}}, Types::kReal, config.orders});
  for (int order : {1, 2}) {
    if (config.orders == 1) continue;
    GradientRow row{pool + (order == 1 ? "Grad" : "GradGrad"), config.attrs, {}, Types::kReal, config.orders};
    row.page = [&config, pool, order](DType dtype) { return PoolingGradient(config, pool, order, dtype); };
    rows.push_back(std::move(row));
  }
}

void AddAverages(std::vector<GradientRow>& rows, const std::string& pool, const char* port, const PoolConfig& config) {
  if (config.orders == 1) return;
  const std::vector<Fill> input{Any(config.input)}, grad{Any(config.output)};
  const auto dims = config.input.dims();
  rows.push_back({pool, config.attrs, {{port, input}}});
  rows.push_back({pool + "GradLike", config.attrs, {{"orig_input", input}, {"grad", grad}}});
  rows.push_back({pool + "Grad", config.attrs, {{"orig_input_shape", {Ints({dims.begin(), dims.end()})}}, {"grad", grad}}});
}

/// A quarter of a filter's values, so that no two sums under a window are equal.
PageFunction DilationOf(const char* attrs, DType dtype) {
  PageFunction f;
  const std::string x = AddConst(f.page, "x", MakeValues(Distinct({1, 4, 5, 1}), dtype, 5));
  const std::string filter = AddConst(f.page, "filter", MakeValues(Distinct({2, 2, 1}), dtype, 6));
  const std::string quarter = AddConst(f.page, "quarter", FromNumbers(dtype, Shape{}, {0.25}));
  AddBlock(f.page, "taps", "Multiply", {{"x", {filter}}, {"y", {quarter}}});
  AddBlock(f.page, "dilated", "Dilation2D", {{"input", {x}}, {"filter", {"taps.z"}}}, attrs);
  f.xs = {x, filter};
  f.ys = {"dilated.output"};
  return f;
}

/// Those that go by indices or by chance have a first order only.
void AddOthers(std::vector<GradientRow>& rows) {
  for (const char* attrs : {"ksize_ = {1,2,2,1};strides_ = {1,2,2,1};padding_ = VALID;",
                            "ksize_ = {1,2,3,1};strides_ = {1,1,2,1};padding_ = SAME;include_batch_in_index_ = true;"}) {
    rows.push_back({"MaxPoolWithArgmax", attrs, {{"input", {Distinct({2, 4, 3, 2})}}}, Types::kReal, 1, {"output"}});
  }
  for (const std::string pool : {"FractionalMaxPool", "FractionalAvgPool"}) {
    for (const char* more : {"", "overlapping_ = true;", "pseudo_random_ = true;overlapping_ = true;"}) {
      const std::string attrs = Cat("pooling_ratio_ = {1.0,1.4,1.7,1.0};deterministic_ = true;seed_ = 3;seed2_ = 5;", more);
      rows.push_back({pool, attrs, {{"value", {Distinct({1, 5, 7, 2})}}}, Types::kReal, 1, {"output"}});
    }
  }
  for (const char* attrs : {"strides_ = {1,1,1,1};rates_ = {1,1,1,1};padding_ = VALID;",
                            "strides_ = {1,2,1,1};rates_ = {1,1,2,1};padding_ = SAME;"}) {
    GradientRow row{"Dilation2D", attrs, {}, Types::kReal, 1};
    row.page = [attrs](DType dtype) { return DilationOf(attrs, dtype); };
    rows.push_back(std::move(row));
  }
}

}  // namespace

std::vector<GradientRow> PoolingGradients() {
  std::vector<GradientRow> rows;
  for (const PoolConfig& config : kPools) {
    AddLargest(rows, "MaxPool", config);
    AddAverages(rows, "AvgPool", "value", config);
  }
  for (const PoolConfig& config : kPoolBodies) {
    AddLargest(rows, "MaxPool3D", config);
    AddAverages(rows, "AvgPool3D", "input", config);
  }
  AddOthers(rows);
  return rows;
}

TEST_CASE("Gradients of poolings agree with finite differences", "[gradients]") { CheckRows(PoolingGradients()); }

}  // namespace weft::kit
