// Faults of shapes: of blocks that no session of the page reads, all of one block, and what is told of each.
#include "tests/runtime/session_kit.h"
#include "weft/host/document.h"

namespace weft::test {
namespace {

using Texts = std::vector<std::string>;

std::unique_ptr<Document> Open(const Texts& blocks) {
  static const auto runtime = std::make_shared<Runtime>(MakeCatalog(), RuntimeOptions{.threads = 1, .memory_limit = 0});
  return Document::Open(runtime, PageOf(blocks));
}

/// The errors, as "block.port".
Texts Named(const Diagnostics& found) {
  Texts faults;
  for (const Diagnostic& one : found.all()) {
    if (one.severity == Severity::kError) faults.push_back(Cat(one.status.place().block, ".", one.status.place().port));
  }
  return faults;
}
Texts FaultsOf(const Texts& blocks) { return Named(Open(blocks)->diagnostics()); }

/// What the errors need and found.
Texts FactsOf(const Texts& blocks) {
  Texts facts;
  const Diagnostics found = Open(blocks)->diagnostics();
  for (const Diagnostic& one : found.all()) facts.push_back(Cat(one.status.needed(), ", found ", one.status.found()));
  return facts;
}

std::string Const(std::string_view id, const std::string& value) { return Block(id, "Const", {{"value", value}}); }
std::string AddOf(std::string_view id, std::string_view x, std::string_view y) { return Block(id, "Add", {{"x", std::string(x)}, {"y", std::string(y)}}); }
std::string MatMulOf(std::string_view id, std::string_view a, std::string_view b, std::string_view attrs = "") {
  return Block(id, "MatMul", {{"a", std::string(a)}, {"b", std::string(b)}}, attrs);
}
std::string Fetch(const std::string& value, const std::string& feeds = "[]") {
  return Block("s", "ClientSession", {{"fetch_outputs", Cat("[\"", value, "\"]")}, {"inputs", feeds}});
}

const std::string kTwo = Const("two", Vector({1, 2})), kThree = Const("three", Vector({1, 2, 3})), kFour = Const("four", Vector({1, 2, 3, 4}));

}  // namespace

TEST_CASE("faults of shapes of blocks that no session reads are told", "[faults]") {
  const Texts blocks = {kTwo, kThree, AddOf("good", "two.output", "two.output"), AddOf("bad", "two.output", "three.output"),
                        AddOf("behind", "bad.z", "three.output"), Block("up", "Square", {{"x", "bad.z"}}), MatMulOf("m", "two.output", "good.z", "transposed_ = true;"),
                        Fetch("good.z")};
  CHECK(FaultsOf(blocks) == Texts{"bad.y", "m.transposed", "m.a", "m.b"});
  // As where there is no session.
  CHECK(FaultsOf({blocks.begin(), blocks.end() - 1}) == FaultsOf(blocks));
  // Once, where a session reads it, too.
  CHECK(FaultsOf({kTwo, kThree, AddOf("bad", "two.output", "three.output"), AddOf("rest", "bad.z", "four.output"), kFour, Fetch("bad.z")}) == Texts{"bad.y"});
  // Also before a value that is fed.
  CHECK(FaultsOf({kTwo, kThree, AddOf("bad", "two.output", "three.output"), Block("end", "Square", {{"x", "bad.z"}}),
                  Block("f", "FeedType", {{"input", "bad.z"}, {"initializer", Vector({1, 2})}}), Fetch("end.y", R"(["f.feedtype"])")}) == Texts{"bad.y"});
}

TEST_CASE("an edit tells of blocks that no session reads, and is refused for their faults", "[faults]") {
  const auto document = Open({kTwo, kThree, AddOf("sum", "two.output", "two.output"), Fetch("two.output")});
  const char* wrong = R"({"op": "connect", "from": "three.output", "to": "sum.y"})";
  Diagnostics found;
  REQUIRE(document->diagnostics().all().empty());
  const Status refused = document->Apply(wrong, EditMode::kOpenInputs, found).status();
  CHECK(Cat(refused.place().block, ".", refused.place().port) == "sum.y");
  Diagnostics told;
  REQUIRE(document->Apply(wrong, EditMode::kApply, told).ok());
  CHECK(Named(told) == Texts{"sum.y"});
  CHECK(Named(document->diagnostics()) == Texts{"sum.y"});
  // The session runs.
  Session session(document->scope(), document->scope()->graph().sessions()[0]);
  CHECK(session.Run({}).ok());
}

TEST_CASE("nothing is told of an unread block whose inputs some run may have in another shape", "[faults]") {
  const std::string feed = Block("f", "FeedType", {{"input", "two.output"}, {"initializer", Vector({1, 2, 3})}});
  CHECK(FaultsOf({kTwo, kThree, AddOf("sum", "two.output", "three.output"), AddOf("other", "two.output", "three.output"), feed,
                  Fetch("sum.z", R"(["f.feedtype"])")}) == Texts{});
  const std::string resize = Block("up", "Assign", {{"ref", "v.ref"}, {"value", "three.output"}}, "validate_shape_ = false;");
  const Texts variable = {Variable("v", Vector({1, 2})), kThree, kFour, resize, AddOf("sum", "v.ref", "three.output"), AddOf("bad", "three.output", "four.output")};
  Texts read = variable, unread = variable;
  read.push_back(Fetch("up.output_ref"));
  unread.push_back(Fetch("three.output"));
  CHECK(FaultsOf(read) == Texts{"bad.y"});
  CHECK(FaultsOf(unread) == Texts{"bad.y"});
  // Blocks that no session reads are of no one run: two of them may have a temporary variable of one name.
  const std::string attrs = "shape_ = [2]; dtype_ = DT_FLOAT; var_name_ = t;";
  CHECK(FaultsOf({kTwo, Block("t", "TemporaryVariable", {}, attrs), Block("u", "TemporaryVariable", {}, attrs), Fetch("two.output")}) == Texts{});
}

TEST_CASE("all inputs of a block whose shapes are refused are told that do not depend on each other", "[faults]") {
  CHECK(FaultsOf({kThree, kFour, MatMulOf("m", "three.output", "four.output")}) == Texts{"m.a", "m.b"});
  // The inner size is that of the other one, whose rank is at fault.
  const std::string matrix = Const("matrix", Literal("DT_FLOAT", {2, 2}, {1, 2, 3, 4}));
  CHECK(FaultsOf({kThree, matrix, MatMulOf("m", "three.output", "matrix.output")}) == Texts{"m.a"});
  CHECK(FaultsOf({kTwo, kThree, AddOf("sum", "two.output", "three.output")}) == Texts{"sum.y"});
}

TEST_CASE("what an input needs is types and ranks, without prose", "[faults]") {
  CHECK(FactsOf({kThree, kFour, MatMulOf("m", "three.output", "four.output")}) == Texts{"DT_FLOAT [?,?], found DT_FLOAT [3]", "DT_FLOAT [?,?], found DT_FLOAT [4]"});
  // As of a block with another fault.
  CHECK(FactsOf({kThree, kFour, MatMulOf("m", "three.output", "four.output", "transposed_ = true;")}) ==
        Texts{", found ", "DT_FLOAT [?,?], found DT_FLOAT [3]", "DT_FLOAT [?,?], found DT_FLOAT [4]"});
  CHECK(FactsOf({Const("one", Scalar(1)), Block("at", "ArgMax", {{"input", "one.output"}, {"dimension", Literal("DT_INT32", {}, {0})}})}).at(0).ends_with("[?,...], found DT_FLOAT []"));
  // Also where sizes are not known before the run.
  CHECK(FactsOf({kTwo, Block("p", "Placeholder", {}, "dtype_ = DT_FLOAT; shape_ = [-1];"), Const("matrix", Literal("DT_FLOAT", {2, 2}, {1, 2, 3, 4})),
                 MatMulOf("m", "p.output", "matrix.output")}) == Texts{"DT_FLOAT [?,?], found DT_FLOAT"});
  // Variables, and handles of them.
  CHECK(FactsOf({kTwo, Block("up", "AssignAdd", {{"ref", "two.output"}, {"value", "two.output"}})}) == Texts{"DT_FLOAT_REF, found DT_FLOAT"});
  CHECK(FactsOf({kTwo, Block("up", "AssignVariableOp", {{"resource", "two.output"}, {"value", "two.output"}})}) == Texts{"DT_FLOAT_REF, found DT_FLOAT"});
  // Elements of lists.
  CHECK(FactsOf({kTwo, Const("i", Ints({1, 2})), Block("n", "AddN", {{"inputs", R"(["two.output", "i.output"])"}})}).at(0).find("list") == std::string::npos);
}

}  // namespace weft::test
