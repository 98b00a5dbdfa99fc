// Gradients of resizing, crops and colours, and of dealing rows out. Resized pictures and crops are floats, whatever they are made of: their
// differences are rough.
#include <catch2/catch.hpp>

#include "tests/blocks/gradient_tables.h"

namespace weft::kit {
namespace {

using Types = GradientRow::Types;

constexpr double kRough = 4e-3;

void AddResizing(std::vector<GradientRow>& rows) {
  const std::pair<Shape, std::vector<int32_t>> sizes[] = {{{1, 3, 2, 2}, {5, 4}}, {{2, 4, 5, 1}, {2, 3}}, {{1, 2, 3, 3}, {1, 1}}, {{1, 1, 1, 2}, {2, 3}}};
  for (const char* attrs : {"", "align_corners_ = true;", "half_pixel_centers_ = true;"}) {
    for (const auto& [shape, size] : sizes) {
      for (const char* block : {"ResizeBilinear", "ResizeBicubic"}) {
        GradientRow row{block, attrs, {{"images", {Any(shape)}}, {"size", {Ints(size)}}}, Types::kReal, 1};
        row.bound = row.float_bound = kRough;
        rows.push_back(std::move(row));
      }
      rows.push_back({"ResizeNearestNeighbor", attrs, {{"images", {Any(shape)}}, {"size", {Ints(size)}}}, Types::kReal, 1});
    }
  }
}

void AddCrops(std::vector<GradientRow>& rows) {
  // Their sample points keep away from the middles of pixels, where the mixture has kinks.
  const Fill boxes = Value(Tensor::Of<float>({0.1f, 0.15f, 0.83f, 0.9f, 0.9f, 0.35f, 0.2f, 1.4f}, Shape{2, 4}));
  const Fill numbers = Value(Tensor::Of<int32_t>({1, 0}, Shape{2}));
  for (const char* attrs : {"extrapolation_value_ = 0.5;", "method_ = nearest;"}) {
    GradientRow row{"CropAndResize", attrs,
                    {{"image", {Any({2, 4, 5, 2})}}, {"boxes", {boxes}}, {"box_ind", {numbers}}, {"crop_size", {Ints({3, 2})}}}, Types::kReal, 1};
    row.fixed = {"boxes"};
    row.bound = row.float_bound = kRough;
    rows.push_back(std::move(row));
  }
}

void AddRows(std::vector<GradientRow>& rows) {
  const Fill dealt = Value(Tensor::Of<int32_t>({1, 0, 1, 1, 0}, Shape{5}));
  rows.push_back({"DynamicPartition", "num_partitions_ = 2;", {{"data", {Any({5, 2})}}, {"partitions", {dealt}}}, Types::kBoth, 2,
                  {"outputs[0]", "outputs[1]"}});
  rows.push_back({"DynamicPartition", "num_partitions_ = 3;", {{"data", {Any({5})}}, {"partitions", {dealt}}}, Types::kBoth, 2, {"outputs[1]"}});
  const Fill first = Value(Tensor::Of<int32_t>({3, 0}, Shape{2})), second = Value(Tensor::Of<int32_t>({1, 4, 5, 2}, Shape{2, 2}));
  rows.push_back({"DynamicStitch", "", {{"indices", {first, second}}, {"data", {Any({2, 3}), Any({2, 2, 3})}}}, Types::kBoth});
}

/// Colours with each order of their channels.
PageFunction Hues(DType dtype) {
  const Shape shape{6, 3};
  const std::vector<complex128> colours{0.9, 0.2, 0.4, 0.8, 0.5, 0.1, 0.1, 0.8, 0.3, 0.45, 0.7, 0.15, 0.2, 0.35, 0.95, 0.6, 0.25, 0.75};
  PageFunction f;
  f.xs = {AddConst(f.page, "x", FromNumbers(dtype, shape, colours))};
  AddBlock(f.page, "hsv", "RGBToHSV", {{"images", {f.xs[0]}}});
  f.ys = {"hsv.output"};
  return f;
}

}  // namespace

std::vector<GradientRow> ImageGradients() {
  std::vector<GradientRow> rows;
  AddResizing(rows);
  AddCrops(rows);
  AddRows(rows);
  GradientRow hues{"RGBToHSV", "", {}};
  hues.page = Hues;
  hues.bound = 1e-7;
  hues.float_bound = 1e-3;
  rows.push_back(std::move(hues));
  return rows;
}

TEST_CASE("Gradients of pictures and of rows dealt out agree with finite differences", "[gradients]") { CheckRows(ImageGradients()); }

}  // namespace weft::kit
