// Gradients of activations, losses and biases.
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

}  // namespace

std::vector<GradientRow> NetworkGradients() {
  std::vector<GradientRow> rows;
  AddActivations(rows);
  AddCrossEntropy(rows);
  AddBiases(rows);
  return rows;
}

TEST_CASE("Gradients of activations, losses and biases agree with finite differences", "[gradients]") {
  CheckRows(NetworkGradients());
}

}  // namespace weft::kit
