// Gradients of convolutions.
#include <catch2/catch.hpp>

#include "tests/blocks/gradient_tables.h"

namespace weft::kit {
namespace {

struct Config {
  const char* attrs;
  Shape input, filter, output;
};
const Config kConfigs[] = {
    {"strides_ = {1,1,1,1};padding_ = VALID;", {1, 4, 4, 2}, {2, 2, 2, 2}, {1, 3, 3, 2}},
    {"strides_ = {1,1,1,1};padding_ = SAME;", {2, 3, 3, 1}, {3, 2, 1, 2}, {2, 3, 3, 2}},
    {"strides_ = {1,2,2,1};padding_ = SAME;", {1, 4, 5, 1}, {3, 3, 1, 2}, {1, 2, 3, 2}},
    {"strides_ = {1,2,1,1};padding_ = VALID;", {1, 5, 3, 2}, {2, 1, 2, 1}, {1, 2, 3, 1}},
    {"strides_ = {1,3,3,1};padding_ = VALID;", {1, 4, 4, 1}, {1, 1, 1, 2}, {1, 2, 2, 2}},  // pixels that no tap meets
    {"strides_ = {1,1,1,1};padding_ = VALID;dilations_ = {1,2,1,1};", {1, 5, 3, 1}, {2, 2, 1, 2}, {1, 3, 2, 2}},
    {"strides_ = {1,1,1,1};padding_ = SAME;dilations_ = {1,2,2,1};", {1, 4, 3, 1}, {2, 2, 1, 1}, {1, 4, 3, 1}},
    {"strides_ = {1,2,1,1};padding_ = EXPLICIT;explicit_paddings_ = {0,0,1,2,0,1,0,0};", {1, 3, 3, 1}, {2, 2, 1, 2}, {1, 3, 3, 2}},
    {"strides_ = {1,1,1,1};padding_ = VALID;", {1, 3, 3, 4}, {2, 2, 2, 2}, {1, 2, 2, 2}},  // two groups
    {"strides_ = {1,1,1,1};padding_ = VALID;data_format_ = NCHW;", {1, 2, 3, 4}, {2, 2, 2, 3}, {1, 3, 2, 3}},
    {"strides_ = {1,1,2,2};padding_ = SAME;data_format_ = NCHW;", {2, 1, 3, 3}, {2, 3, 1, 2}, {2, 2, 2, 2}},
    {"strides_ = {1,1,1,1};padding_ = VALID;", {0, 3, 3, 1}, {2, 2, 1, 2}, {0, 2, 2, 2}},
};

Fill Sizes(const Shape& shape) { return Ints({shape.dims().begin(), shape.dims().end()}); }

}  // namespace

std::vector<GradientRow> ConvolutionGradients() {
  std::vector<GradientRow> rows;
  for (const Config& c : kConfigs) {
    const std::vector<Fill> input{Any(c.input)}, filter{Any(c.filter)}, output{Any(c.output)};
    rows.push_back({"Conv2D", c.attrs, {{"input", input}, {"filter", filter}}});
    rows.push_back({"Conv2DBackpropInput", c.attrs, {{"input_sizes", {Sizes(c.input)}}, {"filter", filter}, {"out_backprop", output}}});
    rows.push_back({"Conv2DBackpropInputLike", c.attrs, {{"like", input}, {"filter", filter}, {"out_backprop", output}}});
    rows.push_back({"Conv2DBackpropFilter", c.attrs, {{"input", input}, {"filter_sizes", {Sizes(c.filter)}}, {"out_backprop", output}}});
    rows.push_back({"Conv2DBackpropFilterLike", c.attrs, {{"input", input}, {"like", filter}, {"out_backprop", output}}});
  }
  return rows;
}

TEST_CASE("Gradients of convolutions agree with finite differences", "[gradients]") { CheckRows(ConvolutionGradients()); }

}  // namespace weft::kit
