// Fused element-wise steps: the same bits as one by one, whatever is kept, fed, watched or interrupted.
#include <cmath>
#include <random>

#include "tests/runtime/fusion_kit.h"
#include "weft/plan/plan.h"

namespace weft::test {
namespace {

constexpr int64_t kLarge = 5 * 8192;  // some tiles

/// A page of element-wise blocks over fed tensors of one size, in which every block reads what came before.
class RandomChain {
 public:
  explicit RandomChain(uint32_t seed) : random_(seed) {
    const std::vector<std::vector<int64_t>> shapes = {{kLarge}, {kLarge + 1}, {kLarge + 17}, {3, 8192 * 2 + 5}, {8192, 4}, {2, 3, 7000}};
    const auto& dims = shapes[random_() % shapes.size()];
    shape_ = Shape::Make(dims).value();
    for (DType dtype :
         {DType::kFloat, DType::kDouble, DType::kHalf, DType::kBFloat16, DType::kInt32, DType::kInt64, DType::kBool, DType::kComplex64}) {
      for (int i = 0; i < 2; ++i) Feed(dtype, shape_);
      Feed(dtype, Shape{});
      Feed(dtype, Shape{1});
    }
    const int length = 3 + static_cast<int>(random_() % 25);
    for (int i = 0; i < length; ++i) AddBlock();
  }

  std::vector<std::string> blocks;
  struct Fed {
    std::string wire;
    Tensor tensor;
  };
  std::vector<Fed> feeds;
  /// Some of the blocks' outputs, the last always among them.
  std::vector<std::string> Fetches() {
    std::vector<std::string> fetches = {made_.back()};
    for (const std::string& wire : made_) {
      if (random_() % 5 == 0 && wire != made_.back()) fetches.push_back(wire);
    }
    return fetches;
  }

 private:
  struct Known {
    std::string wire;
    DType dtype;
    bool large;
  };

  void Feed(DType dtype, const Shape& shape) {
    const std::string id = Cat("p", feeds.size());
    blocks.push_back(Block(id, "Placeholder", {}, Cat("dtype_ = ", dtype, ";")));
    feeds.push_back({id + ".output", Numbers(dtype, shape, random_())});
    known_.push_back({id + ".output", dtype, shape.count() > 1});
  }
  const std::string& Any(DType dtype, bool large) {
    std::vector<const Known*> fitting;
    for (const Known& k : known_) {
      if (k.dtype == dtype && (k.large || !large)) fitting.push_back(&k);
    }
    // What was made last is read most.
    return fitting[random_() % 2 == 0 ? fitting.size() - 1 : random_() % fitting.size()]->wire;
  }
  using Inputs = std::vector<std::pair<std::string, std::string>>;
  void Put(std::string_view block, const Inputs& inputs, std::string_view port, DType dtype, std::string_view attrs = "") {
    const std::string id = Cat("b", made_.size());
    blocks.push_back(Block(id, block, inputs, attrs));
    made_.push_back(Cat(id, ".", port));
    known_.push_back({made_.back(), dtype, true});
  }
  void AddBlock() {
    const DType types[] = {DType::kFloat,    DType::kFloat, DType::kFloat, DType::kDouble,   DType::kHalf,
                           DType::kBFloat16, DType::kInt32, DType::kInt64, DType::kComplex64};
    const DType t = made_.empty() || random_() % 4 == 0   ? types[random_() % 9]
                    : known_.back().dtype == DType::kBool ? DType::kFloat
                                                          : known_.back().dtype;
    const char* binary[] = {"Add", "Subtract", "Multiply", "SquaredDifference", "Maximum", "Minimum", "Div"};
    const char* maps[] = {"Tanh", "Sigmoid", "Sin", "Log1p", "Expm1", "Relu", "Softplus", "Floor", "Rsqrt"};
    switch (random_() % 8) {
      case 0:
      case 1: {
        const bool real = IsFloating(t);
        const char* block = binary[random_() % (real ? 7 : t == DType::kComplex64 ? 4 : 6)];
        std::string x = Any(t, true), y = Any(t, false);
        if (random_() % 2) std::swap(x, y);
        return Put(block, {{"x", x}, {"y", y}}, "z", t);
      }
      case 2: return Put("Square", {{"x", Any(t, true)}}, "y", t);
      case 3: {
        if (!IsFloating(t)) return Put("Negate", {{"x", Any(t, true)}}, "y", t);
        const char* block = maps[random_() % 9];
        const bool activation = std::string_view(block) == "Relu" || std::string_view(block) == "Softplus";
        return Put(block, {{activation ? "features" : "x", Any(t, true)}}, activation ? "activations" : "y", t);
      }
      case 4: return Put("AddN", {{"inputs", Cat("[\"", Any(t, true), "\", \"", Any(t, true), "\", \"", Any(t, true), "\"]")}}, "sum", t);
      case 5: return Put("SelectV2", {{"condition", Any(DType::kBool, false)}, {"t", Any(t, true)}, {"e", Any(t, false)}}, "output", t);
      case 6: {
        // Over all axes: a single element, which later blocks may read.
        std::vector<double> axes;
        for (int d = 0; d < shape_.rank(); ++d) axes.push_back(d);
        const char* reductions[] = {"Sum", "Mean", "L2Loss"};
        const char* block = reductions[random_() % (IsFloating(t) ? 3 : 2)];
        const bool square = std::string_view(block) == "L2Loss";
        Put(block, square ? Inputs{{"t", Any(t, true)}} : Inputs{{"input", Any(t, true)}, {"axis", Ints(axes)}}, "output", t);
        known_.back().large = false;
        return;
      }
      default: {
        const DType to = types[random_() % 8];
        return Put("Cast", {{"x", Any(t == DType::kComplex64 ? DType::kFloat : t, true)}}, "y", to, Cat("DstT_ = ", to, ";"));
      }
    }
  }

  std::mt19937 random_;
  Shape shape_;
  std::vector<Known> known_;
  std::vector<std::string> made_;
};

std::vector<Tensor> ResultsOf(const RandomChain& chain, const std::vector<std::string>& fetches, Keep keep, int threads, bool one_by_one,
                              size_t* fused) {
  TestPage page(chain.blocks, {.threads = threads, .memory_limit = 0, .processors = threads});
  auto session = page.Open(fetches, {}, keep);
  for (const auto& feed : chain.feeds) {
    if (!page.graph().FindValue(feed.wire).ok()) continue;
    REQUIRE(page.Feed(*session, feed.wire, feed.tensor).ok());
  }
  OneByOne observer;
  RunOptions options;
  if (one_by_one) options.observer = &observer;
  RunOk(*session, options);
  RunOk(*session, options);
  *fused += session->plan()->fused.size();
  std::vector<Tensor> results;
  for (const auto& [name, value] : session->Results()) results.push_back(session->Get(value)->tensor);
  return results;
}

TEST_CASE("Fused steps give the bits of single ones, on any number of threads, whatever is kept", "[fusion]") {
  size_t fused = 0;
  for (uint32_t seed = 1; seed <= 14; ++seed) {
    RandomChain chain(seed);
    const std::vector<std::string> fetches = chain.Fetches();
    for (Keep keep : {Keep::kAll, Keep::kAsked}) {
      const std::vector<Tensor> single = ResultsOf(chain, fetches, keep, 2, true, &fused);
      for (int threads : {1, 2, 5}) {
        const std::vector<Tensor> together = ResultsOf(chain, fetches, keep, threads, false, &fused);
        REQUIRE(single.size() == together.size());
        for (size_t i = 0; i < single.size(); ++i) {
          INFO("seed " << seed << ", " << threads << " threads, result " << i);
          CHECK(SameBits(single[i], together[i]));
        }
      }
    }
  }
  CHECK(fused >= 80);
}

/// gelu(x) = x / 2 (1 + tanh(c (x + d x^3))) and its mean, over a fed x.
std::vector<std::string> Gelu() {
  return {Block("x", "Placeholder", {}, "dtype_ = DT_FLOAT;"),
          Block("x2", "Square", {{"x", "x.output"}}),
          Block("x3", "Multiply", {{"x", "x2.y"}, {"y", "x.output"}}),
          Block("k", "Multiply", {{"x", "x3.z"}, {"y", Scalar(0.044715)}}),
          Block("s", "Add", {{"x", "x.output"}, {"y", "k.z"}}),
          Block("same", "Identity", {{"input", "s.z"}}),
          Block("u", "Multiply", {{"x", "same.output"}, {"y", Scalar(0.7978845608)}}),
          Block("t", "Tanh", {{"x", "u.z"}}),
          Block("one", "Add", {{"x", "t.y"}, {"y", Scalar(1)}}),
          Block("h", "Multiply", {{"x", "one.z"}, {"y", Scalar(0.5)}}),
          Block("y", "Multiply", {{"x", "x.output"}, {"y", "h.z"}}),
          Block("mean", "Mean", {{"input", "y.z"}, {"axis", Ints({0})}})};
}

TEST_CASE("What only fused steps read has no memory of its own; plans say which steps are fused", "[fusion]") {
  constexpr int64_t kCount = 100000;
  TestPage page(Gelu());
  auto session = page.Open({"mean.output"}, {}, Keep::kAsked);
  REQUIRE(page.Feed(*session, "x.output", Numbers(DType::kFloat, Shape{kCount}, 1)).ok());
  RunOk(*session);
  const Plan& plan = *session->plan();
  REQUIRE(plan.fused.size() == 1);
  CHECK(plan.fused[0].members.size() == 9);
  CHECK(plan.fused[0].element_bytes <= 8);
  CHECK(plan.fused[0].reductions.size() == 1);
  CHECK(plan.arena_bytes < 4096);  // what Mean needs where it runs alone
  const std::string text = PrintPlan(page.graph(), plan);
  CHECK(text.find("t.y DT_FLOAT[100000] tile)  fused 0..9") != std::string::npos);
  CHECK(text.find("tiles of 8192 elements: ") != std::string::npos);
  // In between results are asked for: they have.
  auto some = page.Open({"mean.output", "s.z", "t.y"}, {}, Keep::kAsked);
  REQUIRE(page.Feed(*some, "x.output", Numbers(DType::kFloat, Shape{kCount}, 1)).ok());
  RunOk(*some);
  CHECK(some->plan()->fused.size() == 1);
  CHECK(Get(*some, "mean.output") == Get(*session, "mean.output"));
  const Floats s = Get(*some, "s.z"), t = Get(*some, "t.y");
  for (size_t i = 0; i < s.size(); i += 997) CHECK(t[i] == Approx(std::tanh(s[i] * 0.7978845608f)));
}

TEST_CASE("Large results that go past the cache are those of single steps", "[fusion]") {
  // Parts of the mean do not begin at a multiple of anything.
  TestPage page(Gelu());
  auto fused = page.Open({"mean.output"}), single = page.Open({"mean.output"});
  const Tensor x = Numbers(DType::kFloat, Shape{2000001}, 1);
  OneByOne observer;
  for (Session* session : {fused.get(), single.get()}) {
    REQUIRE(page.Feed(*session, "x.output", x).ok());
    RunOk(*session, {.observer = session == single.get() ? &observer : nullptr, .deadline = {}});
  }
  using Kind = FusedSteps::Operand::Kind;
  int copied = 0;
  for (const FusedSteps::Operand& operand : fused->plan()->fused[0].operands) copied += operand.kind == Kind::kCopied;
  CHECK(copied == 9);
  for (const auto& [name, value] : single->Results()) {
    INFO(name);
    CHECK(SameBits(single->Get(value)->tensor, fused->Get(value)->tensor));
  }
}

/// Runs a page of blocks over x both ways and compares what is fetched.
void CheckAgainstSingle(const std::vector<std::string>& blocks, const std::vector<std::string>& fetches, size_t groups) {
  TestPage page(blocks);
  auto fused = page.Open(fetches, {}, Keep::kAsked), single = page.Open(fetches, {}, Keep::kAsked);
  const Tensor x = Numbers(DType::kFloat, Shape{4 * kLarge + 3}, 6);
  OneByOne observer;
  REQUIRE(page.Feed(*fused, "x.output", x).ok());
  REQUIRE(page.Feed(*single, "x.output", x).ok());
  for (int run = 0; run < 2; ++run) {
    RunOk(*fused);
    RunOk(*single, {.observer = &observer, .deadline = {}});
  }
  CHECK(fused->plan()->fused.size() == groups);
  for (const std::string& name : fetches) {
    INFO(name);
    CHECK(SameBits(fused->Get(name)->tensor, single->Get(name)->tensor));
  }
}

std::string All(std::string_view id, std::string_view block, const std::string& input) {
  return Block(id, block, {{"input", input}, {"axis", Ints({0})}});
}
std::string Reversed(std::string_view id, const std::string& input) {
  return Block(id, "Reverse", {{"tensor", input}, {"axis", Ints({0})}});
}

TEST_CASE("A reduction among fused steps sees what it would alone", "[fusion]") {
  const std::string x = Block("x", "Placeholder", {}, "dtype_ = DT_FLOAT;"), square = Block("s", "Square", {{"x", "x.output"}});
  // What it reads is not written over by a later step, ...
  CheckAgainstSingle({x, square, All("m", "Sum", "s.y"), Block("n", "Negate", {{"x", "s.y"}}), Block("t", "Sin", {{"x", "n.y"}})},
                     {"m.output", "t.y"}, 1);
  // ... not even where it is from outside of the group and dies with it, ...
  CheckAgainstSingle(
      {x, Reversed("v", "x.output"), square, All("m", "Mean", "v.output"), Block("n", "Negate", {{"x", "s.y"}}), Reversed("r", "n.y")},
      {"m.output", "r.output"}, 1);
  // ... and what reads its result waits for it.
  CheckAgainstSingle({x, square, All("m", "Mean", "s.y"), Block("d", "Subtract", {{"x", "s.y"}, {"y", "m.output"}}),
                      Block("q", "Square", {{"x", "d.z"}}), All("variance", "Mean", "q.y"), Block("half", "L2Loss", {{"t", "d.z"}})},
                     {"m.output", "variance.output", "half.output"}, 2);
}

TEST_CASE("Small tensors, and blocks with other needs, are not fused", "[fusion]") {
  TestPage page(Gelu());
  auto session = page.Open({"mean.output"}, {}, Keep::kAsked);
  REQUIRE(page.Feed(*session, "x.output", Numbers(DType::kFloat, Shape{1000}, 1)).ok());
  RunOk(*session);
  CHECK(session->plan()->fused.empty());
  // Rows that are stretched over others break a group; so does what may stop the run.
  TestPage rows({Block("x", "Placeholder", {}, "dtype_ = DT_FLOAT;"), Block("a", "Square", {{"x", "x.output"}}),
                 Block("b", "Negate", {{"x", "a.y"}}), Block("r", "Add", {{"x", "b.y"}, {"y", Vector({1, 2, 3, 4})}}),
                 Block("c", "CheckNumerics", {{"tensor", "r.z"}}, "message_ = c;"), Block("d", "Square", {{"x", "c.output"}}),
                 Block("e", "Negate", {{"x", "d.y"}})});
  auto asked = rows.Open({"e.y"}, {}, Keep::kAsked);
  REQUIRE(rows.Feed(*asked, "x.output", Numbers(DType::kFloat, Shape{kLarge / 4, 4}, 1)).ok());
  RunOk(*asked);
  REQUIRE(asked->plan()->fused.size() == 2);
  CHECK(asked->plan()->fused[0].last == 1);
  CHECK(asked->plan()->fused[1].first == 4);
  const Floats x = Values(Numbers(DType::kFloat, Shape{kLarge / 4, 4}, 1)), e = Get(*asked, "e.y");
  for (size_t i = 0; i < x.size(); i += 501) {
    const float r = -(x[i] * x[i]) + static_cast<float>(i % 4 + 1);
    CHECK(e[i] == Approx(-(r * r)).epsilon(1e-5));
  }
}

TEST_CASE("A fused step that fails is named, the one that would have failed alone", "[fusion]") {
  // Tiles fail at different steps: the first step counts, not the first tile.
  TestPage page({Block("x", "Placeholder", {}, "dtype_ = DT_INT32;"), Block("y", "Placeholder", {}, "dtype_ = DT_INT32;"),
                 Block("z", "Placeholder", {}, "dtype_ = DT_INT32;"), Block("s", "Square", {{"x", "x.output"}}),
                 Block("late", "Div", {{"x", "s.y"}, {"y", "y.output"}}), Block("later", "Div", {{"x", "late.z"}, {"y", "z.output"}}),
                 Block("n", "Negate", {{"x", "later.z"}})});
  Tensor x = Numbers(DType::kInt32, Shape{kLarge}, 1), y = Numbers(DType::kInt32, Shape{kLarge}, 2),
         z = Numbers(DType::kInt32, Shape{kLarge}, 3);
  y.values<int32_t>()[kLarge - 1] = 0;
  z.values<int32_t>()[5] = 0;
  for (Keep keep : {Keep::kAll, Keep::kAsked}) {
    auto session = page.Open({"n.y"}, {}, keep);
    REQUIRE(page.Feed(*session, "x.output", x).ok());
    REQUIRE(page.Feed(*session, "y.output", y).ok());
    REQUIRE(page.Feed(*session, "z.output", z).ok());
    const Status together = session->Run();
    CHECK(session->plan()->fused.size() == 1);
    OneByOne observer;
    const Status single = session->Run({.observer = &observer, .deadline = {}});
    CHECK(together.code() == Code::kInvalidArgument);
    CHECK(together.place().block == "late");
    CHECK(ToString(together) == ToString(single));
    y.values<int32_t>()[kLarge - 1] = 1;
    REQUIRE(page.Feed(*session, "y.output", y).ok());
    CHECK(session->Run().place().block == "later");
    y.values<int32_t>()[kLarge - 1] = 0;
  }
}

/// Attends from one step on.
class Latecomer final : public OneByOne {
 public:
  const std::atomic<uint32_t>* wants_steps() const override { return &attends; }
  std::atomic<uint32_t> attends{0};
};

/// Peeks at each step's first output when it ends.
class Peeker final : public Observer {
 public:
  Status OnRunStart(uint64_t, RunView& run) override {
    view = &run;
    return {};
  }
  void OnStepEnd(size_t, const Node& node, bool) override {
    const int index = static_cast<int>(&node - view->graph()->nodes().data());
    auto value = view->Peek({index, 0});
    if (value.ok() && value->dtype() == DType::kFloat) seen.emplace_back(node.id, value->values<float>()[1]);
  }
  RunView* view = nullptr;
  std::vector<std::pair<std::string, float>> seen;
};

TEST_CASE("An observer sees fused steps one by one, with their values", "[fusion]") {
  TestPage page(Gelu());
  for (Keep keep : {Keep::kAll, Keep::kAsked}) {
    auto session = page.Open({"mean.output"}, {}, keep);
    REQUIRE(page.Feed(*session, "x.output", Numbers(DType::kFloat, Shape{kLarge}, 1)).ok());
    RunOk(*session);
    CHECK(session->plan()->fused.size() == 1);
    const Floats mean = Get(*session, "mean.output");
    Peeker looker;
    RunOk(*session, {.observer = &looker, .deadline = {}});
    CHECK(looker.seen.size() == 10);
    CHECK(looker.seen[1].first == "x3");
    CHECK(looker.seen[3].second == Approx(looker.seen[2].second + Numbers(DType::kFloat, Shape{2}, 1).values<float>()[1]));
    CHECK(Get(*session, "mean.output") == mean);
    Latecomer latecomer;
    RunOk(*session, {.observer = &latecomer, .deadline = {}});
    CHECK(latecomer.steps.empty());
    latecomer.attends = 1;
    RunOk(*session, {.observer = &latecomer, .deadline = {}});
    CHECK(latecomer.steps.size() == 10);
    RunOk(*session);  // and fused again
    CHECK(Get(*session, "mean.output") == mean);
    // A deadline does not keep steps from being fused, and is kept.
    RunOk(*session, {.observer = nullptr, .deadline = Clock::now() + std::chrono::hours(1)});
    CHECK(Get(*session, "mean.output") == mean);
    CHECK(session->Run({.observer = nullptr, .deadline = Clock::now() - std::chrono::seconds(1)}).code() == Code::kCancelled);
    session->Cancel();
    CHECK(session->Run().code() == Code::kCancelled);
    CHECK(Get(*session, "mean.output") == mean);
    RunOk(*session);
  }
}

TEST_CASE("A value whose memory a group takes over is read in full before", "[fusion]") {
  // a and b die in the group, wider outputs than their own are born in it, and the last is read outside.
  std::vector<std::string> blocks = {Block("x", "Placeholder", {}, "dtype_ = DT_FLOAT;"),
                                     Block("a", "Cumsum", {{"x", "x.output"}, {"axis", Literal("DT_INT32", {}, {0})}}),
                                     Block("b", "Reverse", {{"tensor", "a.out"}, {"axis", Ints({0})}}),
                                     Block("c", "Add", {{"x", "a.out"}, {"y", "b.output"}}),
                                     Block("d", "Cast", {{"x", "c.z"}}, "DstT_ = DT_DOUBLE;"),
                                     Block("e", "Square", {{"x", "d.y"}}),
                                     Block("f", "Cast", {{"x", "e.y"}}, "DstT_ = DT_FLOAT;"),
                                     Block("g", "Multiply", {{"x", "f.y"}, {"y", "a.out"}}),
                                     Block("r", "Reverse", {{"tensor", "e.y"}, {"axis", Ints({0})}}),
                                     Block("q", "Reverse", {{"tensor", "g.z"}, {"axis", Ints({0})}})};
  TestPage page(blocks);
  auto asked = page.Open({"r.output", "q.output"}, {}, Keep::kAsked), all = page.Open({"r.output", "q.output"});
  const Tensor x = Numbers(DType::kFloat, Shape{kLarge + 100}, 4);
  OneByOne observer;
  for (Session* session : {asked.get(), all.get()}) {
    REQUIRE(page.Feed(*session, "x.output", x).ok());
    RunOk(*session);
    REQUIRE(session->plan()->fused.size() == 1);
    const Tensor r = session->Get("r.output")->tensor, q = session->Get("q.output")->tensor;
    RunOk(*session, {.observer = &observer, .deadline = {}});
    CHECK(SameBits(r, session->Get("r.output")->tensor));
    CHECK(SameBits(q, session->Get("q.output")->tensor));
  }
  CHECK(SameBits(asked->Get("q.output")->tensor, all->Get("q.output")->tensor));
  CHECK(asked->plan()->arena_bytes < 5 * 4 * (kLarge + 200));
}

}  // namespace
}  // namespace weft::test
