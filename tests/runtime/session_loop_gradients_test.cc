// Gradients of loops against finite differences; what they hold, and what is refused. tests/blocks/control_flow_ops has TensorFlow's numbers.
#include <algorithm>
#include <cmath>

#include "tests/runtime/loop_kit.h"

namespace weft::test {
namespace {

constexpr std::string_view kDouble = "dtype_ = DT_DOUBLE;";

std::string Fed(std::string_view id, std::string_view dtype = "DT_DOUBLE") { return Block(id, "Placeholder", {}, Cat("dtype_ = ", dtype, ";")); }
std::string Gradients(const std::string& y, const std::string& x) {
  return Block("g", "AddSymbolicGradients", {{"outputs", Cat("[\"", y, "\"]")}, {"inputs", Cat("[\"", x, "\"]")}});
}

double SumOf(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum;
}

/// The gradient of the sum of `y` with respect to x, by both ways.
void CheckGradient(const TestPage& page, const std::string& y, const std::vector<double>& x, int iterations) {
  auto session = page.Open({y, "g.grad_outputs[0]"});
  if (page.graph().FindValue("n.output").ok()) REQUIRE(page.Feed(*session, "n.output", Tensor::Scalar<int32_t>(iterations)).ok());
  const auto run_at = [&](const std::vector<double>& at) {
    Tensor tensor = Tensor::Allocate(DType::kDouble, Shape{static_cast<int64_t>(at.size())}).value();
    std::copy(at.begin(), at.end(), tensor.values<double>().begin());
    REQUIRE(page.Feed(*session, "x.output", std::move(tensor)).ok());
    RunOk(*session);
    return SumOf(Get<double>(*session, y));
  };
  run_at(x);
  const std::vector<double> found = Get<double>(*session, "g.grad_outputs[0]");
  REQUIRE(found.size() == x.size());
  constexpr double kStep = 1e-5;
  for (size_t i = 0; i < x.size(); ++i) {
    std::vector<double> more = x, less = x;
    more[i] += kStep;
    less[i] -= kStep;
    const double expected = (run_at(more) - run_at(less)) / (2 * kStep);
    INFO(iterations << " iterations, element " << i << ": " << found[i] << ", by differences " << expected);
    CHECK(std::abs(found[i] - expected) <= 1e-6 * (1 + std::abs(expected)));
  }
}

/// v = x; n times v = sin(v) * x.
std::vector<std::string> Sines() {
  std::vector<std::string> blocks = {Fed("n", "DT_INT32"), Fed("x")};
  AddCounter(blocks, "i", "n.output");
  AddVariable(blocks, "v", "x.output", "product.z");
  blocks.push_back(Enter("factor", "x.output", "w", true));
  blocks.push_back(Block("sine", "Sin", {{"x", "v_s.output_true"}}));
  blocks.push_back(Block("product", "Multiply", {{"x", "sine.y"}, {"y", "factor.output"}}));
  return blocks;
}

}  // namespace

TEST_CASE("The gradient of a loop is that of what it computes", "[loops][gradients]") {
  std::vector<std::string> blocks = Sines();
  blocks.push_back(Gradients("v_x.output", "x.output"));
  const TestPage page(blocks);
  for (int n : {3, 0, 1, 7}) CheckGradient(page, "v_x.output", {0.5, -1.25, 2}, n);
}

TEST_CASE("A loop and its gradient may stand on the page in any order", "[loops][gradients]") {
  std::vector<std::string> blocks = Sines();
  blocks.push_back(Gradients("v_x.output", "x.output"));
  std::reverse(blocks.begin(), blocks.end());
  CheckGradient(TestPage(blocks), "v_x.output", {0.5, -1.25, 2}, 3);
  std::rotate(blocks.begin(), blocks.begin() + static_cast<int64_t>(blocks.size() / 2), blocks.end());
  CheckGradient(TestPage(blocks), "v_x.output", {0.5, -1.25, 2}, 2);
}

TEST_CASE("Of a loop with a fault that alone is told, not the gradient", "[loops][gradients]") {
  std::vector<std::string> blocks = {Fed("n", "DT_INT32"), Fed("x")};
  AddCounter(blocks, "i", "n.output");
  AddVariable(blocks, "v", "x.output", "sine.y");
  blocks.push_back(Gradients("v_x.output", "x.output"));
  blocks.push_back(Block("user", "Negate", {{"x", "g.grad_outputs[0]"}}));
  std::vector<std::string> missing = blocks;
  missing.push_back(Block("sine", "Sin", {}));
  blocks.push_back(Block("sine", "Cast", {{"x", "v_s.output_true"}}, "DstT_ = DT_FLOAT;"));
  for (const std::vector<std::string>& faulty : {missing, blocks}) {
    const TestPage page(faulty);
    for (const std::string& error : page.errors()) INFO(error);
    CHECK(page.errors().size() == 1);
  }
}

TEST_CASE("An if in a loop has the gradient of the way that was taken, also where it reads what no Switch sent", "[loops][gradients]") {
  std::vector<std::string> blocks = {Fed("n", "DT_INT32"), Fed("x")};
  AddCounter(blocks, "i", "n.output");
  AddVariable(blocks, "v", "x.output", "next.z");
  blocks.push_back(Enter("factor", "x.output", "w", true));
  blocks.push_back(Block("odd", "FloorMod", {{"x", "i_s.output_true"}, {"y", Int(2)}}));
  blocks.push_back(Block("is_odd", "Equal", {{"x", "odd.z"}, {"y", Int(1)}}));
  blocks.push_back(Block("way", "Switch", {{"data", "v_s.output_true"}, {"pred", "is_odd.z"}}));
  blocks.push_back(Block("up", "Multiply", {{"x", "way.output_true"}, {"y", "factor.output"}}));
  blocks.push_back(Block("down", "Sin", {{"x", "way.output_false"}}));
  blocks.push_back(Block("back", "Merge", {{"inputs", Pair("down.y", "up.z")}}));
  blocks.push_back(Block("next", "Add", {{"x", "back.output"}, {"y", "factor.output"}}));
  blocks.push_back(Gradients("v_x.output", "x.output"));
  const TestPage page(blocks);
  for (int n : {1, 2, 0, 5}) CheckGradient(page, "v_x.output", {0.5, -1.25}, n);
}

TEST_CASE("The gradient of a loop variable that becomes a variable of the page is that of the last iteration", "[loops][gradients]") {
  std::vector<std::string> blocks = {Fed("n", "DT_INT32"), Fed("x"), Variable("k", Literal("DT_DOUBLE", {2}, {0.25, -3}))};
  AddCounter(blocks, "i", "n.output");
  AddVariable(blocks, "v", "x.output", "k.ref");
  blocks.push_back(Block("y", "Square", {{"x", "v_x.output"}}));
  blocks.push_back(Block("g", "AddSymbolicGradients", {{"outputs", "[\"y.y\"]"}, {"inputs", Pair("x.output", "k.ref")}}));
  const TestPage page(blocks);
  for (int n : {0, 1, 3}) {
    CheckGradient(page, "y.y", {0.5, -1.25}, n);
    auto session = page.Open({"g.grad_outputs[1]"});
    REQUIRE(page.Feed(*session, "n.output", Tensor::Scalar<int32_t>(n)).ok());
    REQUIRE(page.Feed(*session, "x.output", Tensor::Of<double>({0.5, -1.25})).ok());
    RunOk(*session);
    CHECK(Get<double>(*session, "g.grad_outputs[1]") == (n == 0 ? std::vector<double>{0, 0} : std::vector<double>{0.5, -6}));
  }
}

TEST_CASE("Gradients pass loops in loops, with TensorArrays", "[loops][gradients]") {
  // Row i of the array is the sine of x, taken i times; then they are multiplied by x.
  std::vector<std::string> blocks = {Fed("n", "DT_INT32"), Fed("x")};
  blocks.push_back(Block("array", "TensorArray", {{"size", "n.output"}}, kDouble));
  AddCounter(blocks, "i", "n.output");
  AddVariable(blocks, "flow", "array.flow", "write.flow_out");
  blocks.push_back(Enter("x_in", "x.output", "w", true));
  blocks.push_back(Enter("array_in", "array.handle", "w", true));
  AddCounter(blocks, "j", "i_s.output_true", "inner");
  AddVariable(blocks, "v", "x_in.output", "sine.y", "inner");
  blocks.push_back(Block("sine", "Sin", {{"x", "v_s.output_true"}}));
  blocks.push_back(Block("write", "TensorArrayWrite",
                         {{"handle", "array_in.output"}, {"index", "i_s.output_true"}, {"value", "v_x.output"}, {"flow_in", "flow_s.output_true"}}));
  blocks.push_back(Block("all", "Range", {{"start", Int(0)}, {"limit", "n.output"}, {"delta", Int(1)}}));
  blocks.push_back(Block("rows", "TensorArrayGather", {{"handle", "array.handle"}, {"indices", "all.output"}, {"flow_in", "flow_x.output"}},
                         Cat(kDouble, "element_shape_ = [2];")));
  blocks.push_back(Block("y", "Multiply", {{"x", "rows.value"}, {"y", "x.output"}}));
  blocks.push_back(Gradients("y.z", "x.output"));
  const TestPage page(blocks);
  for (int n : {4, 1}) CheckGradient(page, "y.z", {0.75, -1.5}, n);
}

TEST_CASE("What a loop keeps for its gradient is counted, and given back", "[loops][gradients]") {
  std::vector<std::string> blocks = Sines();
  blocks.push_back(Gradients("v_x.output", "x.output"));
  const TestPage page(blocks, {.threads = 1, .memory_limit = 64 << 20});
  auto session = page.Open({"g.grad_outputs[0]"}, {}, Keep::kAsked);
  const auto run = [&](int iterations, int64_t elements) {
    REQUIRE(page.Feed(*session, "n.output", Tensor::Scalar<int32_t>(iterations)).ok());
    Tensor x = Tensor::Allocate(DType::kDouble, Shape{elements}).value();
    std::fill_n(x.values<double>().begin(), elements, 0.5);
    REQUIRE(page.Feed(*session, "x.output", std::move(x)).ok());
    return session->Run({});
  };
  REQUIRE(run(20, 10000).ok());
  const Status status = run(10000, 10000);
  INFO(ToString(status));
  CHECK(status.code() == Code::kResourceExhausted);
  for (int i = 0; i < 3; ++i) CHECK(run(20, 10000).ok());
}

TEST_CASE("The loop of a gradient ends with its run", "[loops][gradients]") {
  std::vector<std::string> blocks = Sines();
  blocks.push_back(Gradients("v_x.output", "x.output"));
  const TestPage page(blocks);
  auto session = page.Open({"g.grad_outputs[0]"});
  REQUIRE(page.Feed(*session, "n.output", Tensor::Scalar<int32_t>(100000000)).ok());
  REQUIRE(page.Feed(*session, "x.output", Tensor::Scalar<double>(0.5)).ok());
  RunOptions options;
  const auto start = Clock::now();
  options.deadline = start + std::chrono::milliseconds(50);
  CHECK(session->Run(options).code() == Code::kCancelled);
  CHECK(MillisecondsSince(start) < 2000);
}

TEST_CASE("What has no gradient in a loop is refused with its block", "[loops][gradients]") {
  const auto error = [](std::vector<std::string> blocks, const std::string& y, const std::string& x) {
    blocks.push_back(Gradients(y, x));
    const TestPage page(blocks);
    return page.errors().empty() ? std::string() : page.errors()[0];
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(error(Sines(), "sine.y", "x.output"), Contains("'sine'") && Contains("Exit"));
  CHECK_THAT(error(Sines(), "v_x.output", "sine.y"), Contains("'sine'") && Contains("outside of loops"));
  std::vector<std::string> second = Sines();
  second.push_back(Block("first", "AddSymbolicGradients", {{"outputs", "[\"v_x.output\"]"}, {"inputs", "[\"x.output\"]"}}));
  CHECK_THAT(error(second, "first.grad_outputs[0]", "x.output"), Contains("second-order"));
  std::vector<std::string> early = Sines();
  early.push_back(Block("early", "Exit", {{"data", "sine.y"}}));
  CHECK_THAT(error(early, "early.output", "x.output"), Contains("'early'") && Contains("loop variable"));
  std::vector<std::string> mod = Sines();
  for (std::string& block : mod) {
    if (block.find("\"sine\", \"block\"") != std::string::npos) block = Block("sine", "Mod", {{"x", "v_s.output_true"}, {"y", "factor.output"}});
    if (block.find("\"product\", \"block\"") != std::string::npos) block = Block("product", "Multiply", {{"x", "sine.z"}, {"y", "factor.output"}});
  }
  CHECK_THAT(error(mod, "v_x.output", "x.output"), Contains("'sine'") && Contains("no gradient"));
}

}  // namespace weft::test
