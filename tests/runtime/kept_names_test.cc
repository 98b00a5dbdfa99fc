// Names that hosts give while a page is edited: of what they fetch, watch and stop at.
#include "tests/runtime/host_kit.h"
#include "weft/host/breakpoints.h"
#include "weft/host/subscriptions.h"

namespace weft::test {
namespace {

/// "a" and "b" read x; blocks that are brought back from a host's own list are new ones.
std::vector<std::string> TwoReaders() {
  return {Block("x", "Const", {{"value", Vector({1, 2})}}), Block("a", "Neg", {{"x", "x.output"}}), Block("b", "Abs", {{"x", "x.output"}})};
}
constexpr const char* kAddC = R"({"op": "add", "block": {"id": "c", "block": "Square", "inputs": {"x": "x.output"}}})";

struct EditedPage {
  /// Makes an edit and gives what takes it back.
  std::vector<Edit> Apply(std::string_view json) { return Make(ReadEdits(json).value()); }
  std::vector<Edit> Make(std::vector<Edit> edits) {
    Diagnostics found;
    auto undo = page.scope()->Apply(edits, found);
    INFO(ToString(undo.status()));
    REQUIRE(undo.ok());
    return std::move(*undo);
  }
  TestPage page{TwoReaders()};
};

struct WatchedPage : EditedPage {
  WatchedPage() { runner.AddListener(values); }
  ~WatchedPage() { runner.Close(); }
  uint64_t Watch(const char* name) {
    SubscriptionSpec spec;
    spec.value = name;
    spec.reduction = GENERATE(Reduction::kLast, Reduction::kMean);
    return values->Add(std::move(spec)).value();
  }
  /// The first element of what a run delivers.
  Result<double> Run() {
    REQUIRE(runner.RunBlocking({}).ok());
    std::vector<Sample> samples = values->Take();
    REQUIRE(samples.size() == 1);
    WEFT_RETURN_IF_ERROR(samples[0].status);
    const Tensor& value = samples[0].value;
    return value.dtype() == DType::kDouble ? value.values<double>()[0] : value.values<float>()[0];
  }
  Runner runner{std::make_shared<Session>(page.scope(), page.graph().DefaultSession())};
  std::shared_ptr<Subscriptions> values = std::make_shared<Subscriptions>(runner);
};

TEST_CASE("A subscription is live again when a block with the id that its own had last is back", "[subscriptions][page_edit]") {
  WatchedPage host;
  const uint64_t id = host.Watch("b.result_y");
  CHECK(host.Run().value() == 1);
  host.Apply(R"({"op": "rename", "block": "b", "to": "c"})");
  host.Apply(R"({"op": "remove", "block": "c"})");
  CHECK(host.values->NameOf(id).value() == "c.result_y");
  if (GENERATE(false, true)) CHECK(host.Run().status().code() == Code::kNotFound);
  host.Apply(kAddC);
  host.Apply(R"({"op": "set", "input": "x.value", "value": {"dtype": "DT_FLOAT", "shape": [2], "values": [3, 4]}})");
  CHECK(host.Run().value() == 9);
  // The new one is followed, too, wherever it goes.
  host.Apply(R"([{"op": "rename", "block": "c", "to": "d"}, {"op": "rename", "block": "a", "to": "c"}])");
  CHECK(host.Run().value() == 9);
  CHECK(host.values->NameOf(id).value() == "d.result_y");
  host.Apply(R"({"op": "remove", "block": "d"})");
  host.Apply(R"({"op": "add", "block": {"id": "d", "block": "Neg", "inputs": {"x": "x.output"}}})");
  CHECK(host.Run().value() == -3);
}

TEST_CASE("The block that was named comes before one that has taken its id", "[subscriptions][page_edit]") {
  WatchedPage host;
  const uint64_t id = host.Watch("b.y");
  const std::vector<Edit> undo_remove = host.Apply(R"({"op": "remove", "block": "b"})");
  const std::vector<Edit> undo_rename = host.Apply(R"({"op": "rename", "block": "a", "to": "b"})");
  CHECK(host.Run().value() == -1);
  host.Make(undo_rename);
  CHECK(host.values->NameOf(id).value() == "a.y");
  host.Make(undo_remove);
  CHECK(host.values->NameOf(id).value() == "b.y");
  CHECK(host.Run().value() == 1);
  // Two blocks that change their ids.
  host.Apply(R"([{"op": "rename", "block": "a", "to": "t"}, {"op": "rename", "block": "b", "to": "a"}, {"op": "rename", "block": "t", "to": "b"}])");
  CHECK(host.values->NameOf(id).value() == "a.y");
  CHECK(host.Run().value() == 1);
}

TEST_CASE("What a host fetches is found under the id that its block had last, and so is a session of the page", "[page_edit]") {
  EditedPage host;
  host.Apply(R"({"op": "add", "block": {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["a.y"]}}})");
  const std::unique_ptr<Session> fetches = host.page.Open({"b.y"});
  Session& fetching = *fetches;
  Session of_page(host.page.scope(), host.page.graph().sessions()[0]);
  REQUIRE(fetching.Run().ok());
  REQUIRE(of_page.Run().ok());
  host.Apply(R"([{"op": "rename", "block": "b", "to": "c"}, {"op": "rename", "block": "run", "to": "train"}])");
  host.Apply(R"([{"op": "remove", "block": "c"}, {"op": "remove", "block": "train"}])");
  host.Apply(kAddC);
  host.Apply(R"({"op": "add", "block": {"id": "train", "block": "ClientSession", "inputs": {"fetch_outputs": ["c.y"]}}})");
  REQUIRE(fetching.Run().ok());
  CHECK_FALSE(fetching.outdated_page());
  CHECK(fetching.Get("c.y").value().run == 2);
  REQUIRE(of_page.Run().ok());
  CHECK_FALSE(of_page.outdated_page());
  CHECK(of_page.id() == "train");
  CHECK(of_page.Get("c.y").value().run == 2);
}

TEST_CASE("Breakpoints are told with the names that the page has now", "[breakpoints][page_edit]") {
  EditedPage host;
  Runner runner(std::make_shared<Session>(host.page.scope(), host.page.graph().DefaultSession()));
  Breakpoints points(runner);
  REQUIRE(points.Add({.kind = BreakKind::kBefore, .block = "b", .port = {}, .condition = {}}).ok());
  REQUIRE(points.Add({.kind = BreakKind::kNotFinite, .block = "b", .port = "y", .condition = {}}).ok());
  REQUIRE(points.Add({.kind = BreakKind::kCondition, .block = {}, .port = {}, .condition = "b.y[1]  > 3"}).ok());
  REQUIRE(points.Add({.kind = BreakKind::kCondition, .block = {}, .port = {}, .condition = "run >= 3"}).ok());
  REQUIRE(points.Enable(1, false).ok());
  host.Apply(R"({"op": "rename", "block": "b", "to": "second"})");
  const std::vector<BreakInfo> all = points.All();
  REQUIRE(all.size() == 4);
  CHECK(all[0].spec.block == "second");
  CHECK(all[1].spec.block == "second");
  CHECK(all[1].spec.port == "y");
  CHECK(all[2].spec.condition == "second.y[1]  > 3");
  CHECK(all[3].spec.condition == "run >= 3");
}

TEST_CASE("A host takes results of values that there are, and what it does with them fails at their block", "[runner][page_edit]") {
  EditedPage host;
  Runner runner(std::make_shared<Session>(host.page.scope(), host.page.graph().DefaultSession()));
  std::vector<float> taken;
  const auto take = [&taken](const ResultValue& result) {
    taken.push_back(result.tensor.values<float>()[0]);
    return taken.size() < 3 ? Status() : Unsupported("enough");
  };
  CHECK(runner.SetOutput("nowhere.y", take).code() == Code::kNotFound);
  CHECK(runner.SetOutput("b.y", nullptr).code() == Code::kNotFound);
  REQUIRE(runner.SetOutput("b.result_y[1]", take).ok());
  REQUIRE(runner.RunBlocking({}).ok());
  host.Apply(R"({"op": "rename", "block": "b", "to": "c"})");
  REQUIRE(runner.RunBlocking({}).ok());
  CHECK(taken == std::vector<float>{2, 2});
  const Status failed = runner.RunBlocking({});
  CHECK(failed.code() == Code::kUnsupported);
  CHECK(failed.place().block == "c");
  CHECK(runner.SetOutput("c.y[1]", nullptr).ok());
  CHECK(runner.SetOutput("c.y[1]", nullptr).code() == Code::kNotFound);
  REQUIRE(runner.RunBlocking({}).ok());
}

}  // namespace
}  // namespace weft::test
