// Gradients of batch normalisation. The blocks compute in float, half or bfloat16 only, whose own differences are too rough: they are
// compared with differences of the same formula in double, put together of basic blocks (whose gradients are checked against differences
// on the way).
#include <catch2/catch.hpp>

#include "tests/blocks/gradient_tables.h"

namespace weft::kit {
namespace {

using Types = GradientRow::Types;

struct NormConfig {
  int version = 1;
  bool training = true;
  const char* layout = "NHWC";
  Shape shape{2, 3, 2, 2};
  const char* more = "";  // attributes of the forward block

  bool channels_first() const { return layout[1] == 'C'; }
  int channel_axis() const { return channels_first() ? 1 : shape.rank() - 1; }
  std::string suffix() const { return version == 1 ? "" : Cat("V", version); }
  std::string attrs() const { return Cat("epsilon_ = 0.0078125;data_format_ = ", layout, ";is_training_ = ", training, ";"); }
};

Shape PerChannel(const NormConfig& c) { return {c.shape[c.channel_axis()]}; }

/// The constants of both pages; scale and statistics are in `wide` where the block takes float for them.
void AddConstants(PageFunction& f, const NormConfig& c, DType dtype, bool backward) {
  const DType wide = dtype == DType::kDouble ? dtype : DType::kFloat;
  AddConst(f.page, "x", MakeValues(Any(c.shape), dtype, 1));
  AddConst(f.page, "scale", MakeValues(Any(PerChannel(c)), wide, 2));
  AddConst(f.page, "offset", MakeValues(Any(PerChannel(c)), wide, 3));
  AddConst(f.page, "mean", MakeValues(Any(PerChannel(c)), wide, 4));
  AddConst(f.page, "variance", MakeValues(Positive(PerChannel(c)), wide, 5));
  if (backward) AddConst(f.page, "dy", MakeValues(Any(c.shape), dtype, 6));
  f.xs = {"x.output", "scale.output", backward ? "dy.output" : "offset.output"};
}

/// A vector per channel, stretched along the other axes.
std::string Stretched(Page& page, const NormConfig& c, const std::string& id) {
  if (!c.channels_first()) return id + ".output";
  std::vector<int32_t> sizes(static_cast<size_t>(c.shape.rank() - 1), 1);
  sizes[0] = static_cast<int32_t>(c.shape[1]);
  AddBlock(page, id + "_stretched", "Reshape", {{"tensor", {id + ".output"}}, {"shape", {Ints(sizes).fixed}}});
  return id + "_stretched.output";
}

/// (x - mean) / sqrt(variance + epsilon) * scale + offset; gives the wire of it.
std::string AddFormula(Page& page, const NormConfig& c) {
  std::vector<int32_t> others;
  for (int32_t i = 0; i < c.shape.rank(); ++i) {
    if (i != c.channel_axis()) others.push_back(i);
  }
  const Tensor axes = Ints(others).fixed;
  const auto two = [&](const char* id, const char* block, PageItem x, PageItem y) { AddBlock(page, id, block, {{"x", {x}}, {"y", {y}}}); };
  const auto one = [&](const char* id, const char* block, PageItem x) { AddBlock(page, id, block, {{"x", {x}}}); };
  std::string mean, variance;
  if (c.training) {
    AddBlock(page, "batch_mean", "Mean", {{"input", {"x.output"}}, {"axis", {axes}}}, "keep_dims_ = true;");
    mean = "batch_mean.output";
  } else {
    mean = Stretched(page, c, "mean");
  }
  two("centred", "Subtract", "x.output", mean);
  if (c.training) {
    one("squares", "Square", "centred.z");
    AddBlock(page, "batch_variance", "Mean", {{"input", {"squares.y"}}, {"axis", {axes}}}, "keep_dims_ = true;");
    variance = "batch_variance.output";
  } else {
    variance = Stretched(page, c, "variance");
  }
  // v ^ -1/2 = exp(a) = sigmoid(a) / sigmoid(-a) for a = -1/2 log v
  two("spread", "Add", variance, Tensor::Scalar(0.0078125));
  one("log", "Log", "spread.z");
  two("up", "Multiply", "log.y", Tensor::Scalar(0.5));
  one("down", "Negate", "up.z");
  one("sigmoid_down", "Sigmoid", "down.y");
  one("sigmoid_up", "Sigmoid", "up.z");
  two("reciprocal", "Div", "sigmoid_down.y", "sigmoid_up.y");
  two("normal", "Multiply", "centred.z", "reciprocal.z");
  two("scaled", "Multiply", "normal.z", Stretched(page, c, "scale"));
  two("y", "Add", "scaled.z", Stretched(page, c, "offset"));
  return "y.z";
}

PageFunction Formula(const NormConfig& c, bool backward) {
  PageFunction f;
  AddConstants(f, c, DType::kDouble, backward);
  const std::string y = AddFormula(f.page, c);
  f.ys = {y};
  if (!backward) return f;
  AddBlock(f.page, "seen", "Multiply", {{"x", {y}}, {"y", {"dy.output"}}});
  AddBlock(f.page, "back", "AddSymbolicGradients", {{"outputs", {"seen.z"}}, {"inputs", {"x.output", "scale.output", "offset.output"}}});
  f.ys = {"back.grad_outputs[0]", "back.grad_outputs[1]", "back.grad_outputs[2]"};
  return f;
}

PageFunction Blocks(const NormConfig& c, DType dtype, bool backward) {
  PageFunction f;
  AddConstants(f, c, dtype, backward);
  AddBlock(f.page, "y", "FusedBatchNorm" + c.suffix(),
           {{"x", {"x.output"}}, {"scale", {"scale.output"}}, {"offset", {"offset.output"}}, {"mean", {"mean.output"}},
            {"variance", {"variance.output"}}},
           c.attrs() + c.more);
  f.ys = {"y.y"};
  if (!backward) return f;
  PageInputs inputs{{"y_backprop", {"dy.output"}},
                    {"x", {"x.output"}},
                    {"scale", {"scale.output"}},
                    {"reserve_space_1", {c.training ? "y.reserve_space_1" : "mean.output"}},
                    {"reserve_space_2", {c.training ? "y.reserve_space_2" : "variance.output"}}};
  if (c.version == 3) inputs.emplace_back("reserve_space_3", std::vector<PageItem>{"y.reserve_space_3"});
  AddBlock(f.page, "back", Cat("FusedBatchNormGrad", c.suffix()), std::move(inputs), c.attrs());
  f.ys = {"back.x_backprop", "back.scale_backprop", "back.offset_backprop"};
  return f;
}

std::vector<NormConfig> NormConfigs() {
  std::vector<NormConfig> configs;
  for (int version = 1; version <= 3; ++version) {
    for (const bool training : {true, false}) {
      configs.push_back({version, training});
      configs.push_back({version, training, "NCHW", {2, 2, 3, 2}});
      configs.push_back({version, training, "NHWC", {1, 1, 4, 3}});
      if (version < 3) continue;
      configs.push_back({version, training, "NDHWC", {2, 1, 2, 2, 2}});
      configs.push_back({version, training, "NCDHW", {2, 2, 1, 2, 2}});
    }
    configs.push_back({version, true, "NHWC", {2, 2, 2, 1}, "exponential_avg_factor_ = 0.5;"});
  }
  return configs;
}

}  // namespace

std::vector<GradientRow> NormGradients() {
  std::vector<GradientRow> rows;
  for (const NormConfig& c : NormConfigs()) {
    for (const bool backward : {false, true}) {
      // The second order is one block, which has no gradient of its own.
      const char* block = backward ? "FusedBatchNormGrad" : "FusedBatchNorm";
      GradientRow row{block + c.suffix(), c.attrs() + c.more, {}, Types::kReal, backward ? 1 : 2};
      row.page = [c, backward](DType dtype) { return dtype == DType::kDouble ? Formula(c, backward) : Blocks(c, dtype, backward); };
      row.bound = 1e-8;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

TEST_CASE("Gradients of batch normalisation agree with differences of its formula", "[gradients]") { CheckRows(NormGradients()); }

TEST_CASE("Gradients of batch normalisation in half and bfloat16", "[gradients]") {
  for (const NormConfig& c : NormConfigs()) {
    if (c.version == 1) continue;
    const PageFunction exact = Formula(c, false);
    for (const auto& [dtype, bound] : {std::pair(DType::kHalf, 4e-3), std::pair(DType::kBFloat16, 3e-2)}) {
      const GradientReport report = CheckGradient(GradientRuntime(), Blocks(c, dtype, false), {.orders = 1, .exact = &exact});
      INFO(c.attrs() << " in " << ToString(dtype) << "\n" << ToString(report.status) << "\n" << report.where);
      CHECK(report.status.ok());
      CHECK(report.error <= bound);
    }
  }
}

}  // namespace weft::kit
