// Handles, variables that share a name, temporary variables.
#include <algorithm>

#include "tests/runtime/session_kit.h"

namespace weft::test {
namespace {

std::string Handle(std::string_view id, std::string_view attrs) { return Block(id, "VarHandleOp", {}, attrs); }
std::string Read(std::string_view id, const std::string& resource) {
  return Block(id, "ReadVariableOp", {{"resource", resource}}, "dtype_ = DT_FLOAT;");
}
std::string Set(std::string_view id, const std::string& resource, const std::string& value, std::string_view attrs = "") {
  return Block(id, "AssignVariableOp", {{"resource", resource}, {"value", value}}, attrs);
}
std::string Shared(std::string_view id, std::string_view attrs, const std::string& initial = "") {
  std::vector<std::pair<std::string, std::string>> inputs;
  if (!initial.empty()) inputs.emplace_back("initvalues", initial);
  return Block(id, "Variable", inputs, attrs);
}
std::string Plus(std::string_view id, const std::string& x, const std::string& y) { return Block(id, "Add", {{"x", x}, {"y", y}}); }

TEST_CASE("Variables of one container and shared name are one, whatever kind of block names them", "[session-api]") {
  std::vector<std::string> blocks = {Shared("a", "dtype_ = DT_FLOAT;shape_ = [2];shared_name_ = w;"),
                                     Shared("b", "shared_name_ = w;", Vector({1, 2})),
                                     Handle("h", "dtype_ = DT_FLOAT;shape_ = ?;shared_name_ = w;"),
                                     Shared("c", "shared_name_ = w;container_ = other;", Vector({5, 6})),
                                     Handle("w", "dtype_ = DT_FLOAT;shape_ = [2];"),
                                     Read("read", "h.resource"),
                                     Read("named", "w.resource"),
                                     Set("set", "a.ref", "sum.z"),
                                     Plus("sum", "b.ref", "c.ref")};
  for (bool reversed : {false, true}) {
    if (reversed) std::reverse(blocks.begin(), blocks.end());
    TestPage page(blocks);
    auto session = page.Open({"read.value", "named.value", "a.ref", "sum.z"}, {"set"});
    RunOk(*session);
    CHECK(Get(*session, "read.value") == Floats{1, 2});
    CHECK(Get(*session, "named.value") == Floats{1, 2});
    CHECK(Get(*session, "a.ref") == Floats{1, 2});
    CHECK(page.Var("b") == Floats{6, 8});
    CHECK(page.Var("h") == Floats{6, 8});
    CHECK(page.Var("c") == Floats{5, 6});
    RunOk(*session);
    CHECK(Get(*session, "read.value") == Floats{6, 8});
    CHECK(page.Var("w") == Floats{11, 14});
  }
}

TEST_CASE("Shared variables start once, from the first initial value on the page, also where it comes by a wire", "[session-api]") {
  TestPage page({Shared("late", "shared_name_ = w;", "seven.z"), Shared("v", "shared_name_ = w;", Scalar(3)), Plus("seven", Scalar(3), Scalar(4)),
                 Plus("next", "v.ref", Scalar(1)), Shared("after", "", "next.z")});
  RunOk(*page.Open({"late.ref"}));
  CHECK(page.Var("v") == Floats{7});
  CHECK(page.Var("after") == Floats{8});
}

TEST_CASE("Variables that share must agree", "[session-api]") {
  auto fails = [](const std::vector<std::string>& blocks, std::string_view text) {
    TestPage page(blocks);
    REQUIRE(page.errors().size() == 1);
    INFO(page.errors()[0]);
    CHECK(page.errors()[0].find(text) != std::string::npos);
  };
  const std::string v = Shared("v", "shared_name_ = w;", Vector({1, 2}));
  fails({v, Handle("h", "dtype_ = DT_INT32;shape_ = [2];shared_name_ = w;"), Read("r", "h.resource")}, "shares the variable of 'v'");
  fails({v, Handle("h", "dtype_ = DT_FLOAT;shape_ = [3];shared_name_ = w;"), Read("r", "h.resource")}, "needs the shape [2]");
  fails({Handle("h", "dtype_ = DT_FLOAT;shape_ = [?,3];shared_name_ = w;"), Shared("v", "shape_ = [4,?];dtype_ = DT_FLOAT;shared_name_ = w;"),
         Shared("u", "shared_name_ = w;", Vector({1, 2}))},
        "needs the shape [4,3]");
  fails({v, Plus("sum", "h.resource", "v.ref"), Handle("h", "dtype_ = DT_FLOAT;shape_ = [2];")}, "found a handle");
  fails({Set("set", Vector({1}), Vector({2}))}, "needs a variable");
}

TEST_CASE("A run that fails leaves what handles name as it was", "[session-api]") {
  TestPage page({Handle("h", "dtype_ = DT_FLOAT;shape_ = ?;"), Set("set", "h.resource", Vector({1, 2})), Read("read", "h.resource"),
                 Set("longer", "h.resource", Vector({1, 2, 3})), Block("n", "Placeholder", {}, "dtype_ = DT_INT32;"),
                 Block("rows", "Gather", {{"params", Vector({1, 2})}, {"indices", "n.output"}}), Set("change", "h.resource", "rows.output")});
  CHECK(page.Open({"read.value"})->Run().code() == Code::kFailedPrecondition);
  RunOk(*page.Open({}, {"set"}));
  auto failing = page.Open({}, {"longer", "change"});
  REQUIRE(page.Feed(*failing, "n.output", Tensor::Of<int32_t>({2}, Shape{1})).ok());
  CHECK(failing->Run().code() == Code::kInvalidArgument);
  CHECK(page.Var("h") == Floats{1, 2});
  REQUIRE(page.Feed(*failing, "n.output", Tensor::Of<int32_t>({1}, Shape{1})).ok());
  RunOk(*failing);
  CHECK(page.Var("h") == Floats{2});
  auto session = page.Open({"read.value"}, {"longer"});
  RunOk(*session);
  CHECK(Get(*session, "read.value") == Floats{2});
  CHECK(page.Var("h") == Floats{1, 2, 3});
}

TEST_CASE("A temporary variable lives for a run and is no variable of the scope", "[session-api]") {
  const std::string room = Block("t", "TemporaryVariable", {}, "dtype_ = DT_FLOAT;shape_ = [2];var_name_ = room;");
  TestPage page({room, Variable("v", Scalar(0)), Block("a", "Assign", {{"ref", "t.ref"}, {"value", Vector({1, 2})}}),
                 Block("b", "AssignAdd", {{"ref", "a.output_ref"}, {"value", Vector({10, 10})}}),
                 Block("d", "DestroyTemporaryVariable", {{"ref", "b.output_ref"}}, "var_name_ = room;"),
                 Block("other", "DestroyTemporaryVariable", {{"ref", "a.output_ref"}}, "var_name_ = hall;"),
                 Block("lasting", "DestroyTemporaryVariable", {{"ref", "v.ref"}}, "var_name_ = v;")});
  auto session = page.Open({"d.value"});
  for (int run = 0; run < 3; ++run) {
    RunOk(*session);
    CHECK(Get(*session, "d.value") == Floats{11, 12});
  }
  CHECK(page.scope()->GetVariable("t").status().code() == Code::kNotFound);
  CHECK(page.scope()->SetVariable("t", Tensor::Of<float>({1, 2}, Shape{2})).code() == Code::kNotFound);
  CHECK(page.Open({"t.ref"})->Run().code() == Code::kFailedPrecondition);
  CHECK(page.Open({"other.value"})->Run().code() == Code::kNotFound);
  CHECK(page.Open({"lasting.value"})->Run().code() == Code::kNotFound);
}

}  // namespace
}  // namespace weft::test
