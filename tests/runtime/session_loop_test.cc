// Loops: frames of Enter, Merge, Switch, NextIteration and Exit.
#include <random>

#include "tests/runtime/loop_kit.h"

namespace weft::test {
namespace {

constexpr Keep kKeeps[] = {Keep::kAll, Keep::kAsked};

std::vector<int32_t> IntsOf(const Session& session, std::string_view name) { return Get<int32_t>(session, name); }

TEST_CASE("A loop's values exchange places", "[loops]") {
  // The numbers of Fibonacci: a, b = b, a + b.
  std::vector<std::string> blocks = {Block("n", "Placeholder", {}, "dtype_ = DT_INT32;shape_ = [];")};
  AddCounter(blocks, "i", "n.output");
  AddVariable(blocks, "a", Int(0), "b_s.output_true");
  AddVariable(blocks, "b", Int(1), "sum.z");
  blocks.push_back(Block("sum", "Add", {{"x", "a_s.output_true"}, {"y", "b_s.output_true"}}));
  for (Keep keep : kKeeps) {
    TestPage page(blocks);
    auto session = page.Open({"a_x.output", "b_x.output", "i_x.output"}, {}, keep);
    int32_t fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    for (int n : {10, 0, 3, 3, 1, 9}) {
      REQUIRE(page.Feed(*session, "n.output", Tensor::Scalar<int32_t>(n)).ok());
      RunOk(*session);
      CHECK(IntsOf(*session, "a_x.output") == std::vector<int32_t>{fibonacci[n]});
      CHECK(IntsOf(*session, "b_x.output") == std::vector<int32_t>{fibonacci[n + 1]});
      CHECK(IntsOf(*session, "i_x.output") == std::vector<int32_t>{n});
    }
  }
}

TEST_CASE("What a loop's last iteration leaves out keeps what it had", "[loops]") {
  std::vector<std::string> blocks;
  AddCounter(blocks, "i", Int(4));
  TestPage page(blocks);
  auto session = page.Open({"i_x.output"});
  for (int run = 1; run <= 3; ++run) {
    RunOk(*session);
    CHECK(IntsOf(*session, "i_x.output") == std::vector<int32_t>{4});
    CHECK(IntsOf(*session, "i_m.output") == std::vector<int32_t>{4});
    CHECK(IntsOf(*session, "i_m.value_index") == std::vector<int32_t>{1});
    for (const char* name : {"i_s.output_true", "i_b.z", "i_n.output", "i_e.output"}) {
      INFO(name);
      auto value = session->Get(name);
      REQUIRE(value.ok());
      CHECK_FALSE(value->stale);
      int32_t expected = name == std::string("i_s.output_true") ? 3 : name == std::string("i_e.output") ? 0 : 4;
      CHECK(Values<int32_t>(value->tensor) == std::vector<int32_t>{expected});
    }
  }
}

TEST_CASE("A loop variable may become a constant, or a variable, in each iteration", "[loops]") {
  for (const std::string& next : {std::string("c.output"), std::string("v.ref"), Int(7)}) {
    for (const bool enters_first : {true, false}) {
      std::vector<std::string> blocks = {Block("n", "Placeholder", {}, "dtype_ = DT_INT32;shape_ = [];"), Block("c", "Const", {{"value", Int(7)}}),
                                         Variable("v", Int(7))};
      AddCounter(blocks, "i", "n.output");
      AddVariable(blocks, "x", Int(25), next);
      for (std::string& block : blocks) {
        if (!enters_first && block.find("\"x_m\", \"block\"") != std::string::npos) {
          block = Block("x_m", "Merge", {{"inputs", Pair("x_n.output", "x_e.output")}});
        }
      }
      for (Keep keep : kKeeps) {
        TestPage page(blocks);
        for (const char* fetched : {"x_x.output", "x_m.output"}) {  // no wire leads from the condition to the Merge
          auto session = page.Open({fetched}, {}, keep);
          for (int n : {0, 1, 3, 0}) {
            INFO(next << ", " << enters_first << ", " << fetched << ", " << n << " iterations");
            REQUIRE(page.Feed(*session, "n.output", Tensor::Scalar<int32_t>(n)).ok());
            RunOk(*session);
            CHECK(IntsOf(*session, fetched) == std::vector<int32_t>{n == 0 ? 25 : 7});
          }
        }
      }
    }
  }
}

TEST_CASE("Values of a loop may change their shapes", "[loops]") {
  std::vector<std::string> blocks;
  AddCounter(blocks, "i", Int(5));
  AddVariable(blocks, "x", Vector({7}), "longer.output");
  blocks.push_back(Block("flat", "Reshape", {{"tensor", "i_b.z"}, {"shape", Ints({1})}}));
  blocks.push_back(Block("total", "Sum", {{"input", "x_s.output_true"}, {"axis", Ints({0})}}));
  blocks.push_back(Block("longer", "Fill", {{"dims", "flat.output"}, {"value", "total.output"}}));
  blocks.push_back(Block("after", "Negate", {{"x", "x_x.output"}}));
  for (Keep keep : kKeeps) {
    TestPage page(blocks);
    auto session = page.Open({"after.y"}, {}, keep);
    for (int run = 0; run < 3; ++run) {
      RunOk(*session);
      CHECK(Get(*session, "after.y") == Floats(5, -7.0f * 1 * 1 * 2 * 3 * 4));
    }
  }
}

TEST_CASE("Loops nest", "[loops]") {
  // The sum over i below n of the sum over j below i of j, and j's last value.
  std::vector<std::string> blocks = {Block("n", "Placeholder", {}, "dtype_ = DT_INT32;shape_ = [];")};
  AddCounter(blocks, "i", "n.output");
  AddVariable(blocks, "s", Int(0), "s_b.z");
  AddCounter(blocks, "j", "i_s.output_true", "v");
  AddVariable(blocks, "t", Int(0), "t_b.z", "v");
  blocks.push_back(Block("t_b", "Add", {{"x", "t_s.output_true"}, {"y", "j_s.output_true"}}));
  blocks.push_back(Block("s_b", "Add", {{"x", "s_s.output_true"}, {"y", "t_x.output"}}));
  for (Keep keep : kKeeps) {
    TestPage page(blocks);
    auto session = page.Open({"s_x.output"}, {}, keep);
    for (int n : {5, 0, 1, 12, 2}) {
      REQUIRE(page.Feed(*session, "n.output", Tensor::Scalar<int32_t>(n)).ok());
      RunOk(*session);
      int32_t sum = 0;
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) sum += j;
      }
      CHECK(IntsOf(*session, "s_x.output") == std::vector<int32_t>{sum});
    }
  }
}

TEST_CASE("A loop on a way that was not taken does not run, and a Merge goes on without it", "[loops]") {
  std::vector<std::string> blocks = {Block("p", "Placeholder", {}, "dtype_ = DT_BOOL;shape_ = [];"),
                                     Block("way", "Switch", {{"data", Int(3)}, {"pred", "p.output"}})};
  AddCounter(blocks, "i", "way.output_true");
  AddVariable(blocks, "x", "way.output_true", "x_b.z");
  blocks.push_back(Block("x_b", "Add", {{"x", "x_s.output_true"}, {"y", "i_end.output"}}));
  blocks.push_back(Block("other", "Negate", {{"x", "way.output_false"}}));
  blocks.push_back(Block("m", "Merge", {{"inputs", Pair("other.y", "x_x.output")}}));
  for (Keep keep : kKeeps) {
    TestPage page(blocks);
    auto session = page.Open({"m.output"}, {}, keep);
    for (bool taken : {true, false, false, true, true, false}) {
      REQUIRE(page.Feed(*session, "p.output", Tensor::Scalar(taken)).ok());
      RunOk(*session);
      CHECK(IntsOf(*session, "m.output") == std::vector<int32_t>{taken ? 12 : -3});
    }
    auto exits = page.Open({"x_x.output"}, {}, keep);
    REQUIRE(page.Feed(*exits, "p.output", Tensor::Scalar(false)).ok());
    CHECK(exits->Run().code() == Code::kInvalidArgument);
  }
}

TEST_CASE("A loop that never ends is cancelled", "[loops]") {
  std::vector<std::string> blocks;
  AddCounter(blocks, "i", Int(2147483647));
  AddVariable(blocks, "x", Int(0), "x_s.output_true");
  blocks.push_back(Block("late", "Less", {{"x", "x_m.output"}, {"y", Int(1)}}));
  for (std::string& block : blocks) {
    if (block.find("\"id\": \"w_c\"") != std::string::npos) block = Block("w_c", "LoopCond", {{"input", "late.z"}});
  }
  for (Keep keep : kKeeps) {
    TestPage page(blocks);
    auto session = page.Open({"x_x.output"}, {}, keep);
    Clock::time_point cancelled;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      cancelled = Clock::now();
      session->Cancel();
    });
    CHECK(session->Run().code() == Code::kCancelled);
    double took = MillisecondsSince(cancelled);
    canceller.join();
    CHECK(took < 1000);  // a few milliseconds on a machine with nothing else to do
    RunOptions options;
    options.deadline = Clock::now() + std::chrono::milliseconds(30);
    Clock::time_point start = Clock::now();
    Status status = session->Run(options);
    CHECK(status.code() == Code::kCancelled);
    CHECK(status.message().find("deadline") != std::string::npos);
    CHECK(MillisecondsSince(start) < 1000);
  }
}

TEST_CASE("Variables that a loop updates change at once, and stay as they were where the run fails", "[loops]") {
  // In each iteration v grows by its double; the loop sees it, what reads v outside does not.
  std::vector<std::string> blocks = {Variable("v", Scalar(1)), Block("n", "Placeholder", {}, "dtype_ = DT_INT32;shape_ = [];")};
  AddCounter(blocks, "i", "n.output");
  blocks.push_back(Block("here", "Add", {{"x", "v.ref"}, {"y", "zero.output"}}));
  blocks.push_back(Enter("zero", Scalar(0), "w", true));
  blocks.push_back(Block("double", "Multiply", {{"x", "here.z"}, {"y", Scalar(2)}}));
  blocks.push_back(Block("gate", "Switch", {{"data", "double.z"}, {"pred", "w_c.output"}}));
  blocks.push_back(Block("grow", "AssignAdd", {{"ref", "v.ref"}, {"value", "gate.output_true"}}));
  blocks.push_back(Block("outside", "Negate", {{"x", "v.ref"}}));
  for (Keep keep : kKeeps) {
    TestPage page(blocks);
    auto session = page.Open({"outside.y", "i_x.output"}, {"grow"}, keep);
    float expected = 1;
    for (int n : {3, 0, 1}) {
      REQUIRE(page.Feed(*session, "n.output", Tensor::Scalar<int32_t>(n)).ok());
      RunOk(*session);
      CHECK(Get(*session, "outside.y") == Floats{-expected});
      for (int i = 0; i < n; ++i) expected *= 3;
      CHECK(page.Var("v") == Floats{expected});
    }
    REQUIRE(page.Feed(*session, "n.output", Tensor::Scalar<int32_t>(2147483647)).ok());
    RunOptions options;
    options.deadline = Clock::now() + std::chrono::milliseconds(20);
    CHECK(session->Run(options).code() == Code::kCancelled);
    CHECK(page.Var("v") == Floats{expected});
  }
}

TEST_CASE("A variable may take another shape in each iteration", "[loops]") {
  std::vector<std::string> blocks = {Block("v", "Variable", {{"initvalues", Vector({1})}}), Variable("kept", Scalar(0))};
  AddCounter(blocks, "i", Int(4));
  blocks.push_back(Block("flat", "Reshape", {{"tensor", "i_b.z"}, {"shape", Ints({1})}}));
  blocks.push_back(Enter("zero", Scalar(0), "w", true));
  blocks.push_back(Block("here", "Add", {{"x", "v.ref"}, {"y", "zero.output"}}));
  blocks.push_back(Block("total", "Sum", {{"input", "here.z"}, {"axis", Ints({0})}}));
  blocks.push_back(Block("longer", "Fill", {{"dims", "flat.output"}, {"value", "total.output"}}));
  blocks.push_back(Block("set", "Assign", {{"ref", "v.ref"}, {"value", "longer.output"}}, "validate_shape_ = false;"));
  for (Keep keep : kKeeps) {
    TestPage page(blocks);
    auto session = page.Open({"i_x.output"}, {"set"}, keep);
    for (int run = 0; run < 2; ++run) {
      float total = 1;
      if (run > 0) total = 4 * page.Var("v")[0];
      RunOk(*session);
      CHECK(page.Var("v") == Floats(4, total * 6));
    }
  }
}

/// Loops of random steps over a few values, and what they compute, step by step.
class RandomLoop {
 public:
  explicit RandomLoop(unsigned seed) : random_(seed) {
    variables_ = 1 + Below(4);
    AddCounter(blocks_, "i", "n.output");
    blocks_.push_back(Block("n", "Placeholder", {}, "dtype_ = DT_INT32;shape_ = [];"));
    blocks_.push_back(Block("odd_p", "Placeholder", {}, "dtype_ = DT_BOOL;shape_ = [];"));
    blocks_.push_back(Enter("odd", "odd_p.output", "w", true));
    blocks_.push_back(Block("outer", "Negate", {{"x", Vector({1, 2, 3})}}));
    blocks_.push_back(Block("outer2", "Square", {{"x", "outer.y"}}));
    blocks_.push_back(Enter("k", "outer2.y", "w", true));
    names_.push_back("k.output");
    for (int v = 0; v < variables_; ++v) names_.push_back(Cat("x", v, "_s.output_true"));
    int steps = 1 + Below(7);
    for (int s = 0; s < steps; ++s) AddStep(s);
    for (int v = 0; v < variables_; ++v) {
      next_.push_back(Below(static_cast<int>(names_.size())));
      std::string first = Below(2) ? "outer.y" : Below(2) ? "outer2.y" : Vector({static_cast<double>(v), 1, -1});
      first_.push_back(first);
      AddVariable(blocks_, Cat("x", v), first, names_[next_.back()]);
    }
  }

  const std::vector<std::string>& blocks() const { return blocks_; }
  int variables() const { return variables_; }

  std::vector<Floats> Compute(int n, bool odd) const {
    std::vector<Floats> x;
    for (int v = 0; v < variables_; ++v) {
      Floats own = {static_cast<float>(v), 1, -1};
      x.push_back(first_[v] == "outer.y" ? Floats{-1, -2, -3} : first_[v] == "outer2.y" ? Floats{1, 4, 9} : own);
    }
    for (int i = 0; i < n; ++i) {
      std::vector<Floats> values = {{1, 4, 9}};
      values.insert(values.end(), x.begin(), x.end());
      for (const Step& step : steps_) {
        Floats result(3);
        for (int e = 0; e < 3; ++e) {
          float a = values[step.a][e], b = values[step.b][e];
          switch (step.kind) {
            case 0: result[e] = std::clamp(a + b, -50.0f, 50.0f); break;
            case 1: result[e] = -a; break;
            case 2: result[e] = a; break;
            default: result[e] = odd ? a : -b;
          }
        }
        values.push_back(result);
      }
      for (int v = 0; v < variables_; ++v) x[v] = values[next_[v]];
    }
    return x;
  }

 private:
  struct Step {
    int kind, a, b;
  };
  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  void AddStep(int s) {
    Step step{Below(4), Below(static_cast<int>(names_.size())), Below(static_cast<int>(names_.size()))};
    const std::string id = Cat("f", s);
    const std::string &a = names_[step.a], &b = names_[step.b];
    std::string result = Cat(id, ".output");
    switch (step.kind) {
      case 0:
        blocks_.push_back(Block(id + "_add", "Add", {{"x", a}, {"y", b}}));
        blocks_.push_back(Block(id + "_low", "Maximum", {{"x", id + "_add.z"}, {"y", Scalar(-50)}}));
        blocks_.push_back(Block(id, "Minimum", {{"x", id + "_low.z"}, {"y", Scalar(50)}}));
        result = Cat(id, ".z");
        break;
      case 1:
        blocks_.push_back(Block(id, "Negate", {{"x", a}}));
        result = Cat(id, ".y");
        break;
      case 2: blocks_.push_back(Block(id, "Identity", {{"input", a}})); break;
      default:
        blocks_.push_back(Block(id + "_a", "Switch", {{"data", a}, {"pred", "odd.output"}}));
        blocks_.push_back(Block(id + "_b", "Switch", {{"data", b}, {"pred", "odd.output"}}));
        blocks_.push_back(Block(id + "_n", "Negate", {{"x", id + "_b.output_false"}}));
        blocks_.push_back(Block(id, "Merge", {{"inputs", Pair(id + "_n.y", id + "_a.output_true")}}));
    }
    steps_.push_back(step);
    names_.push_back(result);
  }

  std::mt19937 random_;
  int variables_;
  std::vector<std::string> blocks_, names_, first_;
  std::vector<Step> steps_;
  std::vector<int> next_;
};

TEST_CASE("Loops of random steps compute what they should", "[loops]") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomLoop loop(seed);
    TestPage page(loop.blocks());
    for (Keep keep : kKeeps) {
      std::vector<std::string> fetches;
      for (int v = 0; v < loop.variables(); ++v) fetches.push_back(Cat("x", v, "_x.output"));
      auto session = page.Open(fetches, {}, keep);
      std::vector<std::pair<Tensor, Floats>> held;
      for (int n : {4, 0, 1, 7, 2}) {
        for (bool odd : {false, true}) {
          INFO("seed " << seed << ", " << n << " iterations");
          REQUIRE(page.Feed(*session, "n.output", Tensor::Scalar<int32_t>(n)).ok());
          REQUIRE(page.Feed(*session, "odd_p.output", Tensor::Scalar(odd)).ok());
          RunOk(*session);
          std::vector<Floats> expected = loop.Compute(n, odd);
          for (int v = 0; v < loop.variables(); ++v) {
            CHECK(Get(*session, fetches[v]) == expected[v]);
            if (n == 1) held.emplace_back(session->Get(fetches[v])->tensor, expected[v]);
          }
        }
      }
      for (const auto& [tensor, values] : held) CHECK(Values(tensor) == values);
    }
  }
}

/// A loop in a loop that updates a variable, with some wires pulled out and put in elsewhere.
std::vector<std::string> Rewired(unsigned seed) {
  std::vector<std::string> blocks = {Variable("v", Int(0))};
  AddCounter(blocks, "i", Int(3));
  AddVariable(blocks, "s", Int(0), "s_b.z");
  AddCounter(blocks, "j", "i_s.output_true", "u");
  AddVariable(blocks, "t", "i_b.z", "t_b.z", "u");
  blocks.push_back(Block("t_b", "Add", {{"x", "t_s.output_true"}, {"y", "j_s.output_true"}}));
  blocks.push_back(Block("s_b", "Add", {{"x", "s_s.output_true"}, {"y", "t_x.output"}}));
  blocks.push_back(Block("grow", "AssignAdd", {{"ref", "v.ref"}, {"value", "s_s.output_true"}}));
  blocks.push_back(Block("after", "Negate", {{"x", "s_x.output"}}));
  const char* wires[] = {"v.ref", "i_e.output", "i_m.output", "i_m.value_index", "i_s.output_true", "i_s.output_false", "i_b.z", "i_n.output",
                         "i_x.output", "s_m.output", "s_s.output_true", "s_n.output", "s_x.output", "w_c.output", "i_less.z", "j_e.output",
                         "j_m.output", "j_s.output_true", "j_s.output_false", "j_n.output", "j_x.output", "u_c.output", "t_m.output",
                         "t_s.output_true", "t_x.output", "t_b.z", "s_b.z", "grow.output_ref", "after.y"};
  std::mt19937 random(seed);
  for (unsigned mutations = 1 + random() % 3; mutations > 0;) {
    std::string& block = blocks[random() % blocks.size()];
    const std::string old = Cat("\"", wires[random() % std::size(wires)], "\"");
    size_t at = block.find(old);
    if (at == std::string::npos) continue;
    block.replace(at, old.size(), Cat("\"", wires[random() % std::size(wires)], "\""));
    --mutations;
  }
  return blocks;
}

TEST_CASE("Loops that are wired wrongly do no harm", "[loops]") {
  int ran = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    TestPage page(Rewired(seed));
    Session session(page.scope(), page.graph().DefaultSession(), seed % 2 ? Keep::kAll : Keep::kAsked);
    Diagnostics found;
    session.Prepare(found);
    RunOptions options;
    options.deadline = Clock::now() + std::chrono::milliseconds(5);
    bool ok = session.Run(options).ok();
    ran += ok;
    if (!ok) continue;
    for (const auto& [name, value] : session.Results()) (void)session.Get(value).ok();
  }
  CHECK(ran > 0);
}

TEST_CASE("Pages write down their loops' faults once", "[loops]") {
  auto errors = [](std::vector<std::string> blocks) { return TestPage(blocks).errors(); };
  std::vector<std::string> blocks;
  AddCounter(blocks, "i", Int(3));
  CHECK(errors(blocks).empty());
  // A fault in the body breaks the whole loop, and is said once.
  for (std::string& block : blocks) {
    if (block.find("\"id\": \"i_b\"") != std::string::npos) block = Block("i_b", "Add", {{"x", "i_s.output_true"}, {"y", Scalar(1)}});
  }
  blocks.push_back(Block("after", "Negate", {{"x", "i_x.output"}}));
  CHECK(errors(blocks).size() == 1);
}

}  // namespace
}  // namespace weft::test
