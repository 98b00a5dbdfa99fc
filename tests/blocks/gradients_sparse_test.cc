// Gradients of blocks of sparse tensors.
#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/blocks/gradient_tables.h"

namespace weft::kit {
namespace {

using Types = GradientRow::Types;

Fill Numbers(std::initializer_list<int64_t> numbers) { return Value(Tensor::Of<int64_t>(numbers)); }
Fill SparsePlaces(std::initializer_list<int64_t> indices, Shape shape) { return Value(Tensor::Of<int64_t>(indices, std::move(shape))); }

void AddSparseProducts(std::vector<GradientRow>& rows) {
  const Fill places = SparsePlaces({0, 1, 1, 0, 1, 2, 0, 1}, {4, 2});  // a place twice
  for (const bool turns_a : {false, true}) {
    for (const bool turns_b : {false, true}) {
      const int64_t inner = turns_a ? 2 : 3;
      rows.push_back({"SparseTensorDenseMatMul", Cat("adjoint_a_ = ", turns_a, ";adjoint_b_ = ", turns_b, ";"),
                      {{"a_indices", {places}}, {"a_values", {Any({4})}}, {"a_shape", {Numbers({2, 3})}},
                       {"b", {Any(turns_b ? Shape{4, inner} : Shape{inner, 4})}}},
                      Types::kBoth});
    }
  }
  rows.push_back(
      {"SparseTensorDenseMatMul",
       "",
       {{"a_indices", {SparsePlaces({}, {0, 2})}}, {"a_values", {Any({0})}}, {"a_shape", {Numbers({2, 3})}}, {"b", {Any({3, 1})}}},
       Types::kBoth});
  rows.push_back({"SparseSampledProduct", "",
                  {{"a_indices", {places}}, {"shape", {Numbers({2, 3})}}, {"x", {Any({2, 4})}}, {"y", {Any({3, 4})}}}, Types::kBoth});
}

void AddDense(std::vector<GradientRow>& rows) {
  const Fill places = SparsePlaces({0, 1, 1, 0, 1, 2}, {3, 2}), shape = Numbers({2, 3});
  for (const Shape& dense : {Shape{2, 3}, Shape{3}, Shape{2, 1}, Shape{}}) {
    rows.push_back({"SparseDenseCwiseMul", "",
                    {{"sp_indices", {places}}, {"sp_values", {Any({3})}}, {"sp_shape", {shape}}, {"dense", {Any(dense)}}}});
    rows.push_back({"SparseDenseCwiseDiv", "",
                    {{"sp_indices", {places}}, {"sp_values", {Any({3})}}, {"sp_shape", {shape}}, {"dense", {Apart(dense)}}}});
    rows.back().bound = 1e-7;
    rows.push_back({"SparseDenseGather", "", {{"sp_indices", {places}}, {"sp_shape", {shape}}, {"dense", {Any(dense)}}}});
    rows.push_back({"SparseDenseScatter", "",
                    {{"sp_indices", {places}}, {"sp_shape", {shape}}, {"sp_values", {Any({3})}}, {"like", {Any(dense)}}}});
  }
  rows.push_back(
      {"SparseTensorDenseAdd",
       "",
       {{"a_indices", {SparsePlaces({0, 1, 1, 0, 0, 1}, {3, 2})}}, {"a_values", {Any({3})}}, {"a_shape", {shape}}, {"b", {Any({2, 3})}}},
       Types::kBoth});
}

void AddSparseRows(std::vector<GradientRow>& rows) {
  const Fill places = SparsePlaces({0, 1, 1, 0, 1, 2, 1, 3}, {4, 2}), shape = Numbers({3, 4});
  for (const char* block : {"SparseSoftmax", "SparseRowSums"}) {
    rows.push_back({block, "", {{"sp_indices", {places}}, {"sp_values", {Any({4})}}, {"sp_shape", {shape}}}});
  }
  GradientRow filled{"SparseFillEmptyRows",
                     "",
                     {{"indices", {SparsePlaces({3, 1, 1, 0, 1, 2}, {3, 2})}},
                      {"values", {Any({3})}},
                      {"dense_shape", {Numbers({5, 3})}},
                      {"default_value", {Any({})}}},
                     Types::kBoth};
  filled.orders = 1;  // TensorFlow has no gradient of the gradient
  filled.ys = {"output_values"};
  rows.push_back(std::move(filled));
  GradientRow sum{"SparseAdd",
                  "",
                  {{"a_indices", {SparsePlaces({0, 1, 1, 0}, {2, 2})}},
                   {"a_values", {Any({2})}},
                   {"a_shape", {shape}},
                   {"b_indices", {SparsePlaces({0, 0, 1, 0, 2, 3}, {3, 2})}},
                   {"b_values", {Any({3})}},
                   {"b_shape", {shape}},
                   {"thresh", {Value(Tensor::Scalar<float>(0))}}},
                  Types::kBoth};
  sum.orders = 1;  // the gradient is not differentiable, by TensorFlow
  sum.ys = {"sum_values"};
  sum.fixed = {"thresh"};
  rows.push_back(std::move(sum));
}

/// Blocks that move values, and sums, with places out of order and one that repeats.
void AddSparseMoves(std::vector<GradientRow>& rows) {
  const Fill places = SparsePlaces({2, 1, 0, 3, 2, 0, 1, 1, 2, 1}, {5, 2}), shape = Numbers({3, 4});
  const auto add = [&](const char* block, const char* attrs, std::vector<std::pair<std::string, std::vector<Fill>>> inputs,
                       std::vector<std::string> ys) {
    GradientRow row{block, attrs, std::move(inputs), Types::kBoth};
    row.ys = std::move(ys);
    rows.push_back(std::move(row));
  };
  add("SparseReorder", "", {{"input_indices", {places}}, {"input_values", {Any({5})}}, {"input_shape", {shape}}}, {"output_values"});
  add("SparseReorderGrad", "", {{"input_indices", {places}}, {"grad", {Any({5})}}, {"input_shape", {shape}}}, {});
  const std::pair<std::string, std::vector<Fill>> start{"start", {Numbers({1, 0})}}, size{"size", {Numbers({2, 2})}};
  add("SparseSlice", "", {{"indices", {places}}, {"values", {Any({5})}}, {"shape", {shape}}, start, size}, {"output_values"});
  add("SparseSliceGrad", "", {{"indices", {places}}, {"grad", {Any({4})}}, {"shape", {shape}}, start, size}, {});
  for (const bool keeps : {false, true}) {
    const std::string attrs = Cat("keep_dims_ = ", keeps, ";");
    for (const auto& axes : {std::vector<int32_t>{1}, {0}, {-1, 0}, {}}) {
      Tensor chosen = Tensor::Allocate(DType::kInt32, Shape{static_cast<int64_t>(axes.size())}).value();
      std::ranges::copy(axes, chosen.values<int32_t>().begin());
      add("SparseReduceSum", attrs.c_str(),
          {{"input_indices", {places}}, {"input_values", {Any({5})}}, {"input_shape", {shape}}, {"reduction_axes", {Value(chosen)}}}, {});
    }
    add("SparseReduceSumGrad", attrs.c_str(),
        {{"input_indices", {places}}, {"grad", {Any(keeps ? Shape{3, 1} : Shape{3})}}, {"input_shape", {shape}},
         {"reduction_axes", {Value(Tensor::Of<int32_t>({1}))}}},
        {});
  }
}

}  // namespace

std::vector<GradientRow> SparseGradients() {
  std::vector<GradientRow> rows;
  AddSparseProducts(rows);
  AddDense(rows);
  AddSparseRows(rows);
  AddSparseMoves(rows);
  return rows;
}

TEST_CASE("Gradients of blocks of sparse tensors agree with finite differences", "[gradients]") { CheckRows(SparseGradients()); }

}  // namespace weft::kit
