// Gradients of blocks that move, repeat and choose elements.
#include <catch2/catch.hpp>

#include "tests/blocks/gradient_tables.h"

namespace weft::kit {
namespace {

using Types = GradientRow::Types;

void AddMoves(std::vector<GradientRow>& rows) {
  rows.push_back({"Reshape", "", {{"tensor", {Any({2, 3})}}, {"shape", {Ints({3, 2})}}}, Types::kBoth});
  rows.push_back({"Reshape", "", {{"tensor", {Any({2, 3})}}, {"shape", {Ints({-1})}}}, Types::kBoth});
  rows.push_back({"Reshape", "", {{"tensor", {Any({1, 1})}}, {"shape", {Ints({})}}}, Types::kBoth});
  rows.push_back({"Reshape", "", {{"tensor", {Any({0, 3})}}, {"shape", {Ints({3, -1})}}}, Types::kBoth});
  rows.push_back({"ReshapeLike", "", {{"tensor", {Any({2, 3})}}, {"like", {Any({3, 2})}}}, Types::kBoth});
  rows.push_back({"ReshapeLike", "", {{"tensor", {Any({1})}}, {"like", {Any({})}}}, Types::kBoth});
  rows.push_back({"Identity", "", {{"input", {Any({2, 3})}}}, Types::kBoth});
  rows.push_back({"NextIteration", "", {{"data", {Any({2, 3})}}}, Types::kBoth});
  for (const char* block : {"Transpose", "TransposeBack"}) {
    rows.push_back({block, "", {{"x", {Any({2, 3})}}, {"perm", {Ints({1, 0})}}}, Types::kBoth});
    rows.push_back({block, "", {{"x", {Any({2, 3, 4})}}, {"perm", {Ints({1, 2, 0})}}}, Types::kBoth});
    rows.push_back({block, "", {{"x", {Any({2, 3, 2})}}, {"perm", {Ints({-1, 0, 1})}}}, Types::kBoth});
    rows.push_back({block, "", {{"x", {Any({2, 1, 3, 2})}}, {"perm", {Ints({3, 1, 0, 2})}}}, Types::kBoth});
    rows.push_back({block, "", {{"x", {Any({})}}, {"perm", {Ints({})}}}, Types::kBoth});
    rows.push_back({block, "", {{"x", {Any({0, 3})}}, {"perm", {Ints({1, 0})}}}, Types::kBoth});
  }
}

void AddStretches(std::vector<GradientRow>& rows) {
  const std::pair<Shape, Shape> stretched[] = {{{3}, {2, 3}}, {{2, 1}, {2, 3}}, {{}, {2, 2}}, {{1, 1, 2}, {3, 4, 2}}, {{2}, {2}},
                                               {{1}, {0}}};
  for (const auto& [small, large] : stretched) {
    rows.push_back({"BroadcastLike", "", {{"input", {Any(small)}}, {"like", {Any(large)}}}, Types::kBoth});
    rows.push_back({"SumLike", "", {{"grad", {Any(large)}}, {"like", {Any(small)}}}, Types::kBoth});
  }
  rows.push_back({"Fill", "", {{"dims", {Ints({2, 3})}}, {"value", {Any({})}}}, Types::kBoth});
  rows.push_back({"Fill", "", {{"dims", {Ints({})}}, {"value", {Any({})}}}, Types::kBoth});
  rows.push_back({"Fill", "", {{"dims", {Ints({2, 0})}}, {"value", {Any({})}}}, Types::kBoth});
}

Fill Places(std::initializer_list<int32_t> indices, Shape shape) { return Value(Tensor::Of<int32_t>(indices, std::move(shape))); }

void AddSparse(std::vector<GradientRow>& rows) {
  struct Config {
    Fill places;
    std::vector<int32_t> sizes;
    Shape values;
  };
  const Config configs[] = {{Places({1, 3, 4}, {3}), {6}, {3}},
                            {Places({0, 1, 1, 0, 1, 2}, {3, 2}), {2, 3}, {3}},
                            {Places({0, 1, 1, 0}, {2, 2}), {2, 3}, {}},
                            {Places({2}, {}), {4}, {}},
                            {Places({}, {0}), {3}, {0}}};
  for (const Config& c : configs) {
    const Fill sizes = Ints(c.sizes);
    const Shape dense(std::vector<int64_t>(c.sizes.begin(), c.sizes.end()));
    rows.push_back({"SparseToDense", "",
                    {{"sparse_indices", {c.places}}, {"output_shape", {sizes}}, {"sparse_values", {Any(c.values)}},
                     {"default_value", {Any({})}}},
                    Types::kBoth});
    rows.push_back({"SparseToDenseGrad", "",
                    {{"sparse_indices", {c.places}}, {"output_shape", {sizes}}, {"sparse_values", {Any(c.values)}}, {"grad", {Any(dense)}}},
                    Types::kBoth});
  }
  // The last value for a place counts.
  rows.push_back({"SparseToDense", "validate_indices_ = false;",
                  {{"sparse_indices", {Places({3, 1, 3}, {3})}}, {"output_shape", {Ints({5})}}, {"sparse_values", {Any({3})}},
                   {"default_value", {Any({})}}},
                  Types::kBoth});
  const auto grad = [&](std::vector<std::string> ys) {
    rows.push_back({"SparseToDenseGrad", "",
                    {{"sparse_indices", {Places({0, 2}, {2})}}, {"output_shape", {Ints({4})}}, {"sparse_values", {Any({2})}},
                     {"grad", {Any({4})}}},
                    Types::kBoth, 2, std::move(ys)});
  };
  grad({"values_grad"});
  grad({"default_grad"});
}

/// x is sent through a Switch; the ways do different things with it, and meet again.
PageFunction BothWays(DType dtype, bool way, bool merged) {
  PageFunction f;
  const std::string x = AddConst(f.page, "x", MakeValues(Any({2, 3}), dtype, 1)), w = AddConst(f.page, "w", MakeValues(Any({3}), dtype, 2));
  AddBlock(f.page, "scaled", "Multiply", {{"x", {x}}, {"y", {w}}});
  AddBlock(f.page, "switch", "Switch", {{"data", {"scaled.z"}}, {"pred", {Tensor::Scalar(way)}}});
  AddBlock(f.page, "square", "Square", {{"x", {"switch.output_false"}}});
  AddBlock(f.page, "twice", "Add", {{"x", {"switch.output_true"}}, {"y", {"switch.output_true"}}});
  AddBlock(f.page, "tanh", "Tanh", {{"x", {"twice.z"}}});
  AddBlock(f.page, "merge", "Merge", {{"inputs", {"square.y", "tanh.y"}}});
  f.ys = {merged ? "merge.output" : way ? "tanh.y" : "square.y", "scaled.z"};
  f.xs = {x, w};
  return f;
}

/// A variable is sent through a RefSwitch; the way that is taken is read.
PageFunction VariableWay(DType dtype, bool way) {
  PageFunction f;
  AddBlock(f.page, "x", "Variable", {{"initvalues", {MakeValues(Any({2, 3}), dtype, 1)}}});
  AddBlock(f.page, "switch", "RefSwitch", {{"data", {"x.ref"}}, {"pred", {Tensor::Scalar(way)}}});
  AddBlock(f.page, "square", "Square", {{"x", {way ? "switch.output_true" : "switch.output_false"}}});
  f.ys = {"square.y"};
  f.xs = {"x.ref"};
  return f;
}

/// A variable is handed on outside of a loop, and read.
PageFunction VariableHandedOn(DType dtype) {
  PageFunction f;
  AddBlock(f.page, "x", "Variable", {{"initvalues", {MakeValues(Any({2, 3}), dtype, 1)}}});
  AddBlock(f.page, "next", "RefNextIteration", {{"data", {"x.ref"}}});
  AddBlock(f.page, "square", "Square", {{"x", {"next.output"}}});
  f.ys = {"square.y"};
  f.xs = {"x.ref"};
  return f;
}

void AddChoices(std::vector<GradientRow>& rows) {
  GradientRow handed_on{"RefNextIteration", "", {}, Types::kBoth, 2};
  handed_on.page = VariableHandedOn;
  rows.push_back(std::move(handed_on));
  for (const bool way : {false, true}) {
    for (const bool merged : {false, true}) {
      GradientRow row{merged ? "Merge" : "Switch", way ? "true" : "false", {}, Types::kBoth, merged ? 3 : 2};
      row.page = [way, merged](DType dtype) { return BothWays(dtype, way, merged); };
      rows.push_back(std::move(row));
    }
  }
  for (const bool way : {false, true}) {
    GradientRow variable{"RefSwitch", way ? "true" : "false", {}, Types::kBoth, 2};
    variable.page = [way](DType dtype) { return VariableWay(dtype, way); };
    rows.push_back(std::move(variable));
    rows.push_back({"Switch", "", {{"data", {Any({2, 2})}}, {"pred", {Value(Tensor::Scalar(way))}}}, Types::kBoth, 2,
                    {way ? "output_true" : "output_false"}});
  }
}

}  // namespace

std::vector<GradientRow> ArrayGradients() {
  std::vector<GradientRow> rows;
  AddMoves(rows);
  AddStretches(rows);
  AddSparse(rows);
  AddChoices(rows);
  return rows;
}

TEST_CASE("Gradients of blocks that move elements agree with finite differences", "[gradients]") { CheckRows(ArrayGradients()); }

}  // namespace weft::kit
