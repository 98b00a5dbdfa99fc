// Gradients of reductions, running sums, segments, products of matrices and choices.
#include <catch2/catch.hpp>

#include "tests/blocks/gradient_tables.h"

namespace weft::kit {
namespace {

using Types = GradientRow::Types;

constexpr const char* kKeep[] = {"keep_dims_ = false;", "keep_dims_ = true;"};

void AddReductions(std::vector<GradientRow>& rows) {
  const std::vector<std::vector<int32_t>> axes = {{}, {1}, {-1}, {0, 2}, {2, 1}, {0, 1, 2}};
  for (const char* keep : kKeep) {
    for (const auto& some : axes) {
      for (const char* block : {"Max", "Min"}) rows.push_back({block, keep, {{"input", {Distinct({2, 3, 2})}}, {"axis", {Ints(some)}}}});
      rows.push_back({"Prod", keep, {{"input", {Any({2, 3, 2})}}, {"axis", {Ints(some)}}}, Types::kBoth});
    }
    rows.push_back({"Prod", keep, {{"input", {Any({0, 3})}}, {"axis", {Ints({0})}}}, Types::kBoth});
    rows.push_back({"Max", keep, {{"input", {Any({3, 0})}}, {"axis", {Ints({0})}}}});
  }
  // Zeros in a row: the product of the others is right, and so is its own gradient.
  const Fill zeros = Value(Tensor::Of<double>({0, 2, 3, 0, 5, 0}, Shape{2, 3}));
  rows.push_back({"Prod", "", {{"input", {zeros}}, {"axis", {Ints({1})}}}, Types::kReal, 3});
  rows.push_back({"FoldAxes", "", {{"input", {Any({2, 3, 2})}}, {"axis", {Ints({1})}}}, Types::kBoth});
  rows.push_back({"UnfoldAxes", "", {{"matrix", {Any({3, 4})}}, {"like", {Any({2, 3, 2})}}, {"axis", {Ints({1})}}}, Types::kBoth});
}

void AddScans(std::vector<GradientRow>& rows) {
  const std::pair<Shape, int32_t> cases[] = {{{4}, 0}, {{2, 3}, -1}, {{3, 2}, 0}, {{2, 3, 2}, 1}, {{0, 2}, 1}};
  for (const auto& [shape, axis] : cases) {
    const Fill at = Value(Tensor::Scalar<int32_t>(axis));
    for (const bool reverse : {false, true}) {
      for (const bool exclusive : {false, true}) {
        const std::string attrs = Cat("exclusive_ = ", exclusive, ";reverse_ = ", reverse, ";");
        for (const char* block : {"Cumsum", "Cumprod"}) {
          rows.push_back({block, attrs, {{"x", {Any(shape)}}, {"axis", {at}}}, Types::kBoth, 3});
        }
      }
      const std::string attrs = Cat("reverse_ = ", reverse, ";");
      rows.push_back({"ProductScan", attrs, {{"x", {Any(shape)}}, {"y", {Any(shape)}}, {"axis", {at}}}, Types::kBoth, 3});
    }
  }
}

void AddSegments(std::vector<GradientRow>& rows) {
  const Fill sorted = Ints({0, 0, 2, 2, 2}), mixed = Ints({3, 0, -1, 3, 1}), picked = Ints({2, 0, 2, 1, 2});
  for (const Shape& shape : {Shape{5}, Shape{5, 2}, Shape{5, 0}}) {
    for (const char* block : {"SegmentMax", "SegmentMin"}) {
      rows.push_back({block, "", {{"data", {Distinct(shape)}}, {"segment_ids", {sorted}}}});
    }
    for (const char* block : {"SegmentSum", "SegmentMean", "SegmentProd"}) {
      rows.push_back({block, "", {{"data", {Any(shape)}}, {"segment_ids", {sorted}}}, Types::kBoth});
    }
    const Fill count = Value(Tensor::Scalar<int32_t>(4));
    rows.push_back({"UnsortedSegmentSum", "", {{"data", {Any(shape)}}, {"segment_ids", {mixed}}, {"num_segments", {count}}}, Types::kBoth});
    // All segments have rows: the lowest float is too far away for differences.
    rows.push_back({"UnsortedSegmentMax", "", {{"data", {Distinct(shape)}}, {"segment_ids", {Ints({2, 0, -1, 2, 1})}},
                                               {"num_segments", {Value(Tensor::Scalar<int32_t>(3))}}}});
    Shape few = shape;
    few.set_dim(0, 3);
    for (const char* block : {"SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"}) {
      rows.push_back({block, "", {{"data", {Any(few)}}, {"indices", {picked}}, {"segment_ids", {sorted}}}});
    }
    for (const char* scale : {"one", "mean", "sqrt_n"}) {
      const std::string attrs = Cat("scale_ = ", scale, ";");
      rows.push_back({"SegmentSumLike", attrs, {{"data", {Any(shape)}}, {"segment_ids", {mixed}}, {"like", {Any(few)}}}, Types::kBoth});
      rows.push_back({"SegmentSpread", attrs, {{"values", {Any(few)}}, {"segment_ids", {mixed}}}, Types::kBoth});
    }
  }
}

void AddMatrixProducts(std::vector<GradientRow>& rows) {
  const std::pair<Shape, Shape> batches[] = {{{}, {}}, {{2}, {2}}, {{2}, {}}, {{}, {2}}, {{2, 1}, {3}}, {{1, 2}, {2, 1}}, {{0}, {0}}};
  const auto shape = [](const Shape& batch, int64_t r, int64_t c, bool turned) {
    std::vector<int64_t> dims(batch.dims().begin(), batch.dims().end());
    dims.push_back(turned ? c : r);
    dims.push_back(turned ? r : c);
    return Shape(std::span<const int64_t>(dims));
  };
  for (const bool ax : {false, true}) {
    for (const bool ay : {false, true}) {
      const std::string attrs = Cat("adj_x_ = ", ax, ";adj_y_ = ", ay, ";");
      for (const auto& [bx, by] : batches) {
        const Fill x = Any(shape(bx, 2, 3, ax)), y = Any(shape(by, 3, 2, ay));
        rows.push_back({"BatchMatMulV2", attrs, {{"x", {x}}, {"y", {y}}}, Types::kBoth});
        if (bx == by) rows.push_back({"BatchMatMul", attrs, {{"x", {x}}, {"y", {y}}}, Types::kBoth});
      }
    }
  }
}

/// SparseMatMul in float; in double a MatMul.
PageFunction SparseProduct(DType dtype, bool ta, bool tb) {
  PageFunction f;
  f.xs = {AddConst(f.page, "a", MakeValues(Any(ta ? Shape{3, 2} : Shape{2, 3}), dtype, 1)),
          AddConst(f.page, "b", MakeValues(Any(tb ? Shape{2, 3} : Shape{3, 2}), dtype, 2))};
  AddBlock(f.page, "product", dtype == DType::kFloat ? "SparseMatMul" : "MatMul", {{"a", {f.xs[0]}}, {"b", {f.xs[1]}}},
           Cat("transpose_a_ = ", ta, ";transpose_b_ = ", tb, ";"));
  f.ys = {"product.product"};
  return f;
}

/// LRN in float; in double the same of other blocks, the windows as a matrix of ones near its diagonal.
PageFunction Response(DType dtype, int64_t radius, float beta) {
  PageFunction f;
  f.xs = {AddConst(f.page, "x", MakeValues(Any({1, 1, 2, 5}), dtype, 1))};
  if (dtype == DType::kFloat) {
    AddBlock(f.page, "lrn", "LRN", {{"input", {f.xs[0]}}}, Cat("depth_radius_ = ", radius, ";bias_ = 2;alpha_ = 0.5;beta_ = ", beta, ";"));
    f.ys = {"lrn.output"};
    return f;
  }
  Tensor band = Tensor::Allocate(dtype, Shape{5, 5}).value();
  for (int64_t i = 0; i < 25; ++i) band.values<double>()[i] = std::abs(i / 5 - i % 5) <= radius ? 0.5 : 0.0;
  AddBlock(f.page, "squares", "Square", {{"x", {f.xs[0]}}});
  AddBlock(f.page, "sums", "BatchMatMulV2", {{"x", {"squares.y"}}, {"y", {band}}});
  AddBlock(f.page, "norms", "AddV2", {{"x", {"sums.output"}}, {"y", {Tensor::Scalar(2.0)}}});
  AddBlock(f.page, "powers", "Pow", {{"x", {"norms.z"}}, {"y", {Tensor::Scalar(-static_cast<double>(beta))}}});
  AddBlock(f.page, "result", "Multiply", {{"x", {f.xs[0]}}, {"y", {"powers.z"}}});
  f.ys = {"result.z"};
  return f;
}

void AddPages(std::vector<GradientRow>& rows) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      GradientRow row{"SparseMatMul", Cat(ta, " ", tb), {}};
      row.page = [ta, tb](DType dtype) { return SparseProduct(dtype, ta, tb); };
      rows.push_back(row);
    }
  }
  const std::pair<int64_t, float> windows[] = {{0, 0.5f}, {1, 1.0f}, {2, 0.75f}, {9, 0.5f}};
  for (const auto& [radius, beta] : windows) {
    GradientRow row{"LRN", Cat("radius ", radius), {}};
    row.orders = 1;
    row.page = [radius = radius, beta = beta](DType dtype) { return Response(dtype, radius, beta); };
    rows.push_back(row);
  }
}

void AddChosenRows(std::vector<GradientRow>& rows) {
  for (const char* block : {"TopK", "TopKV2"}) {
    for (const int32_t k : {0, 2, 4}) {
      const Fill count = Value(Tensor::Scalar(k));
      rows.push_back({block, "", {{"input", {Distinct({2, 4})}}, {"k", {count}}}, Types::kReal, 2, {"values"}});
    }
  }
  const Fill places = Value(Tensor::Of<int32_t>({3, 0, 1, 2}, Shape{2, 2}));
  rows.push_back({"ScatterLast", "", {{"grad", {Any({2, 2})}}, {"indices", {places}}, {"like", {Any({2, 4})}}}});
  rows.push_back({"GatherLast", "", {{"values", {Any({2, 4})}}, {"indices", {places}}}});
  const Fill labels = Ints({2, 0, 1});
  for (const std::vector<std::string>& ys : {std::vector<std::string>{}, {"loss"}, {"backprop"}}) {
    rows.push_back({"SparseSoftmaxCrossEntropyWithLogits", "", {{"features", {Any({3, 4})}}, {"labels", {labels}}}, Types::kReal, 2, ys});
  }
}

}  // namespace

std::vector<GradientRow> ReductionGradients() {
  std::vector<GradientRow> rows;
  AddReductions(rows);
  AddScans(rows);
  AddSegments(rows);
  AddMatrixProducts(rows);
  AddPages(rows);
  AddChosenRows(rows);
  return rows;
}

TEST_CASE("Gradients of reductions, segments and products agree with finite differences", "[gradients]") {
  CheckRows(ReductionGradients());
}

}  // namespace weft::kit
