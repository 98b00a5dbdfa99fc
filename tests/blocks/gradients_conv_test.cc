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

const Config kDepthwise[] = {
    {"strides_ = {1,1,1,1};padding_ = VALID;", {1, 3, 4, 2}, {2, 2, 2, 2}, {1, 2, 3, 4}},
    {"strides_ = {1,2,2,1};padding_ = SAME;", {2, 3, 4, 3}, {3, 2, 3, 1}, {2, 2, 2, 3}},
    {"strides_ = {1,1,1,1};padding_ = SAME;dilations_ = {1,2,1,1};", {1, 4, 3, 1}, {2, 2, 1, 3}, {1, 4, 3, 3}},
    {"strides_ = {1,1,2,1};padding_ = EXPLICIT;explicit_paddings_ = {0,0,1,2,0,1,0,0};", {1, 3, 3, 2}, {2, 2, 2, 1}, {1, 5, 2, 2}},
    {"strides_ = {1,1,2,2};padding_ = SAME;data_format_ = NCHW;", {1, 2, 3, 3}, {2, 3, 2, 2}, {1, 4, 2, 2}},
};
const Config kBodies[] = {
    {"strides_ = {1,1,1,1,1};padding_ = VALID;", {1, 2, 3, 2, 2}, {2, 2, 1, 2, 1}, {1, 1, 2, 2, 1}},
    {"strides_ = {1,2,1,2,1};padding_ = SAME;", {1, 3, 2, 3, 1}, {2, 2, 3, 1, 2}, {1, 2, 2, 2, 2}},
    {"strides_ = {1,1,1,1,1};padding_ = SAME;dilations_ = {1,2,1,1,1};", {1, 4, 2, 1, 1}, {2, 2, 1, 1, 2}, {1, 4, 2, 1, 2}},
    {"strides_ = {1,1,1,1,2};padding_ = VALID;data_format_ = NCDHW;", {1, 2, 2, 2, 3}, {1, 2, 2, 1, 2}, {1, 2, 2, 1, 1}},  // two groups
};

Fill Sizes(const Shape& shape) { return Ints({shape.dims().begin(), shape.dims().end()}); }

/// The convolution `name` and its gradients: `version` ends the names of those that take sizes.
void AddConvolutions(std::vector<GradientRow>& rows, const std::string& name, const std::string& version, const Config& c) {
  const std::vector<Fill> input{Any(c.input)}, filter{Any(c.filter)}, output{Any(c.output)};
  const std::string by_input = name + "BackpropInput", by_filter = name + "BackpropFilter";
  rows.push_back({name, c.attrs, {{"input", input}, {"filter", filter}}});
  rows.push_back({by_input + version, c.attrs, {{"input_sizes", {Sizes(c.input)}}, {"filter", filter}, {"out_backprop", output}}});
  rows.push_back({by_input + "Like", c.attrs, {{"like", input}, {"filter", filter}, {"out_backprop", output}}});
  rows.push_back({by_filter + version, c.attrs, {{"input", input}, {"filter_sizes", {Sizes(c.filter)}}, {"out_backprop", output}}});
  rows.push_back({by_filter + "Like", c.attrs, {{"input", input}, {"like", filter}, {"out_backprop", output}}});
}

}  // namespace

std::vector<GradientRow> ConvolutionGradients() {
  std::vector<GradientRow> rows;
  for (const Config& c : kConfigs) AddConvolutions(rows, "Conv2D", "", c);
  for (const Config& c : kDepthwise) AddConvolutions(rows, "DepthwiseConv2dNative", "", c);
  for (const Config& c : kBodies) AddConvolutions(rows, "Conv3D", "V2", c);
  return rows;
}

TEST_CASE("Gradients of convolutions agree with finite differences", "[gradients]") { CheckRows(ConvolutionGradients()); }

}  // namespace weft::kit
