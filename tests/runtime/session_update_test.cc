// Variables: reads before updates, updates in page order, commits, starts, shapes that change.
#include "tests/runtime/session_kit.h"

namespace weft::test {
namespace {

std::string AddLine(std::string_view id, const std::string& x, const std::string& y) { return Block(id, "Add", {{"x", x}, {"y", y}}); }
std::string AssignLine(std::string_view id, const std::string& ref, const std::string& value, std::string_view attrs = "") {
  return Block(id, "Assign", {{"ref", ref}, {"value", value}}, attrs);
}
/// v - alpha * delta.
std::string Move(std::string_view id, const std::string& var, double alpha, const std::string& delta) {
  return Block(id, "ApplyGradientDescent", {{"var", var}, {"alpha", Scalar(alpha)}, {"delta", delta}});
}

TEST_CASE("A reader sees a variable's value before this run's updates, wherever it stands on the page", "[session-api]") {
  std::string reader = AddLine("reader", "v.ref", Scalar(0)), update = AssignLine("up", "v.ref", "next.z"),
              next = AddLine("next", "v.ref", Scalar(1));
  std::string after = AddLine("after", "up.output_ref", Scalar(0)), both = AddLine("both", "v.ref", "up.output_ref");
  std::vector<std::vector<std::string>> orders = {{reader, update, next, after, both}, {update, next, both, after, reader}, {after, both, update, reader, next}};
  for (auto& blocks : orders) {
    for (bool variable_first : {true, false}) {
      blocks.insert(variable_first ? blocks.begin() : blocks.end(), Variable("v", Scalar(10)));
      TestPage page(blocks);
      auto session = page.Open({"reader.z", "after.z", "both.z", "v.ref"});
      for (int run = 0; run < 3; ++run) {
        RunOk(*session);
        CHECK(Get(*session, "reader.z") == Floats{10.f + run});
        CHECK(Get(*session, "v.ref") == Floats{10.f + run});
        CHECK(Get(*session, "after.z") == Floats{11.f + run});
        CHECK(Get(*session, "both.z") == Floats{21.f + 2 * run});
        CHECK(page.Var("v") == Floats{11.f + run});
      }
      blocks.erase(variable_first ? blocks.begin() : std::prev(blocks.end()));
    }
  }
}

TEST_CASE("Updates of one variable apply in page order, each to what the last one left", "[session-api]") {
  // (v * -1 + ... ) tells the order: v - 1 * 3, then v = 100 - ..., and the other way round.
  TestPage forward({Variable("v", Scalar(10)), Move("a", "v.ref", 1, Scalar(3)), AssignLine("b", "v.ref", Scalar(100)),
                    Move("c", "v.ref", 1, Scalar(5))});
  auto session = forward.Open({}, {"a", "b", "c"});
  RunOk(*session);
  CHECK(forward.Var("v") == Floats{95});
  CHECK(Get(*session, "a.out") == Floats{7});
  CHECK(Get(*session, "b.output_ref") == Floats{100});
  TestPage backward({Variable("v", Scalar(10)), Move("c", "v.ref", 1, Scalar(5)), AssignLine("b", "v.ref", Scalar(100)),
                     Move("a", "v.ref", 1, Scalar(3))});
  RunOk(*backward.Open({}, {"a", "b", "c"}));
  CHECK(backward.Var("v") == Floats{97});
}

TEST_CASE("An update's other inputs see the value from before the run, also where they are the variable itself", "[session-api]") {
  TestPage page({Variable("v", Scalar(10)), Move("a", "v.ref", 0.5, "v.ref"), Move("b", "v.ref", 1, "v.ref")});
  RunOk(*page.Open({}, {"a", "b"}));
  CHECK(page.Var("v") == Floats{-5});  // 10 - 5, then - 10
}

TEST_CASE("Wires order updates before the page does", "[session-api]") {
  // `first` stands first and takes the variable that `second` left.
  TestPage wired({Variable("v", Scalar(1)), Move("first", "second.output_ref", 1, Scalar(1)), AssignLine("second", "v.ref", Scalar(50))});
  RunOk(*wired.Open({}, {"first", "second"}));
  CHECK(wired.Var("v") == Floats{49});
  // c reads what a left over a block that stands last; d stands between and has to wait for c all the same.
  TestPage page({Variable("v", Scalar(1)), Variable("w", Scalar(0)), AssignLine("a", "w.ref", Scalar(7)),
                 AssignLine("c", "v.ref", "late.z"), Move("d", "v.ref", 1, Scalar(2)), AddLine("late", "a.output_ref", Scalar(0))});
  RunOk(*page.Open({}, {"a", "c", "d"}));
  CHECK(page.Var("v") == Floats{5});
  // One update stands first on the page and demands the last one of the other variable.
  TestPage crossed({Variable("v", Scalar(0)), Variable("w", Scalar(0)), AssignLine("w1", "w.ref", "v2.out"),
                    AssignLine("v1", "v.ref", Scalar(3)), Move("v2", "v.ref", 1, Scalar(1))});
  RunOk(*crossed.Open({}, {"w1", "v1", "v2"}));
  CHECK(crossed.Var("v") == Floats{2});
  CHECK(crossed.Var("w") == Floats{2});
}

TEST_CASE("A failed run leaves variables and results, and says which block, port and shapes", "[session-api]") {
  TestPage page({Variable("v", Scalar(1)), Variable("d", Literal("DT_INT32", {}, {1})), AssignLine("a", "v.ref", "next.z"),
                 AddLine("next", "v.ref", Scalar(1)), Block("mod", "Mod", {{"x", Ints({7, 8})}, {"y", "d.ref"}})});
  auto session = page.Open({"a.output_ref", "mod.z"});
  RunOk(*session);
  CHECK(page.scope()->SetVariable("d", Tensor::Scalar<int32_t>(0)).ok());
  Status status = session->Run();
  INFO(ToString(status));
  CHECK(status.code() == Code::kInvalidArgument);
  CHECK(status.place().block == "mod");
  CHECK(status.place().port == "y");
  CHECK(status.message().find("DT_INT32 [2]") != std::string::npos);
  CHECK(page.Var("v") == Floats{2});
  CHECK(Get(*session, "a.output_ref") == Floats{2});
  CHECK(Get<int32_t>(*session, "mod.z") == std::vector<int32_t>{0, 0});
  CHECK(session->runs() == 1);
  CHECK(page.scope()->SetVariable("d", Tensor::Scalar<int32_t>(3)).ok());
  RunOk(*session);
  CHECK(page.Var("v") == Floats{3});
}

TEST_CASE("Variables start once, from literals and wires, also from one another", "[session-api]") {
  TestPage page({Variable("w", "twice.z"), Variable("v", "r.output"),
                 Block("r", "RandomNormal", {{"shape", Ints({4})}}, "dtype_ = DT_FLOAT;seed_ = 3;"), AddLine("twice", "v.ref", "v.ref"),
                 Variable("f", "fill.output"), Block("fill", "Fill", {{"dims", Ints({2})}, {"value", Scalar(6)}}),
                 AddLine("read", "w.ref", "v.ref"), Move("step", "f.ref", 1, Vector({1, 1}))});
  CHECK(page.scope()->GetVariable("v").status().code() == Code::kFailedPrecondition);
  auto session = page.Open({"read.z", "w.ref", "v.ref"}, {"step"});
  RunOk(*session);
  Floats v = Get(*session, "v.ref"), w = Get(*session, "w.ref");
  CHECK(v.size() == 4);
  for (size_t i = 0; i < v.size(); ++i) CHECK(w[i] == v[i] + v[i]);
  auto second = page.Open({"v.ref"});  // shares the scope: nothing starts again
  RunOk(*second);
  CHECK(Get(*second, "v.ref") == v);
  CHECK(page.Var("f") == Floats{5, 5});
}

TEST_CASE("A variable without a value is refused until something is assigned to it", "[session-api]") {
  for (const char* attrs : {"shape_ = [2];dtype_ = DT_FLOAT;", "dtype_ = DT_FLOAT;"}) {
    INFO(attrs);
    TestPage page({Block("v", "Variable", {}, attrs), AssignLine("a", "v.ref", Vector({4, 5})), AddLine("read", "v.ref", Vector({1, 1})),
                   AddLine("after", "a.output_ref", Vector({1, 1})), Move("m", "v.ref", 1, Vector({1, 2}))});
    auto reader = page.Open({"read.z"});
    Status status = reader->Run();
    CHECK(status.code() == Code::kFailedPrecondition);
    CHECK(status.place().block == "v");
    CHECK(page.Open({}, {"m"})->Run().code() == Code::kFailedPrecondition);
    auto assign = page.Open({"after.z"}, {"m"});  // the update after the AssignLine has a value to start from
    RunOk(*assign);
    CHECK(Get(*assign, "after.z") == Floats{5, 6});
    CHECK(assign->Get("v.ref").status().code() == Code::kFailedPrecondition);
    CHECK(page.Var("v") == Floats{3, 3});
    RunOk(*reader);
    CHECK(Get(*reader, "read.z") == Floats{4, 4});
    RunOk(*assign);
    CHECK(Get(*assign, "v.ref") == Floats{3, 3});
  }
}

/// A host that sets a variable while the first run goes on, before its updates.
class Setter final : public Observer {
 public:
  Setter(Scope& scope, Tensor value) : scope_(scope), value_(std::move(value)) {}
  void OnRunBegin(uint64_t run, size_t) override {
    if (run == 1) CHECK(scope_.SetVariable("read", value_).ok());
  }

 private:
  Scope& scope_;
  Tensor value_;
};

TEST_CASE("A variable that gets another shape while a run updates others is planned for anew", "[session-api]") {
  TestPage page({Variable("read", Vector({1, 2, 3, 4, 5, 6})), Variable("v", Scalar(1)), Move("m", "v.ref", 1, Scalar(1)),
                 AddLine("sum", "read.ref", Scalar(0))});
  auto session = page.Open({"sum.z", "m.out"});
  Setter setter(*page.scope(), Tensor::Of<float>({7}));
  RunOk(*session, {.observer = &setter, .deadline = {}});
  CHECK(Get(*session, "sum.z") == Floats{1, 2, 3, 4, 5, 6});
  for (float left : {-1.f, -2.f}) {
    RunOk(*session);
    CHECK(Get(*session, "sum.z") == Floats{7});
    CHECK(Get(*session, "m.out") == Floats{left});
  }
}

TEST_CASE("Variables of many dimensions keep what a run leaves", "[session-api]") {
  const std::string ones = Literal("DT_FLOAT", {1, 1, 1, 1, 1, 1, 1, 2}, {1, 2});
  TestPage page({Variable("v", ones), Move("m", "v.ref", 1, ones)});
  auto session = page.Open({"v.ref", "m.out"});
  for (int run = 0; run < 3; ++run) {
    RunOk(*session);
    CHECK(Get(*session, "v.ref") == Floats{1.f - run, 2.f - 2 * run});
    CHECK(Get(*session, "m.out") == Floats{0.f - run, 0.f - 2 * run});
  }
}

TEST_CASE("A variable's shape may change between runs and within one", "[session-api]") {
  TestPage page({Variable("v", Vector({1, 2})), Block("p", "Placeholder", {}, "dtype_ = DT_FLOAT;"),
                 AssignLine("a", "v.ref", "p.output", "validate_shape_ = false;"), AddLine("read", "v.ref", "v.ref"),
                 Move("m", "a.output_ref", 1, "p.output"), AddLine("after", "m.out", Scalar(1))});
  auto writer = page.Open({"after.z"}, {}, Keep::kAsked);
  auto reader = page.Open({"read.z"});
  RunOk(*reader);
  for (const Tensor& value : {Tensor::Of<float>({1, 2, 3}), Tensor::Of<float>({4}), Tensor::Of<float>({5, 6, 7, 8}), Tensor::Of<float>({}, Shape{0, 2})}) {
    REQUIRE(page.Feed(*writer, "p.output", value).ok());
    RunOk(*writer);
    CHECK(Get(*writer, "after.z") == Floats(static_cast<size_t>(value.count()), 1));
    CHECK(page.Var("v") == Floats(static_cast<size_t>(value.count()), 0));
    REQUIRE(page.scope()->SetVariable("v", value).ok());
    RunOk(*reader);
    Floats doubled = Values(value);
    for (float& d : doubled) d *= 2;
    CHECK(Get(*reader, "read.z") == doubled);
  }
  // A second AssignLine of the run starts from the first one's shape; a later update that does not fit is refused where it stands.
  TestPage two({Variable("v", Vector({1, 2})), AssignLine("a", "v.ref", Vector({1, 2, 3}), "validate_shape_ = false;"),
                AssignLine("b", "v.ref", Vector({9}), "validate_shape_ = false;")});
  RunOk(*two.Open({}, {"a", "b"}));
  CHECK(two.Var("v") == Floats{9});
  TestPage clash({Variable("v", Vector({1, 2})), AssignLine("a", "v.ref", Vector({1, 2, 3}), "validate_shape_ = false;"),
                  Move("m", "v.ref", 1, Vector({1, 1}))});
  Status status = clash.Open({}, {"a", "m"})->Run();
  CHECK(status.code() == Code::kInvalidArgument);
  CHECK(status.place().block == "m");
  CHECK(clash.Var("v") == Floats{1, 2});
}

TEST_CASE("Variables of a host: set, read, refused", "[session-api]") {
  TestPage page({Variable("v", Vector({1, 2})), AddLine("read", "v.ref", Scalar(1))});
  REQUIRE(page.scope()->SetVariable("v", Tensor::Of<float>({7})).ok());  // before the scope started: the host's value stays
  auto session = page.Open({"read.z"});
  RunOk(*session);
  CHECK(Get(*session, "read.z") == Floats{8});
  CHECK(page.scope()->SetVariable("v", Tensor::Of<int32_t>({7})).code() == Code::kInvalidArgument);
  CHECK(page.scope()->SetVariable("w", Tensor::Of<float>({7})).code() == Code::kNotFound);
  CHECK(page.scope()->GetVariable("read").status().code() == Code::kNotFound);
}

TEST_CASE("Sessions that update one variable at the same time lose no update", "[session-api]") {
  TestPage page({Variable("v", Scalar(0)), Move("a", "v.ref", -1, Scalar(1)), Move("b", "v.ref", -1, Scalar(1))});
  constexpr int kRuns = 400;
  auto one = page.Open({}, {"a"}), two = page.Open({}, {"b"}, Keep::kAsked);
  Status first, second;
  std::thread other([&] { second = two->RunSteps(kRuns); });
  first = one->RunSteps(kRuns);
  other.join();
  CHECK(first.ok());
  CHECK(second.ok());
  CHECK(page.Var("v") == Floats{2 * kRuns});
}

}  // namespace
}  // namespace weft::test
