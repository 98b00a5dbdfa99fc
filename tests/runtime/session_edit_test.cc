// Edits of an open page: sessions go on with the page as it is now, with the state that they had.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <functional>

#include "tests/kit/random_edits.h"
#include "tests/kit/sanitized.h"
#include "tests/runtime/session_kit.h"
#include "weft/page/writer.h"

namespace weft::test {
namespace {

std::vector<Edit> Parsed(std::string_view json) {
  auto edits = ReadEdits(json);
  INFO(json << "\n" << ToString(edits.status()));
  REQUIRE(edits.ok());
  return std::move(*edits);
}

// Makes the edits and gives what takes them back.
std::vector<Edit> ApplyJson(const TestPage& page, std::string_view json) {
  Diagnostics found;
  auto undo = page.scope()->Apply(Parsed(json), found);
  INFO(json << "\n" << ToString(undo.status()));
  REQUIRE(undo.ok());
  return std::move(*undo);
}

// A counter that each run adds 1 to, and twice its value before that.
std::vector<std::string> Counter() {
  return {Variable("v", Scalar(10)), Block("one", "Const", {{"value", Scalar(1)}}), Block("count", "AssignAdd", {{"ref", "v.ref"}, {"value", "one.output"}}),
          Block("twice", "Add", {{"x", "v.ref"}, {"y", "v.ref"}})};
}

// Layers, their gradients and a step of gradient descent for each.
std::vector<std::string> Training(int layers) {
  const std::string matrix = Literal("DT_FLOAT", {2, 2}, {0.5, -0.25, 0.125, 1});
  std::vector<std::string> blocks = {Block("x", "Const", {{"value", matrix}}), Block("rate", "Const", {{"value", Scalar(0.1)}})};
  std::string last = "x.output", weights;
  for (int i = 0; i < layers; ++i) {
    blocks.push_back(Variable(Cat("w", i), matrix));
    blocks.push_back(Block(Cat("m", i), "MatMul", {{"a", last}, {"b", Cat("w", i, ".ref")}}));
    blocks.push_back(Block(Cat("t", i), "Tanh", {{"x", Cat("m", i, ".product")}}));
    last = Cat("t", i, ".y");
    weights += Cat(i ? ", " : "", "\"w", i, ".ref\"");
  }
  blocks.push_back(Block("loss", "L2Loss", {{"t", last}}));
  blocks.push_back(Block("grad", "AddSymbolicGradients", {{"outputs", "[\"loss.output\"]"}, {"inputs", Cat("[", weights, "]")}}));
  for (int i = 0; i < layers; ++i) {
    blocks.push_back(Block(Cat("s", i), "ApplyGradientDescent", {{"var", Cat("w", i, ".ref")}, {"alpha", "rate.output"}, {"delta", Cat("grad.grad_outputs[", i, "]")}}));
  }
  return blocks;
}

// Gradients of gradients, one value at two inputs, lists, literals out of order, and two blocks that are one variable.
std::vector<std::string> Mixed() {
  const std::string pair = Literal("DT_FLOAT", {2}, {1, -2});
  return {Block("a", "Const", {{"value", R"({"text": "{1,2}"})"}}, "dtype_ = DT_FLOAT;"),
          Block("v", "Variable", {{"initvalues", pair}}, "shared_name_ = w;"),
          Block("w", "Variable", {{"initvalues", pair}}, "shared_name_ = w;"),
          Block("p", "Multiply", {{"y", pair}, {"x", Scalar(3)}}),
          Block("q", "AddN", {{"inputs", Cat("[\"p.z\", \"w.ref\", ", pair, ", \"a.output\"]")}}),
          Block("r", "Multiply", {{"x", "q.sum"}, {"y", "q.sum"}}),
          Block("t", "Multiply", {{"x", "r.z"}, {"y", "q.sum"}}),
          Block("loss", "L2Loss", {{"t", "t.z"}}),
          Block("g", "AddSymbolicGradients", {{"outputs", "[\"loss.output\"]"}, {"inputs", "[\"v.ref\", \"a.output\"]"}}),
          Block("u", "Multiply", {{"x", "g.grad_outputs[1]"}, {"y", "a.output"}}),
          Block("h", "AddSymbolicGradients", {{"outputs", "[\"u.z\"]"}, {"inputs", "[\"a.output\"]"}}),
          Block("d", "ApplyGradientDescent", {{"var", "v.ref"}, {"alpha", Scalar(0.1)}, {"delta", "g.grad_outputs"}})};
}

std::string Texts(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.all()) text += Cat(ToString(diagnostic), "\n");
  return text;
}

// All that a graph knows of its nodes.
std::string NodesOf(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes()) {
    text += Cat(node.id, " ", node.def == nullptr ? "" : node.def->name, " ", node.page_block, " ", node.order, " ", node.variable, " ", node.target, node.broken ? " broken" : "");
    for (ValueRef input : node.inputs) text += Cat(" ", input.node, ".", input.output);
    for (uint32_t first : node.in_first.table()) text += Cat(" in ", first);
    for (uint32_t first : node.out_first.table()) text += Cat(" out ", first);
    for (DType type : node.output_types) text += Cat(" ", type);
    for (const AttrValue& value : std::span<const AttrValue>(node.attrs)) text += Cat(" ", AttrText(value));
    text += Cat(" ", node.constant.defined() ? WriteTensor(node.constant) : "", "\n");
  }
  return text;
}

// The nodes, and the plans of the page's sessions with what they find.
std::string PlansOf(const Graph& graph) {
  std::vector<SessionSpec> sessions = graph.sessions();
  sessions.push_back(graph.DefaultSession());
  std::string text = NodesOf(graph);
  for (const SessionSpec& session : sessions) {
    Diagnostics found;
    text += PrintPlan(graph, MakePlan(graph, RequestFor(session, Keep::kAll), found));
    text += Texts(found);
  }
  return text;
}

// What a fresh load of the page finds, and its plans.
std::pair<std::string, std::string> FoundAfresh(Runtime& runtime, const Graph& graph) {
  ReadPageResult read = ReadPage(WritePage(graph.page()), {.name = graph.name(), .read_file = {}});
  Diagnostics found;
  auto scope = Scope::Open(runtime, std::make_shared<Page>(std::move(read.page)), graph.name(), {}, found);
  CheckSessions(scope, found);
  return {Texts(found), PlansOf(scope->graph())};
}

// Every value that the default session computes, as text; errors where a run fails.
std::string ResultsAfresh(Runtime& runtime, std::string_view text) {
  ReadPageResult read = ReadPage(text, {.name = "p", .read_file = {}});
  Diagnostics found;
  auto scope = Scope::Open(runtime, std::make_shared<Page>(std::move(read.page)), "p", {}, found);
  Session session(scope, scope->graph().DefaultSession());
  std::string results = ToString(session.Run());
  for (const auto& [name, value] : session.Results()) {
    auto result = session.Get(value);
    results += Cat(name, " ", result.ok() ? WriteTensor(result->tensor) : ToString(result.status()), "\n");
  }
  return results;
}

}  // namespace

TEST_CASE("page edits: variables keep their values, unless they would start with another", "[page_edit]") {
  TestPage page(Counter());
  auto session = page.Open({"twice.z"}, {"count"});
  for (int i = 0; i < 3; ++i) RunOk(*session);
  CHECK(page.Var("v") == Floats{13});
  // Blocks come and go before and after it, its own id changes, and what updates it.
  ApplyJson(page, Cat(R"([{"op": "add", "block": {"id": "two", "block": "Const", "inputs": {"value": )", Scalar(2), R"(}}, "place": 0},
                     {"op": "connect", "from": "two.output", "to": "count.value"}, {"op": "remove", "block": "one"}, {"op": "rename", "block": "v", "to": "w"}])"));
  CHECK(page.Var("w") == Floats{13});
  CHECK(!page.scope()->GetVariable("v").ok());
  RunOk(*session);
  CHECK(page.Var("w") == Floats{15});
  CHECK(Get(*session, "twice.z") == Floats{26});
  // Another initial value: it starts again; so it does when that is taken back.
  auto undo = ApplyJson(page, Cat(R"({"op": "set", "input": "w.initvalues", "value": )", Scalar(100), "}"));
  RunOk(*session);
  CHECK(page.Var("w") == Floats{102});
  Diagnostics found;
  REQUIRE(page.scope()->Apply(undo, found).ok());
  RunOk(*session);
  CHECK(page.Var("w") == Floats{12});
  CHECK(session->runs() == 6);
}

TEST_CASE("page edits: a variable starts anew with another type, and where its value does not fit the shape it declares", "[page_edit]") {
  TestPage page({Block("v", "Variable", {{"initvalues", Vector({1, 2})}}, "shape_ = ?;"), Block("big", "Const", {{"value", Vector({5, 6, 7})}}),
                 Block("set", "Assign", {{"ref", "v.ref"}, {"value", "big.output"}}, "validate_shape_ = false;")});
  auto session = page.Open({"v.ref"}, {"set"});
  RunOk(*session);
  CHECK(page.Var("v") == Floats{5, 6, 7});
  ApplyJson(page, R"({"op": "set", "block": "v", "attr": "shape", "text": "[?]"})");
  CHECK(page.Var("v") == Floats{5, 6, 7});
  ApplyJson(page, R"({"op": "set", "block": "v", "attr": "shape", "text": "[2]"})");
  CHECK(page.scope()->GetVariable("v").status().code() == Code::kFailedPrecondition);
  auto reading = page.Open({"v.ref"});
  RunOk(*reading);
  CHECK(page.Var("v") == Floats{1, 2});
  ApplyJson(page, Cat(R"([{"op": "remove", "block": "set"}, {"op": "set", "input": "v.initvalues", "value": )", Ints({8, 9}), "}]"));
  RunOk(*reading);
  CHECK(Get<int32_t>(*reading, "v.ref") == std::vector<int32_t>{8, 9});
}

TEST_CASE("page edits: results stay readable until the next run, under the names that blocks have now", "[page_edit]") {
  TestPage page(Counter());
  auto session = page.Open({"twice.z"}, {"count"});
  RunOk(*session);
  CHECK(Get(*session, "twice.z") == Floats{20});
  ApplyJson(
      page,
      R"([{"op": "rename", "block": "twice", "to": "double"}, {"op": "add", "block": {"id": "n", "block": "Negate", "inputs": {"x": "double.z"}}, "place": 0}])");
  CHECK(Get(*session, "twice.z") == Floats{20});
  Diagnostics found;
  session->Prepare(found);
  CHECK(Texts(found).empty());
  CHECK(Get(*session, "double.z") == Floats{20});
  CHECK(session->Get("n.y").status().code() == Code::kFailedPrecondition);
  CHECK(!session->Get("twice.z").ok());
  RunOk(*session);
  CHECK(Get(*session, "double.z") == Floats{22});
  CHECK(session->graph() == page.scope()->revision()->graph);
}

TEST_CASE("page edits: what a host feeds stays fed, unless its type changes", "[page_edit]") {
  TestPage page({Block("a", "Const", {{"value", Scalar(1)}}), Block("b", "Negate", {{"x", "a.output"}})});
  auto session = page.Open({"b.y"});
  Tensor fed = Tensor::Allocate(DType::kFloat, Shape{}).value();
  fed.values<float>()[0] = 5;
  REQUIRE(page.Feed(*session, "a.output", fed).ok());
  ApplyJson(page, R"([{"op": "rename", "block": "a", "to": "c"}, {"op": "add", "block": {"id": "n", "block": "NoOp"}, "place": 0}])");
  RunOk(*session);
  CHECK(Get(*session, "b.y") == Floats{-5});
  ApplyJson(page, Cat(R"({"op": "set", "input": "c.value", "value": )", Ints({3}), "}"));
  RunOk(*session);  // of the page as it was
  CHECK(session->outdated_page());
  CHECK(session->faults().FirstError().code() == Code::kInvalidArgument);
  CHECK(session->faults().FirstError().message().find("needs DT_INT32, found DT_FLOAT") != std::string::npos);
}

TEST_CASE("page edits: sessions of the page follow what the page says of them", "[page_edit]") {
  TestPage page({Block("a", "Const", {{"value", Scalar(1)}}), Block("b", "Negate", {{"x", "a.output"}}), Block("c", "Square", {{"x", "b.y"}}),
                 Block("run", "ClientSession", {{"fetch_outputs", "[\"b.y\"]"}})});
  Session session(page.scope(), page.graph().sessions()[0], Keep::kAsked);
  RunOk(session);
  CHECK(!session.Get("c.y").ok());
  ApplyJson(page, R"({"op": "connect", "from": "c.y", "to": "run.fetch_outputs"})");
  RunOk(session);
  CHECK(Get(session, "c.y") == Floats{1});
  ApplyJson(page, R"({"op": "remove", "block": "run"})");
  RunOk(session);
  CHECK(session.faults().FirstError().message().find("the session 'run' is not on the page any more") != std::string::npos);
}

TEST_CASE("page edits: a queue and a random stream go on, and start anew with other attributes", "[page_edit]") {
  auto blocks = [](std::string_view seed) {
    return std::vector<std::string>{Block("size", "Const", {{"value", Ints({2})}}), Block("draw", "RandomUniform", {{"shape", "size.output"}}, Cat("seed_ = ", seed, "; dtype_ = DT_FLOAT;")),
                                    Block("q", "FIFOQueue", {}, "component_types_ = {DT_FLOAT};"), Block("put", "QueueEnqueue", {{"handle", "q.handle"}, {"components", "[\"draw.output\"]"}}),
                                    Block("count", "QueueSize", {{"handle", "q.handle"}})};
  };
  TestPage undisturbed(blocks("7")), page(blocks("7")), other(blocks("8"));
  auto expected = undisturbed.Open({"draw.output"}, {"put"});
  auto session = page.Open({"draw.output"}, {"put"});
  auto reseeded = other.Open({"draw.output"});
  RunOk(*expected);
  RunOk(*session);
  ApplyJson(
      page,
      R"([{"op": "rename", "block": "draw", "to": "random"}, {"op": "rename", "block": "q", "to": "queue"}, {"op": "add", "block": {"id": "n", "block": "NoOp"}, "place": 0}])");
  RunOk(*expected);
  RunOk(*session);
  CHECK(Get(*session, "random.output") == Get(*expected, "draw.output"));
  auto counting = page.Open({"count.size"});
  RunOk(*counting);
  CHECK(Get<int32_t>(*counting, "count.size") == std::vector<int32_t>{2});
  ApplyJson(
      page,
      R"([{"op": "set", "block": "random", "attr": "seed", "value": 8}, {"op": "set", "block": "queue", "attr": "capacity", "value": 5}])");
  RunOk(*session);
  RunOk(*reseeded);
  RunOk(*counting);
  CHECK(Get(*session, "random.output") == Get(*reseeded, "draw.output"));
  CHECK(Get<int32_t>(*counting, "count.size") == std::vector<int32_t>{1});
  // Another kind of block in its place has a state of its own.
  ApplyJson(
      page,
      R"([{"op": "remove", "block": "random"}, {"op": "add", "block": {"id": "random", "block": "RandomNormal", "attrs": "dtype_ = DT_FLOAT;", "inputs": {"shape": "size.output"}}},
                  {"op": "set", "input": "put.components", "value": ["random.output"]}])");
  auto normal = page.Open({"random.output"});
  RunOk(*normal);
}

TEST_CASE("page edits: strict ones refuse new faults, and trying changes nothing", "[page_edit]") {
  TestPage page({Block("a", "Const", {{"value", Vector({1, 2})}}), Block("i", "Const", {{"value", Ints({1})}}), Block("m", "Const", {{"value", Vector({1, 2, 3})}}),
                 Block("sum", "Add", {{"x", "a.output"}, {"y", "a.output"}}), Block("half", "Add", {{"x", "a.output"}})});
  const std::string before = WritePage(page.graph().page());
  auto refused = [&](std::string_view json, std::string_view message, EditMode mode) {
    Diagnostics found;
    auto undo = page.scope()->Apply(Parsed(json), found, mode);
    INFO(json << "\n" << ToString(undo.status()));
    REQUIRE(!undo.ok());
    CHECK(undo.status().message().find(message) != std::string::npos);
    CHECK(undo.status().place().block == "sum");
    CHECK(!undo.status().place().port.empty());
    CHECK(WritePage(page.graph().page()) == before);
  };
  for (EditMode mode : {EditMode::kStrict, EditMode::kTry}) {
    refused(R"({"op": "connect", "from": "i.output", "to": "sum.y"})", "needs DT_FLOAT, the type of 'x', found DT_INT32", mode);
    refused(R"({"op": "connect", "from": "m.output", "to": "sum.y"})", "", mode);  // shapes
    refused(R"({"op": "connect", "from": "a.output", "to": "sum.z"})", "has no input 'z'", mode);
    refused(R"({"op": "connect", "from": "a.out", "to": "sum.y"})", "has no output 'out'", mode);
  }
  Diagnostics found;
  REQUIRE(page.scope()->Apply(Parsed(R"({"op": "move", "block": "a", "layout": [1, 2]})"), found, EditMode::kTry).ok());
  CHECK(WritePage(page.graph().page()) == before);
  CHECK(Texts(found).find("half.y") != std::string::npos);  // a fault that was there does not stop an edit elsewhere, and is told
  REQUIRE(page.scope()->Apply(Parsed(R"({"op": "connect", "from": "sum.z", "to": "half.y"})"), found, EditMode::kStrict).ok());
  CHECK(page.scope()->edits() == 1);
}

TEST_CASE("page edits: while a session runs on another thread, its values are read and the page edited", "[page_edit]") {
  TestPage page(Counter());
  auto session = page.Open({"twice.z"}, {"count"});
  RunOk(*session);
  std::atomic<bool> failed{false};
  std::thread runner([&] {
    Status status = session->RunSteps(-1);
    failed = status.code() != Code::kCancelled;
  });
  std::thread reader([&] {
    for (int i = 0; i < 300; ++i) {
      auto value = session->Get("twice.z");
      if (!value.ok()) failed = true;
    }
  });
  for (int i = 0; i < 40; ++i) {
    auto undo = ApplyJson(page, R"({"op": "add", "block": {"id": "n", "block": "Square", "inputs": {"x": "one.output"}}, "place": 0})");
    Diagnostics found;
    if (!page.scope()->Apply(undo, found).ok()) failed = true;
  }
  reader.join();
  const uint64_t runs = session->runs();
  while (session->runs() < runs + 2) std::this_thread::yield();
  session->Cancel();
  runner.join();
  CHECK(!failed);
  CHECK(page.Var("v") == Floats{static_cast<float>(10 + session->runs())});
}

TEST_CASE("page edits: what is known of a block does not hold for one with other settings, types or shapes", "[page_edit]") {
  const std::string a = Literal("DT_FLOAT", {2, 2}, {1, 2, 3, 4});
  TestPage page({Block("a", "Const", {{"value", a}}), Block("m", "MatMul", {{"a", "a.output"}, {"b", "a.output"}}),
                 Block("n", "MatMul", {{"a", "a.output"}, {"b", "a.output"}}, "transpose_a_ = true;")});
  auto session = page.Open({"m.product", "n.product"});
  const Floats product{7, 10, 15, 22}, transposed{10, 14, 14, 20};
  RunOk(*session);
  CHECK(Get(*session, "m.product") == product);
  CHECK(Get(*session, "n.product") == transposed);
  ApplyJson(
      page,
      R"([{"op": "set", "block": "m", "attr": "transpose_a", "value": true}, {"op": "set", "block": "n", "attr": "transpose_a", "value": null}])");
  RunOk(*session);
  CHECK(Get(*session, "m.product") == transposed);
  CHECK(Get(*session, "n.product") == product);
  ApplyJson(page, Cat(R"({"op": "set", "input": "a.value", "value": )", Literal("DT_FLOAT", {1, 1}, {3}), "}"));
  RunOk(*session);
  CHECK(Get(*session, "m.product") == Floats{9});
  ApplyJson(page, Cat(R"({"op": "set", "input": "a.value", "value": )", Literal("DT_DOUBLE", {1, 1}, {3}), "}"));
  RunOk(*session);
  CHECK(Get<double>(*session, "m.product") == std::vector<double>{9});
}

TEST_CASE("page edits: settings of 0 and -0 are two settings", "[page_edit]") {
  const auto crop = [](std::string_view id, std::string_view attrs) {
    return Block(id, "CropAndResize",
                 {{"image", "a.output"},
                  {"boxes", Literal("DT_FLOAT", {1, 4}, {2, 2, 3, 3})},
                  {"box_ind", Literal("DT_INT32", {1}, {0})},
                  {"crop_size", Literal("DT_INT32", {2}, {1, 1})}},
                 attrs);
  };
  TestPage page({Block("a", "Const", {{"value", Literal("DT_FLOAT", {1, 2, 2, 1}, {1, 2, 3, 4})}}), crop("l", "extrapolation_value_ = 0.0;"),
                 crop("m", "extrapolation_value_ = -0.0;")});
  auto session = page.Open({"l.crops", "m.crops"});
  RunOk(*session);
  CHECK(!std::signbit(Get(*session, "l.crops").at(0)));
  CHECK(std::signbit(Get(*session, "m.crops").at(0)));
}

TEST_CASE("page edits: what is found after random edits is what a fresh load of the page finds", "[page_edit]") {
  const uint32_t pages = kit::kSanitized ? 4 : 60;
  size_t made = 0, whole = 0;
  for (uint32_t seed = 1; seed <= pages * 3 / 2; ++seed) {
    TestPage page(seed > pages ? Mixed() : seed % 2 == 0 ? Training(2) : Counter());
    kit::RandomEdits random(page.runtime().registry(), seed);
    for (int i = 0; i < 60; ++i) {
      Diagnostics found;
      const Edit edit = random.Next(page.graph().page());
      auto undo = page.scope()->Apply(std::span(&edit, 1), found);
      INFO("seed " << seed << ", edit " << i << ": " << WriteEdits(std::span(&edit, 1)) << ToString(undo.status()) << "\n" << WritePage(page.graph().page()));
      if (!undo.ok()) continue;
      const auto [texts, plans] = FoundAfresh(page.runtime(), page.graph());
      REQUIRE(Texts(found) == texts);
      REQUIRE(PlansOf(page.graph()) == plans);
      made += 2;
      whole += !found.has_errors();
      // And back; of those that leave faults most stay undone, so that there is more to plan. Else forth again.
      Diagnostics ignored;
      auto redo = page.scope()->Apply(*undo, ignored);
      REQUIRE(redo.ok());
      if (found.has_errors() && i % 8 != 0) continue;
      REQUIRE(page.scope()->Apply(*redo, ignored).ok());
      REQUIRE(PlansOf(page.graph()) == plans);
    }
  }
  CHECK(made > pages * 60);
  CHECK(whole > pages * (kit::kSanitized ? 5 : 8));  // four pages are too few to come near the mean
}

TEST_CASE("page edits: ten thousand random edits and what takes them back give the first bytes and results", "[page_edit]") {
  Runtime runtime(MakeCatalog(), {.threads = 1, .memory_limit = 0});
  std::string text = "{\"weft\": 1, \"page\": \"p\", \"blocks\": [";
  const std::vector<std::string> blocks = Counter();
  for (size_t i = 0; i < blocks.size(); ++i) text += Cat(i ? ", " : "", blocks[i]);
  for (int i = 0; i < 30; ++i) text += Cat(", ", Block(Cat("n", i), i % 2 ? "Negate" : "Square", {{"x", i == 0 ? "one.output" : Cat("n", i - 1, ".y")}}));
  ReadPageResult read = ReadPage(text + "]}", {.name = "p", .read_file = {}});
  Page page = std::move(read.page);
  const std::string bytes = WritePage(page), results = ResultsAfresh(runtime, bytes);
  REQUIRE(results.find("twice.z") != std::string::npos);
  kit::RandomEdits random(runtime.registry(), 1);
  std::vector<std::vector<Edit>> undo;
  size_t refused = 0;
  for (int i = 0; i < 10000; ++i) {
    const Edit edit = random.Next(page);
    auto done = ApplyEdits(page, std::span(&edit, 1));
    if (done.ok()) undo.push_back(std::move(*done));
    else ++refused;
  }
  CHECK(refused < 3000);
  CHECK(refused > 100);
  const std::string edited = WritePage(page);
  CHECK(edited != bytes);
  // Half of them by way of their JSON, as from a journal.
  for (size_t i = undo.size(); i-- > 0;) {
    std::vector<Edit> edits = i % 2 == 0 ? Parsed(WriteEdits(undo[i])) : undo[i];
    auto done = ApplyEdits(page, edits);
    INFO(i << ": " << WriteEdits(undo[i]) << ToString(done.status()));
    REQUIRE(done.ok());
    undo[i] = std::move(*done);
  }
  CHECK(WritePage(page) == bytes);
  CHECK(ResultsAfresh(runtime, WritePage(page)) == results);
  for (const std::vector<Edit>& edits : undo) REQUIRE(ApplyEdits(page, edits).ok());
  CHECK(WritePage(page) == edited);
}

TEST_CASE("page edits: lists of blocks that were not edited count among those of the page", "[page_edit][large]") {
  if (kit::kSanitized) return;
  std::vector<std::string> blocks = {Block("p", "Placeholder", {}, "dtype_ = DT_FLOAT;"), Block("u", "Unstack", {{"value", "p.output"}}, "num_ = 1048576;")};
  for (int i = 0; i < 3; ++i) blocks.push_back(Block(Cat("s", i), "AddN", {{"inputs", "u.output"}}));
  TestPage page(blocks);
  Diagnostics found;
  REQUIRE(page.scope()->Apply(Parsed(R"({"op": "add", "block": {"id": "t", "block": "AddN", "inputs": {"inputs": "u.output"}}})"), found).ok());
  CHECK(Texts(found).find("t.inputs: lists of more than") != std::string::npos);
}

/// Processor time of each edit, in milliseconds: with the session's plan for the page as it is then.
double MedianEdit(const TestPage& page, Session& session, int edits, const std::function<std::string(int)>& edit) {
  std::vector<double> times;
  for (int i = 0; i < edits; ++i) {
    const std::vector<Edit> parsed = Parsed(edit(i));
    timespec begin{}, end{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    Diagnostics found;
    REQUIRE(page.scope()->Apply(parsed, found).ok());
    session.Prepare(found);
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    times.push_back(1e3 * static_cast<double>(end.tv_sec - begin.tv_sec) + 1e-6 * static_cast<double>(end.tv_nsec - begin.tv_nsec));
    REQUIRE(found.all().empty());
    RunOk(session);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Time in proportion to the page, of which no part is parsed again. On a quiet machine an edit takes 2 ms.
TEST_CASE("page edits: one block at a time in a page of 5,000 blocks, with its variables kept", "[page_edit][large]") {
  std::vector<std::string> blocks = Counter();
  for (int i = 0; i < 5000; ++i) blocks.push_back(Block(Cat("n", i), i % 2 ? "Negate" : "Square", {{"x", i == 0 ? "one.output" : Cat("n", i - 1, ".y")}}));
  TestPage page(blocks);
  auto session = page.Open({"twice.z", "n4999.y"}, {"count"});
  RunOk(*session);
  const double milliseconds = MedianEdit(page, *session, 20, [](int i) {
    return Cat(R"({"op": "connect", "from": "one.output", "to": "n)", 200 * i + 2, R"(.x"})");
  });
  CHECK(page.Var("v") == Floats{31});
  INFO(milliseconds << " ms an edit");
  CHECK(milliseconds < (kit::kSanitized ? 2000 : 40));
}

TEST_CASE("page edits: one block at a time in a training page of 5,000 blocks, whose gradients are made anew", "[page_edit][large]") {
  TestPage page(Training(1250));
  std::vector<std::string> steps;
  for (int i = 0; i < 1250; ++i) steps.push_back(Cat("s", i));
  auto session = page.Open({"loss.output"}, steps);
  RunOk(*session);
  const Floats before = page.Var("w1249");
  const double milliseconds = MedianEdit(page, *session, 10, [](int i) { return Cat(R"({"op": "rename", "block": "t)", i, R"(", "to": "u)", i, R"("})"); });
  CHECK(page.Var("w1249").size() == before.size());
  INFO(milliseconds << " ms an edit");
  CHECK(milliseconds < (kit::kSanitized ? 6000 : 120));
}

}  // namespace weft::test
