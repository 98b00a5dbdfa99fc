// Dead values: Switch, Merge, and results that keep what they had.
#include "tests/runtime/session_kit.h"

namespace weft::test {
namespace {

/// x (fed) goes left negated or right squared; both ways pass through blocks that share memory.
std::vector<std::string> TwoWays(const std::string& shape) {
  return {Block("x", "Placeholder", {}, Cat("dtype_ = DT_FLOAT;shape_ = ", shape, ";")), Block("p", "Placeholder", {}, "dtype_ = DT_BOOL;shape_ = [];"),
          Block("s", "Switch", {{"data", "x.output"}, {"pred", "p.output"}}),
          Block("left", "Negate", {{"x", "s.output_false"}}), Block("left_same", "Identity", {{"input", "left.y"}}),
          Block("left_flat", "Reshape", {{"tensor", "left_same.output"}, {"shape", Ints({-1})}}),
          Block("right", "Square", {{"x", "s.output_true"}}), Block("right_same", "Identity", {{"input", "right.y"}}),
          Block("right_flat", "Reshape", {{"tensor", "right_same.output"}, {"shape", Ints({-1})}}),
          Block("m", "Merge", {{"inputs", "[\"left_flat.output\", \"right_flat.output\"]"}}), Block("end", "Negate", {{"x", "m.output"}})};
}

TEST_CASE("A value that a Switch left out keeps what it had, over many runs", "[session-api]") {
  const std::vector<std::vector<bool>> patterns = {{false, true, false, true, false, true, false, true, false, true},
                                                   {false, false, true, true, true, false, false, true, false, false, false, true}};
  for (const char* shape : {"[2]", "[-1]"}) {
    for (const auto& pattern : patterns) {
      TestPage page(TwoWays(shape));
      auto session = page.Open({"end.y"});
      float last[2] = {0, 0};
      uint64_t run_of[2] = {0, 0};
      std::vector<std::pair<Tensor, float>> held;
      for (size_t run = 1; run <= pattern.size(); ++run) {
        bool way = pattern[run - 1];
        float value = static_cast<float>(run), result = way ? value * value : -value;
        REQUIRE(page.Feed(*session, "x.output", Tensor::Of<float>({value, value})).ok());
        REQUIRE(page.Feed(*session, "p.output", Tensor::Scalar(way)).ok());
        RunOk(*session);
        last[way] = result;
        run_of[way] = run;
        CHECK(Get(*session, "end.y") == Floats{-result, -result});
        CHECK(Get<int32_t>(*session, "m.value_index") == std::vector<int32_t>{way});
        for (int side = 0; side < 2; ++side) {
          const char* sides[2][3] = {{"left.y", "left_same.output", "left_flat.output"}, {"right.y", "right_same.output", "right_flat.output"}};
          for (const char* name : sides[side]) {
            INFO(name << " in run " << run << " of " << shape);
            auto value_of = session->Get(name);
            if (run_of[side] == 0) {
              CHECK(value_of.status().code() == Code::kFailedPrecondition);
              continue;
            }
            REQUIRE(value_of.ok());
            CHECK(Values(value_of->tensor) == Floats{last[side], last[side]});
            CHECK(value_of->stale == (side != way));
            CHECK(value_of->run == run_of[side]);
            held.emplace_back(value_of->tensor, last[side]);
          }
        }
      }
      for (const auto& [tensor, value] : held) CHECK(Values(tensor) == Floats{value, value});
    }
  }
}

TEST_CASE("Stale results live on over a new plan", "[session-api]") {
  TestPage page(TwoWays("[-1]"));
  auto session = page.Open({"end.y"});
  auto run = [&](std::initializer_list<float> x, bool way) {
    REQUIRE(page.Feed(*session, "x.output", Tensor::Of<float>(x)).ok());
    REQUIRE(page.Feed(*session, "p.output", Tensor::Scalar(way)).ok());
    RunOk(*session);
  };
  run({1, 2}, false);
  run({3, 4, 5}, true);
  CHECK(Get(*session, "left_flat.output") == Floats{-1, -2});
  CHECK(session->Get("left.y")->run == 1);
  run({7}, true);
  CHECK(Get(*session, "left.y") == Floats{-1, -2});
  CHECK(Get(*session, "right.y") == Floats{49});
  run({8}, false);
  CHECK(Get(*session, "right_same.output") == Floats{49});
  CHECK(Get(*session, "left.y") == Floats{-8});
}

TEST_CASE("To fetch a dead value by name fails the run", "[session-api]") {
  TestPage page(TwoWays("[2]"));
  for (Keep keep : {Keep::kAll, Keep::kAsked}) {
    auto session = page.Open({"left.y"}, {}, keep);
    REQUIRE(page.Feed(*session, "x.output", Tensor::Of<float>({1, 2})).ok());
    REQUIRE(page.Feed(*session, "p.output", Tensor::Scalar(false)).ok());
    RunOk(*session);
    REQUIRE(page.Feed(*session, "x.output", Tensor::Of<float>({5, 6})).ok());
    REQUIRE(page.Feed(*session, "p.output", Tensor::Scalar(true)).ok());
    Status status = session->Run();
    CHECK(status.code() == Code::kInvalidArgument);
    CHECK(status.place().block == "left");
    CHECK(Get(*session, "left.y") == Floats{-1, -2});
    CHECK_FALSE(session->Get("left.y")->stale);
  }
}

TEST_CASE("A Merge whose output is fetched keeps the way it came", "[session-api]") {
  TestPage page(TwoWays("[2]"));
  auto session = page.Open({"m.output"}, {}, Keep::kAsked);
  std::vector<Tensor> held;
  for (int run = 1; run <= 8; ++run) {
    float value = static_cast<float>(run);
    REQUIRE(page.Feed(*session, "x.output", Tensor::Of<float>({value, value})).ok());
    REQUIRE(page.Feed(*session, "p.output", Tensor::Scalar(run % 3 == 0)).ok());
    RunOk(*session);
    held.push_back(session->Get("m.output")->tensor);
  }
  for (int run = 1; run <= 8; ++run) {
    float value = static_cast<float>(run), result = run % 3 == 0 ? value * value : -value;
    CHECK(Values(held[static_cast<size_t>(run - 1)]) == Floats{result, result});
  }
}

/// y = (p ? (q ? 3 w^2 : 3) * w : 3) + w^2 at w = 2, of which the ways read w itself; and its gradient by w.
std::vector<std::string> WaysThatReadAWeight(bool ifs_first) {
  std::vector<std::string> blocks = {
      Block("p", "Placeholder", {}, "dtype_ = DT_BOOL;shape_ = [];"), Block("q", "Placeholder", {}, "dtype_ = DT_BOOL;shape_ = [];"),
      Block("s", "Switch", {{"data", Scalar(3)}, {"pred", "p.output"}}),
      Block("inner", "Switch", {{"data", "s.output_true"}, {"pred", "q.output"}})};
  blocks.insert(ifs_first ? blocks.end() : blocks.begin(), Variable("w", Scalar(2)));
  blocks.insert(blocks.end(),
                {Block("square", "Square", {{"x", "w.ref"}}),
                 Block("most", "Multiply", {{"x", "inner.output_true"}, {"y", "square.y"}}),
                 Block("m_inner", "Merge", {{"inputs", "[\"most.z\", \"inner.output_false\"]"}}),
                 Block("more", "Multiply", {{"x", "m_inner.output"}, {"y", "w.ref"}}),
                 Block("m", "Merge", {{"inputs", "[\"more.z\", \"s.output_false\"]"}}),
                 Block("sum", "AddV2", {{"x", "m.output"}, {"y", "square.y"}}),
                 Block("g", "AddSymbolicGradients", {{"outputs", "[\"sum.z\"]"}, {"inputs", "[\"w.ref\"]"}}),
                 Block("in_way", "AddSymbolicGradients", {{"outputs", "[\"m.output\"]"}, {"inputs", "[\"w.ref\"]"}}),
                 Block("u", "ApplyGradientDescent", {{"var", "w.ref"}, {"alpha", Scalar(0.25)}, {"delta", "g.grad_outputs[0]"}})});
  return blocks;
}

TEST_CASE("A gradient from a way that was not taken counts as zero beside others, and is none alone", "[session-api][gradients]") {
  for (const bool ifs_first : {false, true}) {
    TestPage page(WaysThatReadAWeight(ifs_first));
    const auto gradient = [&](std::string_view of, bool p, bool q) {
      auto session = page.Open({std::string(of)}, {}, Keep::kAsked);
      REQUIRE(page.Feed(*session, "p.output", Tensor::Scalar(p)).ok());
      REQUIRE(page.Feed(*session, "q.output", Tensor::Scalar(q)).ok());
      const Status status = session->Run();
      INFO(ifs_first << ", " << p << q << ": " << ToString(status));
      CHECK((status.ok() || status.message().find("no value in this run") != std::string::npos));
      return status.ok() ? Get(*session, of) : Floats{};
    };
    for (const bool q : {false, true}) CHECK(gradient("g.grad_outputs[0]", false, q) == Floats{4});
    CHECK(gradient("g.grad_outputs[0]", true, false) == Floats{3 + 4});
    CHECK(gradient("g.grad_outputs[0]", true, true) == Floats{9 * 4 + 4});
    CHECK(gradient("in_way.grad_outputs[0]", true, true) == Floats{9 * 4});
    CHECK(gradient("in_way.grad_outputs[0]", true, false) == Floats{3});
    CHECK(gradient("in_way.grad_outputs[0]", false, true).empty());
    auto training = page.Open({}, {"u"});
    REQUIRE(page.Feed(*training, "p.output", Tensor::Scalar(false)).ok());
    REQUIRE(page.Feed(*training, "q.output", Tensor::Scalar(false)).ok());
    for (int step = 0; step < 3; ++step) RunOk(*training);
    CHECK(page.Var("w") == Floats{0.25});  // 2 halved three times
  }
}

TEST_CASE("A fed side of a Switch is live whichever way the data goes; updates on a dead way are left out", "[session-api]") {
  auto blocks = TwoWays("[2]");
  blocks.push_back(Variable("v", Vector({0, 0})));
  blocks.push_back(Block("u", "Assign", {{"ref", "v.ref"}, {"value", "right.y"}}));
  blocks.push_back(Block("then", "ApplyGradientDescent", {{"var", "u.output_ref"}, {"alpha", Scalar(1)}, {"delta", Vector({1, 1})}}));
  TestPage page(blocks);
  auto session = page.Open({}, {"u", "then", "left"});
  REQUIRE(page.Feed(*session, "x.output", Tensor::Of<float>({3, 4})).ok());
  REQUIRE(page.Feed(*session, "s.output_false", Tensor::Of<float>({1, 1})).ok());
  REQUIRE(page.Feed(*session, "p.output", Tensor::Scalar(false)).ok());
  RunOk(*session);
  CHECK(page.Var("v") == Floats{0, 0});
  REQUIRE(page.Feed(*session, "p.output", Tensor::Scalar(true)).ok());
  RunOk(*session);
  CHECK(page.Var("v") == Floats{8, 15});
  CHECK(Get(*session, "left.y") == Floats{-1, -1});
}

}  // namespace
}  // namespace weft::test
