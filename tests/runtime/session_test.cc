// Sessions as a host sees them: results, feeds, errors, observers, memory.
#include "tests/runtime/session_kit.h"

namespace weft::test {
namespace {

std::string Unary(std::string_view id, std::string_view block, const std::string& x) { return Block(id, block, {{"x", x}}); }
std::string Binary(std::string_view id, std::string_view block, const std::string& x, const std::string& y) { return Block(id, block, {{"x", x}, {"y", y}}); }

/// A vector variable, counted up by a session, and blocks that read it in every way memory is shared.
std::vector<std::string> CountingBlocks(int64_t size) {
  return {Variable("v", Literal("DT_FLOAT", {1}, {0})),
          Block("n", "Placeholder", {}, "dtype_ = DT_FLOAT;shape_ = [];"),
          Block("fill", "Fill", {{"dims", Ints({static_cast<double>(size)})}, {"value", "n.output"}}),
          Binary("twice", "Add", "fill.output", "fill.output"),
          Block("same", "Identity", {{"input", "twice.z"}}),
          Block("square", "Reshape", {{"tensor", "same.output"}, {"shape", Ints({-1, 2})}}),
          Unary("minus", "Negate", "square.output"),
          Unary("plus", "Negate", "minus.y")};
}

TEST_CASE("Results are found by every name a page or host may use", "[session-api]") {
  TestPage page({Block("c", "Const", {{"value", Literal("DT_FLOAT", {2, 3}, {1, 2, 3, 4, 5, 6})}}), Unary("s", "Square", "c.output"),
                 Block("list", "InputList", {{"outputlist", "[\"c.output\", \"s.y\"]"}}),
                 Block("sum", "AddN", {{"inputs", "[\"list.output\"]"}}),
                 Block("g", "AddSymbolicGradients", {{"outputs", "[\"sum.sum\"]"}, {"inputs", "[\"c.output\"]"}})});
  auto session = page.Open({"sum.sum", "g.grad_outputs[0]"});
  CHECK(session->Get("s.y").status().code() == Code::kFailedPrecondition);
  RunOk(*session);
  CHECK(Get(*session, "s.y") == Floats{1, 4, 9, 16, 25, 36});
  CHECK(Get(*session, "s.result_y[1][2]") == Floats{36});
  CHECK(Get(*session, "s.y[0][1]") == Floats{4});
  CHECK(Get(*session, "c.result_output[0][0]") == Floats{1});
  CHECK(Get(*session, "list.output[1]")[5] == 36);
  CHECK(Get(*session, "list.result_output[1][1][0]") == Floats{16});
  CHECK(Get(*session, "g.grad_outputs[0]") == Floats{3, 5, 7, 9, 11, 13});
  CHECK(session->Get("s.y")->run == 1);
  auto fails = [&](const char* name, Code code) {
    auto result = session->Get(name);
    INFO(name << ": " << ToString(result.status()));
    CHECK(result.status().code() == code);
  };
  fails("s.y[2][0]", Code::kOutOfRange);
  fails("s.y[0]", Code::kInvalidArgument);
  fails("s.y[-1][0]", Code::kInvalidArgument);
  fails("s.y[99999999999999999999][0]", Code::kInvalidArgument);
  fails("s.y[0][1", Code::kInvalidArgument);
  fails("s", Code::kInvalidArgument);
  fails(".y", Code::kInvalidArgument);
  fails("", Code::kInvalidArgument);
  fails("t.y", Code::kNotFound);
  fails("s.yy", Code::kNotFound);
  fails("list.output[2]", Code::kOutOfRange);
  fails("list.output[99999999999]", Code::kOutOfRange);
  CHECK(session->Get("sun.sum").status().hint().find("sum") != std::string::npos);
  CHECK(session->Get(ValueRef{1, 7}).status().code() == Code::kInvalidArgument);
  CHECK(session->Get(ValueRef{}).status().code() == Code::kInvalidArgument);
  CHECK(session->Feed(ValueRef{99, 0}, Tensor::Scalar(1.f)).code() == Code::kInvalidArgument);
  std::vector<std::string> names;
  for (const auto& [name, value] : session->Results()) names.push_back(name);
  CHECK(std::find(names.begin(), names.end(), "g.grad_outputs[0]") != names.end());
  CHECK(std::find(names.begin(), names.end(), "s.y") != names.end());
}

TEST_CASE("Results stay as they are while later runs compute", "[session-api]") {
  for (int64_t size : {4, 40000}) {
    for (Keep keep : {Keep::kAll, Keep::kAsked}) {
      TestPage page(CountingBlocks(size));
      auto session = page.Open({"plus.y", "square.output", "fill.output"}, {}, keep);
      std::vector<Tensor> held[3];
      const char* names[] = {"plus.y", "square.output", "fill.output"};
      for (int run = 1; run <= 12; ++run) {
        REQUIRE(page.Feed(*session, "n.output", Tensor::Scalar(static_cast<float>(run))).ok());
        RunOk(*session);
        for (int i = 0; i < 3; ++i) held[i].push_back(session->Get(names[i])->tensor);
      }
      for (int i = 0; i < 3; ++i) {
        for (size_t run = 0; run < 12; ++run) {
          float expected = static_cast<float>(run + 1) * (i == 2 ? 1 : 2);
          REQUIRE(held[i][run].count() == size);
          for (float value : held[i][run].values<float>()) REQUIRE(value == expected);
        }
      }
      session.reset();
      CHECK(held[0][3].values<float>()[size - 1] == 8);  // and outlive the session
    }
  }
}

TEST_CASE("A reader in another thread never sees half a value", "[session-api]") {
  TestPage page(CountingBlocks(5000));
  auto session = page.Open({"plus.y"});
  REQUIRE(page.Feed(*session, "n.output", Tensor::Scalar(0.f)).ok());
  RunOk(*session);
  std::atomic<bool> done{false};
  std::atomic<int> mixed{0}, reads{0};
  std::thread reader([&] {
    std::vector<Tensor> held;
    while (!done) {
      for (const auto& [name, value] : session->Results()) {
        auto result = session->Get(value);
        if (!result.ok() || result->tensor.dtype() != DType::kFloat) continue;
        auto values = result->tensor.values<float>();
        mixed += std::any_of(values.begin(), values.end(), [&](float x) { return x != values[0]; });
        if (held.size() > 20) held.clear();
        held.push_back(result->tensor);
        ++reads;
      }
    }
  });
  // Until the reader has had its turn: it may not have started yet when 200 runs are over.
  Clock::time_point start = Clock::now();
  bool failed = false;
  for (int run = 1; !failed && (run <= 200 || (reads < 100 && MillisecondsSince(start) < 20000)); ++run) {
    (void)page.Feed(*session, "n.output", Tensor::Scalar(static_cast<float>(run)));
    failed = !session->Run().ok();
  }
  done = true;
  reader.join();
  CHECK_FALSE(failed);
  CHECK(reads > 0);
  CHECK(mixed == 0);
}

TEST_CASE("Feeds replace outputs, computed ones, too", "[session-api]") {
  TestPage page({Block("p", "Placeholder", {}, "dtype_ = DT_FLOAT;shape_ = [-1];"), Variable("v", Scalar(3)),
                 Unary("s", "Square", "p.output"), Binary("sum", "Add", "s.y", "v.ref"), Block("same", "Identity", {{"input", "s.y"}}),
                 Unary("n", "Negate", "same.output")});
  auto session = page.Open({"sum.z", "n.y"});
  CHECK_FALSE(session->Run().ok());  // a Placeholder that nothing is fed to
  CHECK(page.Feed(*session, "p.output", Tensor::Of<int32_t>({1})).code() == Code::kInvalidArgument);
  for (const Tensor& value : {Tensor::Of<float>({1, 2}), Tensor::Of<float>({3}), Tensor::Of<float>({}), Tensor::Of<float>({4, 5, 6})}) {
    REQUIRE(page.Feed(*session, "p.output", value).ok());
    RunOk(*session);
    Floats squares = Values(value), sums = squares;
    for (size_t i = 0; i < squares.size(); ++i) sums[i] = squares[i] * squares[i] + 3, squares[i] *= -squares[i];
    CHECK(Get(*session, "sum.z") == sums);
    CHECK(Get(*session, "n.y") == squares);
  }
  REQUIRE(page.Feed(*session, "p.output", Tensor::Of<float>({1, 2, 3, 4}, Shape{2, 2})).ok());
  Status status = session->Run();
  CHECK(status.code() == Code::kInvalidArgument);
  CHECK(status.place().block == "p");
  CHECK(Get(*session, "sum.z") == Floats{19, 28, 39});  // the results of before stay
  REQUIRE(page.Feed(*session, "p.output", Tensor::Of<float>({1})).ok());
  REQUIRE(page.Feed(*session, "s.y", Tensor::Of<float>({10, 20})).ok());
  REQUIRE(page.Feed(*session, "v.ref", Tensor::Scalar(100.f)).ok());
  RunOk(*session);
  CHECK(Get(*session, "sum.z") == Floats{110, 120});
  CHECK(Get(*session, "same.output") == Floats{10, 20});
  CHECK(page.Var("v") == Floats{3});
}

TEST_CASE("A fed output of a block that runs for its others is not written to", "[session-api]") {
  TestPage page({Block("x", "Const", {{"value", Literal("DT_FLOAT", {2, 3}, {1, 2, 3, 4, 5, 7})}}),
                 Block("loss", "SoftmaxCrossEntropyWithLogits", {{"features", "x.output"}, {"labels", "x.output"}}),
                 Block("a", "Negate", {{"x", "loss.loss"}}), Block("b", "Negate", {{"x", "loss.backprop"}})});
  auto session = page.Open({"a.y", "b.y"});
  Tensor fed = Tensor::Of<float>({8, 9});
  REQUIRE(page.Feed(*session, "loss.loss", fed).ok());
  for (int run = 0; run < 3; ++run) {
    RunOk(*session);
    CHECK(Get(*session, "a.y") == Floats{-8, -9});
    CHECK(Get(*session, "loss.loss") == Floats{8, 9});
  }
  CHECK(Values(fed) == Floats{8, 9});
  auto plain = page.Open({"b.y"});
  RunOk(*plain);
  CHECK(Get(*plain, "b.y") == Get(*session, "b.y"));
}

TEST_CASE("A fed variable can be read and not updated", "[session-api]") {
  TestPage page({Variable("v", Scalar(1)), Block("a", "Assign", {{"ref", "v.ref"}, {"value", Scalar(2)}})});
  auto session = page.Open({}, {"a"});
  REQUIRE(page.Feed(*session, "v.ref", Tensor::Scalar(9.f)).ok());
  Status status = session->Run();
  CHECK(status.code() == Code::kInvalidArgument);
  CHECK(status.place().port == "ref");
  CHECK(page.scope()->GetVariable("v")->values<float>()[0] == 1);
}

TEST_CASE("What is kept does not change what is computed", "[session-api]") {
  auto all = [&](Keep keep) {
    TestPage page(CountingBlocks(3000));
    auto session = page.Open({"plus.y"}, {}, keep);
    REQUIRE(page.Feed(*session, "n.output", Tensor::Scalar(0.3f)).ok());
    RunOk(*session);
    CHECK((session->Get("minus.y").status().code() == Code::kFailedPrecondition) == (keep == Keep::kAsked));
    return session->Get("plus.y")->tensor;
  };
  CHECK(SameBits(all(Keep::kAll), all(Keep::kAsked)));
}

TEST_CASE("Shapes that only a run can tell are planned while it runs", "[session-api]") {
  TestPage page({Block("p", "Placeholder", {}, "dtype_ = DT_FLOAT;"), Block("d", "Placeholder", {}, "dtype_ = DT_INT32;"),
                 Binary("dims", "Add", "d.output", Ints({0, 0})), Block("r", "Reshape", {{"tensor", "p.output"}, {"shape", "dims.z"}}),
                 Unary("s", "Square", "r.output"), Block("mean", "Sum", {{"input", "s.y"}, {"axis", Ints({0})}}),
                 Block("f", "Fill", {{"dims", "dims.z"}, {"value", Scalar(2)}}), Binary("m", "Multiply", "f.output", "s.y")});
  auto session = page.Open({"m.z", "mean.output"});
  std::vector<Tensor> held;
  for (int round = 0; round < 3; ++round) {
    for (const auto& [rows, columns] : {std::pair(2, 3), std::pair(3, 2), std::pair(3, 2), std::pair(1, 6), std::pair(6, 1)}) {
      REQUIRE(page.Feed(*session, "p.output", Tensor::Of<float>({1, 2, 3, 4, 5, 6})).ok());
      REQUIRE(page.Feed(*session, "d.output", Tensor::Of<int32_t>({rows, columns})).ok());
      RunOk(*session);
      CHECK(session->Get("m.z")->tensor.shape() == Shape{rows, columns});
      CHECK(Get(*session, "m.z") == Floats{2, 8, 18, 32, 50, 72});
      CHECK(session->Get("mean.output")->tensor.count() == columns);
      held.push_back(session->Get("m.z")->tensor);
    }
  }
  for (const Tensor& tensor : held) CHECK(Values(tensor) == Floats{2, 8, 18, 32, 50, 72});
  REQUIRE(page.Feed(*session, "d.output", Tensor::Of<int32_t>({4, 4})).ok());
  Status status = session->Run();
  CHECK(status.code() == Code::kInvalidArgument);
  CHECK(status.place().block == "r");
  CHECK(status.message().find("inputs: tensor DT_FLOAT [6], shape DT_INT32 [2]") != std::string::npos);
  CHECK(Get(*session, "m.z") == Floats{2, 8, 18, 32, 50, 72});
}

/// Writes down what it is told.
struct Recorder : Observer {
  void OnRunBegin(uint64_t run, size_t steps) override { log += Cat("begin ", run, " ", steps, ";"); }
  Status OnStep(size_t, const Node& node) override {
    log += Cat(node.id, "(");
    return node.id == stop ? FailedPrecondition("stopped here") : Status();
  }
  void OnStepEnd(size_t, const Node&, bool dead) override { log += dead ? "dead)" : ")"; }
  void OnRunEnd(uint64_t run, const Status& status) override { log += Cat(";end ", run, " ", CodeName(status.code())); }
  std::string log, stop;
};

TEST_CASE("Observers are told each step in order, and may end the run", "[session-api]") {
  TestPage page({Variable("v", Scalar(2)), Unary("a", "Square", "v.ref"), Unary("b", "Negate", "a.y"),
                 Block("u", "Assign", {{"ref", "v.ref"}, {"value", "b.y"}})});
  auto session = page.Open({"b.y"}, {"u"});
  Recorder recorder;
  RunOptions options;
  options.observer = &recorder;
  RunOk(*session, options);
  CHECK(recorder.log == "begin 1 3;a()b()u();end 1 ok");
  recorder.log.clear();
  recorder.stop = "u";
  Status status = session->Run(options);
  CHECK(status.code() == Code::kFailedPrecondition);
  CHECK(status.place().block == "u");
  CHECK(recorder.log == "begin 2 3;a()b()u(;end 2 failed_precondition");
  CHECK(page.Var("v") == Floats{-4});
}

TEST_CASE("Prepare reports all faults of shapes at once", "[session-api]") {
  TestPage page({Block("a", "Const", {{"value", Vector({1, 2})}}), Block("b", "Const", {{"value", Vector({1, 2, 3})}}),
                 Binary("one", "Add", "a.output", "b.output"), Block("two", "MatMul", {{"a", "a.output"}, {"b", "b.output"}}),
                 Block("three", "Reshape", {{"tensor", "a.output"}, {"shape", Ints({7})}}), Unary("fine", "Square", "a.output")});
  auto session = page.Open({"one.z", "two.product", "three.output", "fine.y"});
  Diagnostics diagnostics;
  session->Prepare(diagnostics);
  CHECK(diagnostics.errors() == 4);  // of the product both inputs
  CHECK(session->plan() == nullptr);
  CHECK_FALSE(session->Run().ok());
  auto good = page.Open({"fine.y"});
  RunOk(*good);
}

TEST_CASE("A page without a session has a default one", "[session-api]") {
  TestPage page({Block("a", "Const", {{"value", Vector({1, 2})}}), Unary("b", "Square", "a.output"), Unary("c", "Negate", "b.y"),
                 Unary("d", "Negate", "b.y")});
  Session session(page.scope(), page.graph().DefaultSession());
  CHECK(session.spec().fetches.size() == 2);
  RunOk(session);
  CHECK(Get(session, "c.y") == Floats{-1, -4});
}

TEST_CASE("The memory limit refuses with the size asked for, and nothing is lost", "[session-api]") {
  TestPage page(
      {Block("d", "Placeholder", {}, "dtype_ = DT_INT32;shape_ = [1];"), Block("f", "Fill", {{"dims", "d.output"}, {"value", Scalar(1)}}),
       Unary("s", "Square", "f.output"), Variable("v", Scalar(1)), Block("u", "Assign", {{"ref", "v.ref"}, {"value", Scalar(5)}}),
       Block("big", "Fill", {{"dims", Ints({1 << 20})}, {"value", Scalar(1)}}), Unary("bigger", "Negate", "big.output")},
      {.threads = 2, .memory_limit = 1 << 20});
  int64_t before = page.runtime().budget()->used();
  {
    auto session = page.Open({"s.y", "u.output_ref"});
    REQUIRE(page.Feed(*session, "d.output", Tensor::Of<int32_t>({1000})).ok());
    RunOk(*session);
    CHECK(page.scope()->SetVariable("v", Tensor::Scalar(1.f)).ok());
    REQUIRE(page.Feed(*session, "d.output", Tensor::Of<int32_t>({1000000})).ok());
    Status status = session->Run();
    INFO(ToString(status));
    CHECK(status.code() == Code::kResourceExhausted);
    CHECK(status.place().block == "f");
    CHECK(status.message().find("4000000 bytes") != std::string::npos);
    CHECK(page.Var("v") == Floats{1});
    CHECK(Get(*session, "s.y") == Floats(1000, 1));
    REQUIRE(page.Feed(*session, "d.output", Tensor::Of<int32_t>({10})).ok());
    RunOk(*session);
    auto big = page.Open({"bigger.y"}, {}, Keep::kAsked);
    status = big->Run();
    INFO(ToString(status));
    CHECK(status.code() == Code::kResourceExhausted);
    CHECK(status.message().find("4194304 bytes") != std::string::npos);
    CHECK(big->Run().code() == Code::kResourceExhausted);
  }
  CHECK(page.runtime().budget()->used() == before + Buffer::HeldBytes(4));  // what was assigned to the variable
}

TEST_CASE("Whole pages give the same bits on 1, 2 and 5 threads", "[session-api]") {
  std::vector<std::string> blocks = {
      Variable("w", "start.output"),
      Block("start", "RandomNormal", {{"shape", Ints({3, 3, 8, 16})}}, "dtype_ = DT_FLOAT;seed_ = 1;seed2_ = 2;"),
      Block("x", "RandomNormal", {{"shape", Ints({4, 16, 16, 8})}}, "dtype_ = DT_FLOAT;seed_ = 3;seed2_ = 4;"),
      Block("conv", "Conv2D", {{"input", "x.output"}, {"filter", "w.ref"}}, "strides_ = {1,1,1,1};padding_ = SAME;"),
      Block("norm", "FusedBatchNorm",
            {{"x", "conv.output"}, {"scale", Vector(std::vector<double>(16, 1))}, {"offset", Vector(std::vector<double>(16, 0))}, {"mean", Vector({})}, {"variance", Vector({})}}),
      Block("relu", "Relu", {{"features", "norm.y"}}), Block("loss", "L2Loss", {{"t", "relu.activations"}}),
      Block("g", "AddSymbolicGradients", {{"outputs", "[\"loss.output\"]"}, {"inputs", "[\"w.ref\"]"}}),
      Block("u", "ApplyGradientDescent", {{"var", "w.ref"}, {"alpha", Scalar(0.01)}, {"delta", "g.grad_outputs[0]"}})};
  std::vector<Tensor> losses, weights;
  for (int threads : {1, 2, 5}) {
    TestPage page(blocks, {.threads = threads, .memory_limit = 0, .processors = threads});
    auto session = page.Open({"loss.output"}, {"u"}, threads == 2 ? Keep::kAsked : Keep::kAll);
    for (int run = 0; run < 3; ++run) RunOk(*session);
    losses.push_back(session->Get("loss.output")->tensor);
    weights.push_back(*page.scope()->GetVariable("w"));
    CHECK(SameBits(losses[0], losses.back()));
    CHECK(SameBits(weights[0], weights.back()));
  }
}

}  // namespace
}  // namespace weft::test
