// Faults of one block and of those behind it: all that do not depend on each other are reported, and nothing that only follows from another.
#include "tests/runtime/session_kit.h"
#include "weft/host/document.h"

namespace weft::test {
namespace {

using Faults = std::vector<std::string>;

std::unique_ptr<Document> Open(const std::vector<std::string>& blocks) {
  static const auto runtime = std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 0});
  return Document::Open(runtime, PageOf(blocks));
}

Faults Named(const Diagnostics& found) {
  Faults faults;
  for (const Diagnostic& one : found.all()) {
    if (one.severity == Severity::kError) faults.push_back(Cat(one.status.place().block, ".", one.status.place().port));
  }
  return faults;
}

/// The errors of the page, as "block.port", in the order of the page.
Faults FaultsOf(const std::vector<std::string>& blocks) { return Named(Open(blocks)->diagnostics()); }

std::string Const(std::string_view id, const std::string& value, std::string_view attrs = "") { return Block(id, "Const", {{"value", value}}, attrs); }
std::string AddOf(std::string_view id, std::string_view x, std::string_view y, std::string_view attrs = "") {
  return Block(id, "Add", {{"x", std::string(x)}, {"y", std::string(y)}}, attrs);
}

/// FusedBatchNormGrad of two channels last (one channel, where they come first), with this scale.
std::vector<std::string> Norm(std::string_view attrs, const std::string& scale) {
  return {Const("x", Literal("DT_FLOAT", {1, 1, 1, 2}, {1, 2})), Const("s", scale), Const("c", Vector({1, 1})),
          Block("g", "FusedBatchNormGrad",
                {{"y_backprop", "x.output"}, {"x", "x.output"}, {"scale", "s.output"}, {"reserve_space_1", "c.output"}, {"reserve_space_2", "c.output"}}, attrs)};
}

std::vector<std::string> With(std::vector<std::string> blocks, const std::vector<std::string>& more) {
  blocks.insert(blocks.end(), more.begin(), more.end());
  return blocks;
}

/// Values of DT_FLOAT that cannot be read.
const std::string kBad = R"({"dtype": "DT_FLOAT", "shape": [2], "values": [1, "q"]})";
const std::string kBadText = R"({"dtype": "DT_FLOAT", "text": "{1, q}"})";

}  // namespace

TEST_CASE("a fault of an attribute hides no fault of shapes that does not depend on it", "[faults]") {
  CHECK(FaultsOf(Norm("momentum_ = 3;", Vector({1, 1}))) == Faults{"g.momentum"});
  CHECK(FaultsOf(Norm("momentum_ = 3;", Vector({1, 1, 1}))) == Faults{"g.momentum", "g.scale"});
  CHECK(FaultsOf(Norm("epsilon_ = abc;", Vector({1, 1, 1}))) == Faults{"g.epsilon", "g.scale"});
  CHECK(FaultsOf(Norm("epsilom_ = 0.1;", Vector({1, 1, 1}))) == Faults{"g.epsilom", "g.scale"});
  CHECK(FaultsOf(Norm("is_training_ = maybe;", Vector({1, 1, 1}))) == Faults{"g.is_training", "g.scale"});
  // Of the values that the attribute may have one takes the scale: its fault may come from the default alone.
  CHECK(FaultsOf(Norm("data_format_ = NHC;", Vector({1}))) == Faults{"g.data_format"});
  CHECK(FaultsOf(Norm("data_fornat_ = NCHW;", Vector({1}))) == Faults{"g.data_fornat"});
  // Any number of attributes at fault, and a value that is written at the block itself.
  CHECK(FaultsOf(Norm("momentum_ = 3;is_training_ = maybe;", Vector({1, 1, 1}))) == Faults{"g.momentum", "g.is_training", "g.scale"});
  CHECK(FaultsOf({Const("m", Literal("DT_FLOAT", {2, 2}, {1, 2, 3, 4})),
                  Block("p", "MatMul", {{"a", "m.output"}, {"b", Vector({1, 2, 3})}}, "transposed_ = true;")}) == Faults{"p.transposed", "p.b"});
}

TEST_CASE("the shape of an input is told with the facts that a sound block's would have", "[faults]") {
  const auto document = Open(Norm("momentum_ = 3;", Vector({1, 1, 1})));
  const Diagnostics found = document->diagnostics();
  const auto sound = Open(Norm("", Vector({1, 1, 1})));
  REQUIRE(found.all().size() == 2);
  REQUIRE(sound->diagnostics().all().size() == 1);
  const Status &one = found.all()[1].status, other = sound->diagnostics().all()[0].status;
  CHECK(ToString(one) == ToString(other));
  CHECK(one.needed() == other.needed());
  CHECK(one.found() == other.found());
  CHECK(one.phase() == other.phase());
}

TEST_CASE("a fault of an attribute hides no fault of types that does not depend on it", "[faults]") {
  CHECK(FaultsOf(Norm("momentum_ = 3;", Ints({1, 1}))) == Faults{"g.momentum", "g.scale"});
  CHECK(FaultsOf(Norm("data_format_ = NHC;", Ints({1, 1}))) == Faults{"g.data_format", "g.scale"});
  // What inputs bring to one type clashes, whatever that is.
  CHECK(FaultsOf({Const("f", Vector({1})), Const("i", Ints({1})), AddOf("sum", "f.output", "i.output", "T_ = DT_FLOT;")}) ==
        Faults{"sum.T", "sum.y"});
  // Behind the block its types are those that it has whatever the attribute is.
  CHECK(FaultsOf(With(Norm("momentum_ = 3;", Vector({1, 1})), {Const("i", Ints({1})), AddOf("sum", "g.x_backprop", "i.output"),
                                                               AddOf("behind", "sum.z", "i.output")})) == Faults{"g.momentum", "sum.y"});
  CHECK(FaultsOf(With(Norm("momentum_ = 3;", Vector({1, 1})), {Const("i", Ints({1})), AddOf("sum", "g.x_backprop", "g.x_backprop"),
                                                               AddOf("behind", "sum.z", "i.output")})) == Faults{"g.momentum", "behind.y"});
}

TEST_CASE("nothing is said of types that a fault of an attribute leaves unknown", "[faults]") {
  const std::vector<std::string> constants = {Const("f", Vector({1})), Const("i", Ints({1}))};
  CHECK(FaultsOf(With(constants, {Block("cast", "Cast", {{"x", "f.output"}}, "DstT_ = DT_FLOAR;"), AddOf("sum", "cast.y", "i.output")})) ==
        Faults{"cast.DstT"});
  CHECK(FaultsOf(With(constants, {Block("at", "ArgMax", {{"input", "f.output"}, {"dimension", "i.output"}}, "output_type_ = DT_INT3;"),
                                  AddOf("sum", "at.output", "i.output")})) == Faults{"at.output_type"});
  CHECK(FaultsOf(With(constants, {AddOf("one", "i.output", "i.output", "T_ = DT_FLOT;"), AddOf("sum", "one.z", "f.output")})) ==
        Faults{"one.T"});
  CHECK(FaultsOf(With(constants, {Const("c", Vector({1}), "dtype_ = DT_IN32;"), AddOf("sum", "c.output", "i.output")})) ==
        Faults{"c.dtype"});
  CHECK(FaultsOf(With(constants, {Block("v", "Variable", {{"initvalues", Vector({1})}}, "dtype_ = DT_IN32;"),
                                  AddOf("sum", "v.ref", "i.output")})) == Faults{"v.dtype"});
  CHECK(FaultsOf(With(constants, {Block("p", "Placeholder", {}, "dtyp_ = DT_INT32;"), AddOf("sum", "p.output", "i.output")})) ==
        Faults{"p.dtyp"});
  CHECK(FaultsOf(With(constants, {Block("u", "Unstack", {{"value", "f.output"}}, "num_ = many;"), Block("n", "AddN", {{"inputs", "u.output"}})})) == Faults{"u.num"});
}

TEST_CASE("a value that cannot be read hides no fault of its type", "[faults]") {
  for (const std::string& bad : {kBad, kBadText}) {
    INFO(bad);
    const std::vector<std::string> constants = {Const("x", bad), Const("i", Ints({1, 2})), Const("f", Vector({1, 2}))};
    CHECK(FaultsOf(With(constants, {AddOf("sum", "x.output", "i.output"), AddOf("good", "x.output", "f.output"),
                                    AddOf("behind", "good.z", "i.output")})) == Faults{"x.value", "sum.y", "behind.y"});
    CHECK(FaultsOf({Const("i", Ints({1, 2})), AddOf("sum", "i.output", bad)}) == Faults{"sum.y", "sum.y"});
    CHECK(FaultsOf({Const("f", Vector({1, 2})), AddOf("sum", "f.output", bad)}) == Faults{"sum.y"});
    CHECK(FaultsOf(With(constants, {Block("v", "Variable", {{"initvalues", bad}}), AddOf("sum", "v.ref", "i.output"),
                                    AddOf("good", "v.ref", "f.output")})) == Faults{"x.value", "v.initvalues", "sum.y"});
  }
  // Also that of the block that holds it.
  CHECK(FaultsOf({Const("x", kBad, "dtype_ = DT_INT32;")}) == Faults{"x.value", "x.value"});
  // A variable stays one.
  CHECK(FaultsOf({Block("v", "Variable", {{"initvalues", kBad}}), Const("f", Vector({1, 2})), Block("up", "AssignAdd", {{"ref", "v.ref"}, {"value", "f.output"}})}) ==
        Faults{"v.initvalues"});
  CHECK(FaultsOf({Const("x", kBad), Const("f", Vector({1, 2})), Block("up", "AssignAdd", {{"ref", "x.output"}, {"value", "f.output"}})}) == Faults{"x.value", "up.ref"});
}

TEST_CASE("nothing is said of what a value that cannot be read leaves unknown", "[faults]") {
  const std::string untyped = R"({"dtype": "DT_FLOT", "shape": [], "values": [1]})";
  const std::vector<std::string> constants = {Const("i", Ints({1, 2})), Const("f", Vector({1, 2}))};
  CHECK(FaultsOf(With(constants, {AddOf("sum", untyped, "i.output")})) == Faults{"sum.x"});
  CHECK(FaultsOf(With(constants, {Const("x", untyped), AddOf("sum", "x.output", "i.output"), AddOf("behind", "sum.z", "f.output")})) ==
        Faults{"x.value"});
  // Its shape, though one is written.
  CHECK(FaultsOf(With(constants, {Const("m", Vector({1, 2, 3})), Const("x", kBad), AddOf("sum", "x.output", "m.output")})) ==
        Faults{"x.value"});
  // Which of two types is meant.
  CHECK(FaultsOf(With(constants, {Const("x", Ints({1}), "dtype_ = DT_FLOAT;"), AddOf("sum", "x.output", "i.output"),
                                  AddOf("other", "x.output", "f.output")})) == Faults{"x.value"});
  // What a block with a fault of its types gives; one that lacks an input; that is on a cycle; of a type that nobody knows.
  CHECK(FaultsOf(With(constants, {AddOf("sum", "f.output", "i.output"), AddOf("behind", "sum.z", "i.output"),
                                  AddOf("too", "sum.z", "f.output")})) == Faults{"sum.y"});
  CHECK(FaultsOf(With(constants, {Block("half", "Add", {{"x", "f.output"}}), AddOf("behind", "half.z", "i.output")})) == Faults{"half.y"});
  CHECK(FaultsOf(With(constants, {AddOf("a", "b.z", "f.output"), AddOf("b", "a.z", "f.output"), AddOf("behind", "b.z", "i.output")}))
            .size() == 1);
  CHECK(FaultsOf(With(constants, {Block("no", "Nothing", {{"x", "f.output"}}), AddOf("behind", "no.z", "i.output")})) == Faults{"no."});
}

TEST_CASE("each type of a block that does not fit is told", "[faults]") {
  const std::vector<std::string> constants = {Const("f", Vector({1})), Const("i", Ints({1}))};
  CHECK(FaultsOf(With(constants, {Block("s", "Select", {{"condition", "f.output"}, {"x", "f.output"}, {"y", "i.output"}})})) == Faults{"s.condition", "s.y"});
  // Once for all that have one type: the second may be right, and what they are compared with wrong.
  CHECK(FaultsOf(With(constants, {Block("all", "AddN", {{"inputs", R"(["f.output", "i.output", "i.output"])"}})})) == Faults{"all.inputs"});
  CHECK(FaultsOf(With(constants, {AddOf("sum", "i.output", "i.output", "T_ = DT_FLOAT;")})) == Faults{"sum.x"});
  // Once for all lists that have one length, and a length and a type of one list apart.
  const std::string f2 = R"(["f.output", "f.output"])", f1 = R"(["f.output"])", mixed = R"(["f.output", "i.output"])";
  CHECK(FaultsOf(With(constants, {Block("s", "DynamicStitch", {{"indices", "[]"}, {"data", f2}})})) == Faults{"s.indices"});
  CHECK(FaultsOf(With(constants, {Block("s", "DynamicStitch", {{"indices", R"(["i.output"])"}, {"data", mixed}})})) == Faults{"s.data", "s.data"});
  CHECK(FaultsOf(With(constants, {Block("s", "DynamicStitch", {{"indices", f1}, {"data", f2}})})) == Faults{"s.indices", "s.data"});
  CHECK(FaultsOf(With(constants, {Block("all", "AddN", {{"inputs", f2}}, "N_ = 3;")})) == Faults{"all.inputs"});
}

TEST_CASE("a refused edit says of what it made first, also on a page with other faults", "[faults]") {
  const auto document = Open(With(Norm("momentum_ = 3;", Vector({1, 1})),
                                  {Const("i", Ints({1})), Const("f", Vector({1})), AddOf("sum", "g.x_backprop", "f.output")}));
  REQUIRE(Named(document->diagnostics()) == Faults{"g.momentum"});
  const auto refused = [&](const char* edit) {
    Diagnostics found;
    const Status status = document->Apply(edit, EditMode::kStrict, found).status();
    return Cat(status.place().block, ".", status.place().port, ": ", status.message());
  };
  CHECK(refused(R"({"op": "connect", "from": "i.output", "to": "sum.x"})") == "sum.x: the input 'x' needs DT_FLOAT, the type of 'y', found DT_INT32");
  CHECK(refused(R"({"op": "connect", "from": "i.output", "to": "sum.y"})") == "sum.y: the input 'y' needs DT_FLOAT, the type of 'x', found DT_INT32");
  CHECK(refused(R"([{"op": "set", "block": "g", "attr": "epsilon", "value": "abc"}, {"op": "connect", "from": "i.output", "to": "g.scale"}])").starts_with("g.epsilon: "));
  Diagnostics found;
  CHECK(document->Apply(R"({"op": "connect", "from": "g.x_backprop", "to": "sum.y"})", EditMode::kStrict, found).ok());
}

TEST_CASE("an edit that brings an error is refused on a page with more errors than are kept, too", "[faults]") {
  std::vector<std::string> blocks = {Const("source", Vector({1}))};
  for (size_t i = 0; i < 2 * Diagnostics::kLimit; ++i) blocks.push_back(Block(Cat("b", i), "Negate", {{"x", Cat("source.none", i)}}));
  blocks.push_back(Const("last", Vector({1})));
  const auto document = Open(blocks);
  Diagnostics found;
  const std::string_view bad_wire = R"({"op": "connect", "from": "nothing.z", "to": "last.value"})";
  CHECK(!document->Apply(bad_wire, EditMode::kStrict, found).ok());
  CHECK(!document->Apply(bad_wire, EditMode::kOpenInputs, found).ok());
  // Inputs that wait for their wires are no such errors, of which this page and the one made of it have as many.
  std::string waiting;
  for (size_t i = 0; i < 2 * Diagnostics::kLimit; ++i) {
    waiting += Cat(i == 0 ? "[" : ",", R"({"op": "add", "block": {"id": "w)", i, R"(", "block": "Negate"}})");
  }
  CHECK(!document->Apply(waiting + "]", EditMode::kStrict, found).ok());
  REQUIRE(document->Apply(waiting + "]", EditMode::kOpenInputs, found).ok());
  const std::string_view bad_block = R"({"op": "add", "block": {"id": "n", "block": "Add", "inputs": {"x": "nothing.z"}}})";
  const auto refused = document->Apply(bad_block, EditMode::kOpenInputs, found);
  CHECK_THAT(ToString(refused.status()), Catch::Contains(" errors besides inputs without a wire; before the edit it has "));
  CHECK(!document->Apply(R"({"op": "connect", "from": "nothing.z", "to": "w7.x"})", EditMode::kOpenInputs, found).ok());
  CHECK(document->Apply(R"({"op": "add", "block": {"id": "n", "block": "Add", "inputs": {"x": "last.output"}}})", EditMode::kOpenInputs, found).ok());
  CHECK(document->Apply(R"({"op": "connect", "from": "last.output", "to": "w7.x"})", EditMode::kOpenInputs, found).ok());
  CHECK(document->Apply(R"({"op": "rename", "block": "last", "to": "renamed"})", EditMode::kStrict, found).ok());
}

TEST_CASE("edits find the faults that opening the page finds", "[faults]") {
  const auto blocks =
      With(Norm("", Vector({1, 1})), {Const("i", Ints({1})), Const("f", Vector({1})), AddOf("sum", "g.x_backprop", "f.output")});
  const auto document = Open(blocks);
  Diagnostics found;
  for (const char* edit : {R"({"op": "set", "block": "g", "attr": "momentum", "value": "3"})", R"({"op": "set", "input": "s.value", "value": {"dtype": "DT_INT32", "text": "{1, q}"}})",
                           R"({"op": "connect", "from": "i.output", "to": "sum.y"})", R"({"op": "set", "block": "g", "attr": "momentum", "value": null})",
                           R"({"op": "set", "input": "s.value", "value": {"dtype": "DT_FLOAT", "shape": [3], "values": [1, 2, 3]}})"}) {
    INFO(edit);
    REQUIRE(document->Apply(edit, EditMode::kApply, found).ok());
    const auto again = Document::Open(std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 0}), document->Write());
    CHECK(Named(document->diagnostics()) == Named(again->diagnostics()));
  }
}

}  // namespace weft::test
