// weft run in more depth: feeds in every spelling, the state of pages in files, values of Variables after a run, plots.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/kit/program.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using kit::ProgramResult;
using kit::RunWeft;
using Json = nlohmann::json;
using Catch::Matchers::Contains;

/// A .npy file of shape [2].
std::string NpyOfTwo(const std::string& descr, std::string_view data) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (2,), }\n", bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  return bytes + header + std::string(data);
}

constexpr const char* kFed = R"({"weft": 1, "blocks": [
  {"id": "x", "block": "Placeholder", "attrs": "dtype_ = DT_FLOAT;"},
  {"id": "c", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2]}}},
  {"id": "sum", "block": "Add", "inputs": {"x": "x.output", "y": "c.output"}}]})";

/// n counts the runs, and starts at 5.
constexpr const char* kCounter = R"({"weft": 1, "blocks": [
  {"id": "n", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_FLOAT", "shape": [], "values": [5]}}},
  {"id": "count", "block": "AssignAdd", "inputs": {"ref": "n.ref", "value": {"text": "1.0f"}}},
  {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["n.ref"], "run_outputs": ["count.operation"]}}]})";

TEST_CASE("A feed that does not fit says what to write", "[cli]") {
  kit::TemporaryFolder place;
  const std::string page = place.Write("page.json", kFed);
  auto refused = [&](const std::string& feed) {
    ProgramResult run = RunWeft({"run", page, "--feed", feed});
    CHECK(run.status == 1);
    return run.err;
  };
  const double doubles[2] = {1, 2};
  const std::string wide = place.Write("wide.npy", NpyOfTwo("<f8", std::string(reinterpret_cast<const char*>(doubles), sizeof doubles)));
  CHECK_THAT(refused("x.output=@" + wide), Contains("needs DT_FLOAT, found DT_DOUBLE in '" + wide + "'") && Contains(".astype('float32'))"));
  CHECK_THAT(refused("x.output=" + wide), Contains("a file is fed as @" + wide));
  CHECK_THAT(refused("x.output=missing.npy"), Contains("a file is fed as @missing.npy"));
  const std::string table = place.Write("x.csv", "1,2\n");
  CHECK_THAT(refused("x.output=@" + table), Contains("numpy.loadtxt('" + table + "', delimiter=',', dtype='float32')"));
  CHECK_THAT(refused("x.output=" + table), Contains("numpy.loadtxt(") && Contains("feed it as @" + place.Path("x.npy")));
  CHECK_THAT(refused("x.output=[[1,2]]"), Contains("lists stand in braces: {{1,2}}"));
  CHECK_THAT(refused("x.output=@" + place.Write("x.npz", "PK\3\4 and so on")), Contains("an archive of arrays (.npz)"));
  CHECK(RunWeft({"run", page, "--feed", "x.output={{1,2}}"}).out == "sum.z  DT_FLOAT [1,2] {{2,4}}\n");
}

TEST_CASE("A feed of a file counts in the page's memory before its elements are read", "[cli]") {
  kit::TemporaryFolder place;
  const std::string page = place.Write("page.json", kFed);
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (50000000,2,), }\n", mark("\x93NUMPY\x01\x00", 8);
  mark += static_cast<char>(header.size());
  const std::string large = place.Write("large.npy", mark + '\0' + header);
  CHECK_THAT(RunWeft({"run", page, "--memory", "50M", "--feed", "x.output=@" + large}).err, Contains("its data is cut short"));
  fs::resize_file(large, fs::file_size(large) + 400000000);
  const ProgramResult run = RunWeft({"run", page, "--memory", "50M", "--feed", "x.output=@" + large});
  CHECK(run.status == 1);
  CHECK_THAT(run.err, Contains("the feed of 'x.output' (DT_FLOAT): needs 4000000") && Contains("of the limit of 52428800 are in use"));
}

TEST_CASE("A Const keeps its shape when it is fed", "[cli]") {
  kit::TemporaryFolder place;
  const std::string page = place.Write("page.json", kFed);
  ProgramResult run = RunWeft({"run", page, "--feed", "x.output={1,2}", "--feed", "c.output={{1,2},{3,4}}"});
  CHECK(run.status == 1);
  CHECK_THAT(run.err, Contains("the feed of 'c.output' needs the shape [2], found [2,2] (feed a Placeholder, which may take any shape)"));
  CHECK(RunWeft({"run", page, "--feed", "x.output={1,2}", "--feed", "c.output={3,4}"}).out == "sum.z  DT_FLOAT [2] {4,6}\n");
}

TEST_CASE("A fetched Variable is shown as the run read it, and as it is after the run", "[cli]") {
  kit::TemporaryFolder place;
  const std::string page = place.Write("page.json", kCounter);
  CHECK(RunWeft({"run", page, "--steps", "3"}).out == "n.ref  DT_FLOAT [] 7  (before the run's updates)\nn  DT_FLOAT [] 8  (after them)\n");
  Json results = Json::parse(RunWeft({"run", page, "--steps", "3", "--json"}).out);
  CHECK(results["n.ref"]["values"] == Json::parse("[7]"));
  CHECK(results["n"]["values"] == Json::parse("[8]"));
  CHECK(RunWeft({"run", page, "--session", "run", "--fetch", "count.output_ref"}).status == 0);
  CHECK(RunWeft({"run", page, "--fetch", "n.ref"}).out == "n.ref  DT_FLOAT [] 5\n");  // nothing updates it then
}

TEST_CASE("--save-state and --load-state keep the state of a page", "[cli]") {
  kit::TemporaryFolder place;
  const std::string page = place.Write("page.json", kCounter), state = place.Path("state");
  CHECK(RunWeft({"run", page, "--steps", "2", "--save-state", state}).status == 0);
  CHECK_THAT(RunWeft({"run", page, "--load-state", state, "--save-state", state}).out, Contains("n.ref  DT_FLOAT [] 7 "));
  CHECK_THAT(RunWeft({"run", page, "--load-state", state, "--fetch", "n.ref"}).out, Contains("n.ref  DT_FLOAT [] 8\n"));
  // Another page takes what it has, too, where it is told to.
  const std::string other = place.Write("other.json", R"({"weft": 1, "blocks": [
      {"id": "n", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_FLOAT", "shape": [], "values": [0]}}},
      {"id": "m", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}},
      {"id": "sum", "block": "Add", "inputs": {"x": "n.ref", "y": "m.ref"}}]})");
  ProgramResult refused = RunWeft({"run", other, "--load-state", state});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, Contains(Cat("error: m: the snapshot '", state, "' of the page '")) && Contains("has no variable 'm'"));
  CHECK(RunWeft({"run", other, "--load-state", state, "--partial"}).out == "sum.z  DT_FLOAT [] 9\n");
  const std::string wider = place.Write("wider.json", R"({"weft": 1, "blocks": [
      {"id": "n", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_DOUBLE", "shape": [], "values": [0]}}}]})");
  CHECK_THAT(RunWeft({"run", wider, "--load-state", state}).err, Contains(Cat("needs DT_DOUBLE, found DT_FLOAT in the snapshot '", state, "'")));
  ProgramResult missing = RunWeft({"run", page, "--load-state", place.Path("none")});
  CHECK(missing.status == 1);
  CHECK_THAT(missing.err, Contains(place.Path("none")));
  CHECK(RunWeft({"run", page, "--load-state", page}).status == 1);
  // What would fail after a long run is refused before it.
  CHECK_THAT(RunWeft({"run", page, "--save-state", place.Path("no/state")}).err, Contains("there is no folder"));
  CHECK_THAT(RunWeft({"run", page, "--save-state", "/dev/null"}).err, Contains("'/dev/null' is a device or pipe"));
  CHECK(std::filesystem::is_character_file("/dev/null"));
  for (const char* option : {"--save-state", "--results"}) {
    const std::string own = place.Write("own.json", kCounter);
    CHECK_THAT(RunWeft({"run", own, option, own}).err, Contains("it is the page itself"));
    CHECK_THAT(RunWeft({"run", own, "--shards", "2", option, own}).err, Contains("it is the page itself"));
    CHECK(kit::FileBytes(own) == kCounter);
  }
  const std::string design = place.Write("design.svg", R"(<svg xmlns:xlink="http://www.w3.org/1999/xlink"><use id="c" type="tensorflow" xlink:href="#Const"/></svg>)");
  const std::string before = kit::FileBytes(design);
  CHECK_THAT(RunWeft({"show", design, "-o", design}).err, Contains("it is the page itself"));
  CHECK(kit::FileBytes(design) == before);
}

TEST_CASE("--quiet draws no plot, and --plot-log has a logarithmic axis", "[cli]") {
  kit::TemporaryFolder place;
  const std::string page = place.Write("page.json", R"({"weft": 1, "blocks": [
      {"id": "n", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}},
      {"id": "next", "block": "Multiply", "inputs": {"x": "n.ref", "y": {"text": "10.0f"}}},
      {"id": "count", "block": "Assign", "inputs": {"ref": "n.ref", "value": "next.z"}},
      {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["count.output_ref"]}}]})");
  CHECK(RunWeft({"run", page, "--steps", "5", "--plot", "next.z", "--quiet"}).out.empty());
  CHECK_THAT(RunWeft({"run", page, "--steps", "5", "--plot", "next.z"}).out, Contains("1e+05 ┤") && Contains("10 ┤") && !Contains("1000 ┤"));
  CHECK_THAT(RunWeft({"run", page, "--steps", "5", "--plot", "next.z", "--plot-log"}).out, Contains("1e+05 ┤") && Contains("701.7 ┤") && Contains("10 ┤"));
  CHECK(RunWeft({"run", page, "--steps", "5", "--plot", "next.z", "--plot-log", "--plot-file", place.Path("p.svg")}).status == 0);
  CHECK(kit::FileBytes(place.Path("p.svg")).size() > 1000);
}

TEST_CASE("The same results are the same .npz", "[cli]") {
  kit::TemporaryFolder place;
  const std::string page = place.Write("page.json", kCounter), one = place.Path("one.npz"), two = place.Path("two.npz");
  CHECK(RunWeft({"run", page, "--results", one}).status == 0);
  kit::ProgramOptions later;
  later.environment = {"TZ=Pacific/Honolulu"};
  const std::string bytes = kit::FileBytes(one);
  CHECK(RunWeft({"run", page, "--results", two}, later).status == 0);
  CHECK(bytes == kit::FileBytes(two));
  // Date and time of the entry's local header: 1980-01-01, 00:00.
  REQUIRE(bytes.size() > 14);
  CHECK(bytes.substr(10, 4) == std::string("\0\0\x21\0", 4));
}

TEST_CASE("Settings in JSON: numbers in quotes, null, and the wrong case", "[cli]") {
  kit::TemporaryFolder place;
  auto found = [&](const std::string& attrs) {
    const std::string page = place.Write("page.json", R"({"weft": 1, "blocks": [
      {"id": "x", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [1, 1, 1, 1], "values": [1]}}},
      {"id": "v", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [1], "values": [1]}}},
      {"id": "norm", "block": "FusedBatchNorm", "attrs": )" + attrs + R"(, "inputs": {"x": "x.output", "scale": "v.output",
       "offset": "v.output", "mean": "v.output", "variance": "v.output"}}]})");
    return RunWeft({"check", page}).err;
  };
  CHECK(found(R"({"epsilon": "0.001", "is_training": "false"})").empty());
  CHECK_THAT(found(R"({"epsilon": null})"), Contains("norm.epsilon: needs a float, found '?'") && Contains("leave the setting out"));
  CHECK_THAT(found(R"({"data_format": "nchw"})"), Contains("did you mean 'NCHW'?"));
  CHECK_THAT(found(R"({"epsilon": "small"})"), Contains("needs a float, found 'small'"));
}

TEST_CASE("A replay does not wait for what never comes", "[cli]") {
  kit::TemporaryFolder place;
  const std::string page = place.Write("queue.svg", R"(<svg xmlns:xlink="http://www.w3.org/1999/xlink">
      <use id="q" type="tensorflow" xlink:href="#FIFOQueue"><pg-set-pin variable="#attrs" var-type="string" value="component_types_ = {DT_FLOAT};"/></use>
      <use id="take" type="tensorflow" xlink:href="#QueueDequeue"><pg-set-pin variable="#attrs" var-type="string" value="component_types_ = {DT_FLOAT};"/></use>
      <use id="y" type="tensorflow" xlink:href="#Square"><pg-set-pin variable="#result_y" shape="" var-type="float" value="4"/></use>
      <use id="z" type="tensorflow" xlink:href="#Square"><pg-set-pin variable="#result_y" shape="" var-type="float" value="16"/></use>
      <pg-link from-id="q" param-from="handle" to-id="take" param-to="handle"/>
      <pg-link from-id="take" param-from="components[0]" to-id="y" param-to="x"/>
      <pg-link from-id="y" param-from="y" to-id="z" param-to="x"/></svg>)");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{{"replay", page}, {"replay", page, "--whole"}}) {
    ProgramResult run = RunWeft(arguments);
    INFO(run.out << run.err);
    CHECK(run.status == 0);
    CHECK_THAT(run.out, Contains("undetermined  y.y") && Contains("no session that runs can bring it about"));
    CHECK(run.seconds < 2);
  }
}

TEST_CASE("A replay compares numbers of all types", "[cli]") {
  kit::TemporaryFolder place;
  const auto replay = [&](const char* recorded) {
    const std::string page = place.Write("complex.svg", Cat(R"(<svg xmlns:xlink="http://www.w3.org/1999/xlink">
      <use id="a" type="tensorflow" xlink:href="#Const"><pg-set-pin variable="#value" shape="[2]" var-type="" value="1+2j;3+4j"/></use>
      <use id="c" type="tensorflow" xlink:href="#Conj"><pg-set-pin variable="#result_output" shape="[2]" var-type="" value=")", recorded, R"("/></use>
      <use id="s" type="tensorflow" xlink:href="#ClientSession"/>
      <pg-link from-id="a" param-from="output" to-id="c" param-to="input"/>
      <pg-link from-id="c" param-from="output" to-id="s" param-to="fetch_outputs"/></svg>)"));
    return RunWeft({"replay", page});
  };
  CHECK(replay("1-2j;3-4j").status == 0);
  const ProgramResult differs = replay("1-2j;3+4j");
  CHECK(differs.status == 1);
  CHECK_THAT(differs.out, Contains("element 1 is 3-4j, the record says 3+4j"));
}

/// The replay of a block whose input x is these floats, and whose output y was recorded as `numbers`, in the page's .dat file.
template <class T>
ProgramResult ReplayBinary(const char* block, const char* floats, const char* type, const std::vector<T>& numbers) {
  kit::TemporaryFolder place;
  const std::string shape = Cat("[", numbers.size(), "]");
  place.Write("binary.dat", std::string_view(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)));
  return RunWeft({"replay", place.Write("binary.svg", Cat(R"(<svg xmlns:xlink="http://www.w3.org/1999/xlink">
      <use id="a" type="tensorflow" xlink:href="#Const"><pg-set-pin variable="#value" shape=")", shape, R"(" var-type="float" value=")", floats, R"("/></use>
      <use id="b" type="tensorflow" xlink:href="#)", block, R"("><pg-set-pin variable="#DstT" var-type="string" value="DT_UINT8"/>
        <pg-set-pin variable="#result_y)", shape, R"(" save-type="binary" shape=")", shape, R"(" var-type=")", type, R"(" binary-pos="0"/></use>
      <pg-link from-id="a" param-from="output" to-id="b" param-to="x"/></svg>)"))});
}

TEST_CASE("A replay compares a binary record of large numbers to the precision of floats", "[cli]") {
  const auto squares = [](float factor) {
    return ReplayBinary<float>("Square", "31.6;20.1", "float", {31.6f * 31.6f * factor, 20.1f * 20.1f * factor});
  };
  CHECK(squares(1).status == 0);
  const ProgramResult differs = squares(1 + 3e-5f);
  INFO(differs.out << differs.err);
  CHECK(differs.status == 1);
  CHECK_THAT(differs.out, Contains("differ  b.y  element 0 is 998.56"));
  // Small numbers that all have six decimals were text once, and so were those that they were computed from; large ones do not change that.
  CHECK(ReplayBinary<float>("Square", "0.1234567;0.7654321", "float", {0.015242f, 0.585906f}).status == 0);
  CHECK(ReplayBinary<float>("Square", "0.1234567;0.7654321", "float", {0.0152415f, 0.5859063f}).status == 1);
  CHECK(ReplayBinary<float>("Square", "0.7654321;3.3", "float", {0.585906f, 10.8904f}).status == 0);
  CHECK(ReplayBinary<float>("Square", "3", "float", {INFINITY}).status == 1);
  CHECK(ReplayBinary<float>("Square", "1e30", "float", {INFINITY}).status == 0);
}

TEST_CASE("A record of numbers that the output's type cannot hold is undetermined", "[cli]") {
  const auto told = [](const ProgramResult& run, const char* why) {
    INFO(run.out << run.err);
    CHECK(run.status == 0);
    CHECK_THAT(run.out, Contains(why));
  };
  told(ReplayBinary<int32_t>("Cast", "200", "int", {200}), "1 agree");
  for (const int32_t number : {300, -1, 456}) {
    told(ReplayBinary<int32_t>("Cast", "200", "int", {number}), "undetermined  b.y  the record holds DT_INT32, the output is DT_UINT8");
  }
  told(ReplayBinary<double>("Square", "3", "double", {9}), "1 agree");
  told(ReplayBinary<double>("Square", "3", "double", {1e300}), "undetermined  b.y  the record holds DT_DOUBLE, the output is DT_FLOAT");
}

TEST_CASE("The shape of a Placeholder that is open in part shows a wrong weight before a run", "[cli]") {
  kit::TemporaryFolder place;
  auto page = [&](const std::string& rows) {
    return place.Write("page.json", R"({"weft": 1, "blocks": [{"id": "x", "block": "Placeholder", "attrs": "dtype_ = DT_FLOAT; shape_ = [-1][3];"},
      {"id": "ones", "block": "Fill", "inputs": {"dims": {"dtype": "DT_INT32", "shape": [2], "values": [)" + rows + R"(, 2]}, "value": {"text": "1.0f"}}},
      {"id": "y", "block": "MatMul", "inputs": {"a": "x.output", "b": "ones.output"}}]})");
  };
  ProgramResult wrong = RunWeft({"check", page("4")});
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.err, Contains("/blocks/2") && Contains("error: y.") && Contains("4") && !Contains("1009"));
  CHECK(RunWeft({"check", page("3")}).status == 0);
  CHECK_THAT(RunWeft({"plan", page("3")}).out, Contains("known in part: x.output [?,3], y.product [?,2]\n"));
  Json plan = Json::parse(RunWeft({"plan", page("3"), "--json"}).out);
  CHECK(plan["sessions"][0]["partial_shapes"] == Json::parse(R"({"x.output": [-1, 3], "y.product": [-1, 2]})"));
  CHECK(RunWeft({"run", page("3"), "--feed", "x.output={{1,2,3}}"}).out == "y.product  DT_FLOAT [1,2] {{6,6}}\n");
}

TEST_CASE("Findings come in the order of the page", "[cli]") {
  kit::TemporaryFolder place;
  const std::string page = place.Write("page.json", R"({"weft": 1, "blocks": [
      {"id": "a", "block": "Add", "inputs": {"x": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2]}, "y": {"dtype": "DT_FLOAT", "shape": [3], "values": [1, 2, 3]}}},
      {"id": "b", "block": "Square", "inputs": {"x": "nowhere.output"}},
      {"id": "c", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [2], "values": [1]}}},
      {"id": "d", "block": "Conts"}]})");
  Json report = Json::parse(RunWeft({"check", page, "--json"}).out);
  std::vector<std::string> order;
  for (const Json& finding : report["diagnostics"]) order.push_back(finding["block"]);
  REQUIRE(order == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(report["diagnostics"][3]["hint"] == "did you mean 'Const'?");
}

TEST_CASE("Files that one command writes are different files", "[cli]") {
  kit::TemporaryFolder place;
  const std::string page = place.Write("page.json", kCounter), out = place.Path("out.json");
  const auto refused = [&](std::vector<std::string> arguments, const std::string& why) {
    arguments.insert(arguments.begin(), {"run", page});
    const ProgramResult run = RunWeft(arguments);
    INFO(run.out << run.err);
    CHECK(run.status == 1);
    CHECK_THAT(run.err, Contains(why));
  };
  const std::string why = Cat("--save-state needs a file of its own, found '", out, "', which is that of --results, too (give another name)");
  refused({"--save-state", out, "--results", out}, why);
  refused({"--save-state", out, "--results", place.path().string() + "/./out.json"}, why);
  refused({"--save-state", out, "--results", out, "--shards", "2"}, why);
  CHECK_FALSE(fs::exists(out));
  const std::string state = place.Write("state.json", "");
  fs::create_symlink("state.json", place.Path("plot.svg"));
  refused({"--save-state", state, "--plot", "n.ref", "--plot-file", place.Path("plot.svg")}, "which is that of --plot-file, too");
  CHECK(RunWeft({"run", page, "--save-state", state, "--results", out}).status == 0);
  const std::string saved = kit::FileBytes(state);
  refused({"--load-state", state, "--results", state}, "it is the file of --load-state itself");
  CHECK(kit::FileBytes(state) == saved);
}

TEST_CASE("--plot draws real numbers of every type, and refuses others", "[cli]") {
  kit::TemporaryFolder place;
  const std::string page = place.Write("page.json", R"({"weft": 1, "blocks": [
      {"id": "c", "block": "Const", "inputs": {"value": {"dtype": "DT_COMPLEX64", "shape": [1], "values": [[3, 4]]}}},
      {"id": "s", "block": "Const", "inputs": {"value": {"dtype": "DT_STRING", "shape": [], "values": ["abc"]}}},
      {"id": "u", "block": "Const", "inputs": {"value": {"dtype": "DT_QUINT8", "shape": [2], "values": [7, 9]}}},
      {"id": "e", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [0], "values": []}}},
      {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["c.output", "s.output", "u.output", "e.output"]}}]})");
  const auto refused = [&](const char* name, const char* why) {
    const ProgramResult run = RunWeft({"run", page, "--plot", name});
    INFO(run.out << run.err);
    CHECK(run.status == 1);
    CHECK_THAT(run.err, Contains(why));
  };
  refused("c.output", "--plot needs a result of real numbers, found DT_COMPLEX64 in 'c.output' (plot its Real, Imag or ComplexAbs)");
  refused("c.result_output[0]", "found DT_COMPLEX64 in 'c.result_output[0]'");
  refused("s.output", "found DT_STRING in 's.output' (--watch prints it after every run)");
  CHECK_THAT(RunWeft({"run", page, "--shards", "2", "--plot", "c.output"}).err, Contains("found DT_COMPLEX64 in 'c.output'"));
  CHECK_THAT(RunWeft({"run", page, "--plot", "u.output"}).out, Contains("u.output  first 8, last 8"));
  CHECK_THAT(RunWeft({"run", page, "--plot", "u.result_output[1]"}).out, Contains("u.result_output[1]  first 9, last 9"));
  CHECK_THAT(RunWeft({"run", page, "--plot", "e.output"}).out, Contains("e.output  first nan, last nan"));
}

TEST_CASE("--plot labels numbers that are as far apart as numbers can be", "[cli]") {
  kit::TemporaryFolder place;
  const std::string page = place.Write("page.json", R"({"weft": 1, "blocks": [
      {"id": "n", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_DOUBLE", "shape": [], "values": [1.5e308]}}},
      {"id": "turn", "block": "Negate", "inputs": {"x": "n.ref"}},
      {"id": "set", "block": "Assign", "inputs": {"ref": "n.ref", "value": "turn.y"}},
      {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["set.output_ref"]}}]})");
  const ProgramResult run = RunWeft({"run", page, "--steps", "2", "--plot", "turn.y", "--plot-file", place.Path("p.svg")});
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("\n  1.5e+308 ┤") && Contains("\n -1.5e+308 ┤") && Contains("-1.154e+307 ┤"));
  CHECK_THAT(run.out, !Contains("inf") && !Contains("nan"));
}

/// The mean of x * n + m, of which kCounter has n; 'input' is a mistyped key.
constexpr const char* kShardedLine = R"({"weft": 1, "blocks": [
  {"id": "x", "block": "Placeholder", "attrs": "dtype_ = DT_FLOAT;"},
  {"id": "n", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_FLOAT", "shape": [], "values": [0]}}},
  {"id": "m", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}},
  {"id": "slope", "block": "Multiply", "inputs": {"x": "x.output", "y": "n.ref"}},
  {"id": "line", "block": "Add", "input": 3, "inputs": {"x": "slope.z", "y": "m.ref"}},
  {"id": "mean", "block": "Mean", "inputs": {"input": "line.z", "axis": {"dtype": "DT_INT32", "shape": [1], "values": [0]}}},
  {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["mean.output"]}}]})";

TEST_CASE("--shards takes a part of a state, and tells what is odd in the page", "[cli]") {
  kit::TemporaryFolder place;
  const std::string state = place.Path("state"), page = place.Write("line.json", kShardedLine);
  REQUIRE(RunWeft({"run", place.Write("page.json", kCounter), "--steps", "2", "--save-state", state}).status == 0);
  std::vector<std::string> arguments = {"run", page, "--shards", "2", "--feed", "x.output={1,2,3,4}", "--load-state", state};
  const ProgramResult whole = RunWeft(arguments);
  CHECK(whole.status == 1);
  CHECK_THAT(whole.err, Contains("has no variable 'm'"));
  arguments.push_back("--partial");
  const ProgramResult part = RunWeft(arguments);
  CHECK(part.status == 0);
  CHECK(part.out == "mean.output  DT_FLOAT [] 18.5\n");
  CHECK_THAT(part.err, Contains("/blocks/4/input: warning: line: the key 'input' means nothing here") && !Contains("error:"));
  arguments.push_back("--json");
  CHECK(RunWeft(arguments).err.empty());
}

TEST_CASE("Options that a run would not use are refused", "[cli]") {
  kit::TemporaryFolder place;
  const std::string page = place.Write("line.json", kShardedLine);
  const auto run = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", page, "--feed", "x.output={1,2,3,4}"});
    return RunWeft(options);
  };
  for (const std::vector<std::string>& option : std::vector<std::vector<std::string>>{{"--deadline", "5"}, {"--mpi", "none"}}) {
    const ProgramResult refused = run(option);
    CHECK(refused.status == 2);
    CHECK_THAT(refused.err, Contains(Cat(option[0], " needs --shards, or a page with blocks of collectives, found neither")));
    CHECK(refused.out.empty());
    CHECK(run({"--shards", "2", option[0], option[1]}).status == 0);
  }
  const ProgramResult kept = run({"--shards", "2", "--keep", "all"});
  CHECK(kept.status == 2);
  CHECK_THAT(kept.err, Contains("--keep all needs a run without --shards, found --shards 2"));
  CHECK(run({"--shards", "2", "--keep", "asked"}).status == 0);
  const std::string alone = place.Write("alone.json", R"({"weft": 1, "blocks": [{"id": "mean", "block": "CollectiveReduceV2",
      "attrs": "merge_op_ = Add; final_op_ = Div;", "inputs": {"input": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2]},
      "group_size": {"text": "1"}, "group_key": {"text": "1"}, "instance_key": {"text": "1"}}}]})");
  CHECK(RunWeft({"run", alone, "--deadline", "5"}).status == 0);
}

/// The replay of an Identity whose recorded result is not that of the Placeholder before it.
ProgramResult ReplayPassedOn(const char* dtype, const char* given, const char* recorded) {
  kit::TemporaryFolder place;
  const auto result = [](const char* value) {
    return Cat(R"(<pg-set-pin variable="#result_output" shape="[1]" var-type="" value=")", value, R"("/></use>)");
  };
  return RunWeft({"replay", place.Write("passed.svg", Cat(R"(<svg xmlns:xlink="http://www.w3.org/1999/xlink">
      <use id="p" type="tensorflow" xlink:href="#Placeholder">
      <pg-set-pin variable="#attrs" var-type="string" value="dtype_ = )", dtype, R"(;"/>)", result(given),
      R"(<use id="i" type="tensorflow" xlink:href="#Identity">)", result(recorded),
      R"(<pg-link from-id="p" param-from="output" to-id="i" param-to="input"/></svg>)"))});
}

TEST_CASE("A replay compares integers and strings to the last bit", "[cli]") {
  for (const auto& [dtype, given, recorded] : {std::array{"DT_INT64", "9007199254740993", "9007199254740992"},
                                               std::array{"DT_UINT64", "18446744073709551615", "18446744073709551614"},
                                               std::array{"DT_STRING", "abc", "abd"}}) {
    const ProgramResult differs = ReplayPassedOn(dtype, given, recorded);
    INFO(dtype << "\n" << differs.out << differs.err);
    CHECK(differs.status == 1);
    CHECK_THAT(differs.out, Contains("differ  i.output  element 0 is ") && Contains(given) && Contains(recorded));
    CHECK_THAT(ReplayPassedOn(dtype, given, given).out, Contains("1 agree, 0 differ"));
  }
}

}  // namespace
}  // namespace weft
