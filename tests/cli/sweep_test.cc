// weft sweep: grids and their points, journals, parts, tables and plots. What kills and restarts processes is in tests/sweep.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/kit/program.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using kit::ProgramResult;
using kit::RunWeft;
using Json = nlohmann::json;
using Catch::Matchers::Contains;

/// y = x * factor + w, and w grows by step in each run.
constexpr const char* kSweptPage = R"({"weft": 1, "page": "p", "blocks": [
  {"id": "x", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [], "values": [2]}}},
  {"id": "w", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_FLOAT", "shape": [], "values": [0]}}},
  {"id": "scaled", "block": "Multiply", "inputs": {"x": "x.output", "y": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}},
  {"id": "y", "block": "Add", "inputs": {"x": "scaled.z", "y": "w.ref"}},
  {"id": "grow", "block": "AssignAdd", "inputs": {"ref": "w.ref", "value": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}},
  {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["y.z", "w.ref"], "run_outputs": ["grow.operation"]}}]})";

struct SweepPlace : kit::TemporaryFolder {
  SweepPlace() { Write("p.page.json", kSweptPage); }
  /// A grid over the page with these axes, and keys before them.
  std::string Grid(const std::string& axes, const std::string& keys = "") const {
    return Write("g.grid.json", R"({"sweep": 1, "page": "p.page.json", )" + keys + R"("grid": [)" + axes + "]}");
  }
  std::string journal() const { return kit::FileBytes(path() / "g.sweep.jsonl"); }
};

/// The lines of JSON text, parsed.
std::vector<Json> Lines(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

/// The values of the points' only parameter.
std::vector<Json> ValuesOf(const SweepPlace& place, const std::string& axis) {
  const ProgramResult run = RunWeft({"sweep", place.Grid(axis), "--list"});
  INFO(run.err);
  REQUIRE(run.status == 0);
  std::vector<Json> values;
  for (const Json& line : Lines(run.out)) values.push_back(line["settings"].begin().value());
  return values;
}

TEST_CASE("a grid has lists, ranges and draws", "[sweep]") {
  const SweepPlace place;
  CHECK(ValuesOf(place, R"({"set": "x.value", "values": [1, 0.10, "nan", true, [1, 2]]})") == Json::parse(R"([1, 0.1, "nan", true, [1, 2]])"));
  CHECK(ValuesOf(place, R"({"set": "x.value", "range": {"from": 1, "to": 10, "step": 3}})") == Json::parse("[1, 4, 7, 10]"));
  CHECK(ValuesOf(place, R"({"set": "x.value", "range": {"from": 0, "to": -0.3, "step": -0.1}})") == Json::parse("[0, -0.1, -0.2, -0.3]"));
  CHECK(ValuesOf(place, R"({"set": "x.value", "range": {"from": 0, "to": 1, "count": 5}})") == Json::parse("[0, 0.25, 0.5, 0.75, 1]"));
  CHECK(ValuesOf(place, R"({"set": "x.value", "log_range": {"from": 0.001, "to": 10, "count": 5}})") == Json::parse("[0.001, 0.01, 0.1, 1, 10]"));
  const std::string draw = R"({"set": "x.value", "random": {"uniform": [2, 3], "count": 1000, "seed": )";
  const std::vector<Json> values = ValuesOf(place, draw + "1}}");
  CHECK(values == ValuesOf(place, draw + "1}}"));
  CHECK(values != ValuesOf(place, draw + "2}}"));
  double sum = 0, least = 3, most = 2;
  for (const Json& value : values) sum += value.get<double>(), least = std::min(least, value.get<double>()), most = std::max(most, value.get<double>());
  CHECK(sum / 1000 == Approx(2.5).margin(0.04));
  CHECK((least >= 2 && least < 2.01 && most > 2.99 && most < 3));
}

TEST_CASE("draws have the distribution that they name", "[sweep]") {
  const SweepPlace place;
  std::map<int64_t, int> counts;
  for (const Json& value : ValuesOf(place, R"({"set": "x.value", "random": {"integer": [-1, 2], "count": 4000}})")) ++counts[value.get<int64_t>()];
  CHECK(counts.size() == 4);
  for (const auto& [value, count] : counts) CHECK((value >= -1 && value <= 2 && count > 850 && count < 1150));
  double sum = 0, squares = 0;
  for (const Json& value : ValuesOf(place, R"({"set": "x.value", "random": {"normal": [5, 2], "count": 4000}})")) {
    sum += value.get<double>(), squares += std::pow(value.get<double>() - 5, 2);
  }
  CHECK(sum / 4000 == Approx(5).margin(0.15));
  CHECK(std::sqrt(squares / 4000) == Approx(2).margin(0.1));
  int below = 0;
  for (const Json& value : ValuesOf(place, R"({"set": "x.value", "random": {"log_uniform": [0.01, 1], "count": 1000}})")) below += value.get<double>() < 0.1;
  CHECK((below > 430 && below < 570));
  for (const Json& value : ValuesOf(place, R"({"set": "x.value", "random": {"choice": ["a", 7], "count": 20}})")) CHECK((value == "a" || value == 7));
  CHECK(ValuesOf(place, R"({"set": "x.value", "random": {"integer": [-9223372036854775807, 9223372036854775807], "count": 2}})").size() == 2);
}

TEST_CASE("axes are crossed, the last one fastest, or zipped", "[sweep]") {
  const SweepPlace place;
  const std::string grid = place.Grid(R"({"set": "x.value", "values": [1, 2]},
      {"zip": [{"set": ["scaled.y", "grow.value"], "name": "s", "values": ["a", "b"]},
               {"cross": [{"set": "w.initvalues", "values": [7]}, {"feed": "x.output", "values": [8, 9]}]}]})");
  CHECK(RunWeft({"sweep", grid, "--count"}).out == "4\n");
  std::string text;
  for (const Json& line : Lines(RunWeft({"sweep", grid, "--list"}).out)) text += line["settings"].dump();
  CHECK(text == R"({"s":"a","w.initvalues":7,"x.output":8,"x.value":1}{"s":"b","w.initvalues":7,"x.output":9,"x.value":1})"
                R"({"s":"a","w.initvalues":7,"x.output":8,"x.value":2}{"s":"b","w.initvalues":7,"x.output":9,"x.value":2})");
}

TEST_CASE("a wrong grid says what is wrong and where", "[sweep]") {
  const SweepPlace place;
  auto refused = [&](const std::string& text) {
    const ProgramResult run = RunWeft({"sweep", place.Write("bad.grid.json", text), "--count"});
    INFO(text.substr(0, 200));
    CHECK(run.status == 1);
    CHECK(run.out.empty());
    return run.err;
  };
  auto axis = [&](const std::string& text) { return refused(R"({"sweep": 1, "page": "p.page.json", "grid": [)" + text + "]}"); };
  CHECK_THAT(refused("{\"sweep\": 1,\n \"page\" 5}"), Contains("no JSON at line 2, column 9"));
  CHECK_THAT(refused("[1]"), Contains("needs an object, the grid, found a list"));
  CHECK_THAT(refused("{}"), Contains("the key 'sweep' is missing"));
  CHECK_THAT(refused(R"({"sweep": 2, "page": "p"})"), Contains("use a newer Weft"));
  CHECK_THAT(refused(R"({"sweep": 1, "page": "p", "page": "q"})"), Contains(":/page: error: the key 'page' stands here twice"));
  CHECK_THAT(refused(R"({"sweep": 1, "page": "p", "step": 3})"), Contains(":/step: error: there is no key 'step' here (did you mean 'steps'?)"));
  CHECK_THAT(refused(R"({"sweep": 1, "page": "p", "steps": 0, "time_limit": -1})"), Contains(":/steps: error:") && Contains(":/time_limit: error:"));
  CHECK_THAT(refused(R"({"sweep": 1, "page": "p", "set": {"x.value": NaN}})"), Contains("write \"nan\" or \"inf\" in quotes"));
  CHECK_THAT(refused(R"({"sweep": 1, "page": "p", "set": {"x": 1}})"), Contains(":/set/x: error: needs the form ID.pin, found 'x'"));
  CHECK_THAT(axis(R"({"set": "x.value", "value": [1]})"), Contains(":/grid/0/value: error:") && Contains("did you mean 'values'?"));
  CHECK_THAT(axis(R"({"values": [1]})"), Contains("an axis needs 'set' or 'feed'"));
  CHECK_THAT(axis(R"({"set": "x.value"})"), Contains("an axis needs 'values', 'range', 'log_range' or 'random'"));
  CHECK_THAT(axis(R"({"set": "x.value", "values": []})"), Contains(":/grid/0/values: error: needs a value, found an empty list"));
  CHECK_THAT(axis(R"({"set": "x.value", "values": [1, {}, null]})"), Contains(":/grid/0/values/1: error:") && Contains("/values/2: error:"));
  CHECK_THAT(axis(R"({"set": "x.value", "values": [1]}, {"set": "x.value", "values": [2]})"), Contains("'x.value' has a value already, from /grid/0/set"));
  CHECK_THAT(axis(R"({"set": "x.value", "name": "n", "values": [1]}, {"set": "w.initvalues", "name": "n", "values": [2]})"), Contains("there is a parameter 'n' already, at /grid/0"));
  CHECK_THAT(axis(R"({"zip": [{"set": "x.value", "values": [1]}, {"set": "w.initvalues", "values": [1, 2]}]})"), Contains("the first has 1, this one 2"));
  CHECK_THAT(axis(R"({"set": "x.value", "range": {"from": 0, "to": 1}})"), Contains("either 'step' or 'count'"));
  CHECK_THAT(axis(R"({"set": "x.value", "range": {"from": 0, "to": 1, "step": 0}})"), Contains("does not lead from 0 to 1"));
  CHECK_THAT(axis(R"({"set": "x.value", "range": {"from": 0, "to": 1, "step": -1}})"), Contains("does not lead from 0 to 1"));
  CHECK_THAT(axis(R"({"set": "x.value", "log_range": {"from": 0, "to": 1, "count": 3}})"), Contains("needs ends above 0"));
  CHECK_THAT(axis(R"({"set": "x.value", "random": {"uniform": [1, 0], "count": 3}})"), Contains("the lesser one first"));
  CHECK_THAT(axis(R"({"set": "x.value", "random": {"uniform": [0, 1]}})"), Contains("the key 'count' is missing"));
}

TEST_CASE("a hostile grid is refused at once", "[sweep]") {
  const SweepPlace place;
  auto refused = [&](const std::string& axis) {
    const ProgramResult run = RunWeft({"sweep", place.Grid(axis), "--count"});
    CHECK(run.status == 1);
    CHECK(run.seconds < 5);
    return run.err;
  };
  const std::string range = R"("range": {"from": 0, "to": 99999, "step": 1}})";
  CHECK_THAT(refused(R"({"set": "a.b", )" + range + R"(, {"set": "c.d", )" + range), Contains("more than 100000000 points: 100000 times 100000"));
  CHECK_THAT(refused(R"({"set": "a.b", "range": {"from": 0, "to": 1e300, "step": 1e-300}})"), Contains("more than 100000000 values"));
  CHECK_THAT(refused(R"({"set": "a.b", "range": {"from": -1e308, "to": 1e308, "count": 3}})"), Contains("wider than numbers can tell"));
  CHECK_THAT(refused(R"({"set": "a.b", "range": {"from": 0, "to": 1, "count": 99999999999999999999}})"), Contains("needs a number of values"));
  CHECK_THAT(refused(R"({"set": "a.b", "values": [1e999]})"), Contains("no JSON at line 1"));
  CHECK_THAT(refused(std::string(100000, '[')), Contains("nested more than 64 deep"));
  CHECK_THAT(refused(R"({"set": "a.b", "values": )" + std::string(100, '[') + std::string(100, ']') + "}"), Contains("nested more than 64 deep"));
  std::string many;
  for (int i = 0; i < 200; ++i) many += R"({"cross": [)";
  CHECK_THAT(refused(many), Contains("nested more than 64 deep"));
  // A page at most: what would be 100 million points of one gigabyte each is refused before it is built.
  CHECK_THAT(refused("\"" + std::string(1 << 20, 'x') + "\""), Contains("needs an axis"));
  uint64_t bits = 1;
  const std::string good = kit::FileBytes(place.Grid(R"({"set": ["x.value"], "range": {"from": 1, "to": 9, "count": 3}}, {"zip": [{"feed": "x.output", "values": ["{1}", 2]}]})"));
  for (int i = 0; i < 40; ++i) {
    std::string bytes = good;
    for (int change = 0; change < 3; ++change) {
      bits = bits * 6364136223846793005u + 1442695040888963407u;
      bytes[(bits >> 33) % bytes.size()] = static_cast<char>(bits >> 56);
    }
    const ProgramResult run = RunWeft({"sweep", place.Write("bad.grid.json", bytes), "--list"});
    INFO(bytes);
    CHECK((run.status == 0 || (run.status == 1 && !run.err.empty())));
  }
}

TEST_CASE("a point computes what weft run computes with its settings", "[sweep]") {
  const SweepPlace place;
  const std::string grid = place.Grid(R"({"set": "scaled.y", "values": [1, 0.5, -3]}, {"feed": "x.output", "values": [2, "7.5f"]})",
                                      R"("steps": 3, "set": {"grow.value": 10}, )");
  const ProgramResult run = RunWeft({"sweep", grid, "--jobs", "2"});
  CHECK(run.err == "");
  CHECK(run.out == place.Path("g.sweep.jsonl") + ": 6 of 6 points done\n");
  std::map<int64_t, Json> points;
  const std::vector<Json> lines = Lines(place.journal());
  for (size_t i = 1; i < lines.size(); ++i) points[lines[i]["point"].get<int64_t>()] = lines[i];
  REQUIRE(points.size() == 6);
  int64_t point = 0;
  for (const std::string factor : {"1", "0.5", "-3"}) {
    for (const std::string x : {"2", "7.5f"}) {
      const Json alone = Json::parse(RunWeft({"run", place.Path("p.page.json"), "--steps", "3", "--set", "grow.value=10", "--set", "scaled.y=" + factor, "--feed",
                                              "x.output=" + x, "--json"}).out);
      const Json& results = points[point++]["results"];
      CHECK(results["y.z"] == alone["y.z"]["values"][0]);
      CHECK(results["w"] == alone["w"]["values"][0]);
      CHECK(results["w"] == 30);
    }
  }
}

TEST_CASE("a name that the page has not is refused before the first point", "[sweep]") {
  const SweepPlace place;
  auto refused = [&](const std::string& axis, const std::string& keys = "") {
    fs::remove(place.path() / "g.sweep.jsonl");
    const ProgramResult run = RunWeft({"sweep", place.Grid(axis, keys)});
    CHECK(run.status == 1);
    CHECK(Lines(place.journal()).size() <= 1);
    return run.err;
  };
  const std::string good = R"({"set": "x.value", "values": [1, 2]})";
  CHECK_THAT(refused(R"({"set": "x.valu", "values": [1]})"), Contains("has no input or attribute 'valu'") && Contains("did you mean 'value'?"));
  CHECK_THAT(refused(R"({"set": "xx.value", "values": [1]})"), Contains("there is no block 'xx'"));
  CHECK_THAT(refused(R"({"feed": "x.outpt", "values": [1]})"), Contains("outpt") && Contains("did you mean"));
  CHECK_THAT(refused(good, R"("fetch": ["y.zz"], )"), Contains("zz"));
  CHECK_THAT(refused(good, R"("session": "walk", )"), Contains("there is no session 'walk'"));
  CHECK_THAT(refused(good, R"("load_state": "none.state", )"), Contains("none.state"));
  CHECK_THAT(refused(good, R"("feed": {"scaled.z": "{1,"}, )"), Contains("the feed of 'scaled.z'"));
  place.Write("p.page.json", R"({"weft": 1, "blocks": [{"id": "x", "block": "Const", "inputs": {"value": "no.where"}}]})");
  CHECK_THAT(refused(R"({"set": "x.dtype", "values": ["DT_FLOAT"]})"), Contains("error:"));
  fs::remove(place.Path("p.page.json"));
  CHECK_THAT(refused(good), Contains("p.page.json"));
}

TEST_CASE("a point that fails is a line with its reason, and the others are run", "[sweep]") {
  const SweepPlace place;
  const std::string grid = place.Grid(R"({"set": "scaled.y", "values": [1, "what", "{1,2}", 4]}, {"set": "w.initvalues", "values": [0, "{1,2,3}"]})");
  const ProgramResult run = RunWeft({"sweep", grid});
  CHECK(run.status == 1);
  CHECK_THAT(run.out, Contains("3 of 8 points done, 5 failed"));
  CHECK_THAT(run.err, Contains("weft sweep: point 1 (scaled.y=1 w.initvalues={1,2,3}) failed:") && Contains("... and 2 more; --retry runs them again"));
  CHECK(run.err.find("\"message\"") == std::string::npos);  // in words, not as the journal has it
  for (const Json& line : Lines(place.journal())) {
    if (!line.contains("error")) continue;
    CHECK(line["error"]["code"] == "invalid_argument");
    CHECK(!line["error"]["message"].get<std::string>().empty());
  }
  const std::string before = place.journal();
  CHECK(RunWeft({"sweep", grid}).status == 1);  // nothing is run again
  CHECK(place.journal() == before);
  CHECK(RunWeft({"sweep", grid, "--retry"}).status == 1);
  CHECK(Lines(place.journal()).size() == Lines(before).size() + 5);
  CHECK(RunWeft({"sweep", grid, "--missing"}).out == "\n");
  CHECK(RunWeft({"sweep", grid, "--missing", "--retry"}).out == "1-3,5,7\n");
}

TEST_CASE("a first point that fails is one of many", "[sweep]") {
  const SweepPlace place;
  const std::string grid = place.Grid(R"({"feed": "x.output", "values": ["@none.npy", "what", 3]})", R"("fetch": ["y.z"], )");
  CHECK_THAT(RunWeft({"sweep", grid}).out, Contains("1 of 3 points done, 2 failed"));
  place.Grid(R"({"set": "x.value", "values": ["what", 3]})");
  CHECK_THAT(RunWeft({"sweep", grid, "--journal", place.Path("j")}).out, Contains("1 of 2 points done, 1 failed"));
}

TEST_CASE("a page that loops needs a count of steps", "[sweep]") {
  const SweepPlace place;
  std::string page = kSweptPage;
  page.replace(page.find(R"("block": "ClientSession")"), 24, R"("block": "ClientSession", "attrs": "INFINITE_LOOP = true;")");
  place.Write("p.page.json", page);
  const std::string axis = R"({"set": "x.value", "values": [1, 2]})";
  const ProgramResult refused = RunWeft({"sweep", place.Grid(axis)});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, Contains("runs until it is stopped, and a point must end") && Contains("give the grid \"steps\""));
  fs::remove(place.Path("g.sweep.jsonl"));
  CHECK(RunWeft({"sweep", place.Grid(axis, R"("steps": 4, )")}).status == 0);
  CHECK(Lines(place.journal()).back()["results"]["w"] == 4);
}

TEST_CASE("a point has the time that the grid gives it", "[sweep]") {
  const SweepPlace place;
  const std::string grid = place.Grid(R"({"set": "x.value", "values": [1]})", R"("steps": 1000000000, "time_limit": 0.2, )");
  const ProgramResult run = RunWeft({"sweep", grid});
  CHECK(run.status == 1);
  CHECK(run.seconds < 20);
  CHECK_THAT(run.err, Contains("took longer than the 0.2 s of the grid's time_limit"));
  // The limit says nothing of the points: with another one the sweep goes on.
  place.Grid(R"({"set": "x.value", "values": [1]})", R"("steps": 1000000000, "time_limit": 0.1, )");
  CHECK_THAT(RunWeft({"sweep", grid, "--retry"}).err, Contains("the 0.1 s"));
}

TEST_CASE("a journal is repaired, and never another file", "[sweep]") {
  const SweepPlace place;
  const std::string grid = place.Grid(R"({"set": "x.value", "range": {"from": 1, "to": 20, "step": 1}})");
  CHECK(RunWeft({"sweep", grid, "--jobs", "1"}).status == 0);
  const std::string whole = place.journal();
  auto points = [&] {
    std::multiset<int64_t> numbers;
    const std::vector<Json> lines = Lines(place.journal());
    for (size_t i = 1; i < lines.size(); ++i) numbers.insert(lines[i]["point"].get<int64_t>());
    return numbers;
  };
  const std::multiset<int64_t> all = points();
  CHECK(all.size() == 20);
  // Cut at each byte of its beginning, and at some later ones.
  for (size_t size = 0; size < whole.size(); size += size < 3 ? 1 : 97) {
    place.Write("g.sweep.jsonl", whole.substr(0, size));
    INFO("cut after " << size);
    CHECK(RunWeft({"sweep", grid, "--jobs", "1"}).status == 0);
    CHECK(points() == all);
  }
  // A line that a disk has lost: said, left out, run again.
  std::string damaged = whole;
  damaged.replace(whole.find("\"point\": 7"), 10, std::string(10, '\0'));
  place.Write("g.sweep.jsonl", damaged);
  CHECK_THAT(RunWeft({"sweep", grid}).err, Contains("left out 1 line of the journal"));
  CHECK(points() == all);
  // Lines that are no point's, though they have its number.
  for (const char* line : {R"({"point": 7, "results": {}})", R"({"point": 7, "settings": {}, "error": 5})", R"({"point": 7, "settings": 1, "results": {}})"}) {
    place.Write("g.sweep.jsonl", Cat(whole, line, "\n"));
    const ProgramResult table = RunWeft({"sweep", grid, "--status", "--table", place.Path("t.csv")});
    INFO(line << "\n" << table.err);
    CHECK(table.status == 0);
  }
  const std::string design = place.Write("d.svg", "<svg></svg>");
  const std::string over = place.Write("d.grid.json", R"({"sweep": 1, "page": "d.svg", "grid": [{"set": "x.value", "values": [1, 2]}]})");
  CHECK_THAT(RunWeft({"sweep", over, "--plot", "y.z", "--over", "x.value", "--plot-file", design}).err, Contains("it is the page itself"));
  place.Write("g.sweep.jsonl", "my diary\n");
  const ProgramResult refused = RunWeft({"sweep", grid});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, Contains("is no journal of a sweep"));
  CHECK(place.journal() == "my diary\n");
}

TEST_CASE("a journal is of one grid and one page", "[sweep]") {
  const SweepPlace place;
  const std::string axis = R"({"set": "x.value", "values": [1, 2]})", grid = place.Grid(axis);
  CHECK(RunWeft({"sweep", grid}).status == 0);
  const std::string before = place.journal();
  place.Grid(R"( {"set":"x.value",  "values":[1,2]} )", R"("note": "other spaces are no other grid", )");
  CHECK(RunWeft({"sweep", grid}).status == 0);
  place.Grid(R"({"set": "x.value", "values": [1, 3]})");
  ProgramResult refused = RunWeft({"sweep", grid});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, Contains("the grid has changed since") && Contains("--journal NEW.jsonl"));
  place.Grid(axis);
  std::string page = kSweptPage;
  page.replace(page.find("[2]"), 3, "[3]");
  place.Write("p.page.json", page);
  refused = RunWeft({"sweep", grid, "--status"});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, Contains("the page 'p.page.json' has changed since"));
  CHECK(place.journal() == before);
  CHECK(RunWeft({"sweep", grid, "--journal", place.Path("new.jsonl")}).status == 0);
}

TEST_CASE("lines of a pipe: what a sender that died has left is left out, and nothing else", "[sweep]") {
  const SweepPlace place;
  const std::string grid = place.Grid(R"({"set": "x.value", "range": {"from": 1, "to": 10, "step": 1}})");
  const std::string first = RunWeft({"sweep", grid, "--points", "0-4", "--journal", "-"}).out;
  const std::string second = RunWeft({"sweep", grid, "--points", "5-9", "--journal", "-"}).out;
  kit::ProgramOptions piped;
  piped.in_path = place.Write("lines", first.substr(0, first.size() - 20) + second + "nonsense\n");
  const ProgramResult collected = RunWeft({"sweep", grid, "--collect", "--from", "-"}, piped);
  CHECK_THAT(collected.out, Contains("9 of 10 points done"));
  CHECK_THAT(collected.err, Contains("left out 2 lines of standard input that cannot be read"));
  const std::string missing = RunWeft({"sweep", grid, "--missing"}).out;  // whichever came last
  CHECK((missing >= "0\n" && missing <= "4\n"));
}

TEST_CASE("parts of a sweep become one journal", "[sweep]") {
  const SweepPlace place;
  const std::string grid = place.Grid(R"({"set": "x.value", "range": {"from": 1, "to": 25, "step": 1}})");
  CHECK_THAT(RunWeft({"sweep", grid, "--points", "0-9"}).out, Contains("g.sweep.0-9.jsonl: 10 of 10 points done"));
  CHECK_THAT(RunWeft({"sweep", grid, "--points", "20-29"}).out, Contains("g.sweep.20-24.jsonl: 5 of 5 points done"));
  CHECK(RunWeft({"sweep", grid, "--point", "12"}).status == 0);
  CHECK(fs::exists(place.Path("g.sweep.12.jsonl")));
  CHECK_THAT(RunWeft({"sweep", grid, "--points", "30-39"}).err, Contains("there are no such points: the grid has 25"));
  for (int i = 0; i < 2; ++i) CHECK_THAT(RunWeft({"sweep", grid, "--collect"}).out, Contains("g.sweep.jsonl: 16 of 25 points done"));
  CHECK(Lines(place.journal()).size() == 17);
  const std::string table = place.Path("collected.csv");
  CHECK(RunWeft({"sweep", grid, "--collect", "--table", table}).status == 0);
  const std::string rows = kit::FileBytes(table);
  CHECK(std::count(rows.begin(), rows.end(), '\n') == 17);
  CHECK(RunWeft({"sweep", grid, "--missing"}).out == "10-11,13-19\n");
  // A part does not do again what is collected.
  fs::remove(place.Path("g.sweep.0-9.jsonl"));
  CHECK(RunWeft({"sweep", grid, "--points", "0-9"}).status == 0);
  CHECK(Lines(kit::FileBytes(place.Path("g.sweep.0-9.jsonl"))).size() == 1);
  // Lines by a pipe.
  const ProgramResult lines = RunWeft({"sweep", grid, "--points", "10-19", "--journal", "-"});
  kit::ProgramOptions piped;
  piped.in_path = place.Write("lines", lines.out + lines.out);
  CHECK_THAT(RunWeft({"sweep", grid, "--collect", "--from", "-"}, piped).out, Contains("25 of 25") || Contains("24 of 25"));
  CHECK(RunWeft({"sweep", grid, "--status"}).status == 0);
  CHECK_THAT(RunWeft({"sweep", grid, "--status"}).out, Contains("20 missing") || Contains("of 25 points done"));
  CHECK(RunWeft({"sweep", grid}).status == 0);
  CHECK(Lines(place.journal()).size() == 26);
  for (const char* wrong : {"9-1", "x", "1,1", "0-5,5-9", "-1", "99"}) CHECK(RunWeft({"sweep", grid, std::string("--points=") + wrong}).status == 2);
}

TEST_CASE("results become a table and a plot", "[sweep]") {
  const SweepPlace place;
  const std::string grid = place.Grid(R"({"set": "x.value", "name": "x, or \"it\"", "values": [1, 2, 4, "bad"]}, {"set": "scaled.y", "values": [1, 10]})");
  CHECK(RunWeft({"sweep", grid, "--table", place.Path("t.csv"), "--jobs", "1"}).status == 1);
  const std::string csv = kit::FileBytes(place.Path("t.csv"));
  CHECK_THAT(csv, Contains("point,\"x, or \"\"it\"\"\",scaled.y,y.z,w.ref,w,seconds,error\r\n") && Contains("\r\n5,4,10,40,0,1,"));
  CHECK(std::ranges::count(csv, '\n') == 9);
  CHECK(RunWeft({"sweep", grid, "--status", "--table", place.Path("t.npz")}).status == 0);
  CHECK(kit::FileBytes(place.Path("t.npz")).find("y.z.npy") != std::string::npos);
  const ProgramResult plot = RunWeft({"sweep", grid, "--status", "--plot", "y.z", "--over", "scaled.y", "--plot-file", place.Path("p.svg")});
  CHECK_THAT(plot.out, Contains("y.z (median)  first 2, last 20") && Contains("highest  first 4, last 40"));
  CHECK_THAT(kit::FileBytes(place.Path("p.svg")), Contains("<svg"));
  CHECK_THAT(RunWeft({"sweep", grid, "--status", "--plot", "y.z", "--over", "x, or \"it\"", "--by", "scaled.y"}).out,
             Contains("scaled.y=1  first 1, last 4") && Contains("scaled.y=10  first 10, last 40"));
  CHECK_THAT(RunWeft({"sweep", grid, "--status", "--plot", "y.zz", "--over", "scaled.y"}).err, Contains("did you mean 'y.z'?"));
  CHECK_THAT(RunWeft({"sweep", grid, "--status", "--plot", "y.z"}).err, Contains("--plot needs --over"));
  CHECK_THAT(RunWeft({"sweep", grid, "--status", "--plot", "y.z", "--over", "scaled.x"}).err, Contains("no parameter 'scaled.x'"));
}

TEST_CASE("what would fail after a sweep is refused before it", "[sweep]") {
  const SweepPlace place;
  const std::string grid = place.Grid(R"({"set": "x.value", "values": [1, 2]}, {"set": "scaled.y", "values": [1, 10]})");
  const ProgramResult plot = RunWeft({"sweep", grid, "--plot", "y.z"}), table = RunWeft({"sweep", grid, "--table", place.Path("no/t.csv")});
  CHECK(plot.status == 2);
  CHECK_THAT(plot.err, Contains("--plot needs --over"));
  CHECK(table.status == 1);
  CHECK_THAT(table.err, Contains("there is no folder"));
  const ProgramResult point = RunWeft({"sweep", grid, "--point", "-1"});
  CHECK(point.status == 2);
  CHECK_THAT(point.err, Contains("needs a number, 0 or more, found '-1'"));
  CHECK_FALSE(std::filesystem::exists(place.path() / "g.sweep.jsonl"));
}

TEST_CASE("a table takes the place of nothing that the sweep needs", "[sweep]") {
  const SweepPlace place;
  const std::string axis = R"({"set": "x.value", "values": [1, 2]})", journal = place.Path("j.csv"), state = place.Path("w.csv");
  std::string grid = place.Grid(axis);
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& why) {
    const ProgramResult run = RunWeft(arguments);
    INFO(run.out << run.err);
    CHECK(run.status == 1);
    CHECK_THAT(run.err, Contains(why));
  };
  const std::string why = Cat("--table needs a file of its own, found '", journal, "', which is that of the journal, too");
  refused({"sweep", grid, "--journal", journal, "--table", journal}, why);
  CHECK_FALSE(fs::exists(journal));
  CHECK(RunWeft({"sweep", grid, "--journal", journal}).status == 0);
  const std::string lines = kit::FileBytes(journal);
  refused({"sweep", grid, "--journal", journal, "--status", "--table", journal}, why);
  CHECK(kit::FileBytes(journal) == lines);

  CHECK(RunWeft({"run", place.Path("p.page.json"), "--save-state", state}).status == 0);
  const std::string saved = kit::FileBytes(state);
  grid = place.Grid(axis, R"("load_state": "w.csv", )");
  refused({"sweep", grid, "--table", state}, "it is the state that the grid loads itself");
  CHECK(kit::FileBytes(state) == saved);
  CHECK(RunWeft({"sweep", grid, "--table", place.Path("t.csv")}).status == 0);

  CHECK(RunWeft({"sweep", grid, "--points", "0"}).status == 0);
  const std::string part = place.Path("g.sweep.0.jsonl"), link = place.Path("link.csv"), done = kit::FileBytes(part);
  fs::create_symlink("g.sweep.0.jsonl", link);
  for (const char* asked : {"--quiet", "--status", "--collect"}) {
    refused({"sweep", grid, asked, "--table", link}, "it is the journal of a part itself");
  }
  CHECK(kit::FileBytes(part) == done);
}

}  // namespace
}  // namespace weft
