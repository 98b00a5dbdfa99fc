// Case files: what is read, what is refused and where, and how results are judged.
#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <random>

#include "weft/cases/case_reader.h"
#include "weft/cases/case_runner.h"
#include "weft/cases/compare.h"

using namespace weft;
using namespace weft::cases;

namespace {

const char* const kGood = R"json({"block": "Add", "source": "by hand", "cases": [
  {"name": "of floats", "attrs": "a_ = 1;", "inputs": {"x": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, "nan"]},
     "y": [{"dtype": "DT_STRING", "shape": [], "values": ["$TMP/a"]}]},
   "outputs": {"z": {"dtype": "DT_FLOAT", "shape": [2], "values": [1.5, "inf"]}}, "variables": {"x": {"dtype": "DT_FLOAT", "shape": []}},
   "tolerance": {"relative": 1e-3}, "range": {"min": 0, "max": 2}, "shape_only": true},
  {"name": "refused", "inputs": {}, "error": {"code": "out_of_range", "port": "x"}},
  {"name": "a page", "page": {"blocks": [{"id": "a", "block": "Const"}]},
   "steps": [{"fetch": ["a.output"], "run": ["a"], "feed": {"a.output": {"dtype": "DT_INT32", "shape": [], "values": [3]}}, "outputs": {}}]}]})json";

/// Reads a file of one case.
CaseFile OneCase(const std::string& members) { return ReadCases(R"({"block": "B", "cases": [{)" + members + "}]}", "f.json"); }

std::string FirstFinding(const CaseFile& file) { return file.diagnostics.all().empty() ? "" : ToString(file.diagnostics.all()[0]); }

/// Gives what it was told to give.
class Canned : public CaseExecutor {
 public:
  RunOutcome RunBlock(const TestCase& test, const std::filesystem::path& folder) override {
    seen = test;
    folder_existed = std::filesystem::is_directory(folder);
    return block;
  }
  PageOutcome RunPage(const TestCase&, const std::filesystem::path&) override { return page; }
  TestCase seen;
  bool folder_existed = false;
  RunOutcome block;
  PageOutcome page;
};

ExpectedValue Expect(Tensor tensor) { return {tensor.dtype(), tensor.shape(), tensor}; }

}  // namespace

TEST_CASE("a case file is read", "[case-files]") {
  CaseFile file = ReadCases(kGood, "good.json");
  INFO(FirstFinding(file));
  REQUIRE(file.diagnostics.all().empty());
  REQUIRE(file.cases.size() == 3);
  const TestCase& first = file.cases[0];
  CHECK(first.fault.empty());
  CHECK(first.block == "Add");
  CHECK(first.attrs == "a_ = 1;");
  CHECK(!first.inputs.at("x").list);
  CHECK(std::isnan(first.inputs.at("x").values[0].values<float>()[1]));
  CHECK(first.inputs.at("y").list);
  CHECK(first.expected.outputs.at("z").tensor.values<float>()[1] == INFINITY);
  CHECK(!first.variables.at("x").tensor.defined());
  CHECK(first.tolerance.relative == 1e-3);
  CHECK(first.tolerance.absolute == 1e-5);
  CHECK(first.limits.maximum == 2.0);
  CHECK(first.shape_only);
  CHECK(UsesFolder(first));
  CHECK(CaseTitle(first) == "good.json:/cases/0 (of floats)");
  CHECK(file.cases[1].expected.error->code == Code::kOutOfRange);
  CHECK(file.cases[1].expected.error->port == "x");
  CHECK(file.cases[2].is_page());
  CHECK(file.cases[2].steps[0].fetch == std::vector<std::string>{"a.output"});
  CHECK(file.cases[2].steps[0].feed.at("a.output").values<int32_t>()[0] == 3);

  TestCase placed = first;
  SetFolder(placed, "/tmp/x");
  CHECK(placed.inputs.at("y").values[0].values<String>()[0] == "/tmp/x/a");
  CHECK(first.inputs.at("y").values[0].values<String>()[0] == "$TMP/a");
}

TEST_CASE("faults of case files are placed", "[case-files]") {
  auto finds = [](const CaseFile& file, const std::string& place, const std::string& part) {
    INFO(FirstFinding(file));
    REQUIRE(!file.diagnostics.all().empty());
    CHECK(file.diagnostics.all()[0].status.place().page == "f.json");
    CHECK(file.diagnostics.all()[0].status.place().pointer == place);
    CHECK_THAT(file.diagnostics.all()[0].status.message(), Catch::Contains(part));
  };
  finds(OneCase(R"("name": 3)"), "/cases/0/name", "needs a string, found a number");
  finds(OneCase(R"("inputs": [])"), "/cases/0/inputs", "needs an object, found a list");
  finds(OneCase(R"("inputs": {"a/b": 1})"), "/cases/0/inputs/a~1b", "needs a tensor");
  finds(OneCase(R"("inputs": {"x": {"dtype": "DT_INT8", "shape": [1], "values": [300]}})"), "/cases/0/inputs/x/values/0", "300");
  finds(OneCase(R"("inputs": {"x": {"dtype": "DT_INT8", "shape": [2], "values": [3]}})"), "/cases/0/inputs/x/values", "found 1");
  finds(OneCase(R"("outputs": {"x": {"dtype": "DT_INT8", "shape": [-2]}})"), "/cases/0/outputs/x/shape", "sizes of 0 or more");
  finds(OneCase(R"("outputs": {"x": {"dtype": "DT_INT", "shape": []}})"), "/cases/0/outputs/x/dtype", "a type");
  finds(OneCase(R"("error": {"code": "bad"})"), "/cases/0/error", "needs a code");
  finds(OneCase(R"("error": {"code": "ok"})"), "/cases/0/error", "needs a code");
  finds(OneCase(R"("page": {"blocks": []})"), "/cases/0", "needs steps");
  finds(OneCase(R"("steps": [{"fetch": "a"}])"), "/cases/0/steps/0/fetch", "needs a list");
  finds(OneCase(R"("name": "a", "name": "b")"), "/cases/0/name", "");
  finds(ReadCases(R"({"cases": [{}]})", "f.json"), "/cases/0", "needs a page, or a block");
  finds(ReadCases("[]", "f.json"), "", "needs an object with cases");
  finds(ReadCases("{}", "f.json"), "", "needs a list of cases");
  CHECK(ReadCases("{\"cases\": [", "f.json").diagnostics.has_errors());
  CHECK(ReadCases("", "f.json").diagnostics.has_errors());
  CHECK(ReadCases("{\"block\": \"\xFF\", \"cases\": []}", "f.json").diagnostics.has_errors());
  CHECK(ReadCases(std::string(100000, '['), "f.json").diagnostics.has_errors());
  CHECK(!OneCase(R"("error": 1)").cases[0].fault.empty());

  CaseFile unknown = OneCase(R"("tolerence": {})");
  CHECK(!unknown.diagnostics.has_errors());
  CHECK(unknown.diagnostics.all()[0].status.hint() == "did you mean 'tolerance'?");
  const CaseFile nothing = OneCase(R"("name": "x")");
  CHECK(!nothing.diagnostics.has_errors());
  CHECK_THAT(nothing.diagnostics.all()[0].status.message(), Catch::Contains("tests only that the block runs"));
  CHECK(ReadCaseFile("/nonexistent/x.cases.json").diagnostics.FirstError().code() == Code::kNotFound);
  CHECK(FindCaseFiles("/nonexistent").status().code() == Code::kNotFound);
}

TEST_CASE("values are compared within their tolerance", "[case-files]") {
  Tolerance tolerance{1e-2, 1e-3};
  auto differs = [&](Tensor got, Tensor expected) { return Difference(got, Expect(std::move(expected)), tolerance); };
  CHECK(differs(Tensor::Of<float>({100.5f, NAN, INFINITY}), Tensor::Of<float>({100, NAN, INFINITY})).empty());
  CHECK_THAT(differs(Tensor::Of<float>({1, 102, 103}, Shape{1, 3}), Tensor::Of<float>({1, 100, 100}, Shape{1, 3})),
             Catch::StartsWith("element [0][1] needs 100, got 102 (2 of 3 differ"));
  CHECK(!differs(Tensor::Of<float>({INFINITY}), Tensor::Of<float>({1})).empty());
  CHECK(!differs(Tensor::Of<float>({1}), Tensor::Of<float>({INFINITY})).empty());
  CHECK(!differs(Tensor::Of<float>({INFINITY}), Tensor::Of<float>({-INFINITY})).empty());
  CHECK(!differs(Tensor::Of<float>({NAN}), Tensor::Of<float>({1})).empty());
  CHECK(!differs(Tensor::Of<float>({1}), Tensor::Of<float>({NAN})).empty());
  CHECK(differs(Tensor::Of<complex64>({{100, 0.5f}}), Tensor::Of<complex64>({{100, 0}})).empty());
  CHECK(!differs(Tensor::Of<int64_t>({1000}), Tensor::Of<int64_t>({1001})).empty());
  CHECK(!differs(Tensor::Of<String>({"a"}), Tensor::Of<String>({"b"})).empty());
  CHECK(differs(Tensor::Of<float>({1}), Tensor::Of<double>({1})) == "needs DT_DOUBLE, got DT_FLOAT");
  CHECK(differs(Tensor::Of<float>({1}), Tensor::Scalar(1.0f)) == "needs the shape [], got [1]");
  // Infinities of complex numbers are compared part by part.
  const float inf = INFINITY;
  const auto complex_of = [](complex64 value) { return Tensor::Scalar(value); };
  CHECK(differs(complex_of({inf, 1.0000001f}), complex_of({inf, 1})).empty());
  CHECK_FALSE(differs(complex_of({inf, 2}), complex_of({inf, 1})).empty());
  CHECK_FALSE(differs(complex_of({-inf, 1}), complex_of({inf, 1})).empty());
  CHECK(Difference(Tensor::Of<float>({1}), {DType::kFloat, Shape{1}, {}}, tolerance).empty());
  CHECK(BeyondLimits(Tensor::Of<float>({0, 1}), {0.0, 1.0, {}, {}}).empty());
  CHECK(!BeyondLimits(Tensor::Of<float>({0, 2}), {0.0, 1.0, {}, {}}).empty());
  CHECK(!BeyondLimits(Tensor::Of<float>({NAN}), {0.0, 1.0, {}, {}}).empty());
  CHECK(!BeyondLimits(Tensor::Of<float>({5, 5, 5, 5}), {{}, {}, 0.0, 1.0}).empty());
}

TEST_CASE("outcomes are judged", "[case-files]") {
  Canned canned;
  auto judge = [&](const TestCase& test) { return RunCase(test, canned); };
  auto good = CaseReport::Verdict::kPassed, bad = CaseReport::Verdict::kFailed;

  TestCase values;
  values.block = "B";
  values.expected.outputs["y"] = Expect(Tensor::Scalar(1.0f));
  CHECK(judge(values).message == "y: no value");
  canned.block.outputs["y"] = Tensor::Scalar(1.0f);
  canned.block.outputs["other"] = Tensor::Scalar(2.0f);
  CHECK(judge(values).verdict == good);
  values.variables["v"] = Expect(Tensor::Scalar(2.0f));
  canned.block.variables["v"] = Tensor::Scalar(3.0f);
  CHECK_THAT(judge(values).message, Catch::StartsWith("variable v: "));

  TestCase error;
  error.block = "B";
  error.expected.error = ExpectedError{Code::kOutOfRange, "x"};
  CHECK(judge(error).message == "needs the error out_of_range at x, got success: other is DT_FLOAT [] 2, y is DT_FLOAT [] 1");
  canned.block.status = OutOfRange("m").WithPort("x[2]");
  CHECK(judge(error).verdict == good);
  CHECK(judge(values).verdict == bad);
  canned.block.status = OutOfRange("m").WithPort("xy");
  CHECK(judge(error).verdict == bad);
  canned.block.status = InvalidArgument("m").WithPort("x");
  CHECK(judge(error).verdict == bad);

  TestCase folder;
  folder.block = "B";
  folder.attrs = "file_ = \"$TMP/a\";";
  canned.block.status = {};
  CHECK(judge(folder).verdict == good);
  CHECK(canned.folder_existed);
  CHECK(canned.seen.attrs.find("$TMP") == std::string::npos);

  TestCase pages;
  pages.page = "{}";
  pages.steps.resize(2);
  CHECK(judge(pages).message == "step 0: was not run");
  canned.page.steps.resize(2);
  CHECK(judge(pages).verdict == good);
  canned.page.steps[1].status = Aborted("m");
  CHECK(judge(pages).verdict == bad);
  pages.steps[1].expected.error = ExpectedError{Code::kAborted, ""};
  CHECK(judge(pages).verdict == good);
  canned.page.loaded = InvalidArgument("m");
  CHECK(judge(pages).verdict == bad);
  TestCase faulty;
  faulty.fault = "cannot be read";
  CHECK(judge(faulty).verdict == bad);
}

TEST_CASE("no bytes in a case file do harm", "[case-files]") {
  std::mt19937 random(11);
  const std::string seed = kGood, marks = "{}[]\",:0-9.eE\\ntfu$ \xFF";
  for (int round = 0; round < 5000; ++round) {
    std::string text = seed;
    for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
      size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = marks[random() % marks.size()]; break;
        case 1: text.erase(at, 1 + random() % 6); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 30)); break;
      }
    }
    for (const TestCase& test : ReadCases(text, "f.json").cases) (void)UsesFolder(test);
  }
}
