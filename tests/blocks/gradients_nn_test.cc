// Gradients of activations, losses, biases and poolings.
#include <catch2/catch.hpp>

#include "tests/blocks/gradient_tables.h"

namespace weft::kit {
namespace {

using Types = GradientRow::Types;

void AddActivations(std::vector<GradientRow>& rows) {
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{2, 3}, Shape{0, 2}}) {
    rows.push_back({"Relu", "", {{"features", {Any(shape)}}}});
    rows.push_back({"ReluGrad", "", {{"gradients", {Any(shape)}}, {"features", {Any(shape)}}}});
  }
  for (const Shape& shape : {Shape{4}, Shape{2, 3}, Shape{2, 1, 3}, Shape{3, 1}, Shape{0, 3}, Shape{2, 0}}) {
    rows.push_back({"Softmax", "", {{"logits", {Any(shape)}}}, Types::kReal, 3});
    rows.push_back({"LogSoftmax", "", {{"logits", {Any(shape)}}}, Types::kReal, 3});
  }
}

/// TensorFlow's gradient with respect to labels leaves out the way through backprop, and so does Weft's: labels vary for the loss alone.
/// That with respect to features is right for labels that add up to 1.
void AddCrossEntropy(std::vector<GradientRow>& rows) {
  const std::pair<Shape, Shape> pairs[] = {{{2, 3}, {2, 3}}, {{1, 3}, {2, 3}}, {{2, 3}, {1, 3}}, {{2, 1}, {2, 3}}, {{3}, {2, 3}},
                                           {{2, 4}, {2, 1}}, {{1, 4}, {1, 4}}, {{0, 3}, {0, 3}}};
  for (const auto& [features, labels] : pairs) {
    const auto row = [&](std::vector<std::string> ys, std::vector<std::string> fixed, int orders) {
      rows.push_back({"SoftmaxCrossEntropyWithLogits", "", {{"features", {Any(features)}}, {"labels", {Shares(labels)}}}, Types::kReal,
                      orders, std::move(ys), std::move(fixed)});
    };
    row({"loss"}, {"labels"}, 3);
    row({"loss"}, {}, 1);
    row({"backprop"}, {"labels"}, 2);
    row({"loss", "backprop"}, {"labels"}, 2);
  }
}

void AddBiases(std::vector<GradientRow>& rows) {
  const auto add = [&](const char* format, Shape shape, int64_t channels) {
    rows.push_back({"BiasAdd", Cat("data_format_ = ", format, ";"), {{"value", {Any(shape)}}, {"bias", {Any({channels})}}}, Types::kBoth});
    rows.push_back({"BiasAddGrad", Cat("data_format_ = ", format, ";"), {{"out_backprop", {Any(shape)}}}, Types::kBoth});
  };
  add("NHWC", {2, 3}, 3);
  add("NHWC", {2, 2, 3}, 3);
  add("NHWC", {2, 1, 2, 3}, 3);
  add("NHWC", {1, 2, 1, 2, 2}, 2);
  add("NHWC", {0, 2}, 2);
  add("NCHW", {2, 3, 2}, 3);
  add("NCHW", {2, 3, 1, 2}, 3);
  add("NCHW", {1, 2, 2, 1, 2}, 2);
}

struct PoolConfig {
  const char* attrs;  // of MaxPool
  Shape input;
  int orders = 2;  // EXPLICIT padding has no second order
};
const PoolConfig kPools[] = {
    {"ksize_ = {1,2,2,1};strides_ = {1,2,2,1};padding_ = VALID;", {1, 4, 4, 2}},
    {"ksize_ = {1,2,2,1};strides_ = {1,2,2,1};padding_ = SAME;", {2, 3, 5, 1}},
    {"ksize_ = {1,3,2,1};strides_ = {1,1,1,1};padding_ = SAME;", {1, 4, 3, 2}},  // windows overlap
    {"ksize_ = {1,3,3,1};strides_ = {1,2,1,1};padding_ = VALID;", {1, 5, 4, 1}},
    {"ksize_ = {1,1,2,2};strides_ = {1,1,2,2};padding_ = VALID;data_format_ = NCHW;", {2, 2, 4, 4}},
    {"ksize_ = {1,1,2,3};strides_ = {1,1,1,2};padding_ = SAME;data_format_ = NCHW;", {1, 2, 3, 5}},
    {"ksize_ = {1,2,2,1};strides_ = {1,2,2,1};padding_ = EXPLICIT;explicit_paddings_ = {0,0,1,0,0,1,0,0};", {1, 3, 3, 2}, 1},
};

std::string WithoutPaddings(std::string attrs) { return attrs.substr(0, attrs.find("explicit_paddings_")); }

/// The pooling of x, and a gradient taken back to its shape: `block` is what is asked for, of MaxPoolGrad and MaxPoolGradGrad.
PageFunction PoolingGradient(const PoolConfig& config, const std::string& block, DType dtype) {
  PageFunction f;
  const std::string x = AddConst(f.page, "x", MakeValues(Distinct(config.input), dtype, 5));
  AddBlock(f.page, "pool", "MaxPool", {{"input", {x}}}, config.attrs);
  AddBlock(f.page, "scaled", "Square", {{"x", {"pool.output"}}});  // in the pooled shape
  f.xs = {x};
  const PageInputs shared{{"orig_input", {x}}, {"orig_output", {"pool.output"}}};
  PageInputs inputs = shared;
  inputs.emplace_back("grad", std::vector<PageItem>{"scaled.y"});
  AddBlock(f.page, "back", "MaxPoolGrad", inputs, config.attrs);
  f.ys = {"back.output"};
  if (block == "MaxPoolGradGrad") {
    inputs = shared;
    inputs.emplace_back("grad", std::vector<PageItem>{"cube.z"});
    AddBlock(f.page, "cube", "Multiply", {{"x", {"back.output"}}, {"y", {x}}});
    AddBlock(f.page, "again", block, inputs, WithoutPaddings(config.attrs));
    f.ys = {"again.output"};
  }
  return f;
}

void AddPools(std::vector<GradientRow>& rows) {
  for (const PoolConfig& config : kPools) {
    rows.push_back({"MaxPool", config.attrs, {{"input", {Distinct(config.input)}}}, Types::kReal, config.orders});
    for (const std::string block : {"MaxPoolGrad", "MaxPoolGradGrad"}) {
      if (config.orders == 1) continue;
      GradientRow row{block, config.attrs, {}, Types::kReal, config.orders};
      row.page = [&config, block](DType dtype) { return PoolingGradient(config, block, dtype); };
      rows.push_back(std::move(row));
    }
  }
}

}  // namespace

std::vector<GradientRow> NetworkGradients() {
  std::vector<GradientRow> rows;
  AddActivations(rows);
  AddCrossEntropy(rows);
  AddBiases(rows);
  AddPools(rows);
  return rows;
}

TEST_CASE("Gradients of activations, losses, biases and poolings agree with finite differences", "[gradients]") {
  CheckRows(NetworkGradients());
}

}  // namespace weft::kit
