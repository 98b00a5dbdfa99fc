// Gradients of blocks that gather, scatter and take diagonals, and of reading a variable.
#include <catch2/catch.hpp>

#include "tests/blocks/gradient_tables.h"

namespace weft::kit {
namespace {

using Types = GradientRow::Types;

Fill Names(std::initializer_list<int32_t> indices, Shape shape) { return Value(Tensor::Of<int32_t>(indices, std::move(shape))); }
Fill Axis(int32_t axis) { return Value(Tensor::Scalar<int32_t>(axis)); }

void AddGathers(std::vector<GradientRow>& rows) {
  for (const Fill& names : {Names({2, 0, 2}, {3}), Names({1}, {}), Names({0, 1, 2, 2, 2, 0}, {3, 2}), Names({}, {0})}) {
    rows.push_back({"Gather", "", {{"params", {Any({3, 2})}}, {"indices", {names}}}, Types::kBoth});
  }
  struct Config {
    const char* attrs;
    Shape table;
    Fill names;
    int32_t axis;
    Shape gathered;
  };
  const Config configs[] = {{"", {3, 2}, Names({2, 0, 2}, {3}), 0, {3, 2}},
                            {"", {2, 3, 2}, Names({2, 0, 2, 1}, {2, 2}), 1, {2, 2, 2, 2}},
                            {"", {2, 3}, Names({1}, {}), -1, {2}},
                            {"batch_dims_ = 1;", {2, 3, 2}, Names({2, 0, 1, 1}, {2, 2}), 1, {2, 2, 2}},
                            {"batch_dims_ = 1;", {2, 3, 2}, Names({1, 0, 1, 1}, {2, 2}), 2, {2, 3, 2}},
                            {"batch_dims_ = -1;", {2, 3}, Names({2, 2}, {2, 1}), 1, {2, 1}},
                            {"", {2, 3}, Names({}, {0}), 1, {2, 0}}};
  for (const Config& c : configs) {
    rows.push_back({"GatherV2", c.attrs, {{"params", {Any(c.table)}}, {"indices", {c.names}}, {"axis", {Axis(c.axis)}}}, Types::kBoth});
    rows.push_back({"GatherV2Grad", c.attrs,
                    {{"grad", {Any(c.gathered)}}, {"indices", {c.names}}, {"axis", {Axis(c.axis)}}, {"like", {Any(c.table)}}},
                    Types::kBoth});
  }
}

void AddTuples(std::vector<GradientRow>& rows) {
  struct Config {
    const char* attrs;
    std::vector<int32_t> sizes;
    Fill names;
    Shape named;
  };
  const Config configs[] = {{"", {3, 2}, Names({2, 0, 2}, {3, 1}), {3, 2}},
                            {"", {3, 2}, Names({2, 0, 2, 0, 1, 1}, {3, 2}), {3}},
                            {"", {2, 3, 2}, Names({1, 0, 1, 0}, {2, 1, 2}), {2, 1, 2}},
                            {"", {3}, Names({1}, {1}), {}},
                            {"bad_indices_policy_ = IGNORE;", {3}, Names({1, 4, -1}, {3, 1}), {3}},
                            {"", {3}, Names({}, {0, 1}), {0}}};
  for (const Config& c : configs) {
    const Shape table(std::vector<int64_t>(c.sizes.begin(), c.sizes.end()));
    rows.push_back({"GatherNd", c.attrs, {{"params", {Any(table)}}, {"indices", {c.names}}}, Types::kBoth});
    rows.push_back({"GatherNdGrad", c.attrs, {{"grad", {Any(c.named)}}, {"indices", {c.names}}, {"like", {Any(table)}}}, Types::kBoth});
    if (c.named.scalar()) continue;  // scatters take no vector of indices
    rows.push_back({"ScatterNd", c.attrs, {{"indices", {c.names}}, {"updates", {Any(c.named)}}, {"shape", {Ints(c.sizes)}}}, Types::kBoth});
    rows.push_back({"ScatterNdNonAliasingAdd", c.attrs, {{"input", {Any(table)}}, {"indices", {c.names}}, {"updates", {Any(c.named)}}},
                    Types::kBoth});
  }
}

void AddDiagonals(std::vector<GradientRow>& rows) {
  for (const Shape& shape : {Shape{3}, Shape{2, 1, 2}, Shape{0}}) {
    rows.push_back({"Diag", "", {{"diagonal", {Any(shape)}}}, Types::kBoth});
    rows.push_back({"MatrixDiag", "", {{"diagonal", {Any(shape)}}}, Types::kBoth});
  }
  for (const Shape& shape : {Shape{3, 3}, Shape{2, 1, 2, 1}}) rows.push_back({"DiagPart", "", {{"input", {Any(shape)}}}, Types::kBoth});
  const std::pair<Shape, Shape> matrices[] = {{{3, 3}, {3}}, {{2, 4}, {2}}, {{2, 3, 2}, {2, 2}}, {{0, 2, 2}, {0, 2}}};
  for (const auto& [matrix, diagonal] : matrices) {
    rows.push_back({"MatrixDiagPart", "", {{"input", {Any(matrix)}}}, Types::kBoth});
    rows.push_back({"MatrixSetDiag", "", {{"input", {Any(matrix)}}, {"diagonal", {Any(diagonal)}}}, Types::kBoth});
    for (const auto& [lower, upper] : {std::pair(0, 1), std::pair(-1, 0), std::pair(1, -1)}) {
      rows.push_back({"MatrixBandPart", "", {{"input", {Any(matrix)}}, {"num_lower", {Axis(lower)}}, {"num_upper", {Axis(upper)}}},
                      Types::kBoth});
    }
  }
}

/// A variable is read, and its rows are gathered.
PageFunction ReadRows(DType dtype) {
  PageFunction f;
  const std::string v = AddVariable(f.page, "v", MakeValues(Any({3, 2}), dtype, 1));
  AddBlock(f.page, "read", "ReadVariableOp", {{"resource", {v}}}, Cat("dtype_ = ", dtype, ";"));
  AddBlock(f.page, "square", "Square", {{"x", {"read.value"}}});
  AddBlock(f.page, "rows", "Gather", {{"params", {"square.y"}}, {"indices", {Tensor::Of<int32_t>({2, 0, 2}, Shape{3})}}});
  f.ys = {"rows.output"};
  f.xs = {v};
  return f;
}

}  // namespace

std::vector<GradientRow> IndexingGradients() {
  std::vector<GradientRow> rows;
  AddGathers(rows);
  AddTuples(rows);
  AddDiagonals(rows);
  GradientRow read{"ReadVariableOp", "", {}, Types::kBoth};
  read.page = ReadRows;
  rows.push_back(std::move(read));
  return rows;
}

TEST_CASE("Gradients of gathers, scatters and diagonals agree with finite differences", "[gradients]") { CheckRows(IndexingGradients()); }

}  // namespace weft::kit
