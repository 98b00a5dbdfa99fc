// The command line as its users meet it: exit statuses, texts, and what is written where.
#include <catch2/catch.hpp>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/kit/program.h"
#include "tests/kit/sanitized.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using kit::ProgramResult;
using kit::RunWeft;
using Json = nlohmann::json;
using Catch::Matchers::Contains;

constexpr const char* kCommands[] = {"run", "check", "test", "blocks", "plan", "convert", "replay", "show", "codes", "bench"};

/// x [2,3] doubled and summed; a Variable that counts; a session of both.
constexpr const char* kPage = R"({
  "weft": 1,
  "page": "small",
  "blocks": [
    {"id": "x", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [2, 3], "values": [1, 2, 3, 4, 5, 6]}}},
    {"id": "two", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [], "values": [2]}}},
    {"id": "twice", "block": "Multiply", "inputs": {"x": "x.output", "y": "two.output"}},
    {"id": "axis", "block": "Const", "inputs": {"value": {"dtype": "DT_INT32", "shape": [1], "values": [0]}}},
    {"id": "sum", "block": "Sum", "attrs": "keep_dims_ = false;", "inputs": {"input": "twice.z", "axis": "axis.output"}},
    {"id": "n", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_INT64", "shape": [], "values": [0]}}},
    {"id": "one", "block": "Const", "inputs": {"value": {"dtype": "DT_INT64", "shape": [], "values": [1]}}},
    {"id": "next", "block": "Add", "inputs": {"x": "n.ref", "y": "one.output"}},
    {"id": "count", "block": "Assign", "inputs": {"ref": "n.ref", "value": "next.z"}},
    {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["sum.output", "count.output_ref"]}}
  ]
}
)";

/// A fresh folder with page.json in it.
struct PagePlace : kit::TemporaryFolder {
  std::string page = Write("page.json", kPage);
};

Json Parse(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  INFO(text.substr(0, 500));
  CHECK_FALSE(json.is_discarded());
  return json;
}

/// No terminal is written to, so nothing but plain text may come.
void CheckPlain(const ProgramResult& run) {
  for (const std::string* text : {&run.out, &run.err}) {
    CHECK(text->find('\033') == std::string::npos);
    CHECK(text->find('\r') == std::string::npos);
  }
}

/// A command that fails: its status, an error on standard error, nothing of it on standard output.
ProgramResult Fails(int status, const std::vector<std::string>& arguments, const std::string& text) {
  ProgramResult run = RunWeft(arguments);
  std::string line;
  for (const std::string& argument : arguments) line += argument + " ";
  INFO("weft " << line << "\n" << run.out << run.err);
  CHECK(run.status == status);
  CHECK_THAT(run.err, Contains("error:") && Contains(text));
  CHECK(run.out.find("error:") == std::string::npos);
  CheckPlain(run);
  return run;
}

TEST_CASE("Every command explains itself, with examples", "[cli]") {
  ProgramResult all = RunWeft({"--help"});
  CHECK(all.status == 0);
  for (const char* command : kCommands) {
    CAPTURE(command);
    CHECK_THAT(all.out, Contains(Cat("\n  ", command, " ")));
    ProgramResult help = RunWeft({command, "--help"});
    CHECK(help.status == 0);
    CHECK(help.err.empty());
    CHECK_THAT(help.out, Contains("Examples:\n  weft " + std::string(command)));
  }
  CHECK(RunWeft({"--version"}).status == 0);
  CHECK_THAT(RunWeft({"--version"}).out, Contains("weft "));
}

TEST_CASE("Wrong use gives status 2, and says what was meant", "[cli]") {
  PagePlace place;
  ProgramResult nothing = RunWeft({});
  CHECK(nothing.status == 2);
  CHECK_THAT(nothing.err, Contains("Usage:"));
  Fails(2, {"runn", place.page}, "there is no command 'runn' (did you mean 'run'?)");
  Fails(2, {""}, "there is no command ''");
  Fails(2, {"run"}, "page is required");
  Fails(2, {"run", ""}, "the name is empty");
  Fails(2, {"run", place.page, "--session", ""}, "the name is empty");
  Fails(2, {"run", place.page, "--step", "3"}, "there is no option '--step' (did you mean '--steps'?)");
  Fails(2, {"run", place.page, "another"}, "'another' is one argument too many");
  Fails(2, {"run", place.page, "--steps", "0"}, "--steps");
  Fails(2, {"run", place.page, "--steps", "many"}, "--steps");
  Fails(2, {"run", place.page, "--steps", "99999999999999999999999"}, "--steps");
  Fails(2, {"run", place.page, "--threads", "-1"}, "--threads");
  Fails(2, {"run", place.page, "--keep", "most"}, "--keep");
  Fails(2, {"run", place.page, "--deadline", "nan"}, "--deadline");
  Fails(2, {"run", place.page, "--results", "out.csv"}, "needs a file name that ends in .json or .npz");
  Fails(2, {"run", place.page, "--plot", "sum.output", "--plot-file", "out.gif"}, "needs a file name that ends in .svg or .png");
  Fails(2, {"run", place.page, "--plot-file", "out.svg"}, "--plot");
  Fails(2, {"run", place.page, "--plot-log"}, "--plot");
  Fails(2, {"run", place.page, "--partial"}, "--load-state");
  Fails(2, {"show", place.page, "-o", "x.png"}, "needs a file name that ends in .svg, found 'x.png'; rsvg-convert");
  Fails(2, {"convert", place.page}, "out is required");
  Fails(2, {"show", place.page}, "--out is required");
  Fails(2, {"test"}, "a case file, or a folder of them, is needed");
  Fails(2, {"check"}, "pages is required");
}

TEST_CASE("What fails gives status 1, and the place", "[cli]") {
  PagePlace place;
  const std::string folder = place.path().string();
  Fails(1, {"run", place.Path("none.json")}, place.Path("none.json") + ": error: the file");
  Fails(1, {"run", folder}, "the folder");
  Fails(1, {"run", "/dev/zero"}, "needs a file");
  Fails(1, {"check", place.page, place.Write("text.txt", "hello")}, "text.txt: error: broken JSON at line 1, column 1");
  Fails(1, {"run", place.page, "--fetch", "sum"}, "it has sum.output");
  Fails(1, {"run", place.page, "--fetch", "summ.output"}, "did you mean 'sum'?");
  Fails(1, {"run", place.page, "--fetch", "sum.outptu"}, "did you mean 'output'?");
  Fails(1, {"run", place.page, "--fetch", ""}, "ID.port");
  Fails(1, {"run", place.page, "--watch", "sum"}, "it has sum.output");
  Fails(1, {"run", place.page, "--plot", "nothing.output"}, "there is no block 'nothing'");
  Fails(1, {"run", place.page, "--session", "runs"}, "there is run");
  Fails(1, {"plan", place.page, "--session", "runs"}, "there is run");
  Fails(1, {"run", place.page, "--results", place.Path("no/out.json")}, "there is no folder");
  Fails(1, {"convert", place.page, place.Path("no/out.json")}, "there is no folder");
  Fails(1, {"convert", place.page, folder}, "it is a folder");
  Fails(1, {"blocks", "Matmull"}, "did you mean 'MatMul'?");
  Fails(1, {"blocks", "--category", "maths"}, "there is no category 'maths'");
  Fails(1, {"replay", place.page}, "has no recorded results");
  // The form that editors follow: file, pointer, severity, block and port.
  std::string bad = place.Write("bad.json", R"({"weft": 1, "blocks": [{"id": "a", "block": "Squar", "inputs": {"x": "b.output"}},
      {"id": "s", "block": "Square", "inputs": {"x": "nowhere.output"}},
      {"id": "c", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [2], "values": [1]}}}]})");
  ProgramResult run = Fails(1, {"run", bad}, bad + ":/blocks/1/inputs/x: error: s.x: ");
  CHECK_THAT(run.err, Contains("did you mean 'Square'?") && Contains(bad + ":/blocks/2/inputs/value/"));
  CHECK(run.out.empty());
  CHECK(RunWeft({"check", bad}).err == run.err);
  // What a run finds is placed, too.
  std::string wild = place.Write("wild.json", R"({"weft": 1, "blocks": [
      {"id": "x", "block": "Placeholder", "attrs": "dtype_ = DT_INT32;"},
      {"id": "d", "block": "Div", "inputs": {"x": {"text": "1"}, "y": "x.output"}}]})");
  Fails(1, {"run", wild, "--feed", "x.output=0"}, wild + ":/blocks/1");
  CHECK(RunWeft({"run", wild, "--feed", "x.output=1"}).status == 0);
}

TEST_CASE("--json gives one document, of results or of errors", "[cli]") {
  PagePlace place;
  std::string bad = place.Write("bad.json", R"({"weft": 1, "blocks": [{"id": "s", "block": "Square", "inputs": {"x": "nowhere.output"}}]})");
  for (const char* command : {"run", "check", "plan", "replay"}) {
    CAPTURE(command);
    ProgramResult run = RunWeft({command, bad, "--json"});
    CHECK(run.status == 1);
    CHECK(run.err.empty());
    Json report = Parse(run.out);
    REQUIRE(report.contains("diagnostics"));
    REQUIRE(report["diagnostics"].size() == 1);
    Json found = report["diagnostics"][0];
    CHECK(found["severity"] == "error");
    CHECK(found["code"] == "not_found");
    CHECK(found["page"] == bad);
    CHECK(found["pointer"] == "/blocks/0/inputs/x");
    CHECK(found["block"] == "s");
    CHECK(found["port"] == "x");
  }
  Json results = Parse(RunWeft({"run", place.page, "--json", "--watch", "sum.output", "--plot", "sum.output"}).out);
  CHECK(results["sum.output"] == Json::parse(R"({"dtype": "DT_FLOAT", "shape": [3], "values": [10, 14, 18]})"));
  Json checked = Parse(RunWeft({"check", place.page, "--json"}).out);
  CHECK(checked["diagnostics"].empty());
  Json missing = Parse(RunWeft({"run", place.page, "--json", "--results", place.Path("no/x.npz")}).out);
  CHECK(missing.contains("diagnostics"));
}

TEST_CASE("weft run shows, keeps, watches and chooses", "[cli]") {
  PagePlace place;
  ProgramResult plain = RunWeft({"run", place.page});
  CHECK(plain.status == 0);
  CHECK(plain.err.empty());
  CHECK(plain.out == "sum.output  DT_FLOAT [3] {10,14,18}\ncount.output_ref  DT_INT64 [] 1\n");
  CHECK(RunWeft({"run", place.page, "--quiet"}).out.empty());
  CHECK_THAT(RunWeft({"run", place.page, "--steps", "7"}).out, Contains("count.output_ref  DT_INT64 [] 7\n"));
  CHECK(RunWeft({"run", place.page, "--fetch", "twice.z"}).out == "twice.z  DT_FLOAT [2,3] {{2,4,6},{8,10,12}}\n");
  CHECK_THAT(RunWeft({"run", place.page, "--steps", "3", "--watch", "count.output_ref"}).out,
             Contains("1  count.output_ref  DT_INT64 [] 1\n2  count.output_ref  DT_INT64 [] 2\n3  count.output_ref  DT_INT64 [] 3\n"));
  Json all = Parse(RunWeft({"run", place.page, "--json"}).out), asked = Parse(RunWeft({"run", place.page, "--json", "--keep", "asked"}).out);
  CHECK(all.contains("twice.z"));
  CHECK_FALSE(asked.contains("twice.z"));
  CHECK(asked["sum.output"] == all["sum.output"]);
  for (const char* threads : {"1", "2", "5"}) CHECK(RunWeft({"run", place.page, "--threads", threads}).out == plain.out);

  std::string two = place.Write("two.json", R"({"weft": 1, "blocks": [
      {"id": "a", "block": "Const", "inputs": {"value": {"text": "1"}}}, {"id": "b", "block": "Const", "inputs": {"value": {"text": "2"}}},
      {"id": "first", "block": "ClientSession", "inputs": {"fetch_outputs": "a.output"}},
      {"id": "second", "block": "ClientSession", "inputs": {"fetch_outputs": "b.output"}}]})");
  CHECK(RunWeft({"run", two}).out == "a.output  DT_INT32 [] 1\nb.output  DT_INT32 [] 2\n");
  CHECK(RunWeft({"run", two, "--session", "second"}).out == "b.output  DT_INT32 [] 2\n");
  std::string spaced = place.Write("a page of mine.json", kPage);
  CHECK(RunWeft({"run", spaced}).out == plain.out);
  kit::ProgramOptions there;
  there.folder = place.path();
  CHECK(RunWeft({"run", "page.json"}, there).out == plain.out);
}

TEST_CASE("--set overrides literals and attributes for one run", "[cli]") {
  PagePlace place;
  CHECK_THAT(RunWeft({"run", place.page, "--set", "two.value=3"}).out, Contains("{15,21,27}"));
  CHECK_THAT(RunWeft({"run", place.page, "--set", "sum.keep_dims=true"}).out, Contains("[1,3] {{10,14,18}}"));
  CHECK_THAT(RunWeft({"run", place.page, "--set", "sum.keep_dims_=true", "--set", "axis.value={1}"}).out, Contains("[2,1] {{12},{30}}"));
  CHECK(kit::FileBytes(place.page) == kPage);
  Fails(1, {"run", place.page, "--set", "tow.value=3"}, "did you mean 'two'?");
  Fails(1, {"run", place.page, "--set", "two.valeu=3"}, "did you mean 'value'?");
  Fails(1, {"run", place.page, "--set", "sum.keepdims=3"}, "did you mean 'keep_dims'?");
  Fails(1, {"run", place.page, "--set", "two.value"}, "needs the form ID.pin=VALUE");
  Fails(1, {"run", place.page, "--set", "two=3"}, "needs the form ID.pin=VALUE");
  Fails(1, {"run", place.page, "--set", "two.value=abc"}, "two.value");
  Fails(1, {"run", place.page, "--set", "sum.keep_dims=perhaps"}, "keep_dims");
}

TEST_CASE("A page reads its folder; --allow lets it read others, --write lets it write", "[cli]") {
  PagePlace place;
  kit::TemporaryFolder elsewhere;
  const std::string there = (elsewhere.path() / "there").string(), folder = elsewhere.path().string(), own = place.path().string();
  const std::string save = place.Write("save.json", R"({"weft": 1, "blocks": [
      {"id": "x", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2]}}},
      {"id": "save", "block": "Save", "inputs": {"filename": {"text": "here"}, "tensor_names": {"text": "x"}, "data": ["x.output"]}},
      {"id": "run", "block": "ClientSession", "inputs": {"run_outputs": ["save.operation"]}}]})");
  Fails(1, {"run", save}, "--write " + own);
  Fails(1, {"run", save, "--allow", own}, "outside the folders that the page may write");
  CHECK_FALSE(fs::exists(place.path() / "here"));
  Json report = Parse(RunWeft({"run", save, "--json"}).out);
  CHECK(report["diagnostics"][0]["code"] == "permission_denied");
  CHECK(RunWeft({"run", save, "--write", own}).status == 0);
  CHECK(fs::exists(place.path() / "here"));
  Fails(1, {"run", save, "--write", own, "--set", "save.filename=" + there}, "--write " + folder);
  CHECK_FALSE(fs::exists(there));
  CHECK(RunWeft({"run", save, "--set", "save.filename=" + there, "--write", folder}).status == 0);
  CHECK(kit::FileBytes(there) == kit::FileBytes(place.path() / "here"));

  const std::string read = place.Write("read.json", R"({"weft": 1, "blocks": [
      {"id": "x", "block": "ReadFile", "inputs": {"filename": {"text": "page.json"}}}]})");
  CHECK(RunWeft({"run", read}).status == 0);
  Fails(1, {"run", read, "--set", "x.filename=" + there}, "--allow " + folder);
  CHECK(RunWeft({"run", read, "--set", "x.filename=" + there, "--allow", folder}).status == 0);
  CHECK(RunWeft({"run", read, "--set", "x.filename=" + there, "--write", folder}).status == 0);
  Fails(1, {"run", read, "--allow", folder + "/none"}, "--allow: there is no folder");
  Fails(1, {"run", read, "--write", there}, "--write: there is no folder");
}

TEST_CASE("--refuse-blocks and --allow-blocks say which blocks run", "[cli]") {
  PagePlace place;
  const std::string read = place.Write("read.json", R"({"weft": 1, "blocks": [
      {"id": "x", "block": "ReadFile", "inputs": {"filename": {"text": "page.json"}}}]})");
  for (const char* command : {"run", "check", "plan"}) {
    INFO(command);
    Fails(1, {command, read, "--refuse-blocks", "WriteFile,ReadFile"}, "x: the host refuses blocks of the type ReadFile: it is on the list of refused");
    Fails(1, {command, "--refuse-blocks", "io_ops", read}, "it is on the list of refused blocks");
    Fails(1, {command, read, "--allow-blocks", "Add"}, "it is not on the list of allowed blocks");
    CHECK(RunWeft({command, read, "--allow-blocks", "Add", "--allow-blocks", "ReadFile", "--refuse-blocks", "WriteFile"}).status == 0);
    Fails(1, {command, read, "--refuse-blocks", "ReadFil"}, "did you mean 'ReadFile'?");
  }
}

TEST_CASE("--memory bounds what a page may take", "[cli]") {
  PagePlace place;
  const std::string fill = place.Write("fill.json", R"({"weft": 1, "blocks": [{"id": "f", "block": "Fill", "inputs": {
      "dims": {"dtype": "DT_INT32", "shape": [1], "values": [4000000]}, "value": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}}]})");
  CHECK(RunWeft({"run", fill, "--memory", "64M"}).status == 0);
  Fails(1, {"run", fill, "--memory", "8M"}, "of the limit of 8388608 are in use");
  Fails(1, {"check", fill, "--memory", "1000"}, "of the limit of 1000 are in use");
  for (const char* bad : {"0", "-1", "much", "1.5G"}) Fails(2, {"run", fill, "--memory", bad}, "--memory");
}

TEST_CASE("Values of a page in files are read by the same rules", "[cli]") {
  PagePlace place;
  kit::TemporaryFolder elsewhere;
  kit::WriteBytes(elsewhere.path() / "v.bin", std::string("\0\0\x80\x3f", 4));
  const std::string folder = elsewhere.path().string();
  const std::string page = place.Write("file.json", R"({"weft": 1, "blocks": [{"id": "x", "block": "Const",
      "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [1], "file": ")" + folder + R"(/v.bin"}}}]})");
  for (const char* command : {"run", "check", "plan"}) {
    Fails(1, {command, page}, "--allow " + folder);
    CHECK(RunWeft({command, page, "--allow", folder}).status == 0);
  }
  Fails(1, {"convert", page, "-"}, "--allow " + folder);
  CHECK_THAT(RunWeft({"convert", page, "-", "--allow", folder}).out, Contains("v.bin"));
}

TEST_CASE("weft check, plan, convert and show", "[cli]") {
  PagePlace place;
  std::string other = place.Write("other.json", kPage);
  ProgramResult checked = RunWeft({"check", place.page, other});
  CHECK(checked.status == 0);
  CHECK(checked.out == place.page + ": 10 blocks, no errors\n" + other + ": 10 blocks, no errors\n");
  ProgramResult plan = RunWeft({"plan", place.page});
  CHECK(plan.status == 0);
  CHECK_THAT(plan.out, Contains("session run\n") && Contains("sum  Sum") && Contains("memory: arena"));
  CHECK(RunWeft({"convert", place.page, "-"}).out == kPage);
  CHECK(RunWeft({"convert", place.page, place.Path("copy.json")}).status == 0);
  CHECK(kit::FileBytes(place.Path("copy.json")) == kPage);
  // Through a link to the file it stands for; nothing is left beside it.
  fs::create_symlink("copy.json", place.Path("link.json"));
  CHECK(RunWeft({"convert", place.page, place.Path("link.json")}).status == 0);
  CHECK(fs::is_symlink(place.Path("link.json")));
  CHECK(RunWeft({"convert", place.page, "/dev/null"}).status == 0);
  CHECK(fs::is_character_file("/dev/null"));
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(place.path())) ++files;
  CHECK(files == 4);
  Json plans = Parse(RunWeft({"plan", place.page, "--json"}).out);
  REQUIRE(plans["sessions"].size() == 1);
  CHECK(plans["sessions"][0]["session"] == "run");
  CHECK(plans["sessions"][0]["plan"]["steps"].size() == 4);
  CHECK(plans["sessions"][0]["plan"]["steps"][0]["block"] == "twice");
  ProgramResult drawn = RunWeft({"show", place.page, "-o", "-"});
  CHECK(drawn.status == 0);
  CHECK_THAT(drawn.out, Contains("<svg") && Contains("twice") && Contains("</svg>"));
}

TEST_CASE("Pages with faults are drawn and converted, and not silently", "[cli]") {
  PagePlace place;
  std::string bad = place.Write("bad.json", R"({"weft": 1, "blocks": [{"id": "s", "block": "Square", "inputs": {"x": "nowhere.output"}}]})");
  Fails(1, {"show", bad, "-o", place.Path("bad.svg")}, "there is no block 'nowhere'");
  CHECK_THAT(kit::FileBytes(place.Path("bad.svg")), Contains("</svg>"));
  ProgramResult converted = RunWeft({"convert", bad, place.Path("copy.json")});
  CHECK(converted.status == 0);
  CHECK_THAT(converted.err, Contains("note: the page has 1 error, which weft check tells"));
  CHECK_THAT(kit::FileBytes(place.Path("copy.json")), Contains("nowhere.output"));
  CHECK(RunWeft({"convert", place.page, place.Path("copy.json")}).err.empty());
}

TEST_CASE("A page comes from standard input", "[cli]") {
  PagePlace place;
  kit::ProgramOptions from;
  from.in_path = place.page;
  CHECK(RunWeft({"run", "-"}, from).out == RunWeft({"run", place.page}).out);
  CHECK(RunWeft({"check", "-"}, from).out == "-: 10 blocks, no errors\n");
  CHECK(RunWeft({"convert", "-", "-"}, from).out == kPage);
  CHECK_THAT(RunWeft({"show", "-", "-o", "-"}, from).out, Contains("twice"));
  from.in_path = place.Write("bad.json", R"({"weft": 1, "blocks": [{"id": "s", "block": "Squar"}]})");
  CHECK_THAT(RunWeft({"run", "-"}, from).err, Contains("-:/blocks/0") && Contains("did you mean 'Square'?"));
  from.in_path = place.Write("read.json", R"({"weft": 1, "blocks": [{"id": "x", "block": "ReadFile", "inputs": {"filename": {"text": "page.json"}}}]})");
  from.folder = place.path();  // the folder of such a page
  CHECK(RunWeft({"run", "-"}, from).status == 0);
  Fails(1, {"run", "-"}, "found an empty file");
  Fails(1, {"bench", "--page", "-", "--quick"}, "needs a page in a file");
}

TEST_CASE("weft blocks lists, tells and suggests", "[cli]") {
  ProgramResult list = RunWeft({"blocks"});
  CHECK(list.status == 0);
  CHECK_THAT(list.out, Contains("\n  MatMul  ") && Contains("blocks; weft blocks NAME tells all of one"));
  ProgramResult one = RunWeft({"blocks", "BiasAddGrad"});
  CHECK_THAT(one.out, Contains("out_backprop") && Contains("data_format") && Contains("example: {\"id\""));
  CHECK(RunWeft({"blocks", "Mul"}).out == RunWeft({"blocks", "Multiply"}).out);
  CHECK_THAT(RunWeft({"blocks", "--category", "nn"}).out, Contains("BiasAdd") && !Contains("MatMul"));
  PagePlace place;
  kit::ProgramOptions there;
  there.folder = place.path();
  CHECK(RunWeft({"blocks", "--markdown", "Add"}, there).out == RunWeft({"blocks", "Add", "--markdown"}, there).out);
  CHECK_FALSE(fs::exists(place.path() / "Add"));
  CHECK_THAT(RunWeft({"blocks", "Conts"}).err, Contains("did you mean 'Const'?"));
  Json manifest = Parse(RunWeft({"blocks", "--json"}).out);
  CHECK(manifest.size() >= 1);
  CHECK(RunWeft({"blocks", "--category", "maths", "--json"}).status == 1);
  for (const Json& block : Parse(RunWeft({"blocks", "--json", "--category", "nn"}).out)) CHECK(block["category"] == "nn");
  Json single = Parse(RunWeft({"blocks", "MatMul", "--json"}).out);
  CHECK(single["block"] == "MatMul");
}

TEST_CASE("weft test and weft convert keep to --memory", "[cli]") {
  PagePlace place;
  const std::string file = place.Write("Fill.cases.json", R"({"block": "Fill", "cases": [
      {"name": "large", "inputs": {"dims": {"dtype": "DT_INT32", "shape": [1], "values": [100000000]},
                                   "value": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}, "outputs": {}}]})");
  const ProgramResult test = RunWeft({"test", file, "--memory", "50M"});
  CHECK(test.status == 1);
  CHECK_THAT(test.out, Contains("needs 400000000 bytes") && Contains("0 passed, 1 failed"));
  const std::string page = place.Write("large.page.json", R"({"weft": 1, "page": "large", "blocks": [
      {"id": "c", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [100000000], "file": "none.bin"}}}]})");
  const ProgramResult convert = RunWeft({"convert", page, "-", "--memory", "50M"});
  CHECK(convert.status == 1);
  CHECK_THAT(convert.err, Contains("needs 400000000 bytes"));
}

TEST_CASE("weft test runs files and folders", "[cli]") {
  PagePlace place;
  auto last_line = [](const std::string& text) {
    size_t end = text.find_last_not_of('\n'), start = text.rfind('\n', end);
    return text.substr(start + 1, end - start);
  };
  std::string good = place.Write("Square.cases.json", R"({"block": "Square", "cases": [
      {"name": "two", "inputs": {"x": {"dtype": "DT_FLOAT", "shape": [], "values": [2]}},
       "outputs": {"y": {"dtype": "DT_FLOAT", "shape": [], "values": [4]}}}]})");
  std::string wrong = place.Write("Negate.cases.json", R"({"block": "Negate", "cases": [
      {"name": "right", "inputs": {"x": {"dtype": "DT_FLOAT", "shape": [], "values": [2]}},
       "outputs": {"y": {"dtype": "DT_FLOAT", "shape": [], "values": [-2]}}},
      {"name": "wrong", "inputs": {"x": {"dtype": "DT_FLOAT", "shape": [], "values": [2]}},
       "outputs": {"y": {"dtype": "DT_FLOAT", "shape": [], "values": [2]}}}]})");
  ProgramResult one = RunWeft({"test", good});
  CHECK(one.status == 0);
  CHECK(one.out == "1 passed, 0 failed\n");
  ProgramResult both = RunWeft({"test", place.path().string()});
  CHECK(both.status == 1);
  CHECK(last_line(both.out) == "2 passed, 1 failed");
  CHECK_THAT(both.out, Contains("wrong") && Contains("y"));
  CheckPlain(both);
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"test", place.path().string(), "--blocks", "Square"}, {"test", "--blocks", "Square", place.path().string()}}) {
    ProgramResult some = RunWeft(arguments);
    CHECK(some.status == 0);
    CHECK(last_line(some.out) == "1 passed, 0 failed");
  }
  CHECK(last_line(RunWeft({"test", good, wrong, "--blocks", "Square,Negate"}).out) == "2 passed, 1 failed");
  Fails(1, {"test", good, "--blocks", "Cube"}, "no case was found");
  Fails(1, {"test", place.Path("none")}, "none: error: there is no such file or folder");
  Fails(1, {"test", place.Path("none.json")}, "none.json: error: there is no such file or folder");
  Fails(1, {"test", "/dev/zero"}, "needs a file or a folder");
  Fails(1, {"test", place.page}, "error:");
  Json report = Parse(RunWeft({"test", good, wrong, "--json"}).out);
  CHECK(report["passed"] == 2);
  CHECK(report["failed"] == 1);
  CHECK(report["cases"].size() == 3);
  const std::string broken = place.Write("broken.cases.json", "{");
  report = Parse(RunWeft({"test", broken, "--json"}).out);
  CHECK(report["failed"] == 1);
  CHECK_THAT(report["cases"].at(0)["message"].get<std::string>(), Contains("broken JSON"));
}

// ---- signals, pipes, speed ---------------------------------------------------------------------------------------------------------

/// Long enough for a program to be at work.
constexpr auto kStarted = std::chrono::milliseconds(kit::kSanitized ? 3000 : 300);

TEST_CASE("An interrupt ends a loop with its last results", "[cli]") {
  PagePlace place;
  std::string text = kPage;
  text.replace(text.find("\"ClientSession\""), 15, "\"ClientSession\", \"attrs\": \"INFINITE_LOOP_ = true;\"");
  std::string page = place.Write("loop.json", text);
  kit::WeftProcess loop({"run", page, "--results", place.Path("out.json")});
  std::this_thread::sleep_for(kStarted);
  loop.Signal(SIGINT);
  ProgramResult run = loop.Wait(20);
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK(run.seconds < 1);
  CHECK_THAT(run.err, Contains("interrupted"));
  CHECK_THAT(run.out, Contains("count.output_ref  DT_INT64 [] "));
  CHECK(Parse(kit::FileBytes(place.Path("out.json")))["count.output_ref"]["values"].dump() != "[0]");
  CheckPlain(run);
  // A count of runs that is cut short has not done what it was asked for.
  kit::WeftProcess counted({"run", place.page, "--steps", "1000000000000"});
  std::this_thread::sleep_for(kStarted);
  counted.Signal(SIGTERM);
  ProgramResult cut = counted.Wait(20);
  CHECK(cut.status == 128 + SIGTERM);
  CHECK(cut.seconds < 1);
  kit::WeftProcess stopped({"run", place.page, "--steps", "1000000000000", "--save-state", place.Path("state")});
  std::this_thread::sleep_for(kStarted);
  stopped.Signal(SIGINT);
  CHECK(stopped.Wait(20).status == 130);
  CHECK(fs::exists(place.Path("state")));
  // A loop with a number of steps ends by itself.
  CHECK_THAT(RunWeft({"run", page, "--steps", "5"}).out, Contains("count.output_ref  DT_INT64 [] 5\n"));
}

TEST_CASE("Output that cannot be written is an error, a reader that leaves is none", "[cli]") {
  PagePlace place;
  kit::ProgramOptions full;
  full.out_path = "/dev/full";
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"run", place.page}, {"run", place.page, "--json"}, {"blocks"}, {"convert", place.page, "-"}, {"--help"}, {"check", place.page}}) {
    ProgramResult run = RunWeft(arguments, full);
    CAPTURE(arguments[0]);
    CHECK(run.status == 1);
    CHECK_THAT(run.err, Contains("standard output could not be written"));
  }
  std::string command = Cat("'", WEFT_PROGRAM, "' blocks 2>&1 | head -1 > '", place.Path("first"), "'");
  CHECK(std::system(command.c_str()) == 0);
  CHECK(kit::FileBytes(place.Path("first")) == "array_ops\n");
}

TEST_CASE("A small page starts, runs and ends within 20 ms", "[cli]") {
  if (kit::kSanitized) return;
  PagePlace place;
  double best = 1e9;
  // On a busy machine most starts wait for a processor.
  for (int i = 0; i < 200 && best >= 0.020; ++i) best = std::min(best, RunWeft({"run", place.page}).seconds);
  CHECK(best < 0.020);
}

}  // namespace
}  // namespace weft
