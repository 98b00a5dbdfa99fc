// Gradients of blocks that write TensorArrays and read them.
#include <catch2/catch.hpp>

#include "tests/blocks/gradient_tables.h"

namespace weft::kit {
namespace {

using Types = GradientRow::Types;

Tensor Int(int32_t value) { return Tensor::Scalar<int32_t>(value); }
std::string TypeAttr(DType dtype) { return Cat("dtype_ = ", dtype, ";"); }

/// An array of `size` elements; reading does not clear them.
void AddArray(Page& page, DType dtype, int32_t size) {
  AddBlock(page, "array", "TensorArray", {{"size", {Int(size)}}}, TypeAttr(dtype) + "clear_after_read_ = false;");
}

/// Two elements are written, both are read, one of them twice; they are multiplied.
PageFunction OneByOne(DType dtype) {
  PageFunction f;
  const std::string x = AddConst(f.page, "x", MakeValues(Any({2, 3}), dtype, 1)), w = AddConst(f.page, "w", MakeValues(Any({3}), dtype, 2));
  AddArray(f.page, dtype, 3);
  AddBlock(f.page, "write_x", "TensorArrayWrite", {{"handle", {"array.handle"}}, {"index", {Int(2)}}, {"value", {x}}, {"flow_in", {"array.flow"}}});
  AddBlock(f.page, "write_w", "TensorArrayWrite", {{"handle", {"array.handle"}}, {"index", {Int(0)}}, {"value", {w}}, {"flow_in", {"write_x.flow_out"}}});
  for (const auto& [id, index] : {std::pair("first", 2), std::pair("second", 0), std::pair("again", 2)}) {
    AddBlock(f.page, id, "TensorArrayRead", {{"handle", {"array.handle"}}, {"index", {Int(index)}}, {"flow_in", {"write_w.flow_out"}}}, TypeAttr(dtype));
  }
  AddBlock(f.page, "product", "Multiply", {{"x", {"first.value"}}, {"y", {"second.value"}}});
  f.ys = {"product.z", "again.value"};
  f.xs = {x, w};
  return f;
}

/// Rows are scattered, and gathered in another order, one of them twice.
PageFunction ByRows(DType dtype) {
  PageFunction f;
  const std::string x = AddConst(f.page, "x", MakeValues(Any({3, 2}), dtype, 1)), w = AddConst(f.page, "w", MakeValues(Any({4, 2}), dtype, 2));
  AddArray(f.page, dtype, 3);
  AddBlock(f.page, "scatter", "TensorArrayScatter",
           {{"handle", {"array.handle"}}, {"indices", {Tensor::Of<int32_t>({2, 0, 1})}}, {"value", {x}}, {"flow_in", {"array.flow"}}});
  AddBlock(f.page, "gather", "TensorArrayGather",
           {{"handle", {"array.handle"}}, {"indices", {Tensor::Of<int32_t>({1, 2, 2, 0})}}, {"flow_in", {"scatter.flow_out"}}}, TypeAttr(dtype));
  AddBlock(f.page, "product", "Multiply", {{"x", {"gather.value"}}, {"y", {w}}});
  f.ys = {"product.z"};
  f.xs = {x, w};
  return f;
}

/// Rows are dealt out to elements, and these are joined.
PageFunction EndToEnd(DType dtype) {
  PageFunction f;
  const std::string x = AddConst(f.page, "x", MakeValues(Any({4, 2}), dtype, 1)), w = AddConst(f.page, "w", MakeValues(Any({4, 2}), dtype, 2));
  AddArray(f.page, dtype, 3);
  AddBlock(f.page, "split", "TensorArraySplit",
           {{"handle", {"array.handle"}}, {"value", {x}}, {"lengths", {Tensor::Of<int64_t>({1, 0, 3})}}, {"flow_in", {"array.flow"}}});
  AddBlock(f.page, "concat", "TensorArrayConcat", {{"handle", {"array.handle"}}, {"flow_in", {"split.flow_out"}}}, TypeAttr(dtype));
  AddBlock(f.page, "product", "Multiply", {{"x", {"concat.value"}}, {"y", {w}}});
  f.ys = {"product.z"};
  f.xs = {x, w};
  return f;
}

}  // namespace

std::vector<GradientRow> TensorArrayGradients() {
  std::vector<GradientRow> rows;
  const auto add = [&](const char* writes, const char* reads, PageFunction (*page)(DType)) {
    for (const char* block : {writes, reads}) {
      GradientRow row{block, "", {}, Types::kBoth, 1};
      row.page = page;
      rows.push_back(std::move(row));
    }
  };
  add("TensorArrayWrite", "TensorArrayRead", OneByOne);
  add("TensorArrayScatter", "TensorArrayGather", ByRows);
  add("TensorArraySplit", "TensorArrayConcat", EndToEnd);
  return rows;
}

TEST_CASE("Gradients through TensorArrays agree with finite differences", "[gradients]") { CheckRows(TensorArrayGradients()); }

TEST_CASE("Gradients of gradients do not pass TensorArrays unnoticed", "[gradients]") {
  PageFunction f = OneByOne(DType::kDouble);
  AddBlock(f.page, "g", "AddSymbolicGradients", {{"outputs", {"product.z"}}, {"inputs", {f.xs[0]}}});
  AddBlock(f.page, "h", "AddSymbolicGradients", {{"outputs", {"g.grad_outputs[0]"}}, {"inputs", {f.xs[1]}}});
  const Status status = OpenPage::Open(GradientRuntime(), std::move(f.page)).status();
  INFO(ToString(status));
  CHECK(status.code() == Code::kUnsupported);
  CHECK(status.message().find("TensorArrayGrad") != std::string::npos);
}

}  // namespace weft::kit
