// Gradients of element-wise functions, choices and activations.
#include <catch2/catch.hpp>

#include "tests/blocks/gradient_tables.h"

namespace weft::kit {
namespace {

using Types = GradientRow::Types;

const Shape kShapes[] = {{}, {5}, {2, 3}, {0, 2}};
const std::pair<Shape, Shape> kStretched[] = {{{2, 3}, {2, 3}}, {{2, 3}, {3}}, {{2, 1}, {1, 3}}, {{}, {2, 2}},
                                              {{2, 1, 3}, {4, 1}}, {{3}, {}}, {{0, 3}, {3}}};

Fill Flags(std::initializer_list<bool> values, Shape shape) { return Value(Tensor::Of<bool>(values, std::move(shape))); }

void AddFloatFunctions(std::vector<GradientRow>& rows) {
  for (const Shape& shape : kShapes) {
    for (const char* block : {"Exp", "Expm1", "Cosh", "Sinh", "Sin", "Cos"}) {
      rows.push_back({block, "", {{"x", {Any(shape)}}}, Types::kBoth, 3});
    }
    for (const char* block : {"Log1p", "Sqrt", "Rsqrt"}) rows.push_back({block, "", {{"x", {Positive(shape)}}}, Types::kBoth, 3});
    rows.push_back({"Atan", "", {{"x", {Apart(shape)}}}, Types::kBoth});
    // Small numbers: far from poles and inside of -1 and 1.
    for (const char* block : {"Tan", "Asin", "Acos"}) rows.push_back({block, "", {{"x", {Distinct(shape)}}}, Types::kBoth});
    for (const char* block : {"SqrtGrad", "RsqrtGrad"}) {
      rows.push_back({block, "", {{"y", {Apart(shape)}}, {"dy", {Any(shape)}}}, Types::kBoth, 3});
    }
    // The gradient of Sign is 0, which is not the truth for complex numbers.
    for (const char* block : {"Abs", "Sign"}) rows.push_back({block, "", {{"x", {Apart(shape)}}}});
    rows.push_back({"ComplexAbs", "Tout_ = $REAL;", {{"x", {Apart(shape)}}}, Types::kComplex});
  }
}

void AddFloatActivations(std::vector<GradientRow>& rows) {
  for (const Shape& shape : kShapes) {
    for (const char* block : {"Elu", "Softplus"}) rows.push_back({block, "", {{"features", {Any(shape)}}}, Types::kReal, 3});
    rows.push_back({"Relu6", "", {{"features", {Any(shape)}}}});
    rows.push_back({"Softsign", "", {{"features", {Any(shape)}}}, Types::kReal, 1});
    rows.push_back({"EluGrad", "", {{"gradients", {Any(shape)}}, {"outputs", {Any(shape)}}}});
    for (const char* block : {"Relu6Grad", "SoftplusGrad"}) {
      rows.push_back({block, "", {{"gradients", {Any(shape)}}, {"features", {Any(shape)}}}, Types::kReal, 3});
    }
  }
}

void AddPairs(std::vector<GradientRow>& rows) {
  for (const auto& [a, b] : kStretched) {
    // Distinct numbers lie between the others: no ties.
    for (const char* block : {"Maximum", "Minimum"}) rows.push_back({block, "", {{"x", {Distinct(a)}}, {"y", {Any(b)}}}});
    rows.push_back({"Pow", "", {{"x", {Positive(a)}}, {"y", {Any(b)}}}, Types::kBoth});
    rows.push_back({"Atan2", "", {{"y", {Apart(a)}}, {"x", {Apart(b)}}}});
    rows.push_back({"DivNoNan", "", {{"x", {Any(a)}}, {"y", {Apart(b)}}}, Types::kBoth});
    // Complex: without the conjugate that the truth has.
    rows.push_back({"SquaredDifference", "", {{"x", {Any(a)}}, {"y", {Any(b)}}}});
    // Small against the divisor, so that the floor of the quotient does not change.
    rows.push_back({"FloorMod", "", {{"x", {Distinct(a)}}, {"y", {Apart(b)}}}});
  }
  // One operand only.
  rows.push_back({"Pow", "", {{"x", {Positive({2, 3})}}, {"y", {Any({})}}}, Types::kBoth, 2, {}, {"y"}});
  rows.push_back({"Pow", "", {{"x", {Positive({2, 3})}}, {"y", {Any({3})}}}, Types::kBoth, 2, {}, {"x"}});
  rows.push_back({"Maximum", "", {{"x", {Distinct({2, 3})}}, {"y", {Any({})}}}, Types::kReal, 2, {}, {"y"}});
  for (const Shape& shape : {Shape{3}, Shape{2, 3}, Shape{2, 1, 3}, Shape{0, 3}}) {
    rows.push_back({"Cross", "", {{"a", {Any(shape)}}, {"b", {Any(shape)}}}, Types::kReal, 3});
  }
}

void AddPairChoices(std::vector<GradientRow>& rows) {
  const auto choose = [&](const Fill& condition, const Shape& t, const Shape& e) {
    rows.push_back({"SelectV2", "", {{"condition", {condition}}, {"t", {Any(t)}}, {"e", {Any(e)}}}, Types::kBoth});
  };
  choose(Flags({true}, {}), {2, 3}, {2, 3});
  choose(Flags({true, false, true}, {3}), {2, 3}, {2, 1});
  choose(Flags({true, false}, {2, 1}), {3}, {});
  choose(Flags({true, false}, {2, 1}), {}, {4, 1, 3});
  choose(Flags({}, {0}), {1}, {});
  const auto where = [&](const Fill& condition, const Shape& shape) {
    rows.push_back({"Where3", "", {{"condition", {condition}}, {"x", {Any(shape)}}, {"y", {Any(shape)}}}, Types::kBoth});
  };
  where(Flags({false}, {}), {2, 3});
  where(Flags({true, false}, {2}), {2, 3});
  where(Flags({true, false, false, true}, {2, 2}), {2, 2});
  where(Flags({}, {0}), {0, 2});
}

/// A gradient is asked for beside PreventGradient, not through it.
PageFunction BesidePreventGradient(DType dtype) {
  PageFunction f;
  const std::string x = AddConst(f.page, "x", MakeValues(Any({2, 3}), dtype, 1));
  const std::string c = AddConst(f.page, "c", MakeValues(Any({3}), dtype, 2));
  AddBlock(f.page, "held", "PreventGradient", {{"input", {c}}});
  AddBlock(f.page, "product", "Multiply", {{"x", {x}}, {"y", {"held.output"}}});
  f.ys = {"product.z"};
  f.xs = {x};
  return f;
}

void AddPassages(std::vector<GradientRow>& rows) {
  rows.push_back({"CheckNumerics", "message_ = here;", {{"tensor", {Any({2, 3})}}}});
  rows.push_back({"DebugGradientIdentity", "", {{"input", {Any({2, 3})}}}, Types::kBoth});
  GradientRow beside{"PreventGradient", "", {}, Types::kBoth};
  beside.page = BesidePreventGradient;
  rows.push_back(std::move(beside));
}

}  // namespace

std::vector<GradientRow> ElementwiseGradients() {
  std::vector<GradientRow> rows;
  AddFloatFunctions(rows);
  AddFloatActivations(rows);
  AddPairs(rows);
  AddPairChoices(rows);
  AddPassages(rows);
  return rows;
}

TEST_CASE("Gradients of element-wise blocks agree with finite differences", "[gradients]") { CheckRows(ElementwiseGradients()); }

}  // namespace weft::kit
