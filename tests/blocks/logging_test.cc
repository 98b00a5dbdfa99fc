// What Assert and Print say, and how a page that says it goes on.
#include <catch2/catch.hpp>

#include "blocks/logging/tensor_text.h"
#include "tests/kit/block_tester.h"
#include "tests/kit/page_maker.h"

namespace weft::kit {
namespace {

Tensor Counted(Shape shape) {
  Tensor tensor = Tensor::Allocate(DType::kInt32, shape).value();
  for (size_t i = 0; i < static_cast<size_t>(shape.count()); ++i) tensor.values<int32_t>()[i] = static_cast<int32_t>(i);
  return tensor;
}

std::string AssertMessage(std::vector<Tensor> data, int summarize) {
  const BlockResult result = BlockTester(Catalog(), "Assert")
                                 .Attrs(Cat("summarize_ = ", summarize, ";"))
                                 .Input("condition", Tensor::Scalar(false))
                                 .Inputs("data", std::move(data))
                                 .Run();
  CHECK(result.status.code() == Code::kInvalidArgument);
  CHECK(result.status.place().port == "condition");
  return result.status.message();
}

TEST_CASE("Assert shows its data, as much of each as asked for", "[logging]") {
  const std::vector<Tensor> data = {Counted({2, 5}), Tensor::Scalar<String>("hello"), Tensor::Of<String>({"a", "b", "c", "d"}),
                                    Tensor::Scalar(1.5f)};
  CHECK(AssertMessage(data, 3) == "assertion failed: [[0 1 2...]...] [hello] [a b c...] [1.5]");
  CHECK(AssertMessage(data, 1) == "assertion failed: [[0...]...] [hello] [a...] [1.5]");
  CHECK(AssertMessage(data, 0) == "assertion failed: [...] [...] [...] [...]");
  CHECK(AssertMessage(data, -1) == "assertion failed: [[0 1 2 3 4][5 6 7 8 9]] [hello] [a b c d] [1.5]");
  CHECK(AssertMessage({Counted({2, 2, 2})}, 5) == "assertion failed: [[[0 1][2 3]][[4...]]...]");
  CHECK(AssertMessage({Counted({0, 3}), Counted({})}, 5) == "assertion failed: [] [0]");
}

TEST_CASE("Print writes its message and data to the log and passes its input on", "[logging]") {
  BlockTester tester(Catalog(), "Print");
  tester.Attrs("message_ = \"msg: \";")
      .Input("input", Tensor::Of<float>({1, 2}))
      .Inputs("data", {Counted({2, 5}), Tensor::Scalar<String>("hi"), Tensor::Scalar(2.5)});
  const BlockResult result = tester.Run();
  REQUIRE(result.status.ok());
  CHECK(SameBits(result.outputs.at("output"), Tensor::Of<float>({1, 2})));
  CHECK(result.log.find("msg: [[0 1 2...]...][hi][2.5]") != std::string::npos);
}

/// What is printed in some runs of a page that fetch one value.
std::vector<std::string> Printed(Page page, const std::string& fetch, int runs) {
  std::vector<std::string> lines;
  Runtime runtime(MakeCatalog(), {.threads = 1});
  ScopeOptions options;
  options.print = [&](std::string_view text) { lines.emplace_back(text); };
  Diagnostics diagnostics;
  const auto scope = Scope::Open(runtime, std::make_shared<Page>(std::move(page)), "test", std::move(options), diagnostics);
  INFO(ToString(diagnostics.FirstError()));
  REQUIRE(diagnostics.FirstError().ok());
  SessionSpec spec;
  spec.id = "test";
  spec.fetches.push_back({fetch, scope->graph().FindValue(fetch).value()});
  Session session(scope, std::move(spec), Keep::kAsked);
  for (int i = 0; i < runs; ++i) CHECK(session.Run().ok());
  return lines;
}

/// What a Print of the number 7 writes in three runs of its page.
std::vector<std::string> PrintedInThreeRuns(const std::string& attrs) {
  Page page;
  AddBlock(page, "p", "Print", {{"input", {Tensor::Scalar(1)}}, {"data", {Tensor::Scalar(7)}}}, attrs);
  return Printed(std::move(page), "p.output", 3);
}

TEST_CASE("Print shows its data as it is, also where its output takes over the data's memory", "[logging]") {
  Page page;
  const std::string dims = AddConst(page, "dims", Tensor::Of<int32_t>({4}));
  for (const auto& [id, value] : {std::pair("ones", 1.0f), std::pair("twos", 2.0f)}) {
    AddBlock(page, id, "Fill", {{"dims", {dims}}, {"value", {Tensor::Scalar(value)}}});
  }
  AddBlock(page, "p", "Print", {{"input", {"ones.output"}}, {"data", {"twos.output"}}});
  AddBlock(page, "sum", "Add", {{"x", {"p.output"}}, {"y", {"ones.output"}}});
  CHECK(Printed(std::move(page), "sum.z", 1) == std::vector<std::string>{"[2 2 2...]"});
}

TEST_CASE("Print shows the first megabyte of a long tensor, also where all of it is asked for", "[logging]") {
  Page page;
  AddBlock(page, "many", "Fill", {{"dims", {Tensor::Of<int32_t>({30'000'000})}}, {"value", {Tensor::Scalar<uint8_t>(7)}}});
  AddBlock(page, "p", "Print", {{"input", {Tensor::Scalar(1)}}, {"data", {"many.output", "many.output"}}}, "summarize_ = -1;");
  const std::vector<std::string> lines = Printed(std::move(page), "p.output", 1);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].size() >= blocks::kMostText);
  CHECK(lines[0].size() <= blocks::kMostText + 10);
  CHECK(lines[0].substr(0, 5) == "[7 7 ");
  CHECK(lines[0].substr(lines[0].size() - 9) == " 7...]...");
}

TEST_CASE("Print stops after first_n times", "[logging]") {
  CHECK(PrintedInThreeRuns("").size() == 3);
  CHECK(PrintedInThreeRuns("first_n_ = 2;message_ = \"n: \";") == std::vector<std::string>{"n: [7]", "n: [7]"});
  CHECK(PrintedInThreeRuns("first_n_ = 0;").empty());
}

TEST_CASE("Abort ends a run with its message; the page can be run again", "[logging]") {
  Runtime runtime(MakeCatalog(), {.threads = 1});
  Page page;
  AddBlock(page, "stop", "Abort", {}, "error_msg_ = \"that is enough\";");
  const std::string one = AddConst(page, "one", Tensor::Scalar(1.0f));
  AddBlock(page, "n", "Negate", {{"x", {one}}});
  auto open = OpenPage::Open(runtime, std::move(page));
  REQUIRE(open.ok());
  auto ending = open->Fetch({"n.y"}, {"stop"});
  REQUIRE(ending.ok());
  const Status status = (*ending)->Run();
  CHECK(status.code() == Code::kAborted);
  CHECK(status.message().find("that is enough") != std::string::npos);
  CHECK(status.place().block == "stop");
  CHECK(open->Run({"n.y"}).value()[0].values<float>()[0] == -1);
}

}  // namespace
}  // namespace weft::kit
