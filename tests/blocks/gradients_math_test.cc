// Gradients of arithmetic, functions, reductions and products.
#include <catch2/catch.hpp>

#include "tests/blocks/gradient_tables.h"

namespace weft::kit {
namespace {

using Types = GradientRow::Types;

const Shape kComplexShapes[] = {{}, {5}, {2, 3}, {0, 2}};
const std::pair<Shape, Shape> kComplexPairs[] = {{{2, 3}, {2, 3}}, {{2, 3}, {3}}, {{2, 1}, {1, 3}}, {{}, {2, 2}}, {{2, 1, 3}, {4, 1}},
                                                 {{3}, {}},        {{}, {}},      {{0, 3}, {3}},    {{1}, {2, 0}}};

void AddComplexFunctions(std::vector<GradientRow>& rows) {
  for (const Shape& shape : kComplexShapes) {
    rows.push_back({"Log", "", {{"x", {Positive(shape)}}}, Types::kBoth, 3});
    rows.push_back({"Negate", "", {{"x", {Any(shape)}}}, Types::kBoth});
    rows.push_back({"Reciprocal", "", {{"x", {Apart(shape)}}}, Types::kBoth, 3});
    rows.push_back({"Sigmoid", "", {{"x", {Any(shape)}}}, Types::kBoth, 3});
    rows.push_back({"Square", "", {{"x", {Any(shape)}}}, Types::kBoth, 3});
    rows.push_back({"Tanh", "", {{"x", {Any(shape)}}}, Types::kBoth, 3});
    for (const char* block : {"SigmoidGrad", "TanhGrad", "ReciprocalGrad"}) {
      rows.push_back({block, "", {{"y", {Any(shape)}}, {"dy", {Any(shape)}}}, Types::kBoth, 3});
    }
    rows.push_back({"Conj", "", {{"input", {Any(shape)}}}, Types::kComplex});
    rows.push_back({"Real", "Tout_ = $REAL;", {{"input", {Any(shape)}}}, Types::kComplex});
    rows.push_back({"Imag", "Tout_ = $REAL;", {{"input", {Any(shape)}}}, Types::kComplex});
    rows.push_back({"Cast", "DstT_ = $REAL;", {{"x", {Any(shape)}}}, Types::kBoth});
    rows.push_back({"Cast", "DstT_ = $COMPLEX;", {{"x", {Any(shape)}}}, Types::kBoth});
  }
  rows.push_back({"Cast", "DstT_ = $REAL;Truncate_ = true;", {{"x", {Any({3})}}}, Types::kBoth});
}

void AddArithmetic(std::vector<GradientRow>& rows) {
  for (const auto& [a, b] : kComplexPairs) {
    for (const char* block : {"Add", "AddV2", "Subtract", "Multiply"}) {
      rows.push_back({block, "", {{"x", {Any(a)}}, {"y", {Any(b)}}}, Types::kBoth});
    }
    for (const char* block : {"Div", "RealDiv"}) rows.push_back({block, "", {{"x", {Any(a)}}, {"y", {Apart(b)}}}, Types::kBoth, 3});
    rows.push_back({"Complex", "Tout_ = $COMPLEX;", {{"real", {Any(a)}}, {"imag", {Any(b)}}}});
  }
  // One operand only.
  rows.push_back({"Multiply", "", {{"x", {Any({2, 3})}}, {"y", {Any({3})}}}, Types::kBoth, 2, {}, {"x"}});
  rows.push_back({"Div", "", {{"x", {Any({2, 3})}}, {"y", {Apart({3})}}}, Types::kBoth, 2, {}, {"x"}});
  rows.push_back({"Div", "", {{"x", {Any({2, 3})}}, {"y", {Apart({3})}}}, Types::kBoth, 2, {}, {"y"}});
  for (size_t count : {1, 2, 5}) rows.push_back({"AddN", "", {{"inputs", std::vector<Fill>(count, Any({2, 2}))}}, Types::kBoth});
  rows.push_back({"AddN", "", {{"inputs", {Any({}), Any({})}}}, Types::kBoth});
}

void AddComplexReductions(std::vector<GradientRow>& rows) {
  const std::vector<std::vector<int32_t>> axes = {{}, {0}, {1}, {-1}, {0, 2}, {2, 1}, {0, 1, 2}};
  for (const char* keep : {"keep_dims_ = false;", "keep_dims_ = true;"}) {
    for (const auto& some : axes) {
      for (const char* block : {"Sum", "Mean"}) {
        rows.push_back({block, keep, {{"input", {Any({2, 3, 2})}}, {"axis", {Ints(some)}}}, Types::kBoth});
      }
    }
    rows.push_back({"Sum", keep, {{"input", {Any({0, 3})}}, {"axis", {Ints({0})}}}, Types::kBoth});
    rows.push_back({"Mean", keep, {{"input", {Any({3, 0})}}, {"axis", {Ints({0})}}}, Types::kBoth});
    rows.push_back({"Mean", keep, {{"input", {Any({4})}}, {"axis", {Value(Tensor::Scalar<int64_t>(-1))}}}, Types::kBoth});
  }
  rows.push_back({"Sum", "", {{"input", {Any({})}}, {"axis", {Ints({})}}}, Types::kBoth});
  for (const char* mean : {"", "mean_ = true;"}) {
    rows.push_back({"SpreadLike", mean, {{"grad", {Any({3})}}, {"like", {Any({2, 3})}}, {"axis", {Ints({0})}}}, Types::kBoth});
    rows.push_back({"SpreadLike", Cat(mean, "keep_dims_ = true;"),
                    {{"grad", {Any({2, 1, 1})}}, {"like", {Any({2, 3, 2})}}, {"axis", {Ints({1, 2})}}}, Types::kBoth});
  }
}

void AddComplexProducts(std::vector<GradientRow>& rows) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const auto product = [&](int64_t n, int64_t k, int64_t m) {
        rows.push_back({"MatMul", Cat("transpose_a_ = ", ta, ";transpose_b_ = ", tb, ";"),
                        {{"a", {Any(ta ? Shape{k, n} : Shape{n, k})}}, {"b", {Any(tb ? Shape{m, k} : Shape{k, m})}}}, Types::kBoth, 3});
      };
      product(2, 3, 4);
      product(3, 1, 2);
      product(2, 0, 3);
      product(0, 2, 1);
    }
  }
  rows.push_back({"L2Loss", "", {{"t", {Any({2, 3})}}}});
  rows.push_back({"L2Loss", "", {{"t", {Any({})}}}});
  rows.push_back({"L2Loss", "", {{"t", {Any({0})}}}});
}

}  // namespace

std::vector<GradientRow> MathGradients() {
  std::vector<GradientRow> rows;
  AddComplexFunctions(rows);
  AddArithmetic(rows);
  AddComplexReductions(rows);
  AddComplexProducts(rows);
  return rows;
}

TEST_CASE("Gradients of mathematical blocks agree with finite differences", "[gradients]") { CheckRows(MathGradients()); }

}  // namespace weft::kit
