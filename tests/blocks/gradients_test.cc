// Every block that declares a gradient is in one of the tables; and the check itself finds what is wrong.
#include <catch2/catch.hpp>
#include <set>

#include "tests/blocks/gradient_tables.h"
#include "tests/kit/block_tester.h"

namespace weft::kit {

TEST_CASE("Every block with a gradient is checked against finite differences", "[gradients]") {
  // Its numbers jump with alpha; random_bits_test.cc compares its gradient with the distribution's quantiles.
  // Quantized values are stairs; their gradients, those of the numbers before, are in the page cases. FractionalAvgPoolGradLike reads a shape
  // alone, and has none by the rest: a page case, too.
  std::set<std::string> checked = {"RandomGamma", "FractionalAvgPoolGradLike", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars",
                                   "FakeQuantWithMinMaxVarsPerChannel", "QuantizeAndDequantizeV2"};
  for (const auto& rows : {MathGradients(), ElementwiseGradients(), ArrayGradients(), MoveGradients(), IndexingGradients(),
                           NetworkGradients(), ConvolutionGradients(), PoolingGradients(), NormGradients(), ReductionGradients(),
                           SpecialGradients(), SparseGradients(), ImageGradients(), TensorArrayGradients()}) {
    for (const GradientRow& row : rows) checked.insert(row.block);
  }
  for (const auto& def : Catalog().blocks()) {
    INFO(def->name << " has a gradient: add it to a table in tests/blocks/gradients_*_test.cc");
    if (def->gradient != nullptr) CHECK(checked.contains(def->name));
    else CHECK_FALSE(checked.contains(def->name));
  }
}

TEST_CASE("A wrong gradient is found, and said where", "[gradients]") {
  // Cross entropy's gradient leaves out the way from labels through backprop.
  const PageFunction function =
      BlockFunction(Catalog(), {.block = "SoftmaxCrossEntropyWithLogits",
                                .attrs = "",
                                .inputs = {{"features", {Tensor::Of<double>({0.5, -0.25, 1.0}, Shape{1, 3})}},
                                           {"labels", {Tensor::Of<double>({0.25, 0.5, 0.25}, Shape{1, 3})}}},
                                .ys = {"backprop"}});
  const GradientReport report = CheckGradient(GradientRuntime(), function, {.orders = 1});
  CHECK(report.status.ok());
  CHECK(report.elements == 6);
  CHECK(report.error > 0.1);
  CHECK(report.where.find("in_labels_0") != std::string::npos);
}

TEST_CASE("A page that does not open is reported", "[gradients]") {
  const PageFunction function = BlockFunction(Catalog(), {.block = "Square", .attrs = "", .inputs = {{"y", {Tensor::Scalar(1.0)}}}});
  CHECK_FALSE(CheckGradient(GradientRuntime(), function).status.ok());
}

}  // namespace weft::kit
