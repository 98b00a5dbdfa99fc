// Shapes that a page knows in part: what follows from them before a run, and which faults they show.
#include <catch2/catch.hpp>

#include "weft/block/registry.h"
#include "weft/host/document.h"
#include "weft/host/inspect.h"

namespace weft::test {
namespace {

using Catch::Matchers::Contains;

/// A page with x, a Placeholder of floats [?,3]; n, one of [?]; p, one of [?,4,?]; w, a Const [3,2]; and these blocks.
std::unique_ptr<Document> Open(const std::string& blocks) {
  static const auto runtime = std::make_shared<Runtime>(MakeCatalog());
  return Document::Open(runtime, Cat(R"({"weft": 1, "blocks": [
    {"id": "x", "block": "Placeholder", "attrs": "dtype_ = DT_FLOAT; shape_ = [-1][3];"},
    {"id": "n", "block": "Placeholder", "attrs": "dtype_ = DT_FLOAT; shape_ = [-1];"},
    {"id": "p", "block": "Placeholder", "attrs": "dtype_ = DT_FLOAT; shape_ = [-1][4][-1];"},
    {"id": "w", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [3, 2], "values": [1, 2, 3, 4, 5, 6]}}},
    {"id": "four", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [4], "values": [1, 2, 3, 4]}}},
    {"id": "shape", "block": "Const", "inputs": {"value": {"dtype": "DT_INT32", "shape": [2], "values": [4, 6]}}},
    {"id": "uneven", "block": "Const", "inputs": {"value": {"dtype": "DT_INT32", "shape": [2], "values": [2, 5]}}},
    )", blocks, "]}"));
}

/// What is known of a value.
std::string TypeOf(const std::string& blocks, const std::string& value) {
  const auto document = Open(blocks);
  INFO(ToString(document->diagnostics().FirstError()));
  CHECK_FALSE(document->diagnostics().has_errors());
  const Graph& graph = document->scope()->graph();
  auto type = Inspection(graph).Port(graph, value);
  REQUIRE(type.ok());
  return ToString(type->shape);
}

Status FaultOf(const std::string& blocks) { return Open(blocks)->diagnostics().FirstError(); }

TEST_CASE("What follows from a shape that is known in part is known", "[plan][partial]") {
  CHECK(TypeOf(R"({"id": "y", "block": "MatMul", "inputs": {"a": "x.output", "b": "w.output"}})", "y.product") == "[?,2]");
  CHECK(TypeOf(R"({"id": "y", "block": "Square", "inputs": {"x": "x.output"}})", "y.y") == "[?,3]");
  CHECK(TypeOf(R"({"id": "a", "block": "MatMul", "inputs": {"a": "x.output", "b": "w.output"}},
                  {"id": "y", "block": "Relu", "inputs": {"features": "a.product"}})", "y.activations") == "[?,2]");
  CHECK(TypeOf(R"({"id": "y", "block": "Add", "inputs": {"x": "n.output", "y": "four.output"}})", "y.z") == "[4]");
  CHECK(TypeOf(R"({"id": "y", "block": "Reshape", "inputs": {"tensor": "x.output", "shape": "shape.output"}})", "y.output") == "[4,6]");
  CHECK(TypeOf(R"({"id": "y", "block": "ConcatV2", "inputs": {"values": ["x.output", "x.output"], "axis": {"text": "0"}}})", "y.output") == "[?,3]");
  CHECK(TypeOf(R"({"id": "y", "block": "Square", "inputs": {"x": "p.output"}})", "y.y") == "[?,4,?]");
  CHECK(TypeOf(R"({"id": "y", "block": "Shape", "inputs": {"input": "p.output"}})", "y.output") == "[3]");
}

TEST_CASE("A fault that no unknown size can mend is found before a run", "[plan][partial]") {
  const Status product = FaultOf(R"({"id": "v", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [4, 2], "values": [1, 2, 3, 4, 5, 6, 7, 8]}}},
                                    {"id": "y", "block": "MatMul", "inputs": {"a": "x.output", "b": "v.output"}})");
  INFO(ToString(product));
  CHECK(product.code() == Code::kInvalidArgument);
  CHECK(product.place().block == "y");
  CHECK_FALSE(product.place().port.empty());
  CHECK_THAT(product.message(), Contains("4") && !Contains("1009"));
  CHECK(FaultOf(R"({"id": "y", "block": "Add", "inputs": {"x": "x.output", "y": "four.output"}})").place().block == "y");
  CHECK(FaultOf(R"({"id": "y", "block": "Add", "inputs": {"x": "x.output", "y": "p.output"}})").ok());  // three sizes: nothing is said
  CHECK(FaultOf(R"({"id": "y", "block": "Reshape", "inputs": {"tensor": "x.output", "shape": "uneven.output"}})").place().block == "y");
  CHECK(FaultOf(R"({"id": "y", "block": "BiasAdd", "inputs": {"value": "x.output", "bias": "four.output"}})").place().block == "y");
  // Behind a block that passes what is known on.
  CHECK(FaultOf(R"({"id": "a", "block": "Relu", "inputs": {"features": "x.output"}},
                   {"id": "y", "block": "BiasAdd", "inputs": {"value": "a.activations", "bias": "four.output"}})").place().block == "y");
}

TEST_CASE("What an unknown size can make fit is left to the run", "[plan][partial]") {
  for (const char* blocks : {R"({"id": "y", "block": "Add", "inputs": {"x": "n.output", "y": "x.output"}})",
                             R"({"id": "y", "block": "Add", "inputs": {"x": "n.output", "y": "four.output"}})",
                             R"({"id": "y", "block": "MatMul", "inputs": {"a": "x.output", "b": "x.output"}})",
                             R"({"id": "y", "block": "SpaceToBatchND", "inputs": {"input": "p.output", "block_shape": {"dtype": "DT_INT32", "shape": [1], "values": [2]}, "paddings": {"dtype": "DT_INT32", "shape": [1, 2], "values": [0, 0]}}})",
                             R"({"id": "y", "block": "Reshape", "inputs": {"tensor": "n.output", "shape": "shape.output"}})"}) {
    const Status fault = FaultOf(blocks);
    INFO(blocks << "\n" << ToString(fault));
    CHECK(fault.ok());
  }
}

}  // namespace
}  // namespace weft::test
