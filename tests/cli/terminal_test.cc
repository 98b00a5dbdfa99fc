// What a page cannot do to its user's terminal, files and machine: control bytes, limits of the system, endless messages.
#include <catch2/catch.hpp>
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/kit/program.h"
#include "tests/kit/sanitized.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using kit::ProgramResult;
using kit::RunWeft;
using Json = nlohmann::json;
using Catch::Matchers::Contains;

struct ShellPlace : kit::TemporaryFolder {
  /// Runs weft in a shell, after its own commands ("ulimit -f 1"). Gives the exit status.
  int Shell(const std::string& first, const std::string& arguments) const {
    const std::string command = Cat("cd '", path().string(), "' && ", first, "; '", WEFT_PROGRAM, "' ", arguments, " > out 2> err");
    const int code = std::system(command.c_str());
    return WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
  }
  std::string out() const { return kit::FileBytes(path() / "out"); }
  std::string err() const { return kit::FileBytes(path() / "err"); }
};

/// No byte that a terminal obeys, but line feeds and tabs.
bool IsHarmless(const std::string& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) return false;
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) return false;
  }
  return true;
}

TEST_CASE("Control bytes of a page do not reach the terminal", "[cli][terminal]") {
  ShellPlace place;
  // In values, one of them no UTF-8, in a printed message, the page's name and the shown text of attributes.
  const std::string page = place.Write("page.json", R"({"weft": 1, "page": "p\u001b[2J", "blocks": [
      {"id": "e", "block": "Const", "inputs": {"value": {"dtype": "DT_STRING", "shape": [2], "values": ["a\u001b[31m\u009bb", {"base64": "G/8="}]}}},
      {"id": "p", "block": "Print", "attrs": {"message": "m\u001b[1m\r"}, "inputs": {"input": "e.output", "data": ["e.output"]}},
      {"id": "s", "block": "ClientSession", "inputs": {"fetch_outputs": ["p.output", "e.output"]}}]})");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"run", page}, {"run", page, "--watch", "p.output"}, {"run", page, "--verbose"}, {"check", page}, {"plan", page},
           {"run", page, "--fetch", "q\x1b[1m.output"}}) {
    ProgramResult run = RunWeft(arguments);
    INFO(arguments[0] << " " << run.out << run.err);
    CHECK(IsHarmless(run.out));
    CHECK(IsHarmless(run.err));
  }
  // Documents have control characters as their formats write them.
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{{"run", page, "--json"}, {"show", page, "-o", "-"}, {"convert", page, "-"}}) {
    CHECK(RunWeft(arguments).out.find('\x1b') == std::string::npos);
  }
  ProgramResult run = RunWeft({"run", page});
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("\"a\\u001b[31m\\xc2\\x9bb\",\"\\u001b\\xff\""));
  CHECK_THAT(run.err, Contains("m\\x1b[1m\\x0d"));
  const std::string bad = place.Write("bad.json", R"({"weft": 1, "blocks": [
      {"id": "a\u001b[1m", "block": "Squ\u001b[1mare"}, {"id": "b", "block": "Square", "attrs": "na\u001bme = 1;", "inputs": {"x": "c\u001b[1m.output", "\u001bz": "b.y"}}]})");
  ProgramResult refused = RunWeft({"check", bad});
  CHECK(refused.status == 1);
  INFO(refused.err);
  CHECK(IsHarmless(refused.err));
  const std::string cases = place.Write("Square.cases.json", R"({"block": "Square", "cases": [{"name": "n\u001b[1m",
      "inputs": {"x": {"dtype": "DT_FLOAT", "shape": [], "values": [2]}}, "outputs": {"y": {"dtype": "DT_FLOAT", "shape": [], "values": [3]}}}]})");
  ProgramResult tested = RunWeft({"test", cases});
  CHECK_THAT(tested.out, Contains("n\\x1b[1m"));
  CHECK(IsHarmless(tested.out + tested.err));
}

TEST_CASE("Results with odd names are JSON", "[cli][terminal]") {
  ShellPlace place;
  const std::string page = place.Write("page.json", R"({"object": [{"symbol-name": "#Const", "id": "a\\", "input": [{"pin-name": "val",
      "pin-type": "double", "pin-save": "text", "pin-shape": "[1]", "pin-interface": "Input::Initializer", "pin-initial": "1"}],
      "output": [{"pin-name": "output", "pin-type": "string", "pin-interface": "Output"}]}]})");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{{"run", page, "--json"}, {"plan", page, "--json"}}) {
    ProgramResult run = RunWeft(arguments);
    INFO(run.out << run.err);
    CHECK(Json::parse(run.out, nullptr, false).is_object());
  }
  CHECK(Json::parse(RunWeft({"run", page, "--json"}).out)["a\\.output"]["values"] == Json::parse("[1]"));
}

TEST_CASE("The message of a failed assertion has a limit", "[cli][terminal]") {
  ShellPlace place;
  const std::string page = place.Write("page.json", R"({"weft": 1, "blocks": [
      {"id": "dims", "block": "Const", "inputs": {"value": {"dtype": "DT_INT32", "shape": [1], "values": [30000000]}}},
      {"id": "many", "block": "Fill", "inputs": {"dims": "dims.output", "value": {"text": "1.5f"}}},
      {"id": "no", "block": "Const", "inputs": {"value": {"dtype": "DT_BOOL", "shape": [], "values": [false]}}},
      {"id": "assert", "block": "Assert", "attrs": "summarize_ = -1;", "inputs": {"condition": "no.output", "data": ["many.output", "many.output"]}},
      {"id": "run", "block": "ClientSession", "inputs": {"run_outputs": ["assert.operation"]}}]})");
  ProgramResult run = RunWeft({"run", page});
  CHECK(run.status == 1);
  CHECK_THAT(run.err.substr(0, 500), Contains("assertion failed: [1.5 1.5 "));
  // A finding shows the beginning of it, and says how much more there is.
  CHECK(run.err.size() < 100'000);
  const size_t more = run.err.find(" more bytes)");
  REQUIRE(more != std::string::npos);
  const size_t digits = run.err.rfind('(', more) + 1;
  CHECK(std::stoll(run.err.substr(digits, more - digits)) < 1'100'000);
}

TEST_CASE("A value of 2^62 rows without elements is shown, written and drawn in few bytes", "[cli][terminal]") {
  ShellPlace place;
  const std::string page = place.Write("page.json", R"({"weft": 1, "page": "p", "blocks": [
      {"id": "c", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [4611686018427387904, 0], "values": []}}},
      {"id": "s", "block": "ClientSession", "inputs": {"fetch_outputs": ["c.output"]}}]})");
  const std::string json = place.Path("out.json"), npz = place.Path("out.npz");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"run", page}, {"run", page, "--json"}, {"run", page, "--watch", "c.output"}, {"run", page, "--results", json},
           {"run", page, "--results", npz}, {"check", page}, {"plan", page}, {"show", page, "-o", "-"}}) {
    ProgramResult run = RunWeft(arguments);
    INFO(arguments[0] << " " << arguments.back() << "\n" << run.out.substr(0, 1000) << run.err.substr(0, 1000));
    CHECK(run.status == 0);
    CHECK(run.seconds < (kit::kSanitized ? 60 : 2));
    CHECK(run.out.size() + run.err.size() < 10'000);
  }
  CHECK_THAT(RunWeft({"run", page}).out, Contains("c.output  DT_FLOAT [4611686018427387904,0] {{},{},") && Contains(",...}"));
  const Json shown = Json::parse(RunWeft({"run", page, "--json"}).out, nullptr, false);
  REQUIRE(shown.is_object());
  CHECK(shown["c.output"]["shape"] == Json::parse("[4611686018427387904, 0]"));
  for (const std::string& file : {json, npz}) CHECK(fs::file_size(file) < 10'000);
}

TEST_CASE("A long string is shown as its beginning, and written whole", "[cli][terminal]") {
  ShellPlace place;
  std::string blocks = Cat(R"({"id": "a0", "block": "Const", "inputs": {"value": {"dtype": "DT_STRING", "shape": [], "values": [")",
                           std::string(1024, 'x'), "\"]}}}");
  for (int i = 1; i <= 10; ++i) {
    const std::string before = Cat("a", i - 1, i == 1 ? ".output" : ".z");
    blocks += Cat(",\n{\"id\": \"a", i, R"(", "block": "Add", "inputs": {"x": ")", before, R"(", "y": ")", before, "\"}}");
  }
  const std::string page = place.Write("page.json", Cat(R"({"weft": 1, "blocks": [)", blocks, R"(,
      {"id": "s", "block": "ClientSession", "inputs": {"fetch_outputs": ["a10.z"]}}]})"));
  const size_t whole = 1 << 20;
  const std::string beginning = Cat("\"", std::string(4096, 'x'), "\"... (", whole - 4096, " more bytes)");
  const ProgramResult watched = RunWeft({"run", page, "--watch", "a10.z"});
  CHECK_THAT(watched.out, Contains(Cat("1  a10.z  DT_STRING [] ", beginning)) && Contains(Cat("\na10.z  DT_STRING [] ", beginning)));
  CHECK(watched.out.size() < 10'000);
  const Json values = Json::parse(RunWeft({"run", page, "--json"}).out, nullptr, false);
  REQUIRE(values.is_object());
  CHECK(values["a10.z"]["values"][0].get<std::string>().size() == whole);
  const std::string file = place.Path("out.json");  // (.npz has no strings)
  CHECK(RunWeft({"run", page, "--quiet", "--results", file}).status == 0);
  CHECK(kit::FileBytes(file).size() >= whole);
}

TEST_CASE("A file that becomes larger than a limit is an error", "[cli][terminal]") {
  ShellPlace place;
  place.Write("page.json", R"({"weft": 1, "blocks": [
      {"id": "dims", "block": "Const", "inputs": {"value": {"dtype": "DT_INT32", "shape": [1], "values": [1000000]}}},
      {"id": "many", "block": "Fill", "inputs": {"dims": "dims.output", "value": {"text": "1.5f"}}},
      {"id": "save", "block": "WriteFile", "inputs": {"filename": {"text": "big"}, "contents": "text.output"}},
      {"id": "text", "block": "Const", "inputs": {"value": {"dtype": "DT_STRING", "shape": [], "values": [")" +
                                std::string(100000, 'x') + R"("]}}},
      {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["many.output"]}},
      {"id": "write", "block": "ClientSession", "inputs": {"run_outputs": ["save.operation"]}}]})");
  for (const char* results : {"out.json", "out.npz"}) {
    CAPTURE(results);
    CHECK(place.Shell("ulimit -f 20", Cat("run page.json --session run --quiet --results ", results)) == 1);
    CHECK_THAT(place.err(), Contains("error:") && Contains(results));
    CHECK_FALSE(fs::exists(place.Path(results)));
  }
  CHECK(place.Shell("ulimit -f 20", "run page.json --session write --write .") == 1);
  CHECK_THAT(place.err(), Contains("error:") && Contains("big"));
  for (const auto& entry : fs::directory_iterator(place.path())) {
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    CHECK((name == "page.json" || name == "out" || name == "err"));
  }
}

TEST_CASE("Where threads cannot be started, fewer do the work, or the run fails", "[cli][terminal]") {
  if (kit::kSanitized) return;  // they need all the address space there is
  ShellPlace place;
  std::string blocks;
  for (int i = 0; i < 200; ++i) {
    blocks += Cat(R"({"id": "c)", i, R"(", "block": "Const", "inputs": {"value": {"text": "1"}}}, {"id": "run)", i,
                  R"(", "block": "ClientSession", "attrs": "INFINITE_LOOP_ = true;", "inputs": {"fetch_outputs": ["c)", i, R"(.output"]}})",
                  i < 199 ? ",\n" : "");
  }
  place.Write("loops.json", R"({"weft": 1, "blocks": [)" + blocks + "]}");
  place.Write("small.json", R"({"weft": 1, "blocks": [{"id": "c", "block": "Const", "inputs": {"value": {"text": "1"}}}]})");
  // Each thread has a stack of its own: with one of 1 GB there is room for few.
  const std::string limits = "ulimit -s 1000000; ulimit -v 6000000";
  CHECK(place.Shell(limits, "run loops.json --steps 2") == 1);
  CHECK_THAT(place.err(), Contains("no thread can be started"));
  CHECK(place.Shell("ulimit -s 4000000; ulimit -v 3000000", "run small.json --threads 2") == 0);
  CHECK_THAT(place.out(), Contains("c.output  DT_INT32 [] 1"));
  CHECK(place.Shell("true", "run loops.json --steps 2 --quiet") == 0);
}

}  // namespace
}  // namespace weft
