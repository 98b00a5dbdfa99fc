// What an editor is told of a page before it runs: types, shapes, and why a block is not planned.
#include <nlohmann/json.hpp>

#include "tests/runtime/session_kit.h"
#include "weft/host/inspect.h"

namespace weft::test {
namespace {

std::string TypeOf(const TestPage& page, std::string_view port) {
  auto type = Inspection(page.graph()).Port(page.graph(), port);
  return type.ok() ? TypeJson(*type) : Cat(CodeName(type.status().code()), ": ", type.status().message());
}

std::vector<std::string> WhyNot(const TestPage& page, std::string_view id) {
  std::vector<std::string> texts;
  for (const Status& reason : Inspection(page.graph()).WhyNot(page.graph(), page.graph().IndexOf(id), page.scope()->revision()->found)) {
    texts.push_back(Cat(reason.place().block, ".", reason.place().port));
  }
  return texts;
}

}  // namespace

TEST_CASE("types and shapes of outputs and inputs are known before a run", "[inspect]") {
  TestPage page({Block("a", "Const", {{"value", Vector({1, 2})}}), Variable("v", Literal("DT_INT32", {2, 3}, {1, 2, 3, 4, 5, 6})),
                 Block("sum", "Add", {{"x", "a.output"}, {"y", Scalar(1)}}), Block("parts", "Unstack", {{"value", "v.ref"}}, "num_ = 2;axis_ = 0;"),
                 Block("none", "Negate", {})});
  CHECK(TypeOf(page, "a.output") == R"({"dtype": "DT_FLOAT", "shape": [2]})");
  CHECK(TypeOf(page, "v.ref") == R"({"dtype": "DT_INT32", "shape": [2, 3], "variable": true})");
  CHECK(TypeOf(page, "sum.z") == R"({"dtype": "DT_FLOAT", "shape": [2]})");
  CHECK(TypeOf(page, "parts.output[1]") == R"({"dtype": "DT_INT32", "shape": [3]})");
  CHECK(TypeOf(page, "sum.x") == R"({"dtype": "DT_FLOAT", "shape": [2]})");  // what it is given
  CHECK(TypeOf(page, "sum.y") == R"({"dtype": "DT_FLOAT", "shape": []})");
  CHECK(TypeOf(page, "none.x") == "{}");
  CHECK(TypeOf(page, "none.y") == "{}");
  CHECK(TypeOf(page, "parts.output[2]").starts_with("out_of_range"));
  CHECK(TypeOf(page, "sum.w").starts_with("not_found"));
  CHECK(TypeOf(page, "summ.z").starts_with("not_found"));
}

TEST_CASE("of a page that cannot run all is known that does not depend on its faults", "[inspect]") {
  TestPage page({Block("a", "Const", {{"value", Vector({1, 2})}}), Block("b", "Const", {{"value", Vector({1, 2, 3})}}),
                 Block("bad", "Add", {{"x", "a.output"}, {"y", "b.output"}}), Block("behind", "Negate", {{"x", "bad.z"}}),
                 Block("good", "Negate", {{"x", "a.output"}}), Block("open", "Add", {{"x", "good.y"}}), Block("far", "Negate", {{"x", "open.z"}}),
                 Block("odd", "Nonsense", {{"x", "a.output"}}), Block("farther", "Negate", {{"x", "far.y"}}),
                 Block("cast", "Cast", {}, "DstT_ = DT_INT64;")});
  CHECK(TypeOf(page, "good.y") == R"({"dtype": "DT_FLOAT", "shape": [2]})");
  CHECK(TypeOf(page, "bad.z") == R"({"dtype": "DT_FLOAT"})");  // its shape is what is wrong
  CHECK(TypeOf(page, "behind.y") == R"({"dtype": "DT_FLOAT"})");
  CHECK(TypeOf(page, "open.z") == "{}");
  CHECK(TypeOf(page, "cast.y") == R"({"dtype": "DT_INT64"})");  // which an attribute says
  CHECK(WhyNot(page, "good").empty());
  CHECK(WhyNot(page, "bad") == std::vector<std::string>{"bad.y"});
  CHECK(WhyNot(page, "behind") == std::vector<std::string>{"bad.y"});
  CHECK(WhyNot(page, "open") == std::vector<std::string>{"open.y"});
  CHECK(WhyNot(page, "farther") == std::vector<std::string>{"open.y"});
  CHECK(WhyNot(page, "odd") == std::vector<std::string>{"odd."});
}

TEST_CASE("types of all outputs, wires and the plan are JSON", "[inspect]") {
  TestPage page({Block("a", "Const", {{"value", Vector({1, 2})}}), Block("n", "Negate", {{"x", "a.output"}}),
                 Block("sum", "AddN", {{"inputs", R"(["a.output", "n.y", "gone.z"])"}}), Block("p", "Negate", {{"x", "n.y"}})});
  const auto types = nlohmann::json::parse(TypesJson(page.graph(), Inspection(page.graph())));
  CHECK(types["n.y"]["shape"] == nlohmann::json::parse("[2]"));
  CHECK(types["sum.sum"].is_object());
  CHECK(nlohmann::json::parse(WiresJson(page.graph().page())) ==
        nlohmann::json::parse(R"([["a.output", "n.x"], ["a.output", "sum.inputs[0]"], ["n.y", "sum.inputs[1]"], ["gone.z", "sum.inputs[2]"], ["n.y", "p.x"]])"));
  TestPage whole({Block("a", "Const", {{"value", Vector({1, 2})}}), Block("n", "Negate", {{"x", "a.output"}})});
  Diagnostics found;
  const Plan plan = MakePlan(whole.graph(), RequestFor(whole.graph().DefaultSession(), Keep::kAll), found);
  const auto json = nlohmann::json::parse(PlanJson(whole.graph(), plan));
  REQUIRE(json["steps"].size() == 1);
  CHECK(json["steps"][0]["block"] == "n");
  CHECK(json["steps"][0]["kind"] == "run");
  CHECK(json["steps"][0]["inputs"][0]["value"] == "a.output");
  CHECK(json["steps"][0]["inputs"][0]["storage"] == "constant");
  CHECK(json["steps"][0]["outputs"][0]["shape"] == nlohmann::json::parse("[2]"));
}

TEST_CASE("what is asked for port by port is worked out once for each revision of the page", "[inspect]") {
  TestPage page({Block("a", "Const", {{"value", Vector({1, 2})}}), Block("n", "Negate", {{"x", "a.output"}})});
  Inspector inspector;
  const auto first = inspector.Of(page.scope()->revision()->graph);
  CHECK(inspector.Of(page.scope()->revision()->graph) == first);
  const Edit edit = MoveBlock{"a", LayoutEntry{"", 1, 2}, -1};
  Diagnostics found;
  REQUIRE(page.scope()->Apply(std::span(&edit, 1), found).ok());
  CHECK(inspector.Of(page.scope()->revision()->graph) != first);
}

TEST_CASE("the automatic layout places blocks that read right of those that they read", "[inspect]") {
  TestPage page({Block("a", "Const", {{"value", Vector({1, 2})}}), Block("n", "Negate", {{"x", "a.output"}}), Block("m", "Negate", {{"x", "n.y"}})});
  const Inspection inspection(page.graph());
  const auto layout = AutomaticLayout(page.graph().page(), page.graph().registry(), TextsOf(page.graph(), inspection));
  REQUIRE(layout.size() == 3);
  CHECK(layout[0].block == "a");
  CHECK(layout[0].x < layout[1].x);
  CHECK(layout[1].x < layout[2].x);
  CHECK(nlohmann::json::parse(LayoutJson(layout))["n"][0] == layout[1].x);
}

}  // namespace weft::test
