// The transaction of variables of one run, plain updates, and first values: on toy blocks, without a session.
#include <set>
#include <thread>

#include "runtime/exec/plain_updates.h"
#include "runtime/exec/variable_start.h"
#include "runtime/exec/variables.h"
#include "tests/runtime/exec_kit.h"

namespace weft::test {
namespace {

/// Two variables: `v` counted twice, `w` once.
std::vector<std::string> Counters() {
  return {Variable("v", Vector({1, 2})), Variable("w", Vector({10})), Block("v1", "ToyCount", {{"var", "v.ref"}}),
          Block("v2", "ToyCount", {{"var", "v1.out"}}), Block("w1", "ToyCount", {{"var", "w.ref"}})};
}

/// One run's updates, without a loop over steps.
struct Updating {
  explicit Updating(PlannedPage& of, std::shared_ptr<const SessionPlan> planned = nullptr)
      : page(of), plan(planned == nullptr ? of.planned : std::move(planned)), parts(of), variables(*of.page.scope(), *plan, of.services.waiter()) {
    REQUIRE(parts.memory.Bind(set).ok());
  }
  bool Take() {
    if (!variables.Take()) return false;
    const Status status = variables.Place(set);
    INFO(ToString(status));
    REQUIRE(status.ok());
    return true;
  }
  Status Count(const std::string& block) {
    const Step& step = page.plan().steps[page.StepOf(block)];
    RunContext ctx;
    WEFT_RETURN_IF_ERROR(variables.TakeReferences(set, step));
    WEFT_RETURN_IF_ERROR(variables.MakeNewValues(step, nullptr, ctx));
    const Value& before = set.values[page.plan().operands[step.first_input]];
    Value& after = FrameOf(ctx).updates[0];
    for (int64_t i = 0; i < before.count; ++i) static_cast<float*>(after.data)[i] = static_cast<const float*>(before.data)[i] + 1;
    variables.EndUpdates(set, step);
    return {};
  }
  Floats At(const std::string& wire) const { return FloatsOf(set.values[page.Slot(wire)]); }

  PlannedPage& page;
  std::shared_ptr<const SessionPlan> plan;
  PlannedMemory parts;
  VariableTransaction variables;
  ResultSet set;
};

std::atomic<int> toy_naps = 0;  // kernels of ToyNap that have run

/// Hands on x, and takes its time.
BlockDef ToyNap() {
  return weft::Block("ToyNap", "Hands on x, late.").Ports(toy_x, toy_y).Types("T", kToyTypes).Kernel(
      [](PlanContext& ctx) -> Status {
        ctx.set(toy_y, ctx.shape(toy_x));
        return {};
      },
      []<class T>(const NoParameters&, RunContext& ctx) {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
        ++toy_naps;
        for (size_t i = 0; i < ctx.in<T>(toy_x).size(); ++i) ctx.out<T>(toy_y)[i] = ctx.in<T>(toy_x)[i];
      });
}

void StartAll(PlannedPage& page) {
  const auto none = [](const SessionSpec&) -> Result<std::vector<Tensor>> { return Internal("nothing comes by wire"); };
  REQUIRE(VariableStart(*page.page.scope(), *page.page.scope()->revision(), page.services.waiter(), none).Start().ok());
}
/// A counter's page with started variables, planned for their shapes.
struct CountersPage : PlannedPage {
  CountersPage() : PlannedPage(Counters(), {"v2.out", "w1.out", "v.ref", "w.ref"}, {"v1"}) {
    StartAll(*this);
    planned = PlanNow(Keep::kAll);
  }
};

TEST_CASE("Updates of a run start from what the last one left, and are the scope's when it commits", "[exec]") {
  CountersPage page;
  Updating run(page);
  REQUIRE(run.Take());
  REQUIRE(run.Count("v1").ok());
  REQUIRE(run.Count("v2").ok());
  REQUIRE(run.Count("w1").ok());
  CHECK(run.At("v.ref") == Floats{1, 2});  // reads see the value of the start
  CHECK(run.At("v1.out") == Floats{2, 3});
  CHECK(run.At("v2.out") == Floats{3, 4});
  CHECK(page.page.Var("v") == Floats{1, 2});
  run.variables.Commit();
  run.variables.End();
  CHECK(page.page.Var("v") == Floats{3, 4});
  CHECK(page.page.Var("w") == Floats{11});
}

TEST_CASE("A run that does not commit leaves all variables, and the next one starts from them", "[exec]") {
  CountersPage page;
  Updating run(page);
  REQUIRE(run.Take());
  REQUIRE(run.Count("v1").ok());
  REQUIRE(run.Count("w1").ok());
  run.variables.End();
  CHECK(page.page.Var("v") == Floats{1, 2});
  CHECK(page.page.Var("w") == Floats{10});
  REQUIRE(run.Take());
  REQUIRE(run.Count("w1").ok());
  run.variables.Commit();
  run.variables.End();
  CHECK(page.page.Var("v") == Floats{1, 2});
  CHECK(page.page.Var("w") == Floats{11});
}

TEST_CASE("One run of a scope updates at a time; another waits, or is cancelled while it does", "[exec]") {
  CountersPage page;
  Updating first(page), second(page);
  REQUIRE(first.Take());
  REQUIRE(second.Take());
  REQUIRE(first.Count("w1").ok());
  page.cancelled = true;
  CHECK(second.Count("w1").code() == Code::kCancelled);
  page.cancelled = false;
  Status waited = Internal("did not run");
  std::thread other([&] { waited = second.Count("w1"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  first.variables.Commit();
  first.variables.End();
  other.join();
  REQUIRE(waited.ok());
  second.variables.Commit();
  second.variables.End();
  CHECK(page.page.Var("w") == Floats{12});  // no update is lost, though both read 10
  CHECK(second.At("w.ref") == Floats{10});
}

TEST_CASE("A variable of another shape than the plan is for is found out when the run begins, or at the update", "[exec]") {
  CountersPage page;
  Updating run(page);
  REQUIRE(run.Take());
  REQUIRE(page.page.scope()->SetVariable("w", Tensor::Of<float>({1, 2, 3})).ok());
  CHECK(run.Count("w1").code() == Code::kAborted);
  run.variables.End();
  CHECK_FALSE(run.variables.Take());
  REQUIRE(page.page.scope()->SetVariable("w", Tensor::Of<float>({4})).ok());
  CHECK(run.Take());
  CHECK(run.At("w.ref") == Floats{4});
}

TEST_CASE("A run whose updates repeat takes no memory, and values that readers have are left alone", "[exec]") {
  CountersPage page;
  Updating run(page);
  std::vector<Tensor> readers;
  std::vector<const void*> seen;
  for (int i = 0; i < 20; ++i) {
    REQUIRE(run.Take());
    REQUIRE(run.Count("w1").ok());
    run.variables.Commit();
    run.variables.End();
    const Tensor value = page.page.scope()->GetVariable("w").value();
    if (i < 3) readers.push_back(value);
    else if (std::find(seen.begin(), seen.end(), value.data()) == seen.end()) seen.push_back(value.data());
  }
  CHECK(page.page.Var("w") == Floats{30});
  CHECK(readers[0].values<float>()[0] == 11);
  CHECK(readers[2].values<float>()[0] == 13);
  CHECK(seen.size() <= 4);
}

TEST_CASE("A variable without a value is refused by the run that needs it", "[exec]") {
  PlannedPage page(Counters(), {"w.ref"});
  VariableTransaction variables(*page.page.scope(), *page.planned, page.services.waiter());
  PlannedMemory parts(page);
  ResultSet set;
  REQUIRE(parts.memory.Bind(set).ok());
  REQUIRE(variables.Take());
  const Status status = variables.Place(set);
  CHECK(status.code() == Code::kFailedPrecondition);
  CHECK(status.place().block == "w");
}

TEST_CASE("Plain updates are those of a variable that is updated once", "[exec]") {
  CountersPage page;
  Updating run(page);
  PlainUpdates plain(*page.planned, run.variables, page.budget());
  REQUIRE(plain.size() == 1);  // v has two
  CHECK(plain.step(0) == page.StepOf("w1"));
  REQUIRE(run.Take());
  RunContext ctx;
  Result<RunFunction> kernel = plain.Begin(0, run.set, ctx, false);
  REQUIRE(kernel.ok());
  CHECK(*kernel == page.plan().steps[plain.step(0)].block.run);
  static_cast<float*>(FrameOf(ctx).updates[0].data)[0] = 77;
  plain.End(0, run.set);
  CHECK(run.At("w1.out") == Floats{77});
  CHECK(run.At("w.ref") == Floats{10});
  run.variables.Commit();
  run.variables.End();
  CHECK(page.page.Var("w") == Floats{77});
}

TEST_CASE("A plain update runs as any other where its variable is not as the run read it", "[exec]") {
  CountersPage page;
  Updating run(page);
  PlainUpdates plain(*page.planned, run.variables, page.budget());
  REQUIRE(run.Take());
  REQUIRE(page.page.scope()->SetVariable("w", Tensor::Of<float>({5})).ok());
  RunContext ctx;
  Result<RunFunction> kernel = plain.Begin(0, run.set, ctx, false);
  REQUIRE(kernel.ok());
  CHECK(*kernel == nullptr);
  REQUIRE(run.Count("w1").ok());
  run.variables.Commit();
  run.variables.End();
  CHECK(page.page.Var("w") == Floats{6});
}

TEST_CASE("Variables start once; those that come by wire start after those that they read", "[exec]") {
  PlannedPage page({Variable("a", Vector({1})), Next("an", "a.ref"), Block("b", "Variable", {{"initvalues", "an.y"}}), Next("bn", "b.ref"),
                    Block("c", "Variable", {{"initvalues", "bn.y"}})},
                   {"c.ref"});
  std::vector<std::string> order;
  const auto evaluate = [&](const SessionSpec& spec) -> Result<std::vector<Tensor>> {
    std::vector<Tensor> values;
    for (const SessionSpec::Fetch& fetch : spec.fetches) {
      order.push_back(fetch.name);
      values.push_back(Tensor::Of<float>({static_cast<float>(order.size()) * 100}));
    }
    return values;
  };
  Scope& scope = *page.page.scope();
  VariableStart start(scope, *scope.revision(), page.services.waiter(), evaluate);
  REQUIRE(start.Start().ok());
  CHECK(order == std::vector<std::string>{"an.y", "bn.y"});
  CHECK(page.page.Var("a") == Floats{1});
  CHECK(page.page.Var("b") == Floats{100});
  CHECK(page.page.Var("c") == Floats{200});
  REQUIRE(start.Start().ok());
  CHECK(order.size() == 2);
}

TEST_CASE("Variables start level by level, also where one of another name is the same variable", "[exec]") {
  const std::string shared = "shared_name_ = b;";
  PlannedPage page({Block("same", "Variable", {}, shared + "dtype_ = DT_FLOAT;shape_ = [1];"), Next("samen", "same.ref"),
                    Block("d", "Variable", {{"initvalues", "samen.y"}}), Variable("a", Vector({1})), Next("an", "a.ref"),
                    Block("b", "Variable", {{"initvalues", "an.y"}}, shared), Next("dn", "d.ref"), Next("bn", "b.ref"),
                    Block("e", "Variable", {{"initvalues", "dn.y"}}), Block("f", "Variable", {{"initvalues", "bn.y"}}),
                    Block("g", "Variable", {{"initvalues", "an.y"}})},
                   {"e.ref", "f.ref", "g.ref"});
  std::vector<std::set<std::string>> levels;
  const auto evaluate = [&](const SessionSpec& spec) -> Result<std::vector<Tensor>> {
    levels.emplace_back();
    for (const SessionSpec::Fetch& fetch : spec.fetches) levels.back().insert(fetch.name);
    return std::vector<Tensor>(spec.fetches.size(), Tensor::Of<float>({static_cast<float>(levels.size())}));
  };
  Scope& scope = *page.page.scope();
  REQUIRE(VariableStart(scope, *scope.revision(), page.services.waiter(), evaluate).Start().ok());
  CHECK(levels == std::vector<std::set<std::string>>{{"an.y"}, {"bn.y", "samen.y"}, {"dn.y"}});
  CHECK(page.page.Var("b") == Floats{1});
  CHECK(page.page.Var("f") == Floats{2});
  CHECK(page.page.Var("e") == Floats{3});
}

TEST_CASE("A run's deadline holds while variables get their first values", "[exec]") {
  std::vector<BlockDef> toys;
  toys.push_back(ToyNap());
  const auto nap = [](std::string_view id, const std::string& wire) { return Block(id, "ToyNap", {{"x", wire}}); };
  TestPage page({Block("c", "Const", {{"value", Vector({7})}}), nap("n1", "c.output"), nap("n2", "n1.y"), nap("n3", "n2.y"),
                 Block("v", "Variable", {{"initvalues", "n3.y"}})},
                {.threads = 2, .memory_limit = 0}, {}, std::move(toys));
  auto session = page.Open({"v.ref"});
  toy_naps = 0;
  CHECK(session->Run({.observer = nullptr, .deadline = Clock::now() + std::chrono::milliseconds(30)}).code() == Code::kCancelled);
  CHECK(toy_naps <= 1);
  RunOk(*session);
  CHECK(page.Var("v") == Floats{7});
}

TEST_CASE("Where a first value fails, those that are left start later", "[exec]") {
  PlannedPage page({Variable("a", Vector({1})), Next("an", "a.ref"), Block("b", "Variable", {{"initvalues", "an.y"}})}, {"b.ref"});
  bool fails = true;
  const auto evaluate = [&](const SessionSpec&) -> Result<std::vector<Tensor>> {
    if (fails) return Cancelled("not now");
    return std::vector<Tensor>{Tensor::Of<float>({8})};
  };
  Scope& scope = *page.page.scope();
  VariableStart start(scope, *scope.revision(), page.services.waiter(), evaluate);
  CHECK(start.Start().code() == Code::kCancelled);
  CHECK(page.page.Var("a") == Floats{1});
  REQUIRE(scope.SetVariable("a", Tensor::Of<float>({3})).ok());
  fails = false;
  REQUIRE(start.Start().ok());
  CHECK(page.page.Var("a") == Floats{3});
  CHECK(page.page.Var("b") == Floats{8});
}

}  // namespace
}  // namespace weft::test
