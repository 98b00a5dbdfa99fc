// weft bench: what it prints, and how it refuses. Times are not judged.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/kit/program.h"

namespace weft {
namespace {

using kit::ProgramResult;
using kit::RunWeft;
using Json = nlohmann::json;
using Catch::Matchers::Contains;

const std::string kBenchPage = std::string(WEFT_SOURCE_DIR) + "/graphs/xor.page.json";

std::vector<Json> Lines(const ProgramResult& run) {
  INFO(run.err);
  REQUIRE(run.status == 0);
  std::vector<Json> lines;
  std::istringstream text(run.out);
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
  return lines;
}

TEST_CASE("weft bench gives a JSON line for each kernel case", "[cli][bench]") {
  std::vector<Json> lines = Lines(RunWeft({"bench", "--quick", "--json", "--case", "BiasAddGrad.8x7x7x2048", "--case", "MatMul.64"}));
  REQUIRE(lines.size() == 3);
  for (const Json& line : lines) {
    CHECK(line.at("min_ms").get<double>() > 0);
    CHECK(line.at("median_ms").get<double>() >= line.at("min_ms").get<double>());
    CHECK(line.at("share").get<double>() > 0);
    CHECK(line.at("read_gb_per_s").get<double>() > 0);
    CHECK(line.at("share").get<double>() == Approx(line.at("limit_ms").get<double>() / line.at("min_ms").get<double>()));
    CHECK(line.at("passes") == 1);
  }
  CHECK(lines[0].at("case") == "BiasAddGrad.8x7x7x2048.NHWC");
  // Which limit is the nearer one depends on the machine and on what else it does.
  const std::set<std::string> limits = {"read", "triad", "product"};
  for (const Json& line : lines) CHECK(limits.contains(line.at("limit").get<std::string>()));
  CHECK(lines[0].at("bytes") == 4 * (8 * 7 * 7 * 2048 + 2048));
  CHECK(lines[2].at("flops") == 2 * 64 * 64 * 64);
}

TEST_CASE("weft bench --page takes the folders that weft run takes", "[cli][bench]") {
  kit::TemporaryFolder folder, elsewhere;
  const std::string page = (folder.path() / "page.json").string(), there = elsewhere.path().string(), file = there + "/v.bin";
  kit::WriteBytes(file, std::string("\0\0\x80\x3f", 4));
  kit::WriteBytes(page, Cat(R"({"weft": 1, "blocks": [
      {"id": "x", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [1], "file": ")", file, R"("}}},
      {"id": "save", "block": "Save", "inputs": {"filename": {"text": ")", there, R"(/saved"}, "tensor_names": {"text": "x"}, "data": ["x.output"]}},
      {"id": "run", "block": "ClientSession", "inputs": {"run_outputs": ["save.operation"]}}]})"));
  CHECK_THAT(RunWeft({"bench", "--page", page, "--quick"}).err, Contains("--allow " + there));
  CHECK_THAT(RunWeft({"bench", "--page", page, "--quick", "--allow", there}).err, Contains("--write " + there));
  CHECK(Lines(RunWeft({"bench", "--page", page, "--quick", "--json", "--allow", there, "--write", there})).size() == 1);
  CHECK(std::filesystem::exists(there + "/saved"));
}

TEST_CASE("weft bench --list says what every case is made of, each under a name of its own", "[cli][bench]") {
  std::set<std::string> names;
  std::vector<Json> lines = Lines(RunWeft({"bench", "--list", "--json"}));
  for (const Json& line : lines) {
    CHECK(names.insert(line.at("case")).second);
    CHECK((!line.at("inputs").empty() || line.contains("beside") || line.contains("record_bytes")));
    CHECK_FALSE(line.at("outputs").empty());
    CHECK(line.at("bytes").get<double>() > 0);
  }
  for (const char* name : {"FusedBatchNormGrad.train.16x112x112x64.NCHW", "FusedBatchNorm.infer.64x14x14x256.NHWC.half", "Transpose.4096x4096"}) {
    CHECK(names.count(name) == 1);
  }
}

TEST_CASE("weft bench counts a pass that only reads apart from the one that writes", "[cli][bench]") {
  const Json line = Lines(RunWeft({"bench", "--quick", "--json", "--case", "FusedBatchNormGrad.train.8x7x7x2048.NHWC"})).at(0);
  const double picture = 4.0 * 8 * 7 * 7 * 2048, read = line.at("read_gb_per_s"), all = line.at("limit_gb_per_s"), ms = line.at("limit_ms");
  CHECK(line.at("passes") == 2);
  CHECK(line.at("bytes").get<double>() == Approx(5 * picture).epsilon(0.01));  // y_backprop and x twice, x_backprop once
  CHECK(ms == Approx(line.at("bytes").get<double>() / all / 1e6));
  CHECK(ms > 2 * picture / read / 1e6);  // the first pass takes so long, the second comes after it
}

TEST_CASE("weft bench --page gives a JSON line for each session", "[cli][bench]") {
  for (const char* keep : {"asked", "all"}) {
    std::vector<Json> lines = Lines(RunWeft({"bench", "--quick", "--json", "--page", kBenchPage, "--keep", keep}));
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].at("case") == "xor");
    CHECK(lines[0].at("keep") == keep);
    CHECK(lines[0].at("best_step_us").get<double>() > 0);
    CHECK(lines[0].at("steps_per_s").get<double>() > 0);
    CHECK(lines[0].at("bytes").get<double>() > 0);
    CHECK(lines[0].at("load_ms").get<double>() > 0);
    CHECK(lines[0].at("plan_ms").get<double>() > 0);
    const Json& memory = lines[0].at("memory");
    CHECK(memory.at("live_bytes").get<int64_t>() <= memory.at("arena_bytes").get<int64_t>());
    CHECK(memory.at("result_bytes").get<int64_t>() > 0);
  }
}

TEST_CASE("weft bench prints a table for people", "[cli][bench]") {
  // Which of the limits is nearer depends on what else the machine does.
  CHECK_THAT(RunWeft({"bench", "--quick", "--case", "MatMul.64"}).out,
             (Contains("GFLOP/s") || Contains("GB/s")) && Contains("share of the machine's limit"));
  CHECK_THAT(RunWeft({"bench", "--quick", "--page", kBenchPage}).out,
             Contains("steps/s") && Contains("their lower bound") && Contains("planned in"));
}

TEST_CASE("weft bench refuses wrong pages, cases and options", "[cli][bench]") {
  ProgramResult missing = RunWeft({"bench", "--page", "no_such.page.json"});
  CHECK(missing.status == 1);
  CHECK_THAT(missing.err, Contains("no_such.page.json"));
  ProgramResult unknown = RunWeft({"bench", "--case", "NoSuchCase"});
  CHECK(unknown.status == 1);
  CHECK_THAT(unknown.err, Contains("--list"));
  CHECK(RunWeft({"bench", "--keep", "some"}).status == 2);
  CHECK(RunWeft({"bench", "--seconds", "0"}).status == 2);
  CHECK(RunWeft({"bench", "--page", kBenchPage, "--case", "Add"}).status == 2);
}

TEST_CASE("weft bench names the level of processors that its build is for", "[cli][bench]") {
  const std::vector<std::string> options = {"bench", "--quick", "--json", "--case", "MatMul.64"};
  CHECK_THAT(Lines(RunWeft(options)).at(0).at("level").get<std::string>(), Catch::Matchers::StartsWith("native, "));
  CHECK_THAT(RunWeft({"bench", "--quick", "--case", "MatMul.64"}).out, Contains("(native, "));
}

#ifdef __x86_64__
TEST_CASE("weft bench --level says how to make the builds that are not there", "[cli][bench]") {
  CHECK(RunWeft({"bench", "--level", "x86-64-v9"}).status == 2);
  // As the loader starts it, where it has found no build for the level.
  kit::ProgramOptions by_loader;
  by_loader.environment = {"WEFT_BENCH_LEVEL=x86-64-v2"};
  ProgramResult taken = RunWeft({"bench", "--level", "x86-64-v2"}, by_loader);
  CHECK(taken.status == 1);
  CHECK_THAT(taken.err, Contains("the loader took that for native") && Contains("tools/package --levels"));

  kit::TemporaryFolder folder;  // with no package beside the program
  const std::filesystem::path program = folder.path() / "build/release/bin/weft", err = folder.path() / "err";
  std::filesystem::create_directories(program.parent_path());
  std::error_code other_device;
  std::filesystem::create_hard_link(WEFT_PROGRAM, program, other_device);
  if (other_device) std::filesystem::copy_file(WEFT_PROGRAM, program);
  CHECK(std::system(Cat(program.string(), " bench --level x86-64-v2 2> ", err.string()).c_str()) != 0);
  CHECK_THAT(kit::FileBytes(err), Contains((folder.path() / "build/package/bin/weft").string()) && Contains("tools/package --levels"));
}
#endif

}  // namespace
}  // namespace weft
