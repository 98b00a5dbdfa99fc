// AddSymbolicGradients on pages: what leads to an x, what stops on the way, and what is refused.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/kit/gradient_rows.h"

namespace weft::kit {
namespace {

Tensor Vector(std::initializer_list<double> values) { return Tensor::Of<double>(values); }

std::vector<double> Values(const Tensor& tensor) {
  const auto values = tensor.values<double>();
  return {values.begin(), values.end()};
}

void AddGradients(Page& page, const std::string& id, std::vector<PageItem> ys, std::vector<PageItem> xs) {
  AddBlock(page, id, "AddSymbolicGradients", {{"outputs", std::move(ys)}, {"inputs", std::move(xs)}});
}

OpenPage Opened(Page page) {
  auto open = OpenPage::Open(GradientRuntime(), std::move(page));
  if (!open.ok()) FAIL(ToString(open.status()));
  return std::move(*open);
}

Status OpenError(Page page) { return OpenPage::Open(GradientRuntime(), std::move(page)).status(); }

std::vector<double> RunOne(const OpenPage& page, const std::string& wire) {
  auto values = page.Run({wire});
  if (!values.ok()) FAIL(ToString(values.status()));
  return Values(values->at(0));
}

/// x = {1, 2, 3} and its square.
Page Squares() {
  Page page;
  AddConst(page, "x", Vector({1, 2, 3}));
  AddBlock(page, "square", "Square", {{"x", {"x.output"}}});
  return page;
}

using Doubles = std::vector<double>;

}  // namespace

TEST_CASE("Several ys are summed, and an x may be named twice", "[gradients]") {
  Page page = Squares();
  AddBlock(page, "twice", "Add", {{"x", {"x.output"}}, {"y", {"x.output"}}});
  AddGradients(page, "g", {"square.y", "twice.z", "square.y"}, {"x.output", "x.output"});
  const OpenPage open = Opened(std::move(page));
  CHECK(RunOne(open, "g.grad_outputs[0]") == Doubles{6, 10, 14});
  CHECK(RunOne(open, "g.grad_outputs[1]") == Doubles{6, 10, 14});
}

TEST_CASE("A y that is an x has a gradient of ones, with what comes other ways", "[gradients]") {
  Page page = Squares();
  AddGradients(page, "alone", {"x.output"}, {"x.output"});
  AddGradients(page, "both", {"x.output", "square.y"}, {"x.output"});
  AddGradients(page, "middle", {"square.y"}, {"square.y", "x.output"});
  const OpenPage open = Opened(std::move(page));
  CHECK(RunOne(open, "alone.grad_outputs[0]") == Doubles{1, 1, 1});
  CHECK(RunOne(open, "both.grad_outputs[0]") == Doubles{3, 5, 7});
  CHECK(RunOne(open, "middle.grad_outputs[0]") == Doubles{1, 1, 1});
  CHECK(RunOne(open, "middle.grad_outputs[1]") == Doubles{2, 4, 6});
}

TEST_CASE("The gradient of an x in the middle counts the way on from it", "[gradients]") {
  Page page = Squares();
  AddBlock(page, "cube", "Multiply", {{"x", {"square.y"}}, {"y", {"x.output"}}});
  AddGradients(page, "g", {"cube.z"}, {"square.y", "x.output"});
  const OpenPage open = Opened(std::move(page));
  CHECK(RunOne(open, "g.grad_outputs[0]") == Doubles{1, 2, 3});
  CHECK(RunOne(open, "g.grad_outputs[1]") == Doubles{3, 12, 27});
}

TEST_CASE("Gradients of gradients of gradients", "[gradients]") {
  Page page = Squares();
  AddBlock(page, "fourth", "Square", {{"x", {"square.y"}}});
  AddGradients(page, "g1", {"fourth.y"}, {"x.output"});
  AddGradients(page, "g2", {"g1.grad_outputs[0]"}, {"x.output"});
  AddGradients(page, "g3", {"g2.grad_outputs"}, {"x.output"});
  AddGradients(page, "g4", {"g3.grad_outputs"}, {"x.output"});
  const OpenPage open = Opened(std::move(page));
  CHECK(RunOne(open, "g1.grad_outputs[0]") == Doubles{4, 32, 108});
  CHECK(RunOne(open, "g2.grad_outputs[0]") == Doubles{12, 48, 108});
  CHECK(RunOne(open, "g3.grad_outputs[0]") == Doubles{24, 48, 72});
  CHECK(RunOne(open, "g4.grad_outputs[0]") == Doubles{24, 24, 24});
}

TEST_CASE("A gradient is used by the page that it was made on", "[gradients]") {
  Page page = Squares();
  AddGradients(page, "g", {"square.y"}, {"x.output"});
  AddBlock(page, "step", "Subtract", {{"x", {"x.output"}}, {"y", {"g.grad_outputs[0]"}}});
  AddBlock(page, "next", "Square", {{"x", {"step.z"}}});
  AddGradients(page, "h", {"next.y"}, {"x.output", "step.z"});  // (x - 2 x)^2
  const OpenPage open = Opened(std::move(page));
  CHECK(RunOne(open, "h.grad_outputs[0]") == Doubles{2, 4, 6});
  CHECK(RunOne(open, "h.grad_outputs[1]") == Doubles{-2, -4, -6});
}

TEST_CASE("Blocks may stand in any order on the page", "[gradients]") {
  Page page = Squares();
  AddGradients(page, "g", {"square.y"}, {"x.output"});
  std::reverse(page.blocks.begin(), page.blocks.end());
  CHECK(RunOne(Opened(std::move(page)), "g.grad_outputs[0]") == Doubles{2, 4, 6});
}

TEST_CASE("Gradients pass through lists, operations' outputs and wired constants", "[gradients]") {
  Page page = Squares();
  AddBlock(page, "w", "Const_ex", {{"value", {Vector({2, 0, -1})}}}, "dtype_ = DT_DOUBLE;");
  AddBlock(page, "output", "Output", {{"output_op", {"square.operation"}}}, "index_ = 0;");
  AddBlock(page, "wired", "Input", {{"initvalues", {"output.output"}}}, "dtype_ = DT_DOUBLE;");
  AddBlock(page, "product", "Multiply", {{"x", {"wired.input"}}, {"y", {"w.output"}}});
  AddBlock(page, "xs", "InputList", {{"outputlist", {"x.output", "w.output"}}});
  AddBlock(page, "ys", "InputList", {{"outputlist", {"product.z", "output.output"}}});
  AddGradients(page, "g", {"ys.output"}, {"xs.output"});
  const OpenPage open = Opened(std::move(page));
  CHECK(RunOne(open, "g.grad_outputs[0]") == Doubles{6, 4, 0});
  CHECK(RunOne(open, "g.grad_outputs[1]") == Doubles{1, 4, 9});
}

TEST_CASE("An x that nothing depends on has no gradient", "[gradients]") {
  Page page = Squares();
  AddConst(page, "other", Vector({5}));
  AddGradients(page, "g", {"square.y"}, {"x.output", "other.output"});
  const OpenPage open = Opened(page);
  CHECK(RunOne(open, "g.grad_outputs[0]") == Doubles{2, 4, 6});
  const Status fetched = open.Run({"g.grad_outputs[1]"}).status();
  INFO(ToString(fetched));
  CHECK_FALSE(fetched.ok());
  CHECK(fetched.message().find("g.grad_outputs[1]") != std::string::npos);
  AddBlock(page, "user", "Negate", {{"x", {"g.grad_outputs[1]"}}});
  const Status wired = OpenError(page);
  INFO(ToString(wired));
  CHECK(wired.place().block == "user");
  CHECK(wired.message().find("g.grad_outputs[1]") != std::string::npos);
  CHECK(wired.message().find("depend") != std::string::npos);
}

TEST_CASE("Gradients stop at integers and at what has no slope", "[gradients]") {
  Page page = Squares();
  AddBlock(page, "whole", "Cast", {{"x", {"square.y"}}}, "DstT_ = DT_INT32;");
  AddBlock(page, "back", "Cast", {{"x", {"whole.y"}}}, "DstT_ = DT_DOUBLE;");
  AddBlock(page, "top", "ArgMax", {{"input", {"x.output"}}, {"dimension", {Tensor::Scalar<int32_t>(0)}}});
  AddBlock(page, "place", "Cast", {{"x", {"top.output"}}}, "DstT_ = DT_DOUBLE;");
  AddBlock(page, "greater", "Greater", {{"x", {"x.output"}}, {"y", {Tensor::Scalar(1.5)}}});
  AddBlock(page, "mask", "Cast", {{"x", {"greater.z"}}}, "DstT_ = DT_DOUBLE;");
  AddBlock(page, "ones", "OnesLike", {{"x", {"x.output"}}});
  AddBlock(page, "list", "AddN", {{"inputs", {"back.y", "mask.y", "ones.y"}}});
  AddBlock(page, "moved", "Add", {{"x", {"list.sum"}}, {"y", {"place.y"}}});
  AddBlock(page, "product", "Multiply", {{"x", {"moved.z"}}, {"y", {"x.output"}}});
  AddGradients(page, "g", {"product.z"}, {"x.output", "back.y", "square.y"});
  const OpenPage open = Opened(page);
  CHECK(RunOne(open, "g.grad_outputs[0]") == Doubles{4, 8, 13});  // (x^2 + (x > 1.5) + 1 + 2), taken as constants
  CHECK(RunOne(open, "g.grad_outputs[1]") == Doubles{1, 2, 3});
  CHECK_FALSE(open.graph().FindValue("g.grad_outputs[2]").ok());

  Page whole = Squares();
  AddBlock(whole, "whole", "Cast", {{"x", {"square.y"}}}, "DstT_ = DT_INT32;");
  AddGradients(whole, "g", {"whole.y"}, {"x.output"});
  const Status status = OpenError(whole);
  CHECK(status.place().block == "g");
  CHECK(status.message().find("DT_INT32") != std::string::npos);
}

TEST_CASE("A block without a gradient is named", "[gradients]") {
  Page page = Squares();
  AddBlock(page, "rest", "Mod", {{"x", {"square.y"}}, {"y", {Tensor::Scalar(2.0)}}});
  AddBlock(page, "end", "Negate", {{"x", {"rest.z"}}});
  Page beside = page;
  AddGradients(page, "g", {"end.y"}, {"x.output"});
  const Status status = OpenError(page);
  INFO(ToString(status));
  CHECK(status.code() == Code::kUnsupported);
  CHECK(status.place().block == "g");
  CHECK(status.message().find("'rest' (Mod)") != std::string::npos);
  // Beside the path it does no harm.
  AddGradients(beside, "g", {"end.y", "square.y"}, {"rest.z"});
  CHECK(RunOne(Opened(beside), "g.grad_outputs[0]") == Doubles{-1, -1, -1});
}

TEST_CASE("A second order that a block has not is named", "[gradients]") {
  Page page;
  const std::string x = AddConst(page, "x", MakeValues(Distinct({1, 2, 2, 1}), DType::kDouble, 1));
  AddBlock(page, "square", "Square", {{"x", {x}}});
  AddBlock(page, "pool", "MaxPool", {{"input", {"square.y"}}},
           "ksize_ = {1,2,2,1};strides_ = {1,1,1,1};padding_ = EXPLICIT;explicit_paddings_ = {0,0,1,0,0,0,0,0};");
  AddBlock(page, "again", "Square", {{"x", {"pool.output"}}});
  AddGradients(page, "g", {"again.y"}, {x});
  CHECK(Opened(page).Run({"g.grad_outputs[0]"}).ok());
  AddGradients(page, "h", {"g.grad_outputs[0]"}, {x});
  const Status status = OpenError(page);
  INFO(ToString(status));
  CHECK(status.code() == Code::kUnsupported);
  CHECK(status.place().block == "h");
  CHECK(status.message().find("MaxPoolGrad") != std::string::npos);
}

TEST_CASE("A Switch leaves the gradients of the other way out", "[gradients]") {
  for (const bool way : {false, true}) {
    Page page = Squares();
    AddConst(page, "w", Vector({2, 2, 2}));
    AddBlock(page, "switch", "Switch", {{"data", {"square.y"}}, {"pred", {Tensor::Scalar(way)}}});
    AddBlock(page, "scaled", "Multiply", {{"x", {"switch.output_true"}}, {"y", {"w.output"}}});
    AddBlock(page, "negative", "Negate", {{"x", {"switch.output_false"}}});
    AddBlock(page, "merge", "Merge", {{"inputs", {"negative.y", "scaled.z"}}});
    AddGradients(page, "g", {"merge.output"}, {"x.output", "w.output", "switch.output_true"});
    AddGradients(page, "dead", {"scaled.z"}, {"x.output"});
    const OpenPage open = Opened(std::move(page));
    CHECK(RunOne(open, "g.grad_outputs[0]") == (way ? Doubles{4, 8, 12} : Doubles{-2, -4, -6}));
    // w is met on one way only, so its gradient is as dead as that way.
    for (const char* wire : {"g.grad_outputs[1]", "g.grad_outputs[2]"}) CHECK(open.Run({wire}).ok() == way);
    // x reaches the Switch on either, so a y that is left out does not change with it.
    CHECK(RunOne(open, "dead.grad_outputs[0]") == (way ? Doubles{4, 8, 12} : Doubles{0, 0, 0}));
  }
}

TEST_CASE("A fed value changes the gradients that depend on it", "[gradients]") {
  Page page = Squares();
  AddGradients(page, "g", {"square.y"}, {"x.output"});
  const OpenPage open = Opened(std::move(page));
  auto session = open.Fetch({"g.grad_outputs[0]"});
  REQUIRE(session.ok());
  const ValueRef x = open.graph().FindValue("x.output").value();
  REQUIRE((*session)->Feed(x, Vector({-1, 0.5, 4, 5})).ok());  // in another shape
  CHECK(Values(RunSession(**session).value()[0]) == Doubles{-2, 1, 8, 10});
}

TEST_CASE("A network of variables learns as plain C++ does", "[gradients]") {
  const Doubles x{0.5, -1, 2, 1.5}, t{1, 0, 2, -1};
  double w = 0.25, b = -0.5;
  Page page;
  AddConst(page, "x", Vector({0.5, -1, 2, 1.5}));
  AddConst(page, "t", Vector({1, 0, 2, -1}));
  AddConst(page, "rate", Tensor::Scalar(0.1));
  AddVariable(page, "w", Tensor::Scalar(w));
  AddVariable(page, "b", Tensor::Scalar(b));
  AddBlock(page, "scaled", "Multiply", {{"x", {"x.output"}}, {"y", {"w.ref"}}});
  AddBlock(page, "moved", "Add", {{"x", {"scaled.z"}}, {"y", {"b.ref"}}});
  AddBlock(page, "h", "Tanh", {{"x", {"moved.z"}}});
  AddBlock(page, "off", "Subtract", {{"x", {"h.y"}}, {"y", {"t.output"}}});
  AddBlock(page, "loss", "L2Loss", {{"t", {"off.z"}}});
  AddGradients(page, "g", {"loss.output"}, {"w.ref", "b.ref"});
  AddBlock(page, "step_w", "ApplyGradientDescent", {{"var", {"w.ref"}}, {"alpha", {"rate.output"}}, {"delta", {"g.grad_outputs[0]"}}});
  AddBlock(page, "step_b", "ApplyGradientDescent", {{"var", {"b.ref"}}, {"alpha", {"rate.output"}}, {"delta", {"g.grad_outputs[1]"}}});
  const OpenPage open = Opened(std::move(page));
  auto session = open.Fetch({"loss.output"}, {"step_w", "step_b"});
  REQUIRE(session.ok());
  for (int step = 0; step < 10; ++step) {
    double loss = 0, dw = 0, db = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double h = std::tanh(w * x[i] + b), slope = (h - t[i]) * (1 - h * h);
      loss += (h - t[i]) * (h - t[i]) / 2;
      dw += slope * x[i];
      db += slope;
    }
    w -= 0.1 * dw;
    b -= 0.1 * db;
    auto values = RunSession(**session);
    REQUIRE(values.ok());
    CHECK(Values(values->at(0))[0] == Approx(loss).epsilon(1e-12));
    CHECK(Values(open.scope()->GetVariable("w").value())[0] == Approx(w).epsilon(1e-12));
    CHECK(Values(open.scope()->GetVariable("b").value())[0] == Approx(b).epsilon(1e-12));
  }
}

}  // namespace weft::kit
