// What a session in shards computes before them, in them and after them: each block once a step, as on the page without shards.
#include <catch2/catch.hpp>

#include <atomic>

#include "tests/runtime/shard_kit.h"

namespace weft::test {
namespace {

using Catch::Contains;

const std::string kFloats = "component_types_ = {DT_FLOAT};";

std::string Queue(std::string_view id) { return Block(id, "FIFOQueue", {}, kFloats); }
std::string Put(std::string_view id, std::string_view queue, std::string_view value) {
  return Block(id, "QueueEnqueue", {{"handle", Cat(queue, ".handle")}, {"components", Cat("[", value, "]")}});
}
std::string Wire(std::string_view name) { return Cat("\"", name, "\""); }
std::string Dequeue(std::string_view id, std::string_view queue) {
  return Block(id, "QueueDequeue", {{"handle", Cat(queue, ".handle")}}, kFloats);
}
std::string Fetching(const std::string& fetches, const std::string& runs = "") {
  return Block("run", "ClientSession", {{"fetch_outputs", Cat("[", fetches, "]")}, {"run_outputs", Cat("[", runs, "]")}});
}
std::string Counter() { return Block("inc", "AssignAdd", {{"ref", "n.ref"}, {"value", Scalar(1)}}); }

/// loss = mean((x * w)^2), and w -= 0.01 * its gradient; with other blocks.
std::vector<std::string> Trained(const std::vector<std::string>& others) {
  std::vector<std::string> blocks = {
      Block("x", "Placeholder", {}, "dtype_ = DT_FLOAT;"), Variable("w", Scalar(1)), Block("m", "Multiply", {{"x", "x.output"}, {"y", "w.ref"}}),
      Block("s", "Square", {{"x", "m.z"}}), Block("loss", "Mean", {{"input", "s.y"}, {"axis", Ints({0})}}),
      Block("g", "AddSymbolicGradients", {{"outputs", "[\"loss.output\"]"}, {"inputs", "[\"w.ref\"]"}}),
      Block("train", "ApplyGradientDescent", {{"var", "w.ref"}, {"alpha", Scalar(0.01)}, {"delta", "g.grad_outputs[0]"}})};
  blocks.insert(blocks.end(), others.begin(), others.end());
  return blocks;
}

/// A counter that the constants b are shifted by, and whatever else reads it.
std::vector<std::string> Counted(const std::vector<std::string>& others) {
  std::vector<std::string> blocks = {Variable("n", Scalar(0)), Counter(), Block("c", "Const", {{"value", Vector({1, 2, 3, 4})}}),
                                     Block("b", "Add", {{"x", "c.output"}, {"y", "inc.output_ref"}}), Block("sq", "Square", {{"x", "b.z"}})};
  blocks.insert(blocks.end(), others.begin(), others.end());
  return blocks;
}

/// y = x * r, where r is drawn; it also goes through a queue.
std::vector<std::string> Drawn() {
  return {Block("x", "Placeholder", {}, "dtype_ = DT_FLOAT;"),
          Block("r", "RandomUniform", {{"shape", Ints({1})}}, "dtype_ = DT_FLOAT;seed_ = 3;seed2_ = 4;"),
          Block("y", "Multiply", {{"x", "x.output"}, {"y", "r.output"}}),
          Queue("q"),
          Put("log", "q", Wire("r.output")),
          Dequeue("d", "q"),
          Fetching(R"("y.z", "d.components[0]")", R"("log.operation")")};
}

/// Runs steps in two shards, on this process alone.
struct Halves : Rank {
  explicit Halves(const std::vector<std::string>& blocks, ShardingOptions options = {}, ScopeOptions scope = {})
      : Rank(blocks, std::make_shared<LocalCollectives>(), std::move(scope)) {
    for (const std::string& error : page.errors()) FAIL_CHECK(error);
    options.shards = 2;
    Open(std::move(options));
  }
  Status First() {
    Steps(1);
    return status;
  }
};

std::string Told(const Status& status) { return Cat(status.place().block, ": ", status.message(), " (", status.hint(), ")"); }

}  // namespace

// ---- once a step -----------------------------------------------------------------------------------------------------------------------

TEST_CASE("an update that is put into a queue is made once, after the shards", "[ranks]") {
  Halves run(Trained({Queue("q"), Put("log", "q", Wire("train.out")), Dequeue("d", "q"), Fetching(R"("loss.output", "train.out")", R"("log.operation")")}));
  run.Feed("x.output", {1, 2, 3, 4});
  REQUIRE(ToString(run.First()) == ToString(Status()));
  CHECK(Values(run.Result("loss.output")).at(0) == Approx(7.5));
  CHECK(Values(run.Result("train.out")).at(0) == Approx(0.85));
  CHECK(run.page.Var("w").at(0) == Approx(0.85));
  run.Steps(1);
  REQUIRE(ToString(run.status) == ToString(Status()));
  const auto log = run.page.Open({"d.components[0]"});
  RunOk(*log);
  CHECK(Get(*log, "d.components[0]").at(0) == Approx(0.85));
}

TEST_CASE("a counter that is fetched and put into a queue counts each step once", "[ranks]") {
  Halves run(Trained({Variable("n", Scalar(0)), Counter(), Queue("q"), Put("log", "q", Wire("inc.output_ref")),
                      Fetching(R"("train.out", "inc.output_ref")", R"("log.operation")")}));
  run.Feed("x.output", {1, 2, 3, 4});
  run.Steps(3);
  REQUIRE(ToString(run.status) == ToString(Status()));
  CHECK(run.page.Var("n") == Floats{3});
}

TEST_CASE("a counter that only a batch depends on stays before the shards", "[ranks]") {
  Halves run({Variable("n", Scalar(0)), Counter(), Block("c", "Const", {{"value", Vector({1, 2, 3, 4})}}),
              Block("b", "Add", {{"x", "c.output"}, {"y", "inc.output_ref"}}), Queue("q"), Put("fill", "q", Wire("b.z")), Dequeue("d", "q"),
              Block("sq", "Square", {{"x", "d.components[0]"}}), Fetching(Wire("sq.y"), R"("fill.operation")")});
  run.Steps(2);
  REQUIRE(ToString(run.status) == ToString(Status()));
  CHECK(Values(run.Result("sq.y")) == Floats{9, 16, 25, 36});
  CHECK(run.page.Var("n") == Floats{2});
}

TEST_CASE("an update that a source and something after the shards need is refused, until its output is named", "[ranks]") {
  const auto blocks = Counted({Fetching(R"("sq.y", "inc.output_ref")")});
  Halves refused(blocks, {.cut = {"b.z"}});
  CHECK(refused.First().code() == Code::kUnsupported);
  CHECK_THAT(Told(refused.status), Contains("inc: updates a variable for 'b.z'") && Contains("--shard inc.output_ref"));
  CHECK(refused.page.Var("n") == Floats{0});
  Halves named(blocks, {.cut = {"b.z", "inc.output_ref"}, .whole = {"inc.output_ref"}});
  named.Steps(2);
  REQUIRE(ToString(named.status) == ToString(Status()));
  CHECK(Values(named.Result("sq.y")) == Floats{9, 16, 25, 36});
  CHECK(Values(named.Result("inc.output_ref")) == Floats{2});
  CHECK(named.page.Var("n") == Floats{2});
}

TEST_CASE("a look at the shapes of two shards computes nothing that was computed before them", "[ranks]") {
  Halves run(Counted({Block("e", "Add", {{"x", "b.z"}, {"y", "inc.output_ref"}}), Block("u", "Unique", {{"x", "e.z"}}), Fetching(Wire("u.y"))}),
             {.cut = {"b.z", "inc.output_ref"}, .whole = {"inc.output_ref"}});
  REQUIRE(ToString(run.First()) == ToString(Status()));
  CHECK(Values(run.Result("u.y")) == Floats{3, 4, 5, 6});
  CHECK(run.page.Var("n") == Floats{1});
}

TEST_CASE("a variable that is updated before the shards has the value from before the step", "[ranks]") {
  const auto blocks = Counted({Block("twice", "Add", {{"x", "n.ref"}, {"y", "n.ref"}}), Fetching(R"("sq.y", "twice.z")")});
  Halves refused(blocks, {.cut = {"b.z"}});
  CHECK(refused.First().code() == Code::kUnsupported);
  CHECK_THAT(Told(refused.status), Contains("inc: updates 'n' for 'b.z'") && Contains("--whole"));
  Halves named(blocks, {.cut = {"b.z", "n.ref"}, .whole = {"n.ref"}});
  named.Steps(2);
  REQUIRE(ToString(named.status) == ToString(Status()));
  CHECK(Values(named.Result("twice.z")) == Floats{2});
}

TEST_CASE("numbers that shards draw are not drawn before them, too", "[ranks]") {
  Halves refused(Drawn(), {.whole = {"d.components[0]"}});
  refused.Feed("x.output", {1, 2, 3, 4});
  CHECK(refused.First().code() == Code::kUnsupported);
  CHECK_THAT(Told(refused.status), Contains("r: draws for 'log'") && Contains("--shard r.output"));
  Halves named(Drawn(), {.cut = {"r.output"}, .whole = {"r.output", "d.components[0]"}});
  named.Feed("x.output", {1, 2, 3, 4});
  named.Steps(2);
  REQUIRE(ToString(named.status) == ToString(Status()));
  CHECK(Values(named.Result("d.components[0]")).at(0) == Values(named.Result("y.z")).at(0));
}

TEST_CASE("a queue that shuffles by chance is refused where ranks would read other batches", "[ranks]") {
  Job job({Block("q", "RandomShuffleQueue", {}, kFloats), Put("fill", "q", Vector({1, 2, 3, 4})), Dequeue("d", "q"),
           Block("sq", "Square", {{"x", "d.components[0]"}}), Fetching(Wire("sq.y"), R"("fill.operation")")},
          {.shards = 2});
  job.OnBoth([](Rank& rank) { rank.Steps(1); });
  for (const Rank& rank : job.ranks) CHECK(rank.status.code() == Code::kInvalidArgument);
  CHECK(job.ranks[0].status.place().block == "q");
}

TEST_CASE("of a block's outputs only those that are named are cut", "[ranks]") {
  Halves run({Block("x", "Const", {{"value", Vector({1, 2, 3, 4})}}), Block("u", "Unique", {{"x", "x.output"}}), Block("sq", "Square", {{"x", "u.y"}}),
              Block("sum", "Sum", {{"input", "sq.y"}, {"axis", Ints({0})}}), Block("c", "Cast", {{"x", "u.idx"}}, "DstT_ = DT_FLOAT;"),
              Block("places", "Sum", {{"input", "c.y"}, {"axis", Ints({0})}}), Fetching(R"("sum.output", "places.output")")},
             {.sum = true, .cut = {"u.idx"}});
  REQUIRE(ToString(run.First()) == ToString(Status()));
  CHECK(Values(run.Result("sum.output")) == Floats{30});
  CHECK(Values(run.Result("places.output")) == Floats{6});
}

// ---- batches of other shapes -----------------------------------------------------------------------------------------------------------

TEST_CASE("rows whose rank changes after the first step are refused", "[ranks]") {
  Halves run({Queue("q"), Put("a", "q", Literal("DT_FLOAT", {4, 1}, {1, 2, 3, 4})), Put("b", "q", Literal("DT_FLOAT", {2, 1}, {5, 6})), Dequeue("d", "q"),
              Block("sq", "Squeeze", {{"input", "d.components[0]"}}), Fetching(Wire("sq.output"), R"("a.operation", "b.operation")")});
  REQUIRE(ToString(run.First()) == ToString(Status()));
  CHECK(run.First().code() == Code::kInvalidArgument);
  CHECK_THAT(run.status.message(), Contains("'sq.output'") && Contains("rank"));
}

TEST_CASE("a source has rows in each step or in none", "[ranks]") {
  const bool rows_first = GENERATE(true, false);
  const std::string rows = Put("rows", "q2", Vector({1, 2, 3, 4})), scalar = Put("scalar", "q2", Scalar(5));
  const auto run_in_turn = rows_first ? R"("x.operation", "rows.operation", "scalar.operation")" : R"("x.operation", "scalar.operation", "rows.operation")";
  Halves run({Queue("q1"), Queue("q2"), Put("x", "q1", Vector({1, 2, 3, 4})), rows_first ? rows : scalar, rows_first ? scalar : rows, Dequeue("d1", "q1"),
              Dequeue("d2", "q2"), Block("m", "Multiply", {{"x", "d1.components[0]"}, {"y", "d2.components[0]"}}),
              Block("loss", "Mean", {{"input", "m.z"}, {"axis", Ints({0})}}), Fetching(Wire("loss.output"), run_in_turn)});
  REQUIRE(ToString(run.First()) == ToString(Status()));
  CHECK(Values(run.Result("loss.output")).at(0) == Approx(rows_first ? 7.5 : 12.5));
  CHECK(run.First().code() == Code::kInvalidArgument);
  CHECK_THAT(run.status.message(), Contains("'d2.components[0]'") && Contains(rows_first ? "had rows" : "was a scalar"));
}

TEST_CASE("what is run for its effect runs in each step, also of a source that turns out to be a scalar", "[ranks]") {
  std::atomic<int> printed = 0;
  ScopeOptions scope;
  scope.print = [&](std::string_view text) { printed += text.find("scalar") != std::string_view::npos ? 1 : 0; };
  Halves run({Queue("q1"), Queue("q2"), Put("x", "q1", Vector({1, 2, 3, 4})), Put("y", "q2", Scalar(5)), Dequeue("d1", "q1"), Dequeue("d2", "q2"),
              Block("m", "Multiply", {{"x", "d1.components[0]"}, {"y", "d2.components[0]"}}),
              Block("say", "Print", {{"input", "d2.components[0]"}, {"data", R"(["d2.components[0]"])"}}, R"(message_ = \"scalar\";)"),
              Fetching(Wire("m.z"), R"("x.operation", "y.operation", "say.operation")")},
             {}, scope);
  for (int step = 1; step <= 3; ++step) {
    REQUIRE(ToString(run.First()) == ToString(Status()));
    CHECK(printed == step);
    CHECK(Values(run.Result("m.z")) == Floats{5, 10, 15, 20});
  }
}

// ---- results ---------------------------------------------------------------------------------------------------------------------------

TEST_CASE("a result that a block hands on of a gradient stays as it is", "[ranks]") {
  Halves run(Trained({Block("same", "Identity", {{"input", "g.grad_outputs[0]"}}), Fetching(R"("same.output", "g.grad_outputs[0]", "train.out")")}));
  run.Feed("x.output", {1, 2, 3, 4});
  REQUIRE(ToString(run.First()) == ToString(Status()));
  const Tensor same = run.Result("same.output"), gradient = run.Result("g.grad_outputs[0]");
  const Floats first = Values(gradient);
  CHECK(first.at(0) == Approx(15));
  run.Feed("x.output", {5, 6, 7, 8});
  REQUIRE(ToString(run.First()) == ToString(Status()));
  CHECK(Values(run.Result("same.output")) != first);
  CHECK(Values(same) == first);
  CHECK(Values(gradient) == first);
}

}  // namespace weft::test
